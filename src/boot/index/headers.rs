//! Values of HTTP headers.

use reqwest::header::HeaderMap;

/// The value of `name`, where it is text.
pub(super) fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// `public, max-age=600` → 600 seconds.
pub(super) fn max_age(cache_control: &str) -> Option<u64> {
    cache_control.split(',').find_map(|part| part.trim().strip_prefix("max-age=")?.parse().ok())
}

/// `bytes 100-199/1000` → (100, 1000).
pub(super) fn part(content_range: &str) -> Option<(u64, u64)> {
    let (range, total) = content_range.strip_prefix("bytes ")?.split_once('/')?;
    let (start, end) = range.split_once('-')?;
    let (start, end, total): (u64, u64, u64) = (start.parse().ok()?, end.parse().ok()?, total.parse().ok()?);
    (start <= end && end < total).then_some((start, total))
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn ranges_that_cannot_be_are_no_ranges() {
        assert_eq!(part("bytes 100-199/1000"), Some((100, 1000)));
        for wrong in [
            "bytes 18446744073709551615-5/10",
            "bytes 5-4/10",
            "bytes 5-10/10",
            "bytes */10",
            "bytes 0-4/*",
            "lines 0-4/10",
        ] {
            assert_eq!(part(wrong), None, "{wrong}");
        }
    }
}
