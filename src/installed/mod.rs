//! What is installed, held against RECORD: the one of the wheel where it is known, else the one that its installer wrote.

mod mismatch;
mod downloaded;

pub use downloaded::{record_of_wheel, unpacked_bytes};
pub use mismatch::{FileFault, Held, check_distributions, finding_of, ghosts};
