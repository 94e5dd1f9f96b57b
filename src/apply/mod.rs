//! Runs the install script and watches its journal. The network is over before it starts: wheels lie in a folder.

mod run;
mod sweep;

pub use run::{Failed, Job, run_script, wait_for_orphan};
pub use sweep::{empty_trash, leftovers, sweep};
