//! How an index is reached: credentials from everywhere they may stand, proxies, private authorities; and that no
//! secret is ever written down.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::http::{Reply, serve};
use crate::support::index_server::{IndexServer, Looks, Manner, Release, Table};
use crate::support::python::{Running, first_line};
use crate::support::test::{Outcome, Test, observed};

pub(super) const PROFILE: &str = "[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\na = '*'\n";
pub(super) const SECRET: &str = "s3cr3t";

pub(super) fn table() -> Table {
    let mut table = Table::new();
    let needs_b = Release { requires: vec!["b".to_owned()], ..Release::default() };
    table.entry("a".into()).or_default().insert("1.0".into(), needs_b);
    table.entry("b".into()).or_default().insert("1.0".into(), Release::default());
    table
}

pub(super) fn guarded() -> IndexServer {
    let looks = Looks { login: Some(format!("me:{SECRET}")), ..Looks::default() };
    IndexServer::with(table(), Manner::Good, looks)
}

/// Every text that a run has left anywhere.
fn written(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            written(&path, found);
        } else if path.is_file() {
            found.push((path.display().to_string(), std::fs::read(&path).expect("a file")));
        }
    }
}

pub(super) fn locks(test: &Test, more: &[&str]) {
    let machine = observed("laptop");
    let outcome = test.run(&[&["lock", "p.toml", "--json", "--machine", &machine], more].concat()).expect(0);
    assert!(!outcome.stdout.contains(SECRET) && !outcome.stderr.contains(SECRET), "{outcome:?}");
    assert!(std::fs::read_to_string(test.path("p.lock")).expect("a lock").contains("name = \"b\""));
    let mut files = Vec::new();
    written(&test.path("cache"), &mut files);
    written(test.folder.path(), &mut files);
    let netrc = |path: &String| path.ends_with("netrc");
    for (path, bytes) in files.iter().filter(|(path, _)| !netrc(path)) {
        let holds = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!holds, "{path} holds the password");
    }
}

#[test]
fn credentials_in_the_address_are_used_and_never_shown() {
    let server = guarded();
    let address = server.url.replace("http://", &format!("http://me:{SECRET}@"));
    locks(&Test::new().file("p.toml", PROFILE), &["--index-url", &address]);
    locks(&Test::new().file("p.toml", PROFILE).set("PIP_INDEX_URL", &address), &[]);
    locks(&Test::new().file("p.toml", PROFILE).set("COLAB_BOOT_INDEX_URL", &address), &[]);
    // A wrong one is refused with an error that does not repeat it.
    let wrong = server.url.replace("http://", "http://me:0ther@");
    let test = Test::new().file("p.toml", PROFILE);
    let outcome = test.run(&["lock", "p.toml", "--index-url", &wrong, "--machine", &observed("laptop")]).expect(3);
    assert!(outcome.stderr.contains("401") && outcome.stderr.contains("netrc"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("0ther"), "{}", outcome.stderr);
}

#[test]
fn netrc_is_read_from_home_and_from_where_netrc_says() {
    let server = guarded();
    let netrc = format!("machine 127.0.0.1\n  login me\n  password {SECRET}\n");
    locks(&Test::new().file("p.toml", PROFILE).file("home/.netrc", &netrc), &["--index-url", &server.url]);
    let test = Test::new().file("p.toml", PROFILE).file("other.netrc", &netrc);
    let path = test.path("other.netrc").display().to_string();
    locks(&test.set("NETRC", path), &["--index-url", &server.url]);
}

#[test]
fn the_keyring_is_asked_where_that_is_chosen() {
    let server = guarded();
    for provider in ["COLAB_BOOT_KEYRING_PROVIDER", "UV_KEYRING_PROVIDER", "PIP_KEYRING_PROVIDER"] {
        let named = server.url.replace("http://", "http://me@");
        for address in [&named, &server.url] {
            let test = Test::new().file("p.toml", PROFILE).fake("keyring").set(provider, "subprocess");
            locks(&test.set("FAKE_SECRET", SECRET), &["--index-url", address]);
        }
    }
    let test = Test::new().file("p.toml", PROFILE).fake("keyring").set("FAKE_SECRET", SECRET);
    test.run(&["lock", "p.toml", "--index-url", &server.url, "--machine", &observed("laptop")]).expect(3);
}

#[test]
fn proxies_and_their_exceptions_are_used() {
    let server = IndexServer::start(table(), Manner::Good);
    let upstream = server.url.trim_end_matches("/simple").to_owned();
    // A proxy is asked for the whole address.
    let proxy = serve(Duration::ZERO, move |asked| match asked.path.strip_prefix("http://index.test") {
        Some(path) => Reply::status(302).with("Location", format!("{upstream}{path}")),
        None => Reply::status(502),
    });
    let through = |test: Test, no_proxy: &str| {
        let test = test.file("p.toml", PROFILE).set("HTTP_PROXY", &proxy).set("http_proxy", &proxy);
        test.set("NO_PROXY", no_proxy).set("no_proxy", no_proxy)
    };
    let test = through(Test::new(), "127.0.0.1");
    test.run(&[
        "lock",
        "p.toml",
        "--index-url",
        "http://index.test/simple",
        "--machine",
        &observed("laptop"),
        "--allow-insecure-host",
        "index.test",
    ])
    .expect(0);
    let direct = through(Test::new(), "127.0.0.1");
    direct.run(&["lock", "p.toml", "--index-url", &server.url, "--machine", &observed("laptop")]).expect(0);
    let all = through(Test::new(), "elsewhere.test, *");
    all.run(&["lock", "p.toml", "--index-url", &server.url, "--machine", &observed("laptop")]).expect(0);
    let not_excepted = through(Test::new(), "elsewhere.test");
    let outcome =
        not_excepted.run(&["lock", "p.toml", "--index-url", &server.url, "--machine", &observed("laptop")]).expect(3);
    assert!(outcome.stderr.contains("502"), "{}", outcome.stderr);
}

#[test]
fn a_proxy_of_an_unknown_kind_is_never_passed_by() {
    let server = IndexServer::start(table(), Manner::Good);
    let lock = |proxy: &str| {
        let test = Test::new().file("p.toml", PROFILE).set("ALL_PROXY", proxy).set("NO_PROXY", "");
        test.run(&["lock", "p.toml", "--index-url", &server.url, "--machine", &observed("laptop")])
    };
    let refused = lock("socket5://me:secret@127.0.0.1:9").expect(2);
    assert!(refused.stderr.contains("the proxy in ALL_PROXY") && refused.stderr.contains("`socket5`"), "{refused:?}");
    assert!(!refused.stderr.contains("secret"), "{refused:?}");
    // Of a known kind, and nothing answers there.
    lock("socks5h://127.0.0.1:9").expect(3);
    lock("http://127.0.0.1:9").expect(3);
    assert!(server.asked().is_empty(), "past the proxy: {:?}", server.asked());
}

/// An encrypted server on loopback in front of `upstream`, of an authority whose certificate lies in `ca.pem`; `None`
/// where openssl can't make one.
fn encrypted(test: Test, upstream: &str) -> (Test, Option<(Running, String)>) {
    let test = test.file("leaf.ext", "subjectAltName = DNS:localhost\nbasicConstraints = CA:FALSE\n");
    let openssl = |line: &str| {
        let done = Command::new("openssl")
            .args(line.split(' '))
            .current_dir(test.folder.path())
            .stderr(Stdio::null())
            .status();
        done.is_ok_and(|status| status.success())
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let made = openssl(&format!("req -x509 {key} -days 2 -subj /CN=authority -keyout ca.key -out ca.pem"))
        && openssl(&format!("req -new {key} -subj /CN=localhost -keyout key.pem -out leaf.csr"))
        && openssl(
            "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile leaf.ext -out leaf.pem",
        );
    if !made {
        eprintln!("skipped: openssl can't make certificates here");
        return (test, None);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/tls_proxy.py");
    let mut child = Command::new("python3")
        .arg(script)
        .args(["leaf.pem", "key.pem", upstream])
        .current_dir(test.folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    let port = first_line(child.stdout.take());
    let address = format!("https://localhost:{}/simple", port.trim());
    (test, Some((Running(child), address)))
}

#[test]
fn few_descriptors_and_little_memory_are_enough_or_an_error() {
    let server = IndexServer::start(table(), Manner::Good);
    for limit in ["--nofile=20", "--nofile=9", "--as=536870912"] {
        let test = Test::new().file("p.toml", PROFILE);
        let plain = test.command(&["lock", "p.toml", "--machine", &observed("laptop"), "--index-url", &server.url]);
        let mut command = Command::new("prlimit");
        command.arg(limit).arg(plain.get_program()).args(plain.get_args());
        command.env_clear().envs(&test.environment).current_dir(test.folder.path());
        let outcome = Outcome::of(command);
        let locked = test.path("p.lock").exists();
        match outcome.code {
            0 => assert!(locked, "{limit}"),
            3 => assert!(!locked && outcome.stderr.contains("error:"), "{limit}: {outcome:?}"),
            _ => panic!("{limit}: {outcome:?}"),
        }
    }
}

#[test]
fn unknown_hosts_and_dead_proxies_are_named() {
    let lock = |test: Test, url: &str| {
        let arguments = ["lock", "p.toml", "--machine", &observed("laptop"), "--index-url", url];
        test.file("p.toml", PROFILE).run(&arguments).expect(3).stderr
    };
    let said = lock(Test::new(), "https://index.invalid/simple");
    assert!(said.contains("index.invalid") && said.contains("check the network"), "{said}");
    let proxy = "http://127.0.0.1:9";
    let test = Test::new().set("HTTPS_PROXY", proxy).set("https_proxy", proxy);
    let said = lock(test, "https://index.invalid/simple");
    assert!(said.contains("refused"), "{said}");
}

#[test]
fn a_private_authority_is_believed_where_ssl_cert_file_names_it() {
    let server = IndexServer::start(table(), Manner::Good);
    let test = Test::new().file("p.toml", PROFILE);
    let (test, Some((_running, address))) = encrypted(test, server.url.trim_end_matches("/simple")) else { return };
    let machine = observed("laptop");
    let arguments = ["lock", "p.toml", "--index-url", address.as_str(), "--machine", machine.as_str()];
    let outcome = test.run(&arguments).expect(3);
    assert!(outcome.stderr.contains("certificate") || outcome.stderr.contains("UnknownIssuer"), "{}", outcome.stderr);
    let authority = test.path("ca.pem").display().to_string();
    test.set("SSL_CERT_FILE", authority).run(&arguments).expect(0);
}

#[test]
fn no_redirect_leads_out_of_encryption() {
    // An address of the documentation's own network: a request to it waits for ever.
    let away =
        serve(Duration::ZERO, |asked| Reply::status(302).with("Location", format!("http://192.0.2.1{}", asked.path)));
    let (test, Some((_running, address))) = encrypted(Test::new().file("p.toml", PROFILE), &away) else { return };
    let authority = test.path("ca.pem").display().to_string();
    let test = test.set("SSL_CERT_FILE", authority);
    let outcome = test.run(&["lock", "p.toml", "--machine", &observed("laptop"), "--index-url", &address]).expect(3);
    assert!(outcome.stderr.contains("from https to an unencrypted address"), "{}", outcome.stderr);
}

#[test]
fn plain_http_needs_loopback_or_permission() {
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n");
    let lock = ["lock", "p.toml", "--machine", &observed("laptop"), "--index-url"];
    for (url, refused) in [("http://192.0.2.1/simple", true), ("http://localhost:9/simple", false)] {
        let outcome = test.run(&[lock.as_slice(), &[url]].concat());
        assert_eq!(outcome.stderr.contains("is not encrypted"), refused, "{url}: {}", outcome.stderr);
        assert_eq!(outcome.code, if refused { 2 } else { 3 }, "{url}: {}", outcome.stderr);
    }
    let named = "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n[[index]]\nname='i'\nurl='http://192.0.2.1/simple'\npackages=['a']\n";
    let test = test.file("p.toml", named);
    let outcome = test.run(&[lock.as_slice(), &["http://localhost:9/simple"]].concat()).expect(2);
    assert!(outcome.stderr.contains("--allow-insecure-host"), "{}", outcome.stderr);
}

#[test]
fn state_that_others_could_write_is_not_trusted() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n");
    let state = test.path("state");
    let apply = || test.run(&["apply", "p.toml"]).expect(3).stderr;
    let opened = |path: &str, mode| {
        std::fs::create_dir_all(test.path(path)).expect("a folder");
        std::fs::set_permissions(test.path(path), std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    // Whose signature counts, and what is taken for installed.
    let says = |place: &str, variable: &str| {
        for verb in [&["plan", "p.toml"][..], &["verify", "p.toml"], &["status"], &["restore"], &["doctor", "memory"]] {
            let said = test.run(verb).expect(3).stderr;
            let place = test.path(place).display().to_string();
            assert!(said.contains(&format!("`{place}` is not read: other users may write to it")), "{verb:?} {said}");
            assert!(said.contains("mkdir -m 700") && said.contains(variable), "{verb:?} {said}");
        }
        test.run(&["explain", "wheel-overwrites"]).expect(0);
    };
    for path in ["home/.config/colab-boot", "home/.config/colab-boot/golden"] {
        opened(path, 0o775);
        says(path, "COLAB_BOOT_CONFIG_DIR");
        opened(path, 0o755);
    }
    std::fs::remove_dir_all(test.path("home/.config")).expect("a removal");
    opened("state", 0o777);
    says("state", "COLAB_BOOT_STATE_DIR");
    // A folder inside that anyone may write to counts as well, unless nobody else may enter the state folder.
    opened("state", 0o755);
    opened("state/recorder", 0o777);
    says("state/recorder", "COLAB_BOOT_STATE_DIR");
    opened("state", 0o700);
    test.run(&["status"]).expect(0);
    std::fs::remove_dir_all(&state).expect("a removal");
    std::fs::create_dir(&state).expect("a folder");
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).expect("a mode");
    assert!(apply().contains("other users may write to it"));
    std::fs::remove_dir(&state).expect("a removal");
    std::os::unix::fs::symlink(test.path("home"), &state).expect("a link");
    assert!(apply().contains("it is a symbolic link"));
    assert_eq!(std::fs::read_dir(test.path("home")).expect("a folder").count(), 0, "nothing was written through it");
}

/// What `server` has at `path`, as a reply of a server in front of it.
fn passed_on(server: &str, path: &str) -> Reply {
    let base = server.trim_end_matches("/simple");
    let text = Command::new("curl").args(["-s", &format!("{base}{path}")]).output().expect("curl starts");
    let kind = if path.ends_with('/') { "text/html" } else { "application/octet-stream" };
    Reply::new(kind, text.stdout)
}

#[test]
fn a_token_in_the_links_of_a_page_is_kept_nowhere() {
    let inner = IndexServer::start(table(), Manner::Good);
    let address = inner.url.clone();
    let url = serve(Duration::ZERO, move |request| {
        let mut reply = passed_on(&address, request.path.split('?').next().expect("a path"));
        if request.path.ends_with('/') {
            let page = String::from_utf8_lossy(&reply.body).replace(".whl#", &format!(".whl?token={SECRET}#"));
            assert!(page.contains(SECRET), "{page}");
            reply.body = page.into_bytes();
        }
        reply
    });
    locks(&Test::new().file("p.toml", PROFILE), &["--index-url", &format!("{url}/simple")]);
}

#[test]
fn a_request_that_takes_far_longer_than_others_is_asked_again_beside_itself() {
    // The first question for `b` is answered when the request is given up; the second at once.
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&asked);
    let inner = IndexServer::start(table(), Manner::Good);
    let address = inner.url.clone();
    let url = serve(Duration::ZERO, move |request| {
        if request.path.ends_with("/b/") && count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_mins(10));
        }
        passed_on(&address, &request.path)
    });
    let test = Test::new().file("p.toml", PROFILE);
    let machine = observed("laptop");
    let index = format!("{url}/simple");
    test.run(&["lock", "p.toml", "--machine", &machine, "--index-url", &index]).expect(0);
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 2);
    assert!(std::fs::read_to_string(test.path("p.lock")).expect("a lock").contains("name = \"b\""));
}

#[test]
fn secrets_of_audited_files_are_not_shown() {
    let test = Test::new()
        .file("r.txt", "a @ https://user:hunter2@h.test/a-1.0-py3-none-any.whl\nb @ git+https://x:hunter2@h.test/b.git\nhttps://h.test/c?token=hunter2\n")
        .file("bad.txt", "b=!hunter @ https://user:hunter2@h.test\n")
        .file("shadow", "root:$6$hunter2:19000:0:99999:7:::\n")
        .file("include.txt", "-r shadow\n");
    for name in ["r.txt", "bad.txt", "include.txt"] {
        let machine = observed("laptop");
        let outcome =
            test.run(&["audit", name, "--machine", &machine, "--index-url", "http://127.0.0.1:9/simple", "--json=j"]);
        let file = std::fs::read_to_string(test.path("j")).expect("a report");
        let all = format!("{}{}{file}", outcome.stdout, outcome.stderr);
        assert!(!all.contains("hunter2"), "{name}: {all}");
        assert!(!all.is_empty());
    }
    let profile = format!("{}/profiles/pytorch.toml", env!("CARGO_MANIFEST_DIR"));
    let digest = "0".repeat(64);
    for url in ["https://user:hunter2@h.test/x.whl", "https://h.test/x.whl?token=hunter2"] {
        let outcome = test
            .run(&["export", "notebook", &profile, "--out", "cells", "--binary-url", url, "--binary-sha256", &digest])
            .expect(2);
        assert!(!outcome.stderr.contains("hunter2") && outcome.stderr.contains("--binary-url"), "{}", outcome.stderr);
        assert!(!test.path("cells").exists());
    }
}

#[test]
fn a_page_of_megabytes_is_not_printed_in_an_error() {
    let body = format!("{{\"meta\": {{\"api-version\": \"9{}\"}}, \"files\": []}}", "9".repeat(4 << 20));
    let url = serve(Duration::ZERO, move |_| Reply::new("application/vnd.pypi.simple.v1+json", body.clone()));
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n");
    let outcome =
        test.run(&["lock", "p.toml", "--machine", &observed("laptop"), "--index-url", &url, "--json"]).expect(3);
    assert!(
        outcome.stderr.len() < 10_000 && outcome.stdout.len() < 20_000,
        "{} {}",
        outcome.stderr.len(),
        outcome.stdout.len()
    );
    assert!(outcome.stderr.contains("bytes omitted"));
}
