//! Index pages, JSON and HTML: whatever the text, a listing or an error; what is offered leads to a server, fits its
//! own file name, and is sorted.

#![no_main]

use std::collections::BTreeSet;

use colab_boot::boot::index::{Filter, read_page};
use colab_boot::core::model::day::moment_in;
use colab_boot::core::model::{Libc, PythonFacts, Tags};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((kind, body)) = data.split_first() else { return };
    let Ok(body) = std::str::from_utf8(body) else { return };
    let python = PythonFacts {
        version: "3.12.1".parse().expect("a version"),
        architecture: "x86_64".into(),
        libc: Libc::Glibc(2, 35),
        free_threaded: false,
    };
    let package = "demo".parse().expect("a name");
    let buildable = if kind & 2 == 0 { BTreeSet::new() } else { BTreeSet::from([Clone::clone(&package)]) };
    let as_of = moment_in("2026-01-01").filter(|_| kind & 4 != 0);
    let filter = Filter { tags: Tags::of(&python), python, as_of, buildable };
    let address = "https://index.test/simple/demo/".parse().expect("an address");
    let form = if kind & 1 == 0 { "application/vnd.pypi.simple.v1+json" } else { "text/html" };
    let Ok(listing) = read_page(form, body, &address, &package, &filter) else { return };
    for candidate in &listing.candidates {
        assert!(candidate.url().is_ok_and(|url| matches!(url.scheme(), "http" | "https")), "{}", candidate.address);
        assert!(!candidate.is_source() || kind & 2 != 0);
    }
    assert!(listing.candidates.is_sorted_by(|a, b| a.version > b.version));
    assert!(listing.rejected.iter().all(|(version, _)| listing.get(version).is_none()));
});
