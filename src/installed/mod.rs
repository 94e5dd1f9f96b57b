//! What is installed, compared with RECORD: the one of the wheel where it is known, else the one that its installer wrote.

mod mismatch;
mod downloaded;

pub use downloaded::Downloaded;
pub use mismatch::{FileFault, Held, check_distributions, finding_of, ghosts};
