//! Digests of other kinds than SHA-256 that an index may state of a file (PEP 503, PEP 691). Locks have SHA-256; of a
//! file for which an index has none, this is what can be compared when it is read.

use serde::{Deserialize, Serialize};
use sha2::digest::DynDigest;

/// The kinds that pip compares, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DigestKind {
    Sha512,
    Sha384,
    Sha224,
    Sha1,
    Md5,
}

/// A digest with its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    pub kind: DigestKind,
    /// In lower-case hex.
    pub hex: String,
}

/// One under construction.
pub struct Taken {
    stated: Stated,
    hasher: Box<dyn DynDigest + Send>,
}

impl DigestKind {
    /// As pages write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sha512 => "sha512",
            Self::Sha384 => "sha384",
            Self::Sha224 => "sha224",
            Self::Sha1 => "sha1",
            Self::Md5 => "md5",
        }
    }

    /// Whether files can be made that have the same digest of this kind.
    pub const fn is_weak(self) -> bool {
        matches!(self, Self::Sha1 | Self::Md5)
    }
}

impl Stated {
    /// The strongest of those that `of` gives.
    pub fn strongest(of: impl Fn(DigestKind) -> Option<String>) -> Option<Self> {
        let all = [DigestKind::Sha512, DigestKind::Sha384, DigestKind::Sha224, DigestKind::Sha1, DigestKind::Md5];
        all.into_iter().find_map(|kind| Some(Self { kind, hex: of(kind)?.to_ascii_lowercase() }))
    }

    /// Begins to take it of a file.
    pub fn take(&self) -> Taken {
        let hasher: Box<dyn DynDigest + Send> = match self.kind {
            DigestKind::Sha512 => Box::new(sha2::Sha512::default()),
            DigestKind::Sha384 => Box::new(sha2::Sha384::default()),
            DigestKind::Sha224 => Box::new(sha2::Sha224::default()),
            DigestKind::Sha1 => Box::new(sha1::Sha1::default()),
            DigestKind::Md5 => Box::new(md5::Md5::default()),
        };
        Taken { stated: self.clone(), hasher }
    }
}

impl Taken {
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
    }

    /// Whether it is what was stated; the error says what each is.
    pub fn compare(self) -> Result<(), String> {
        let Stated { kind, hex } = self.stated;
        let got = data_encoding::HEXLOWER.encode(&self.hasher.finalize());
        if got == hex { Ok(()) } else { Err(format!("expected {} {hex}, got {got}", kind.as_str())) }
    }
}

#[cfg(test)]
mod tests {
    use super::{DigestKind, Stated};

    #[test]
    fn each_kind_is_taken_as_the_standards_say() {
        for (kind, hex) in [
            (DigestKind::Md5, "900150983cd24fb0d6963f7d28e17f72"),
            (DigestKind::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (DigestKind::Sha224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        ] {
            let stated = Stated::strongest(|one| (one == kind).then(|| hex.to_ascii_uppercase()));
            let mut taken = stated.expect("a digest").take();
            taken.update(b"ab");
            taken.update(b"c");
            assert_eq!(taken.compare(), Ok(()), "{kind:?}");
        }
        let both = Stated::strongest(|kind| (kind != DigestKind::Sha224).then(|| "00".to_owned())).expect("a digest");
        assert_eq!(both.kind, DigestKind::Sha512);
        assert!(both.take().compare().expect_err("another").starts_with("expected sha512 00, got cf83e1357eef"));
    }
}
