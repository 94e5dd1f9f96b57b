//! What a wheel puts on disk, as its zip directory lists it: paths with size and CRC-32, which is enough to tell whether two
//! wheels would overwrite each other's files.

use serde::{Deserialize, Serialize};

/// How a member's bytes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Packing {
    Stored,
    Deflate,
    /// Another method, by its number in the zip specification; wheels do not use any.
    Other(u16),
}

/// One file of a wheel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub path: String,
    pub crc32: u32,
    /// Bytes in the zip file.
    pub compressed: u64,
    /// Bytes on disk.
    pub size: u64,
    pub packing: Packing,
    /// Where its local header begins.
    pub offset: u64,
    /// Where the next member or the directory begins: `offset..end` holds header and data.
    pub end: u64,
}

/// All files of a wheel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    pub members: Vec<Member>,
}

impl Files {
    /// The member at `path`.
    pub fn get(&self, path: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.path == path)
    }

    /// `name` in the wheel's own `.dist-info`: `METADATA`, `RECORD`.
    pub fn dist_info(&self, name: &str) -> Option<&Member> {
        let is = |path: &str| {
            path.split_once('/').is_some_and(|(folder, rest)| folder.ends_with(".dist-info") && rest == name)
        };
        self.members.iter().find(|member| is(&member.path))
    }

    /// Bytes that the wheel unpacks to.
    pub fn unpacked(&self) -> u64 {
        self.members.iter().fold(0, |total, member| total.saturating_add(member.size))
    }
}
