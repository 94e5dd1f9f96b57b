//! Indexes that want to be asked, or to be too much: a package of one's own is never looked for elsewhere, a password
//! stays with its host, and what is gigantic is not read to its end.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::http::{Asked, Reply, serve};
use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::test::{Outcome, Test, observed};
use crate::support::wheel::wheel;

/// A server that remembers what it was asked.
fn remembering(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> (String, Arc<Mutex<Vec<Asked>>>) {
    let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
    let kept = Arc::clone(&asked);
    let url = serve(Duration::ZERO, move |request| {
        kept.lock().expect("a list").push(request.clone());
        answer(request)
    });
    (url, asked)
}

/// A page with one wheel, whose METADATA asks for nothing.
fn page(name: &str, version: &str) -> Reply {
    let file = format!("{name}-{version}-py3-none-any.whl");
    let digest = "0".repeat(64);
    Reply::new("text/html", format!("<a href=\"/{file}#sha256={digest}\" data-core-metadata=\"true\">{file}</a>"))
}

fn metadata(name: &str, version: &str) -> Reply {
    Reply::new("text/plain", format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"))
}

fn lock(test: &Test, default: &str, more: &[&str]) -> Outcome {
    let machine = observed("laptop");
    let base = ["lock", "p.toml", "--machine", &machine, "--index-url", default];
    test.run(&[&base, more].concat())
}

/// A folder `wheels` with `inner` in this version.
fn with_wheel(test: Test, version: &str) -> Test {
    let file = format!("inner-{version}-py3-none-any.whl");
    let releases = BTreeMap::from([(version.to_owned(), Release::default())]);
    let bytes = wheel("inner", &file, &releases).expect("a wheel");
    std::fs::create_dir_all(test.path("wheels")).expect("a folder");
    std::fs::write(test.path("wheels").join(file), bytes).expect("a wheel");
    test
}

#[test]
fn a_name_that_a_folder_and_an_index_have_is_said_to_be_one() {
    let profile = "[profile]\nname='p'\n[packages]\ninner='*'\n";
    let public = |version: &'static str| {
        let (url, _) = remembering(move |asked| {
            if asked.path.contains("metadata") { metadata("inner", version) } else { page("inner", version) }
        });
        format!("{url}/simple")
    };
    for (of_folder, of_index, said) in [
        ("1.0", "99.0", "99.0 of the index was chosen, not 1.0 of `find-links`"),
        ("2.0", "1.0", "2.0 of `find-links` was chosen; anybody can publish a newer one on the index"),
    ] {
        let test = with_wheel(Test::new().file("p.toml", profile), of_folder);
        let outcome = lock(&test, &public(of_index), &["--find-links", "wheels"]).expect(0);
        assert!(
            outcome.stderr.contains("warning[resolve-two-sources]") && outcome.stderr.contains(said),
            "{outcome:?}"
        );
    }
    // A mirror of the index, and another build of its release, are no others.
    for same in ["1.0", "1.0+cu128"] {
        let test = with_wheel(Test::new().file("p.toml", profile), same);
        let outcome = lock(&test, &public("1.0"), &["--find-links", "wheels"]).expect(0);
        assert!(!outcome.stderr.contains("resolve-two-sources"), "{outcome:?}");
    }
    // What the help says.
    let bound = format!("{profile}[[index]]\nname='own'\npath='wheels'\npackages=['inner']\n");
    let test = with_wheel(Test::new().file("p.toml", &bound), "1.0");
    let outcome = lock(&test, &public("99.0"), &[]).expect(0);
    assert!(!outcome.stderr.contains("resolve-two-sources"), "{outcome:?}");
    let lock = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    assert!(lock.contains("inner-1.0-py3-none-any.whl"), "{lock}");
}

#[test]
fn a_package_of_ones_own_is_never_looked_for_elsewhere() {
    type Answer = fn(&Asked) -> Reply;
    let answers: [(&str, Answer, i32); 5] = [
        (
            "well",
            |asked| if asked.path.contains("metadata") { metadata("inner", "1.0") } else { page("inner", "1.0") },
            0,
        ),
        ("404", |_| Reply::status(404), 1),
        ("403", |_| Reply::status(403), 3),
        ("503", |_| Reply::status(503), 3),
        ("cut", |_| Reply { cut: Some(3), ..Reply::new("text/html", "<a href=x>".repeat(99)) }, 3),
    ];
    for (what, answer, code) in answers {
        let (public, asked_public) = remembering(|asked| {
            if asked.path.contains("metadata") { metadata("inner", "99.0") } else { page("inner", "99.0") }
        });
        let (own, asked_own) = remembering(answer);
        let profile = format!(
            "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ninner='*'\n[[index]]\nname='own'\nurl='{own}/simple'\npackages=['inner']\n"
        );
        let test = Test::new().file("p.toml", &profile);
        let outcome = lock(&test, &format!("{public}/simple"), &[]);
        assert_eq!(outcome.code, code, "{what}: {outcome:?}");
        assert!(asked_public.lock().expect("a list").is_empty(), "{what}: the public index was asked");
        assert!(!asked_own.lock().expect("a list").is_empty(), "{what}");
        let written = std::fs::read_to_string(test.path("p.lock")).unwrap_or_default();
        assert_eq!(written.contains("version = \"1.0\""), code == 0, "{what}: {written}");
        assert!(!written.contains("99.0"), "{what}");
    }
}

#[test]
fn a_password_stays_with_its_host_and_a_loop_ends() {
    let (other, asked_other) = remembering(|_| page("demo", "1.0"));
    let target = other.replace("127.0.0.1", "localhost");
    let (first, asked_first) =
        remembering(move |asked| Reply::status(302).with("Location", format!("{target}{}", asked.path)));
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='*'\n");
    let with_password = first.replace("http://", "http://me:s3cr3t@");
    let outcome = lock(&test, &format!("{with_password}/simple"), &[]);
    assert!(!format!("{outcome:?}").contains("s3cr3t"));
    let sent = |asked: &Mutex<Vec<Asked>>| {
        asked.lock().expect("a list").iter().filter(|one| one.header("authorization").is_some()).count()
    };
    assert!(sent(&asked_first) > 0, "the password is used");
    assert!(!asked_other.lock().expect("a list").is_empty(), "the redirect is followed");
    assert_eq!(sent(&asked_other), 0, "the password went to another host");

    let (around, asked) = remembering(|asked| Reply::status(302).with("Location", asked.path.clone()));
    let outcome = lock(&test, &format!("{around}/simple"), &["--refresh"]);
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert!(outcome.stderr.contains("redirect"), "{}", outcome.stderr);
    assert!(asked.lock().expect("a list").len() < 40);
}

#[test]
fn a_gigantic_page_is_not_read_to_its_end() {
    // 1 GiB of links in a megabyte.
    let link = "<a href=\"demo-1.0-py3-none-any.whl\">demo-1.0-py3-none-any.whl</a>\n".repeat(1 << 14);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..(1 << 30) / link.len() {
        encoder.write_all(link.as_bytes()).expect("bytes");
    }
    let bomb = encoder.finish().expect("bytes");
    let plain = "<a>".repeat(40 << 20);
    let servers = [
        remembering(move |_| Reply::new("text/html", bomb.clone()).with("Content-Encoding", "gzip")),
        remembering(move |_| Reply::new("text/html", plain.clone())),
    ];
    for (url, _) in servers {
        let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='*'\n");
        let plain = test.command(&[
            "lock",
            "p.toml",
            "--machine",
            &observed("laptop"),
            "--index-url",
            &format!("{url}/simple"),
        ]);
        let mut limited = Command::new("prlimit");
        // Address space: threads reserve much that they never use.
        limited.arg("--as=2000000000").arg(plain.get_program()).args(plain.get_args());
        limited.env_clear().envs(&test.environment).current_dir(test.folder.path());
        let outcome = Outcome::of(limited);
        assert_eq!(outcome.code, 3, "{outcome:?}");
        assert!(outcome.stderr.contains("larger than"), "{}", outcome.stderr);
    }
}

/// Thirteen packages of which each takes one of twelve versions that no other has: no solver finds out in time that
/// there is no answer.
fn pigeonhole() -> Table {
    let (packages, versions) = (13, 12);
    let mut table = Table::new();
    for package in 0..packages {
        for version in 1..=versions {
            let others = (package + 1..packages).map(|other| format!("p{other}!={version}.0"));
            let release = Release { requires: others.collect(), ..Release::default() };
            table.entry(format!("p{package}")).or_default().insert(format!("{version}.0"), release);
        }
    }
    table
}

#[test]
fn a_solve_without_end_is_given_up_in_time() {
    let server = IndexServer::start(pigeonhole(), Manner::Good);
    let names: String = (0..13).map(|at| format!("p{at} = '*'\n")).collect();
    let test = Test::new().file("p.toml", &format!("[profile]\nname='p'\nversion='1.0.0'\n[packages]\n{names}"));
    let machine = observed("laptop");
    let lock = ["lock", "p.toml", "--machine", &machine, "--index-url", &server.url, "--solve-timeout", "2"];
    let outcome = test.run(&lock).expect(1);
    for words in ["no solution was found in time", "releases tried", "most in conflict: p", "--solve-timeout"] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    assert!(!test.path("p.lock").exists());
}
