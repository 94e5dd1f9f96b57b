//! A member of a zip file, unpacked as its bytes arrive: local header, then stored or deflated data, compared with the
//! length and CRC-32 that the directory states.

use crc32fast::Hasher as Crc;
use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::{DecompressionError, Decompressor};

use crate::core::inspect::directory::{u16_at, u32_at};
use crate::core::inspect::{Flow, Malformed, Sink};
use crate::core::model::contents::{Member, Packing};

const LOCAL: u32 = 0x0403_4b50;
const LOCAL_LENGTH: usize = 30;

/// Unpacks one member into a sink.
pub struct Unpacker<'a> {
    member: &'a Member,
    inflate: Decompress,
    buffer: Vec<u8>,
    head: Vec<u8>,
    in_data: bool,
    crc: Crc,
    /// Packed bytes of the data still to come.
    left: u64,
    /// Whether the packed data has come to the end that it names itself.
    is_at_end: bool,
    /// Whether the sink has had enough.
    satisfied: bool,
}

impl<'a> Unpacker<'a> {
    /// For a member of a packing that wheels use.
    pub fn new(member: &'a Member) -> Result<Self, Malformed> {
        must_be_known(member)?;
        Ok(Self {
            member,
            inflate: Decompress::new(false),
            buffer: vec![0; 64 << 10],
            head: Vec::new(),
            in_data: false,
            crc: Crc::new(),
            left: member.compressed,
            is_at_end: member.packing == Packing::Stored,
            satisfied: false,
        })
    }

    /// Takes bytes from `member.offset` on, as they arrive.
    pub fn take(&mut self, mut bytes: &[u8], sink: &mut dyn Sink) -> Result<Flow, Malformed> {
        if !self.in_data {
            let missing = self.missing_head()?;
            let now = missing.min(bytes.len());
            self.head.extend_from_slice(&bytes[..now]);
            bytes = &bytes[now..];
            if self.missing_head()? > 0 {
                return if bytes.is_empty() { Ok(Flow::More) } else { self.take(bytes, sink) };
            }
            must_have_name(&self.head, self.member)?;
            self.in_data = true;
        }
        let now = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        self.left -= now as u64;
        let flow = match self.member.packing {
            Packing::Stored => self.give(&bytes[..now], sink)?,
            _ => self.inflate(&bytes[..now], sink)?,
        };
        self.satisfied |= flow == Flow::Enough;
        Ok(if self.left == 0 { Flow::Enough } else { flow })
    }

    /// To be called at the end. `true` where the whole member was read and agrees with the directory, `false` where the
    /// sink had enough before.
    pub fn finish(&self) -> Result<bool, Malformed> {
        let is_short = !self.in_data || self.left > 0 || !self.is_at_end || self.unpacked() < self.member.size;
        if is_short {
            return if self.satisfied { Ok(false) } else { Err(wrong(self.member, TRUNCATED)) };
        }
        if self.crc.clone().finalize() == self.member.crc32 { Ok(true) } else { Err(wrong(self.member, DAMAGED)) }
    }

    /// Bytes of the local header still to come.
    fn missing_head(&self) -> Result<usize, Malformed> {
        if self.head.len() < LOCAL_LENGTH {
            return Ok(LOCAL_LENGTH - self.head.len());
        }
        if u32_at(&self.head, 0) != Some(LOCAL) {
            return Err(no_header(self.member));
        }
        Ok(head_length(&self.head).saturating_sub(self.head.len()))
    }

    fn unpacked(&self) -> u64 {
        match self.member.packing {
            Packing::Stored => self.member.compressed - self.left,
            _ => self.inflate.total_out(),
        }
    }

    fn give(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> Result<Flow, Malformed> {
        self.crc.update(bytes);
        sink.take(bytes)
    }

    fn inflate(&mut self, mut packed: &[u8], sink: &mut dyn Sink) -> Result<Flow, Malformed> {
        loop {
            let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(packed, &mut self.buffer, FlushDecompress::None);
            let status = status.map_err(|_| {
                let here = self.member.offset + self.head.len() as u64 + before_in;
                Malformed::new(here, format!("`{}` {INVALID}", self.member.path))
            })?;
            let used = usize::try_from(self.inflate.total_in() - before_in).unwrap_or(packed.len());
            let made = usize::try_from(self.inflate.total_out() - before_out).unwrap_or(0);
            packed = &packed[used..];
            if self.inflate.total_out() > self.member.size {
                return Err(too_much(self.member));
            }
            self.crc.update(&self.buffer[..made]);
            self.is_at_end |= status == Status::StreamEnd;
            if sink.take(&self.buffer[..made])? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            if status == Status::StreamEnd || (made == 0 && (packed.is_empty() || used == 0)) {
                return Ok(Flow::More);
            }
        }
    }
}

/// Unpacks members whose bytes are all here: each at once, which takes three quarters of the time.
pub struct WholeUnpacker {
    inflate: Decompressor,
    buffer: Vec<u8>,
}

impl Default for WholeUnpacker {
    fn default() -> Self {
        Self { inflate: Decompressor::new(), buffer: Vec::new() }
    }
}

impl WholeUnpacker {
    /// What `member` unpacks to, of which `bytes` begin with its local header. It takes as much memory as the directory
    /// says that it has bytes.
    pub fn unpack<'b>(&'b mut self, member: &Member, bytes: &'b [u8]) -> Result<&'b [u8], Malformed> {
        must_be_known(member)?;
        if u32_at(bytes, 0) != Some(LOCAL) {
            return Err(no_header(member));
        }
        must_have_name(bytes, member)?;
        let start = head_length(bytes);
        let end = usize::try_from(member.compressed).ok().and_then(|count| start.checked_add(count));
        let packed = end.and_then(|end| bytes.get(start..end)).ok_or_else(|| wrong(member, TRUNCATED))?;
        let unpacked = if member.packing == Packing::Stored { packed } else { self.inflate(member, packed)? };
        if crc32fast::hash(unpacked) == member.crc32 { Ok(unpacked) } else { Err(wrong(member, DAMAGED)) }
    }

    fn inflate(&mut self, member: &Member, packed: &[u8]) -> Result<&[u8], Malformed> {
        let size = usize::try_from(member.size).map_err(|_| too_much(member))?;
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
        let buffer = &mut self.buffer[..size];
        match self.inflate.deflate_decompress(packed, buffer) {
            Ok(count) if count == size => Ok(buffer),
            Ok(_) => Err(wrong(member, TRUNCATED)),
            Err(DecompressionError::InsufficientSpace) => Err(too_much(member)),
            Err(DecompressionError::BadData) => Err(wrong(member, INVALID)),
        }
    }
}

const TRUNCATED: &str = "is truncated";
const DAMAGED: &str = "is damaged: its CRC-32 is wrong";
const INVALID: &str = "is damaged: its deflate data is invalid";

fn wrong(member: &Member, what: &str) -> Malformed {
    Malformed::new(member.offset, format!("`{}` {what}", member.path))
}

fn too_much(member: &Member) -> Malformed {
    wrong(member, &format!("unpacks to more than its {} bytes", member.size))
}

fn no_header(member: &Member) -> Malformed {
    Malformed::new(member.offset, format!("no local header of `{}` at the offset in the directory", member.path))
}

/// Fails for a packing that wheels do not use.
fn must_be_known(member: &Member) -> Result<(), Malformed> {
    match member.packing {
        Packing::Other(method) => Err(wrong(member, &format!("is compressed with method {method}, not deflate"))),
        _ => Ok(()),
    }
}

/// Where the data begins behind the local header in `head`: behind two fields, whose lengths the header has.
fn head_length(head: &[u8]) -> usize {
    let length = |at: usize| usize::from(u16_at(head, at).unwrap_or(0));
    LOCAL_LENGTH + length(26) + length(28)
}

/// Fails where the local header in `head` has another name than the directory.
fn must_have_name(head: &[u8], member: &Member) -> Result<(), Malformed> {
    let length = usize::from(u16_at(head, 26).unwrap_or(0));
    let name = head.get(LOCAL_LENGTH..LOCAL_LENGTH + length).unwrap_or_default();
    if String::from_utf8_lossy(name) == member.path {
        return Ok(());
    }
    Err(wrong(member, "has another name in its local header"))
}
