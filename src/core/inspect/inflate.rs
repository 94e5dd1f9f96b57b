//! A member of a zip file, unpacked as its bytes arrive: local header, then stored or deflated data, compared with the
//! length and CRC-32 that the directory states.

use crc32fast::Hasher as Crc;
use flate2::{Decompress, FlushDecompress, Status};

use crate::core::inspect::directory::{u16_at, u32_at};
use crate::core::inspect::{Flow, Malformed, Sink};
use crate::core::model::contents::{Member, Packing};

const LOCAL: u32 = 0x0403_4b50;
const LOCAL_LENGTH: usize = 30;

/// What members are unpacked with, one after the other.
pub struct Engine {
    inflate: Decompress,
    buffer: Vec<u8>,
    head: Vec<u8>,
}

impl Default for Engine {
    fn default() -> Self {
        Self { inflate: Decompress::new(false), buffer: vec![0; 64 << 10], head: Vec::new() }
    }
}

/// Unpacks one member into a sink.
pub struct Unpacker<'a> {
    member: &'a Member,
    engine: Engine,
    in_data: bool,
    crc: Crc,
    /// Packed bytes of the data still to come.
    left: u64,
    /// Whether the sink has had enough.
    satisfied: bool,
}

impl<'a> Unpacker<'a> {
    /// For a member of a packing that wheels use.
    pub fn new(member: &'a Member) -> Result<Self, Malformed> {
        Self::with(member, Engine::default())
    }

    /// The same, with an engine that others were unpacked with.
    pub fn with(member: &'a Member, mut engine: Engine) -> Result<Self, Malformed> {
        if let Packing::Other(method) = member.packing {
            return Err(Malformed::new(
                member.offset,
                format!("`{}` is compressed with method {method}, not deflate", member.path),
            ));
        }
        engine.inflate.reset(false);
        engine.head.clear();
        Ok(Self { member, engine, in_data: false, crc: Crc::new(), left: member.compressed, satisfied: false })
    }

    /// Takes bytes from `member.offset` on, as they arrive.
    pub fn take(&mut self, mut bytes: &[u8], sink: &mut dyn Sink) -> Result<Flow, Malformed> {
        if !self.in_data {
            let missing = self.missing_head()?;
            let now = missing.min(bytes.len());
            self.engine.head.extend_from_slice(&bytes[..now]);
            bytes = &bytes[now..];
            if self.missing_head()? > 0 {
                return if bytes.is_empty() { Ok(Flow::More) } else { self.take(bytes, sink) };
            }
            self.is_same_name()?;
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
        let fail = |what: &str| Err(Malformed::new(self.member.offset, format!("`{}` {what}", self.member.path)));
        if self.left > 0 || self.unpacked() < self.member.size {
            return if self.satisfied { Ok(false) } else { fail("is truncated") };
        }
        if self.crc.clone().finalize() == self.member.crc32 {
            Ok(true)
        } else {
            fail("is damaged: its CRC-32 is wrong")
        }
    }

    /// What the next one can be unpacked with.
    pub fn into_engine(self) -> Engine {
        self.engine
    }

    /// Bytes of the local header still to come.
    fn missing_head(&self) -> Result<usize, Malformed> {
        if self.engine.head.len() < LOCAL_LENGTH {
            return Ok(LOCAL_LENGTH - self.engine.head.len());
        }
        if u32_at(&self.engine.head, 0) != Some(LOCAL) {
            let what = format!("no local header of `{}` at the offset in the directory", self.member.path);
            return Err(Malformed::new(self.member.offset, what));
        }
        let length = |at: usize| usize::from(u16_at(&self.engine.head, at).unwrap_or(0));
        Ok((LOCAL_LENGTH + length(26) + length(28)).saturating_sub(self.engine.head.len()))
    }

    /// Fails where the local header has another name than the directory.
    fn is_same_name(&self) -> Result<(), Malformed> {
        let length = usize::from(u16_at(&self.engine.head, 26).unwrap_or(0));
        let name = self.engine.head.get(LOCAL_LENGTH..LOCAL_LENGTH + length).unwrap_or_default();
        if String::from_utf8_lossy(name) == self.member.path {
            return Ok(());
        }
        let what = format!("`{}` has another name in its local header", self.member.path);
        Err(Malformed::new(self.member.offset, what))
    }

    fn unpacked(&self) -> u64 {
        match self.member.packing {
            Packing::Stored => self.member.compressed - self.left,
            _ => self.engine.inflate.total_out(),
        }
    }

    fn give(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> Result<Flow, Malformed> {
        self.crc.update(bytes);
        sink.take(bytes)
    }

    fn inflate(&mut self, mut packed: &[u8], sink: &mut dyn Sink) -> Result<Flow, Malformed> {
        loop {
            let (before_in, before_out) = (self.engine.inflate.total_in(), self.engine.inflate.total_out());
            let status = self.engine.inflate.decompress(packed, &mut self.engine.buffer, FlushDecompress::None);
            let status = status.map_err(|_| {
                let here = self.member.offset + self.engine.head.len() as u64 + before_in;
                Malformed::new(here, format!("`{}` is damaged: its deflate data is invalid", self.member.path))
            })?;
            let used = usize::try_from(self.engine.inflate.total_in() - before_in).unwrap_or(packed.len());
            let made = usize::try_from(self.engine.inflate.total_out() - before_out).unwrap_or(0);
            packed = &packed[used..];
            if self.engine.inflate.total_out() > self.member.size {
                let what = format!("`{}` unpacks to more than its {} bytes", self.member.path, self.member.size);
                return Err(Malformed::new(self.member.offset, what));
            }
            self.crc.update(&self.engine.buffer[..made]);
            if sink.take(&self.engine.buffer[..made])? == Flow::Enough {
                return Ok(Flow::Enough);
            }
            if status == Status::StreamEnd || (made == 0 && (packed.is_empty() || used == 0)) {
                return Ok(Flow::More);
            }
        }
    }
}
