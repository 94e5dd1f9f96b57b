//! Both forms of a page give the same listing.

use url::Url;

use super::{Buildable, Filter, read_page};
use crate::core::model::catalog::{Listing, Rejection, Sidecar};
use crate::core::model::{PythonFacts, Tags};

fn tried(content_type: &str, body: &str, as_of: Option<&str>) -> Result<Listing, String> {
    let python = PythonFacts {
        version: "3.12.1".parse().expect("a version"),
        architecture: "x86_64".into(),
        libc: crate::core::model::Libc::Glibc(2, 35),
        free_threaded: false,
    };
    let filter = Filter {
        tags: Tags::of(&python),
        python,
        as_of: as_of.and_then(crate::core::model::day::moment_in),
        buildable: Buildable::default(),
    };
    let address = Url::parse("https://index.test/simple/demo/").expect("an address");
    read_page(content_type, body, &address, &"demo".parse().expect("a name"), &filter)
}

fn read(content_type: &str, body: &str, as_of: Option<&str>) -> Listing {
    tried(content_type, body, as_of).expect("a page")
}

const DIGEST: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

fn html() -> String {
    format!(
        r#"<!DOCTYPE html><html><body>
        <a href="../../f/demo-1.0-py3-none-any.whl#sha256={DIGEST}" data-upload-time="2026-01-01T00:00:00Z">x</a>
        <a href="/f/demo-2.0%2Bcu128-cp312-cp312-manylinux_2_28_x86_64.whl#sha256={DIGEST}" data-requires-python="&gt;=3.9" data-core-metadata="sha256=x">x</a>
        <a href="demo-2.0+cu128-py3-none-any.whl#sha256={DIGEST}">x</a>
        <a href="demo-3.0-py3-none-any.whl#sha256={DIGEST}" data-yanked="broken" data-upload-time="2026-05-01T00:00:00Z">x</a>
        <a href="demo-4.0-cp313-cp313-manylinux_2_28_x86_64.whl#sha256={DIGEST}">x</a>
        <a href="demo-5.0-py3-none-any.whl#sha256={DIGEST}" data-requires-python="&gt;=3.13">x</a>
        <a href="demo-6.0.tar.gz#sha256={DIGEST}">x</a>
        <a href="demo-7.0-py3-none-any.whl">x</a>
        <a href="demo-7.0-cp312-cp312-manylinux_2_28_x86_64-cu130.whl#sha256={DIGEST}">x</a>
        <a href="../escape/other-9.0-py3-none-any.whl#sha256={DIGEST}">x</a>
        </body></html>"#
    )
}

#[test]
fn html_is_sorted_out() {
    let listing = read("text/html; charset=utf-8", &html(), None);
    let versions: Vec<_> = listing.candidates.iter().map(|one| one.version.to_string()).collect();
    assert_eq!(versions, ["7.0", "3.0", "2.0+cu128", "1.0"]);
    assert_eq!(listing.candidates[0].sha256, None);
    assert_eq!(listing.candidates[1].yanked.as_deref(), Some("broken"));
    let best = &listing.candidates[2];
    assert_eq!(best.file, "demo-2.0+cu128-cp312-cp312-manylinux_2_28_x86_64.whl");
    assert_eq!(best.address, "https://index.test/f/demo-2.0%2Bcu128-cp312-cp312-manylinux_2_28_x86_64.whl");
    assert_eq!(best.sidecar, Sidecar::There);
    assert_eq!(listing.candidates[3].address, "https://index.test/f/demo-1.0-py3-none-any.whl");
    assert_eq!(listing.variants, 1);
    let reasons: Vec<_> = listing.rejected.iter().map(|(version, reason)| (version.to_string(), reason)).collect();
    assert!(matches!(&reasons[0], (v, Rejection::NoWheel) if v == "6.0"), "{reasons:?}");
    assert!(matches!(&reasons[1], (v, Rejection::Python(_)) if v == "5.0"), "{reasons:?}");
    assert!(matches!(&reasons[2], (v, Rejection::Tags(_)) if v == "4.0"), "{reasons:?}");
}

#[test]
fn later_uploads_do_not_exist() {
    let listing = read("text/html", &html(), Some("2026-02-01"));
    assert!(!listing.candidates.iter().any(|one| one.version.to_string() == "3.0"));
    assert!(listing.rejected.iter().any(|(_, reason)| *reason == Rejection::TooNew));
}

#[test]
fn json_says_the_same_and_knows_sizes() {
    let body = format!(
        r#"{{"meta": {{"api-version": "1.1"}}, "name": "demo", "files": [
        {{"filename": "demo-1.0-py3-none-any.whl", "url": "https://files.test/demo-1.0-py3-none-any.whl", "hashes": {{"sha256": "{DIGEST}"}},
          "size": 17, "yanked": false, "core-metadata": {{"sha256": "x"}}, "requires-python": null}},
        {{"filename": "demo-2.0-py3-none-any.whl", "url": "demo-2.0-py3-none-any.whl", "hashes": {{"sha256": "{DIGEST}"}}, "yanked": "bad"}}]}}"#
    );
    let listing = read("application/vnd.pypi.simple.v1+json", &body, None);
    let [second, first] = listing.candidates.as_slice() else {
        panic!("{listing:?}");
    };
    assert_eq!((first.size, first.sidecar, first.yanked.is_none()), (Some(17), Sidecar::There, true));
    assert_eq!(second.address, "https://index.test/simple/demo/demo-2.0-py3-none-any.whl");
    assert_eq!(second.yanked.as_deref(), Some("bad"));
}

#[test]
fn a_login_page_is_no_index_page() {
    assert!(tried("text/plain", "hello", None).is_err());
    assert!(tried("application/vnd.pypi.simple.v1+json", "<html>", None).is_err());
}

#[test]
fn pages_of_a_later_api_are_not_guessed_at() {
    let refused = |kind: &str, body: &str| tried(kind, body, None).expect_err(body);
    let json = r#"{"meta": {"api-version": "2.0"}, "name": "demo", "files": []}"#;
    assert!(refused("application/vnd.pypi.simple.v1+json", json).contains("version 2.0"));
    let html = r#"<meta name="pypi:repository-version" content="2.1"><a href="demo-1.0-py3-none-any.whl">x</a>"#;
    assert!(refused("text/html", html).contains("version 2.1"));
}

#[test]
fn links_are_relative_to_the_base_and_lead_nowhere_but_to_servers() {
    let body = format!(
        r#"<base href="/files/v1/"><base href="/other/"><A HREF="Demo-1.0-py3-none-any.whl#md5=0&amp;sha256={DIGEST}" data-gpg-sig="true">x</A>
        <a href="file:///etc/demo-2.0-py3-none-any.whl#sha256={DIGEST}">x</a><a href="demo-x-py3-none-any.whl">x</a>"#
    );
    let listing = read("text/html", &body, None);
    let [only] = listing.candidates.as_slice() else {
        panic!("{listing:?}");
    };
    assert_eq!(only.address, "https://index.test/files/v1/Demo-1.0-py3-none-any.whl");
    assert!(only.sha256.is_some());
    assert_eq!(listing.skipped, 1);
}

#[test]
fn a_page_leads_only_where_it_may() {
    let read_from = |page: &str, base: &str, link: &str| {
        let python = crate::core::model::PythonFacts {
            version: "3.12.1".parse().expect("a version"),
            architecture: "x86_64".to_owned(),
            libc: crate::core::model::Libc::Glibc(2, 35),
            free_threaded: false,
        };
        let filter = Filter { tags: Tags::of(&python), python, as_of: None, buildable: Buildable::default() };
        let body = format!("<base href=\"{base}\"><a href=\"{link}#sha256={DIGEST}\">x</a>");
        let page = page.parse().expect("an address");
        let listing = read_page("text/html", &body, &page, &"demo".parse().expect("a name"), &filter).expect("a page");
        assert_eq!(listing.candidates.len() + listing.rejected.len(), 1);
        assert!(listing.rejected.iter().all(|(_, why)| *why == Rejection::Astray));
        !listing.candidates.is_empty()
    };
    let wheel = "demo-1.0-py3-none-any.whl";
    let public = "https://index.test/simple/demo/";
    for (page, base, link, good) in [
        (public, "", wheel, true),
        (public, "https://files.test/", wheel, true),
        (public, "file:///tmp/", wheel, false),
        (public, "", "file:///tmp/demo-1.0-py3-none-any.whl", false),
        (public, "http://files.test/", wheel, false),
        (public, "http://127.0.0.1:8000/", wheel, false),
        (public, "https://169.254.169.254/", wheel, false),
        (public, "https://10.1.2.3/", wheel, false),
        (public, "https://[::ffff:10.1.2.3]/", wheel, false),
        (public, "https://localhost/", wheel, false),
        ("http://index.test/simple/demo/", "http://files.test/", wheel, true),
        ("http://10.0.0.5/simple/demo/", "http://10.0.0.6/", wheel, true),
        ("http://127.0.0.1:80/simple/demo/", "https://files.test/", wheel, true),
        ("http://127.0.0.1:80/simple/demo/", "file:///", wheel, false),
    ] {
        assert_eq!(read_from(page, base, link), good, "{page} {base} {link}");
    }
}

#[test]
fn one_name_with_two_digests_is_no_candidate() {
    let other = "0".repeat(64);
    let link = |digest: &str| format!("<a href=\"demo-1.0-py3-none-any.whl#sha256={digest}\">x</a>");
    for body in [link(DIGEST) + &link(&other), link(&other) + &link(DIGEST)] {
        let listing = read("text/html", &body, None);
        assert_eq!(listing.rejected, [("1.0".parse().expect("a version"), Rejection::Twice)]);
    }
    assert_eq!(read("text/html", &(link(DIGEST) + &link(DIGEST)), None).candidates.len(), 1);
}
