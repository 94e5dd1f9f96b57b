//! What is installed, compared with RECORD: the one of the wheel where it is known, else the one that its installer wrote; and what its shared
//! objects are linked against.

mod comparison;
mod downloaded;
mod expected;
mod fault;
mod ghosts;
mod hashed;
mod intruders;
mod libraries;
mod relist;

pub use comparison::{Comparison, Depth, Options, check_distributions, compare};
pub use downloaded::Downloaded;
pub use expected::{Basis, Held, version_of};
pub use fault::{FileFault, finding_of};
pub use ghosts::ghosts;
pub use hashed::{Hashed, HashedDistribution, HashedFolder};
pub use intruders::{Intruder, intruders_before};
pub use libraries::{Compiled, linking_of};
pub use relist::complete_record;
