//! What is installed, compared with RECORD: the one of the wheel where it is known, else the one that its installer wrote; and what its shared
//! objects are linked against.

mod mismatch;
mod libraries;
mod downloaded;

pub use downloaded::Downloaded;
pub use libraries::{Compiled, linking_of};
pub use mismatch::{FileFault, Held, check_distributions, finding_of, ghosts};
