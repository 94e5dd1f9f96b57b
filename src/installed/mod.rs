//! What is installed, held against RECORD: the one of the wheel where it is known, else the one that its installer wrote.

mod files;
mod record;

pub use files::{FileFault, Held, check_distributions, finding_of, ghosts};
pub use record::{record_of_wheel, unpacked_bytes};
