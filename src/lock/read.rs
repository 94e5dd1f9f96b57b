//! The reader: the version first, then the rest.

use serde::Deserialize;

use crate::lock::{FORMAT, Lock};

/// Why a text is no lock we can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// A newer format; the text says what it asks for.
    Future { version: u64, requires: Option<String> },
    /// What is wrong, in one line.
    Malformed(String),
}

#[derive(Deserialize)]
struct Head {
    version: u64,
    requires: Option<String>,
}

/// Reads a lock. Keys that this version does not know are passed over: they are for later ones.
pub fn read_lock(text: &str) -> Result<Lock, Unreadable> {
    let malformed = |error: toml::de::Error| {
        let place = error.span().map(|span| format!("line {}: ", text[..span.start].matches('\n').count() + 1));
        Unreadable::Malformed(format!("{}{}", place.unwrap_or_default(), error.message()))
    };
    let head: Head = toml::from_str(text).map_err(malformed)?;
    if head.version > FORMAT {
        return Err(Unreadable::Future { version: head.version, requires: head.requires });
    }
    toml::from_str(text).map_err(malformed)
}
