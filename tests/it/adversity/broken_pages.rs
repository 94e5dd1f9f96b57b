//! Replies that are no index page, though they look like one: refused, never read as a page that lacks some of its
//! files.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::http::{Asked, Reply, serve};
use crate::support::test::{Outcome, Test};

const PAGE: &str = "<a href=\"/demo-1.0-py3-none-any.whl\">demo</a>\n<a href=\"/demo-2.0-py3-none-any.whl\">demo</a>\n";

/// What the index says of the package.
type Page = fn(&Asked) -> Reply;

fn lock(page: Page) -> Outcome {
    let url =
        serve(
            Duration::ZERO,
            move |asked| {
                if asked.path.starts_with("/simple/demo") { page(asked) } else { Reply::status(404) }
            },
        );
    let profile = "[profile]\nname='p'\nversion='1.0.0'\n[target]\nruntimes=['bare-3.12']\n[packages]\ndemo='*'\n";
    Test::new().file("p.toml", profile).run(&["lock", "p.toml", "--index-url", &format!("{url}/simple"), "-vv"])
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn what_is_no_whole_page_is_no_page() {
    let cases: [(&str, Page, &str); 7] = [
        ("304 though nothing is here", |_| Reply::status(304), "but the page is not cached"),
        (
            "a part of it",
            |_| Reply { status: 206, ..Reply::new("text/html", &PAGE[..45]).with("Content-Range", "bytes 0-44/90") },
            "with a part of the page instead of the whole page",
        ),
        (
            "an encoding that was not asked for",
            |_| Reply::new("text/html", PAGE).with("Content-Encoding", "zzz"),
            "has the encoding `zzz`",
        ),
        (
            "packed twice",
            |_| Reply::new("text/html", packed(PAGE)).with("Content-Encoding", "gzip, gzip"),
            "has the encoding `gzip, gzip`",
        ),
        (
            "a body that is cut off when it is unpacked",
            |_| {
                let body = packed(PAGE);
                Reply::new("text/html", &body[..body.len() - 9]).with("Content-Encoding", "gzip")
            },
            "the compressed reply is damaged",
        ),
        (
            "a redirect to another scheme",
            |_| Reply::status(302).with("Location", "ftp://index.example/simple/demo/"),
            "neither http nor https",
        ),
        ("a page without files", |_| Reply::new("text/html", "<html></html>"), "but no release on it"),
    ];
    for (what, page, says) in cases {
        let outcome = lock(page);
        assert!(matches!(outcome.code, 1 | 3), "{what}: {} {}", outcome.code, outcome.stderr);
        assert!(outcome.stderr.contains(says), "{what}: {}", outcome.stderr);
    }
}

#[test]
fn a_page_in_several_gzip_members_is_read_whole() {
    let outcome = lock(|_| {
        let (first, second) = PAGE.split_at(46);
        Reply::new("text/html", [packed(first), packed(second)].concat()).with("Content-Encoding", "gzip")
    });
    // The newest release stands in the second one; the server has no wheel.
    assert!(outcome.stderr.contains("demo-2.0-py3-none-any.whl"), "{}", outcome.stderr);
}

#[test]
fn sizes_that_cannot_be_are_not_added_up() {
    let outcome = lock(|_| {
        let file = |version: &str| {
            format!(
                "{{\"filename\":\"demo-{version}-py3-none-any.whl\",\"url\":\"/demo-{version}-py3-none-any.whl\",\
                 \"hashes\":{{}},\"size\":18446744073709551615}}"
            )
        };
        let body = format!("{{\"meta\":{{\"api-version\":\"1.1\"}},\"files\":[{},{}]}}", file("1.0"), file("2.0"));
        Reply::new("application/vnd.pypi.simple.v1+json", body)
    });
    assert!(!outcome.stderr.contains("GB"), "{}", outcome.stderr);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
}
