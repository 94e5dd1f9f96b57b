//! The body of a reply, as it was before the server compressed it. Gzip is what indexes send and all that is asked for:
//! a body that is encoded otherwise, cut off, or followed by something else is no answer.

use std::io::Write;

use flate2::write::MultiGzDecoder;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};

use crate::boot::index::headers::text_of;
use crate::boot::index::retry::Miss;

/// Takes a body as it arrives, up to a limit.
pub(super) struct Body {
    bytes: Bytes,
    limit: u64,
}

enum Bytes {
    Plain(Vec<u8>),
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
}

impl Body {
    /// For a reply with these headers, of at most `limit` bytes when it is unpacked.
    pub(super) fn new(headers: &HeaderMap, limit: u64) -> Result<Self, Miss> {
        let encoding = text_of(headers, CONTENT_ENCODING.as_str()).unwrap_or_default();
        let bytes = match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Bytes::Plain(Vec::new()),
            "gzip" | "x-gzip" => Bytes::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            _ => return Err(unasked(&encoding)),
        };
        Ok(Self { bytes, limit })
    }

    /// Takes the next piece. Returns how many bytes it unpacked to.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<usize, Miss> {
        let before = self.len();
        match &mut self.bytes {
            Bytes::Plain(bytes) => bytes.extend_from_slice(piece),
            Bytes::Gzip(decoder) => decoder.write_all(piece).map_err(|error| torn(&error))?,
        }
        if self.len() as u64 > self.limit {
            return Err(too_large(self.limit));
        }
        Ok(self.len() - before)
    }

    /// The whole body. Fails where the compressed one ended early.
    pub(super) fn finish(self) -> Result<Vec<u8>, Miss> {
        let bytes = match self.bytes {
            Bytes::Plain(bytes) => bytes,
            Bytes::Gzip(decoder) => decoder.finish().map_err(|error| torn(&error))?,
        };
        if bytes.len() as u64 > self.limit { Err(too_large(self.limit)) } else { Ok(bytes) }
    }

    fn len(&self) -> usize {
        match &self.bytes {
            Bytes::Plain(bytes) => bytes.len(),
            Bytes::Gzip(decoder) => decoder.get_ref().len(),
        }
    }
}

/// The body that arrives in `pieces` with this Content-Encoding, of at most `limit` bytes when it is unpacked; or why
/// it is none.
pub fn unpack<'a>(encoding: &str, pieces: impl IntoIterator<Item = &'a [u8]>, limit: u64) -> Result<Vec<u8>, String> {
    let mut headers = HeaderMap::new();
    if let Ok(value) = encoding.parse() {
        headers.insert(CONTENT_ENCODING, value);
    }
    let mut body = Body::new(&headers, limit).map_err(|miss| miss.why)?;
    for piece in pieces {
        body.take(piece).map_err(|miss| miss.why)?;
    }
    body.finish().map_err(|miss| miss.why)
}

/// Nothing for a reply whose body is the file itself.
pub(super) fn must_be_plain(headers: &HeaderMap) -> Result<(), Miss> {
    match text_of(headers, CONTENT_ENCODING.as_str()) {
        Some(encoding) if !encoding.trim().eq_ignore_ascii_case("identity") => Err(unasked(&encoding)),
        _ => Ok(()),
    }
}

/// The reply is larger than what is read of its kind.
pub(super) fn too_large(limit: u64) -> Miss {
    Miss::lasting(format!("the reply is larger than {limit} bytes"))
}

fn unasked(encoding: &str) -> Miss {
    Miss::lasting(format!("the reply has the encoding `{}`, which was not requested", encoding.escape_debug()))
}

fn torn(error: &std::io::Error) -> Miss {
    Miss { again: true, ..Miss::lasting(format!("the compressed reply is damaged: {error}")) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::unpack;

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).expect("memory");
        encoder.finish().expect("memory")
    }

    fn read(encoding: &str, body: &[u8], limit: u64) -> Result<String, String> {
        unpack(encoding, body.chunks(7), limit).map(|bytes| String::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn a_body_is_read_whole_or_not_at_all() {
        assert_eq!(read("", b"page", 9), Ok("page".into()));
        assert_eq!(read("gzip", &packed("page"), 9), Ok("page".into()));
        let two = [packed("pa"), packed("ge")].concat();
        assert_eq!(read("x-gzip", &two, 9), Ok("page".into()), "a second member is part of the body");
        assert!(read("gzip", &packed("page")[..12], 9).is_err_and(|why| why.contains("damaged")));
        assert!(read("gzip", &[packed("page"), b"more and more".to_vec()].concat(), 9).is_err());
        assert!(read("br", b"page", 9).is_err_and(|why| why.contains("not requested")));
        assert!(read("gzip, gzip", &packed("page"), 9).is_err());
        assert!(read("gzip", &packed(&"x".repeat(10)), 9).is_err_and(|why| why.contains("larger")));
        assert!(read("", &[b'x'; 10], 9).is_err());
    }
}
