//! What is installed, held against RECORD: the one of the wheel where it is known, else the one that its installer wrote.

mod fault;
mod downloaded;

pub use downloaded::{record_of_wheel, unpacked_bytes};
pub use fault::{FileFault, Held, check_distributions, finding_of, ghosts};
