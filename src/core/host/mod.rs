//! The only door to the operating system: files, processes, signals, locks. Every error names its path or its command
//! line.

pub mod bell;
pub mod clock;
pub mod command;
pub mod destination;
pub mod digests;
pub mod files;
pub mod kept_copies;
pub mod locks;
pub mod mounts;
pub mod mutex;
pub mod parallel;
pub mod paths;
pub mod reads;
pub mod hard_links;
pub mod signals;
pub mod stamps;
pub mod supervisor;
pub mod texts;
pub mod process_end;
pub mod writers;

pub use command::{Finished, Invocation};
pub use paths::Paths;
