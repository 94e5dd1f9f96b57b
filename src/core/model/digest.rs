//! SHA-256 digests, as index pages, locks and markers write them: 64 lower-case hex digits. The cache keeps the 32
//! bytes.

use std::cell::RefCell;
use std::fmt::{Debug, Display, Formatter, Result as FmtResult};
use std::io::{Read, Result as IoResult};
use std::str::FromStr;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Digest;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The digest of all that `reader` yields, and how many bytes that was.
    pub fn of_reader(reader: &mut impl Read) -> IoResult<(Self, u64)> {
        // Thousands of small files are read one after the other: the buffer stays.
        thread_local!(static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; 1 << 17]));
        let mut hasher = Hasher::default();
        let mut total = 0;
        BUFFER.with_borrow_mut(|buffer| {
            loop {
                let count = reader.read(buffer)?;
                if count == 0 {
                    return Ok((hasher.finish(), total));
                }
                hasher.update(&buffer[..count]);
                total += count as u64;
            }
        })
    }

    /// From the form that RECORD uses: URL-safe base64 without padding. `None` where it is not 32 bytes of that.
    pub fn from_record(text: &str) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }

    /// The form that RECORD uses.
    pub fn to_record(&self) -> String {
        BASE64URL_NOPAD.encode(&self.0)
    }

    /// The first four bytes.
    pub fn prefix(&self) -> u32 {
        let [a, b, c, d, ..] = self.0;
        u32::from_be_bytes([a, b, c, d])
    }

    /// The first five bytes, as a number.
    pub fn first_40_bits(&self) -> u64 {
        self.0.iter().take(5).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// The first twelve digits, for people.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

/// A digest under construction.
#[derive(Default)]
pub struct Hasher(sha2::Sha256);

impl Hasher {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into())
    }
}

impl FromStr for Sha256 {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        HEXLOWER_PERMISSIVE
            .decode(text.as_bytes())
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not a sha256 of 64 hex digits"))
    }
}

impl Display for Sha256 {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl Debug for Sha256 {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        Display::fmt(self, f)
    }
}

impl Serialize for Sha256 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for Sha256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return String::deserialize(deserializer)?.parse().map_err(D::Error::custom);
        }
        <[u8; 32]>::deserialize(deserializer).map(Self)
    }
}
