//! An apply: fetch, run the script, check every file, roll back what failed. The network is over before the first
//! change.

mod restored_edits;
mod moved_aside;
mod fetch_wheels;
mod prepared;
mod shared_paths;
mod outcome;
mod path_files;
mod permissions;
mod forbidden_targets;
mod report;
mod rewritten_at_start;
mod common_files;
mod metadata_differs;
mod rollback;
mod shadowing_files;
mod unowned_files;
mod kept_files;
mod run_script;
mod ledger_entries;
mod remaining_files;
mod malformed_wheels;
mod stripped_packages;
mod built_wheels;
mod direct_url;
mod own_install;
mod proof_of_owner;
mod startup;
mod whole_records;
mod installer_leftovers;
mod one_apply;

pub use built_wheels::stage_built;
pub use installer_leftovers::leftovers;
pub use one_apply::carry_out;
pub use outcome::{evidence_of, gone, kernel_evidence, now};
pub use prepared::{ApplyManner, Installer};
