//! What is installed, compared with RECORD: the one of the wheel where it is known, else the one that its installer
//! wrote; and what its shared objects are linked against.

mod behind_links;
mod claims;
mod comparison;
mod downloaded;
mod edits;
mod expected;
mod fault;
mod folder_now;
mod duplicate_metadata;
mod hashed;
mod intruders;
mod libraries;
mod record_contents;
mod corrections;
mod strangers;
mod written;

pub use behind_links::behind_links;
pub use claims::{Claims, Owners, is_shared_script, owners_of};
pub use comparison::{Comparison, Depth, Options, check_distributions, compare};
pub use corrections::{Corrections, KnownFiles, corrections, is_of_installers, relative};
pub use downloaded::Downloaded;
pub use duplicate_metadata::ghosts;
pub use edits::{Edit, edits};
pub use expected::{ComparedWith, Held, lexical, listed_place, place, placed, version_of};
pub use fault::{FileFault, finding_of};
pub use hashed::{Hashed, HashedDistribution, HashedFolder, StartUp, looks};
pub use intruders::{Intruder, intruders_before};
pub use libraries::{Compiled, linking_of};
pub use record_contents::{contents_of, installed_contents};
pub use strangers::strangers_in;
pub use written::{WrittenFile, WrittenFiles};
