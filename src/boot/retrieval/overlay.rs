//! Newer rows for the matrix without a newer program: a file, or an address with the digest it must have.

use std::time::Duration;

use url::Url;

use crate::boot::index::{Client, Credentials, Limits, fetch_document, redact};
use crate::core::diag::Failure;
use crate::core::host::{Paths, files};
use crate::core::log::Log;
use crate::core::matrix::Matrix;
use crate::core::model::Sha256;

/// What one text may take.
const LIMITS: Limits = Limits { connections: 1, time: Duration::from_mins(5) };

/// The bundled matrix, with the rows of `overlay` in place of its own where there is one.
pub fn matrix(overlay: Option<&str>, paths: &Paths, log: &Log) -> Result<Matrix, Failure> {
    let bundled = Matrix::bundled().map_err(Failure::bug)?;
    let Some(place) = overlay else {
        return Ok(bundled);
    };
    let scheme = place.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    let text = if let Some("http" | "https") = scheme.as_deref() {
        from_address(place, paths, log)?
    } else {
        files::read_text(std::path::Path::new(place), "matrix overlay")?
    };
    bundled.with_overlay(&text).map_err(|error| {
        Failure::input(format!("`{}` is not an overlay for the matrix", shown(place)))
            .cause(error)
            .help("docs/matrix.md lists the tables that an overlay may hold")
    })
}

fn shown(place: &str) -> String {
    Url::parse(place).map_or_else(|_| place.to_owned(), |url| redact(&url))
}

/// Fetched once: the digest names the text, so the copy in the cache never ages.
fn from_address(place: &str, paths: &Paths, log: &Log) -> Result<String, Failure> {
    let mut url = Url::parse(place).map_err(|error| Failure::input("--matrix").because(&error))?;
    let digest: Sha256 =
        url.fragment().and_then(|text| text.strip_prefix("sha256=")?.parse().ok()).ok_or_else(|| {
            Failure::input(format!("--matrix: `{}` does not end in `#sha256=` and 64 hex digits", shown(place)))
                .help("a URL needs the digest of its content")
        })?;
    url.set_fragment(None);
    let kept = paths.cache.join("overlays").join(digest.to_string());
    let fits = |text: &String| Sha256::of(text.as_bytes()) == digest;
    if let Some(text) = files::read_optional(&kept).ok().flatten().filter(fits) {
        return Ok(text);
    }
    let client = Client::new(Credentials::default(), LIMITS, log.clone())?;
    let text = fetch_document(&client, &url)?;
    if !fits(&text) {
        let got = Sha256::of(text.as_bytes());
        return Err(Failure::answer(format!("`{}` does not match its digest", redact(&url)))
            .cause(format!("expected sha256 {digest}, got {got}"))
            .help("if the overlay was changed on purpose, review it and use its new digest"));
    }
    // A cache that can't be written costs a request next time.
    let _ = files::write_whole_fast(&kept, text.as_bytes());
    Ok(text)
}
