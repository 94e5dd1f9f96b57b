//! The head of a compiled file of Python (PEP 552).

/// What it says of the source that it was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytecodeHead {
    flags: u32,
    /// Seconds since 1970, and bytes; absent where the file is cut off.
    mtime: Option<u32>,
    size: Option<u32>,
}

impl BytecodeHead {
    /// Bytes of a whole one.
    pub const LENGTH: u64 = 16;

    /// Reads it from the first bytes of a file; `None` where they are too few to say anything.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        Some(Self { flags: word(4)?, mtime: word(8), size: word(12) })
    }

    /// Whether Python runs it without a look at its source.
    pub const fn is_unchecked(self) -> bool {
        self.flags & 0b11 == 0b01
    }

    /// Whether Python takes it for that of a source with this time, in seconds since 1970, and this size.
    pub fn fits(self, mtime: i64, size: u64) -> bool {
        self.flags & 1 == 0 && self.mtime.map(i64::from) == Some(mtime) && self.size.map(u64::from) == Some(size)
    }
}
