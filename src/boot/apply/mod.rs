//! An apply: fetch, run the script, check every file, roll back what failed. The network is over before the first
//! change.

mod as_before;
mod aside;
mod behind_links;
mod bring;
mod brought;
mod shared_paths;
mod clear_the_way;
mod outcome;
mod path_files;
mod permitted;
mod forbidden_targets;
mod report;
mod rewritten;
mod common_files;
mod metadata_differs;
mod rollback;
mod hiding;
mod unowned_files;
mod kept_files;
mod run_script;
mod ledgers;
mod left;
mod special_files;
mod malformed_wheels;
mod on_the_way;
mod proof;
mod startup;
mod installer_leftovers;
mod work;

pub use installer_leftovers::leftovers;
pub use outcome::{evidence_of, gone, kernel_evidence, now};
pub use work::carry_out;
