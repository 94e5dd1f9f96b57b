//! What a wheel was built for, read from its own bytes: the zip directory, the text files in which frameworks record
//! their build, and the CUDA fat binaries inside its ELF libraries. Pure: bytes go in as they arrive, nothing is kept
//! but what was found, and malformed input is an error with the offset at which it makes no sense.

mod archive;
mod bytecode;
mod directory;
mod elf;
mod fatbin;
mod inflate;
mod inspection;
mod link_reading;
mod record;
mod namespaces;
mod shared_object;
mod sparse;
mod strings;
mod text;

use std::fmt::{Display, Formatter, Result as FmtResult};

pub use archive::{Archive, TAIL};
pub use bytecode::BytecodeHead;
pub use directory::{DirectoryPlace, locate, read};
pub use fatbin::{Code, Scanner};
pub use inflate::{Unpacker, WholeUnpacker};
pub use inspection::{InspectedWheel, Inspection, Request};
pub use link_reading::{LinkReading, Span, chosen};
pub use namespaces::{is_of_tensorflow, is_of_torch, symbol_hash};
pub use record::{Entry, files_of, files_of_record, parse_record, record_line, shared_line};
pub use shared_object::SharedObject;
pub use text::Collected;

/// Bytes that are not what they should be, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// From the start of what was being read: the zip file, or the unpacked member.
    pub offset: u64,
    pub what: String,
}

impl Malformed {
    fn new(offset: u64, what: impl Into<String>) -> Self {
        Self { offset, what: what.into() }
    }
}

impl Display for Malformed {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        write!(f, "{} (at byte {})", self.what, self.offset)
    }
}

impl std::error::Error for Malformed {}

/// Whether a reader wants more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    More,
    /// What was looked for is found.
    Enough,
}

/// Takes the unpacked bytes of one member as they come.
pub trait Sink {
    fn take(&mut self, bytes: &[u8]) -> Result<Flow, Malformed>;
}

#[cfg(test)]
mod tests;
