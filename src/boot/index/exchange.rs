//! One request and the reply to it.

use std::ops::Range;

use reqwest::StatusCode;
use url::Url;

/// Which bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ByteSpan {
    /// So many at its end.
    Last(u64),
    Of(Range<u64>),
    /// All from there on.
    From(u64),
}

impl ByteSpan {
    pub(super) fn header(&self) -> String {
        match self {
            Self::Last(count) => format!("bytes=-{count}"),
            Self::From(start) => format!("bytes={start}-"),
            Self::Of(range) => format!("bytes={}-{}", range.start, range.end.saturating_sub(1)),
        }
    }
}

/// One request.
#[derive(Clone, Debug)]
pub(super) struct HttpRequest<'a> {
    pub url: &'a Url,
    pub accept: Option<&'a str>,
    pub part: Option<ByteSpan>,
    pub validator: Option<&'a str>,
    /// The most bytes the body may have.
    pub limit: u64,
}

/// One reply, read to its end.
#[derive(Debug)]
pub(super) struct Reply {
    pub status: StatusCode,
    pub url: Url,
    pub content_type: String,
    pub etag: Option<String>,
    pub max_age: Option<u64>,
    /// Of a partial reply: where it starts, and the length of the whole.
    pub part: Option<(u64, u64)>,
    pub body: Vec<u8>,
}
