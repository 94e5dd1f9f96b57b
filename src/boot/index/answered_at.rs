//! What answers say of this machine's clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{AGE, DATE, HeaderMap};

use crate::boot::index::headers::text_of;
use crate::core::host::Paths;
use crate::core::host::clock::ClockRecord;

/// Keeps what the first answer says.
#[derive(Debug)]
pub(super) struct Clock {
    paths: Paths,
    /// Seconds since 1970, and the moment at which they were read.
    began: (u64, Instant),
    noted: AtomicBool,
}

impl Clock {
    pub(super) fn new(paths: &Paths, now: u64) -> Self {
        Self { paths: paths.clone(), began: (now, Instant::now()), noted: AtomicBool::new(false) }
    }

    /// Of the first answer that says when it was sent. It is for `doctor` alone: where it can't be kept, nothing is
    /// lost.
    pub(super) fn note(&self, headers: &HeaderMap) {
        let Some(sent) = sent(headers) else { return };
        if !self.noted.swap(true, Ordering::Relaxed)
            && let Some(record) =
                ClockRecord::of_answer(sent, self.began.0 + self.began.1.elapsed().as_secs(), &self.paths)
        {
            drop(record.keep(&self.paths));
        }
    }
}

/// When an answer was sent, in seconds since 1970: `Date`, and the time that it has been in caches since (RFC 9110 and
/// 9111).
fn sent(headers: &HeaderMap) -> Option<i64> {
    let date = DateTimeParser::new().parse_timestamp(text_of(headers, DATE.as_str())?).ok()?;
    let age: i64 = text_of(headers, AGE.as_str()).and_then(|text| text.trim().parse().ok()).unwrap_or_default();
    date.as_second().checked_add(age.clamp(0, i64::from(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use reqwest::header::{AGE, DATE, HeaderMap, HeaderValue};

    use super::sent;

    #[test]
    fn an_answer_from_a_cache_is_as_old_as_it_says() {
        let mut headers = HeaderMap::new();
        assert_eq!(sent(&headers), None);
        headers.insert(DATE, HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(sent(&headers), Some(784_111_777));
        headers.insert(AGE, HeaderValue::from_static("600"));
        assert_eq!(sent(&headers), Some(784_112_377));
        headers.insert(AGE, HeaderValue::from_static("-9223372036854775808"));
        assert_eq!(sent(&headers), Some(784_111_777));
        headers.insert(DATE, HeaderValue::from_static("yesterday"));
        assert_eq!(sent(&headers), None);
    }
}
