//! The CUDA fat binaries of an ELF library, found and read in one pass over its bytes.
//!
//! NVIDIA does not document the layout; this is what 17 libraries and files with known contents agree on, checked
//! against `cuobjdump` (2026-11-21, `tests/fatbin/`). A container begins with the magic, version and header length, and
//! holds entries whose headers are never compressed, so no payload is looked at:
//!
//! ```text
//! container  u32 0xBA55ED50  u16 1  u16 16  u64 size of the entries
//! entry  +0 u16 kind: 1 PTX, 2 cubin, 8 LTO IR   +4 u32 header length   +8 u64 payload length
//!        +24 u16 minor, +26 u16 major: the PTX ISA   +28 u32 architecture   +40 u64 flags: 0x100000 `a`, 0x200000 `f`
//! ```
//!
//! Deflate has no random access and section headers stand at the end, so containers are looked for where they must
//! begin: at multiples of 8. A magic with version and header length behind it is a container; what then makes no sense
//! is an error.

use std::collections::BTreeMap;

use crate::core::inspect::directory::{u16_at, u32_at, u64_at};
use crate::core::inspect::{Flow, Malformed, Sink, elf};
use crate::core::model::{Architecture, ComputeCapability, CudaVersion};

const CONTAINER: [u8; 8] = [0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
const CONTAINER_HEADER: u64 = 16;
/// As much of an entry's header as is looked at; the shortest seen is as long.
const ENTRY_HEADER: u64 = 64;
const LONGEST_HEADER: u64 = 4096;

/// What is wrong with a file that is something else altogether.
pub(super) const NO_LIBRARY: &str = "neither a 64-bit ELF file for a machine with CUDA nor a fat binary";

const KIND_PTX: u16 = 1;
const KIND_CUBIN: u16 = 2;
const KIND_LTO: u16 = 8;
const FLAG_A: u64 = 0x10_0000;
const FLAG_F: u64 = 0x20_0000;

/// What the fat binaries hold: how many entries for each architecture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    pub sass: BTreeMap<Architecture, u64>,
    pub ptx: BTreeMap<Architecture, u64>,
    /// Link-time IR, by the number in `lto_75`: runs nowhere before a linker has been over it.
    pub lto: BTreeMap<u32, u64>,
    /// The newest ISA of the PTX: what a driver's compiler must know.
    pub ptx_isa: Option<CudaVersion>,
    /// Containers that hold SASS or PTX.
    pub containers: usize,
}

/// Reads a library as it arrives.
#[derive(Debug)]
pub struct Scanner {
    /// Length of the whole file.
    total: u64,
    /// Containers with code after which nothing more is wanted.
    enough: Option<usize>,
    state: State,
    /// Bytes that arrived and are not done with; `at` is the offset of the first.
    held: Vec<u8>,
    at: u64,
    code: Code,
    /// Whether the container being read has SASS or PTX.
    has_code: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Start,
    Search,
    /// Between entries of a container that ends at `end`.
    Entries {
        end: u64,
    },
    /// Nothing of interest before `to`; then the container goes on to `end`, or is over.
    Skip {
        to: u64,
        end: Option<u64>,
    },
    Done,
}

impl Scanner {
    /// For a file of `total` bytes; stops after `enough` containers with code, or reads all.
    pub fn new(total: u64, enough: Option<usize>) -> Self {
        Self { total, enough, state: State::Start, held: Vec::new(), at: 0, code: Code::default(), has_code: false }
    }

    /// What was found. Fails where the file ends inside a container.
    pub fn finish(self) -> Result<Code, Malformed> {
        match self.state {
            State::Entries { end } | State::Skip { to: end, .. } if self.at + (self.held.len() as u64) < end => {
                let here = self.at + self.held.len() as u64;
                Err(Malformed::new(here, format!("the file is truncated: a fat binary extends to byte {end}")))
            }
            _ => Ok(self.code),
        }
    }

    /// What was found so far.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// One step with the bytes at hand; `false` when more are needed.
    fn step(&mut self) -> Result<bool, Malformed> {
        match self.state {
            State::Start => self.start(),
            State::Search => Ok(self.search()),
            State::Skip { to, end } => {
                let skipped = (to - self.at).min(self.held.len() as u64);
                self.forget(skipped);
                if self.at == to {
                    self.state = end.map_or(State::Search, |end| State::Entries { end });
                }
                Ok(self.at == to)
            }
            State::Entries { end } => self.entry(end),
            State::Done => Ok(false),
        }
    }

    fn start(&mut self) -> Result<bool, Malformed> {
        let enough = self.held.len() >= elf::HEAD || self.at + self.held.len() as u64 >= self.total;
        if !enough {
            return Ok(false);
        }
        if self.held.starts_with(&CONTAINER) || elf::is_elf(&self.held) {
            self.state = State::Search;
            return Ok(true);
        }
        Err(Malformed::new(0, NO_LIBRARY))
    }

    /// Goes on to the next container. Offsets are kept at multiples of 8.
    fn search(&mut self) -> bool {
        let found = self.held.chunks_exact(8).position(|word| word == CONTAINER);
        let Some(position) = found else {
            self.forget(self.held.len() as u64 / 8 * 8);
            return false;
        };
        self.forget(position as u64 * 8);
        let Some(size) = u64_at(&self.held, 8) else {
            return false;
        };
        let start = self.at;
        // Wrong sizes are reported where the entries are read.
        let end = start.saturating_add(CONTAINER_HEADER).saturating_add(size);
        self.forget(CONTAINER_HEADER);
        self.has_code = false;
        self.state = State::Entries { end };
        true
    }

    fn entry(&mut self, end: u64) -> Result<bool, Malformed> {
        let fail = |offset: u64, what: String| Err(Malformed::new(offset, what));
        if end > self.total {
            return fail(
                self.at,
                format!("a fat binary of this file ends at byte {end}, but the file at {}", self.total),
            );
        }
        if !end.is_multiple_of(8) {
            return fail(self.at, format!("a fat binary ends at byte {end}, which is not a multiple of 8"));
        }
        if self.at >= end {
            self.container_done(end);
            return Ok(true);
        }
        if end - self.at < ENTRY_HEADER {
            return fail(self.at, "the last entry of a fat binary is truncated".to_owned());
        }
        if (self.held.len() as u64) < ENTRY_HEADER {
            return Ok(false);
        }
        let Some(entry) = FatbinEntry::read(&self.held) else {
            return Ok(false);
        };
        if entry.header < ENTRY_HEADER || entry.header > LONGEST_HEADER {
            return fail(self.at + 4, format!("an entry header of {} bytes in a fat binary", entry.header));
        }
        let next = self.at.saturating_add(entry.header).saturating_add(entry.payload);
        if next > end {
            return fail(self.at + 8, format!("an entry extends to byte {next}, but its fat binary to {end}"));
        }
        self.note(&entry)?;
        if next == end {
            self.container_done(end);
        } else {
            self.state = State::Skip { to: next, end: Some(end) };
        }
        Ok(true)
    }

    /// The container is read; its last payload need not arrive.
    fn container_done(&mut self, end: u64) {
        self.code.containers += usize::from(self.has_code);
        let done = self.enough.is_some_and(|enough| self.code.containers >= enough);
        self.state = if done { State::Done } else { State::Skip { to: end, end: None } };
    }

    fn note(&mut self, entry: &FatbinEntry) -> Result<(), Malformed> {
        if !(10..1000).contains(&entry.architecture) {
            return Err(Malformed::new(self.at + 28, format!("architecture {} in a fat binary", entry.architecture)));
        }
        match entry.kind {
            KIND_PTX => {
                *self.code.ptx.entry(entry.architecture(true)).or_default() += 1;
                self.code.ptx_isa = self.code.ptx_isa.max(Some(entry.isa));
                self.has_code = true;
            }
            KIND_CUBIN => {
                *self.code.sass.entry(entry.architecture(false)).or_default() += 1;
                self.has_code = true;
            }
            KIND_LTO => *self.code.lto.entry(entry.architecture).or_default() += 1,
            // Kinds yet to come hold nothing that we could judge.
            _ => {}
        }
        Ok(())
    }

    fn forget(&mut self, count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.held.len());
        self.held.drain(..count);
        self.at += count as u64;
    }
}

impl Sink for Scanner {
    fn take(&mut self, mut bytes: &[u8]) -> Result<Flow, Malformed> {
        // A long skip needs no copy.
        if let State::Skip { to, .. } = self.state
            && self.held.is_empty()
        {
            let skipped = usize::try_from(to - self.at).unwrap_or(usize::MAX).min(bytes.len());
            self.at += skipped as u64;
            bytes = &bytes[skipped..];
        }
        self.held.extend_from_slice(bytes);
        while self.step()? {}
        Ok(if matches!(self.state, State::Done) { Flow::Enough } else { Flow::More })
    }
}

/// The fields of one entry that are of interest.
struct FatbinEntry {
    kind: u16,
    header: u64,
    payload: u64,
    isa: CudaVersion,
    architecture: u32,
    flags: u64,
}

impl FatbinEntry {
    fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            kind: u16_at(bytes, 0)?,
            header: u64::from(u32_at(bytes, 4)?),
            payload: u64_at(bytes, 8)?,
            isa: CudaVersion { major: u32::from(u16_at(bytes, 26)?), minor: u32::from(u16_at(bytes, 24)?) },
            architecture: u32_at(bytes, 28)?,
            flags: u64_at(bytes, 40)?,
        })
    }

    fn architecture(&self, ptx: bool) -> Architecture {
        let capability = ComputeCapability { major: self.architecture / 10, minor: self.architecture % 10 };
        let suffix = match (self.flags & FLAG_A != 0, self.flags & FLAG_F != 0) {
            (true, _) => Some('a'),
            (false, true) => Some('f'),
            (false, false) => None,
        };
        Architecture { ptx, capability, suffix }
    }
}
