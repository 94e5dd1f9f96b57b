//! Wheels that are large enough to come in pieces, from servers that send them well, badly or not at all.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use colab_boot::core::model::Sha256;

use crate::support::http::{Asked, Reply, serve};
use crate::support::index_server::Release;
use crate::support::python::Venv;
use crate::support::test::{Outcome, Test};
use crate::support::wheel::wheel;

const FILE: &str = "demo-1.0-py3-none-any.whl";

/// What the server does with the nth request for the file, counted from 0.
type Manner = fn(usize, &Asked, &[u8]) -> Reply;

struct World {
    test: Test,
    venv: Venv,
    url: String,
    asked: Arc<AtomicUsize>,
    /// Bytes that were sent.
    sent: Arc<AtomicU64>,
}

/// Text that deflate makes half as long.
fn noise(seed: u64, count: usize) -> String {
    let mut state = seed;
    let mut text = String::with_capacity(count + 16);
    while text.len() < count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let _ = write!(text, "{:08x}", state >> 32);
    }
    text
}

/// A wheel of some 21 MB: large members, small ones between them, and some behind.
fn bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let mut files = BTreeMap::from([("demo/__init__.py".to_owned(), "x = 1\n".to_owned())]);
        files.insert("demo/b_large.txt".to_owned(), noise(1, 22 << 20));
        files.insert("demo/d_large.txt".to_owned(), noise(2, 12 << 20));
        files.insert("demo/f_medium.txt".to_owned(), noise(3, 3 << 20));
        for at in 0..200_u64 {
            files.insert(format!("demo/c_small/{at}.txt"), noise(at + 10, 5000));
            files.insert(format!("demo/z_small/{at}.txt"), noise(at + 300, 5000));
        }
        let release = Release { files, ..Release::default() };
        wheel("demo", FILE, &BTreeMap::from([("1.0".to_owned(), release)])).expect("a wheel")
    })
}

/// The first byte that is asked for.
fn start(asked: &Asked) -> u64 {
    let range = asked.header("range").and_then(|range| range.strip_prefix("bytes=")?.split('-').next());
    range.and_then(|start| start.parse().ok()).unwrap_or(0)
}

fn sent(asked: &Asked, bytes: &[u8]) -> Reply {
    Reply::new("application/zip", bytes).part_of(asked, 0, bytes.len() as u64)
}

fn world(manner: Manner) -> World {
    let digest = Sha256::of(bytes()).to_string();
    let (asked, sent) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicU64::new(0)));
    let (count, total, page_digest) = (Arc::clone(&asked), Arc::clone(&sent), digest.clone());
    let url = serve(Duration::ZERO, move |request| {
        if !request.path.ends_with(".whl") {
            return Reply::new("text/html", format!("<a href=\"/{FILE}#sha256={page_digest}\">{FILE}</a>"));
        }
        let reply = manner(count.fetch_add(1, Ordering::SeqCst), request, bytes());
        let sent = reply.cut.unwrap_or(reply.body.len()).min(reply.body.len());
        total.fetch_add(sent as u64, Ordering::SeqCst);
        reply
    });
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='*'\n");
    let venv = Venv::bare(&test);
    let world = World { test, venv, url: format!("{url}/simple"), asked, sent };
    let house = world.test.path("first");
    std::fs::create_dir(&house).expect("a folder");
    std::fs::write(house.join(FILE), bytes()).expect("a wheel");
    let python = world.venv.python.display().to_string();
    world.test.run(&["lock", "p.toml", "--python", &python, "--find-links", "first", "--offline"]).expect(0);
    world
}

impl World {
    fn command(&self) -> Command {
        let python = self.venv.python.display().to_string();
        self.test.command(&["apply", "p.toml", "--locked", "--python", &python, "--index-url", &self.url])
    }

    fn apply(&self) -> Outcome {
        Outcome::of(self.command())
    }

    fn fetch(&self) -> Outcome {
        self.test.run(&["fetch", "p.lock", "--into", "house", "--index-url", &self.url])
    }

    fn is_installed(&self) -> bool {
        let python = self.venv.python.display().to_string();
        let outcome = self.test.run(&["verify", "p.toml", "--python", &python]);
        let large = std::fs::read_to_string(self.venv.layout().join("demo/d_large.txt")).unwrap_or_default();
        outcome.code == 0 && large == noise(2, 12 << 20)
    }

    /// What lies in the environment, and what of the wheel in the cache.
    fn left(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.venv.layout(), self.test.path("cache").join("wheels"), self.test.path("house")];
        let mut left = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.contains("demo") || name.contains("staged") || name.contains("large") {
                    left.push(entry.path());
                }
                if entry.path().is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        left
    }
}

#[test]
fn it_comes_from_any_server_that_has_it() {
    let manners: [(&str, Manner); 4] = [
        ("in pieces", |_, asked, bytes| sent(asked, bytes)),
        ("as a whole, whatever is asked for", |_, _, bytes| Reply::new("application/zip", bytes)),
        ("in replies that break off", |at, asked, bytes| Reply {
            cut: (at % 3 == 1).then_some(700_000),
            ..sent(asked, bytes)
        }),
        ("with errors in between", |at, asked, bytes| match at % 4 {
            2 => Reply::status(503),
            _ => sent(asked, bytes),
        }),
    ];
    for (how, manner) in manners {
        let world = world(manner);
        let outcome = world.apply().expect(0);
        assert!(world.is_installed(), "{how}: {}", outcome.stderr);
        assert!(world.left().iter().all(|path| path.starts_with(world.venv.layout())), "{how}: {:?}", world.left());
        assert!(!world.left().iter().any(|path| path.to_string_lossy().contains("staged")), "{how}");
        let most = if how == "in pieces" { bytes().len() as u64 + (2 << 20) } else { 5 * bytes().len() as u64 };
        assert!(world.sent.load(Ordering::SeqCst) <= most, "{how}: {} bytes", world.sent.load(Ordering::SeqCst));
    }
}

#[test]
fn what_is_wrong_leaves_nothing() {
    let manners: [(&str, i32, &str, Manner); 6] = [
        ("a directory with another mode than the wheel has", 1, "sends other bytes", |_, asked, bytes| {
            let mut other = bytes.to_vec();
            if start(asked) == bytes.len() as u64 - (256 << 10) {
                let entry = bytes.windows(4).rposition(|word| word == b"PK\x01\x02").expect("an entry");
                other[entry + 40] ^= 0x40;
            }
            sent(asked, &other)
        }),
        ("another byte in data", 1, "is not the locked file", |_, asked, bytes| {
            let mut other = bytes.to_vec();
            other[9 << 20] ^= 1;
            sent(asked, &other)
        }),
        ("another byte in the comment of a header", 1, "is not the locked file", |_, asked, bytes| {
            // The time of the last change of the first member: no installer looks at it.
            let mut other = bytes.to_vec();
            other[10] ^= 1;
            sent(asked, &other)
        }),
        ("a shorter file", 3, "bytes there, and", |_, asked, bytes| sent(asked, &bytes[..bytes.len() - 4000])),
        ("an end in the midst", 3, "could not read", |at, asked, bytes| match at {
            0..5 => sent(asked, bytes),
            _ => Reply::status(404),
        }),
        ("replies that always break off", 3, "could not read", |at, asked, bytes| Reply {
            cut: (at > 4).then_some(10),
            ..sent(asked, bytes)
        }),
    ];
    for (what, code, says, manner) in manners {
        let world = world(manner);
        let outcome = world.apply();
        assert_eq!(outcome.code, code, "{what}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(says), "{what}: {}", outcome.stderr);
        // What came slowly is kept for another run.
        let left = world.left().into_iter().filter(|path| code == 1 || !path.to_string_lossy().contains(".part"));
        assert_eq!(left.collect::<Vec<_>>(), Vec::<PathBuf>::new(), "{what}");
    }
}

#[test]
fn an_end_while_it_arrives_leaves_the_environment_as_it_was() {
    // At first what is behind the middle never comes, but for the directory.
    let world = world(|at, asked, bytes| {
        if at < 100 && start(asked) > 12 << 20 && start(asked) < bytes.len() as u64 - (1 << 20) {
            std::thread::sleep(Duration::from_mins(2));
        }
        sent(asked, bytes)
    });
    for (signal, code) in [("-INT", Some(130)), ("-KILL", None)] {
        world.asked.store(0, Ordering::SeqCst);
        let mut child = world.command().stderr(Stdio::null()).spawn().expect("it starts");
        let started = Instant::now();
        while !world.left().iter().any(|path| path.ends_with("b_large.txt")) {
            assert!(started.elapsed() < Duration::from_mins(1), "nothing was unpacked while the rest arrived");
            std::thread::sleep(Duration::from_millis(5));
        }
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill starts");
        assert!(sent.success() && child.wait().expect("an end").code() == code);
        assert!(signal == "-KILL" || world.left().is_empty(), "{:?}", world.left());
        assert!(!world.venv.layout().join("demo").exists());
    }
    world.asked.store(100, Ordering::SeqCst);
    world.apply().expect(0);
    assert!(world.is_installed());
    assert!(!world.left().iter().any(|path| path.to_string_lossy().contains("staged")), "{:?}", world.left());
}

#[test]
fn what_came_slowly_is_kept_for_the_next_apply() {
    let world = world(|at, asked, bytes| {
        let wait = match start(asked) {
            _ if at >= 100 => 0,
            start if start > bytes.len() as u64 - (2 << 20) => 0,
            start if start > 12 << 20 => 120,
            start => 3 * u64::from(start > 1 << 20),
        };
        std::thread::sleep(Duration::from_secs(wait));
        sent(asked, bytes)
    });
    let mut child = world.command().stderr(Stdio::null()).spawn().expect("it starts");
    let part = || world.left().into_iter().find(|path| path.to_string_lossy().ends_with(".part"));
    // Pieces come in any order: holes are no bytes.
    let length = || part().and_then(|part| part.metadata().ok()).map_or(0, |data| data.blocks() * 512);
    let started = Instant::now();
    while length() < 8 << 20 {
        assert!(started.elapsed() < Duration::from_mins(1), "nothing was kept");
        std::thread::sleep(Duration::from_millis(20));
    }
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill starts");
    assert!(signalled.success() && child.wait().expect("an end").code() == Some(130));
    assert!(length() >= 8 << 20, "{:?}", world.left());
    let before = world.sent.swap(0, Ordering::SeqCst);
    world.asked.store(100, Ordering::SeqCst);
    world.apply().expect(0);
    assert!(world.is_installed());
    let after = world.sent.load(Ordering::SeqCst);
    assert!(after < bytes().len() as u64 - (3 << 20), "{before}, then {after}");
}

#[test]
fn a_fetch_goes_on_where_it_was() {
    // What is behind the middle comes on the second day only.
    let dying: Manner = |at, asked, bytes| {
        if at < 100 && start(asked) > 12 << 20 {
            std::thread::sleep(Duration::from_secs(1));
            return Reply::status(404);
        }
        sent(asked, bytes)
    };
    let world = world(dying);
    let outcome = world.fetch().expect(3);
    assert!(outcome.stderr.contains("the download is kept"), "{}", outcome.stderr);
    let first = world.sent.load(Ordering::SeqCst);
    assert!(first > 4 << 20, "{first}");
    world.asked.store(100, Ordering::SeqCst);
    world.fetch().expect(0);
    assert!(std::fs::read(world.test.path("house").join(FILE)).is_ok_and(|read| read == bytes()));
    assert_eq!(world.left(), [world.test.path("house").join(FILE)]);
    let both = world.sent.load(Ordering::SeqCst);
    assert!(both < bytes().len() as u64 + (1 << 20), "{first}, then {both}");
}

#[test]
fn what_an_earlier_run_has_left_is_not_believed() {
    let world = world(|_, asked, bytes| sent(asked, bytes));
    let house = world.test.path("house");
    std::fs::create_dir(&house).expect("a folder");
    let part = |end: &str| house.join(format!("{FILE}.part{end}"));
    let torn = vec![7; 3 << 20];
    for list in [None, Some("0 3145728\n"), Some("0 99999999999\nx\n"), Some("100 50\n")] {
        std::fs::write(part(""), &torn).expect("a part");
        if let Some(list) = list {
            std::fs::write(part(".spans"), list).expect("a list");
        }
        world.fetch().expect(0);
        assert!(std::fs::read(house.join(FILE)).is_ok_and(|read| read == bytes()), "{list:?}");
        assert_eq!(world.left(), [house.join(FILE)], "{list:?}");
        std::fs::remove_file(house.join(FILE)).expect("a wheel");
    }
}
