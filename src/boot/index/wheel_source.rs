//! Where a wheel is read from: a file, a download, or the store.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read, Result as IoResult, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::boot::index::arrival::Arrival;
use crate::boot::store::StoredWheel;
use crate::core::diag::Failure;
use crate::core::host::files;

/// Where a wheel is read from.
#[derive(Clone)]
pub enum WheelSource {
    /// A file that is here.
    Here(PathBuf),
    /// A file that is being downloaded.
    Arriving(Arc<Arrival>),
    /// Unpacked files.
    Stored(Arc<StoredWheel>),
}

impl WheelSource {
    /// Where it lies, or would lie; of what is stored, the folder.
    pub fn path(&self) -> &Path {
        match self {
            Self::Here(path) => path,
            Self::Arriving(arrival) => arrival.path(),
            Self::Stored(stored) => stored.folder(),
        }
    }

    /// Opens it; waits for a download whose length is not known. Of what is stored, no byte can be read.
    pub fn open(&self) -> IoResult<OpenWheel> {
        match self {
            Self::Here(path) => {
                let file = files::open(path)?;
                let size = file.metadata()?.len();
                Ok(OpenWheel { bytes: WheelBytes::Here(file), size, at: 0 })
            }
            Self::Arriving(arrival) => {
                Ok(OpenWheel { size: arrival.size()?, bytes: WheelBytes::Arriving(Arc::clone(arrival)), at: 0 })
            }
            Self::Stored(stored) => Ok(OpenWheel { size: 0, bytes: WheelBytes::Stored(Arc::clone(stored)), at: 0 }),
        }
    }
}

/// A wheel that is open for reading: by [`OpenWheel::read_at`], which waits for what arrives; by [`Read`], which asks
/// for it out of turn.
pub struct OpenWheel {
    bytes: WheelBytes,
    size: u64,
    at: u64,
}

enum WheelBytes {
    Here(File),
    Arriving(Arc<Arrival>),
    Stored(Arc<StoredWheel>),
}

impl OpenWheel {
    /// How many bytes the whole has.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The file, where it is here and somebody else's.
    pub const fn file(&self) -> Option<&File> {
        match &self.bytes {
            WheelBytes::Here(file) => Some(file),
            WheelBytes::Arriving(_) | WheelBytes::Stored(_) => None,
        }
    }

    /// Its files in the store.
    pub fn stored(&self) -> Option<&StoredWheel> {
        match &self.bytes {
            WheelBytes::Stored(stored) => Some(stored),
            WheelBytes::Here(_) | WheelBytes::Arriving(_) => None,
        }
    }

    /// The download that it is.
    pub fn arrival(&self) -> Option<&Arrival> {
        match &self.bytes {
            WheelBytes::Here(_) | WheelBytes::Stored(_) => None,
            WheelBytes::Arriving(arrival) => Some(arrival),
        }
    }

    /// Whether `span` can be read without waiting.
    pub fn has(&self, span: &Range<u64>) -> bool {
        self.arrival().is_none_or(|arrival| arrival.has(span))
    }

    /// A reader has read `span`, and no reader needs it again.
    pub fn was_read(&self, span: Range<u64>) {
        if let Some(arrival) = self.arrival() {
            arrival.was_read(span);
        }
    }

    /// Reads what is at `at`: at least one byte, but at the end.
    pub fn read_at(&self, buffer: &mut [u8], at: u64) -> IoResult<usize> {
        match &self.bytes {
            WheelBytes::Here(file) => file.read_at(buffer, at),
            WheelBytes::Arriving(_) if at >= self.size => Ok(0),
            WheelBytes::Arriving(arrival) => arrival.read_at(buffer, at),
            WheelBytes::Stored(_) => Ok(0),
        }
    }

    /// Fills `buffer` with what is at `at`.
    pub fn read_exact_at(&self, mut buffer: &mut [u8], mut at: u64) -> IoResult<()> {
        while !buffer.is_empty() {
            match self.read_at(buffer, at) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    at += count as u64;
                    buffer = &mut buffer[count..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Read for OpenWheel {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        let count = match &self.bytes {
            WheelBytes::Here(file) => file.read_at(buffer, self.at)?,
            WheelBytes::Arriving(arrival) => arrival.read_now(buffer, self.at)?,
            WheelBytes::Stored(_) => 0,
        };
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for OpenWheel {
    fn seek(&mut self, to: SeekFrom) -> IoResult<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(way) => self.size.checked_add_signed(way),
            SeekFrom::Current(way) => self.at.checked_add_signed(way),
        };
        self.at = place.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// The failure in an error of reading a download.
pub fn failure_in(error: &IoError) -> Option<Failure> {
    error.get_ref()?.downcast_ref::<Failure>().cloned()
}
