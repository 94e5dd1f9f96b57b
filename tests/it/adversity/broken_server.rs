//! Wheels from a server that misbehaves: fetched in the end, or refused with nothing left that is not whole.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use colab_boot::core::model::Sha256;

use crate::support::http::{Asked, Reply, serve};
use crate::support::index_server::Release;
use crate::support::python::interpreter;
use crate::support::test::{Outcome, Test, observed};
use crate::support::wheel::wheel;

const FILE: &str = "demo-1.0-py3-none-any.whl";

/// What the server does with the nth request for the file, counted from 0.
type Manner = fn(usize, &Asked, &[u8]) -> Reply;

struct World {
    test: Test,
    url: String,
    bytes: Vec<u8>,
    asked: Arc<AtomicUsize>,
}

fn whole(asked: &Asked, bytes: &[u8]) -> Reply {
    Reply::new("application/zip", bytes).part_of(asked, 0, bytes.len() as u64)
}

fn world(manner: Manner) -> World {
    let noise: String = (0..40_000_u32).map(|at| format!("{:x}", at.wrapping_mul(2_654_435_761))).collect();
    let release = Release { files: BTreeMap::from([("demo/noise.txt".to_owned(), noise)]), ..Release::default() };
    let bytes = wheel("demo", FILE, &BTreeMap::from([("1.0".to_owned(), release)])).expect("a wheel");
    let digest = Sha256::of(&bytes).to_string();
    let (asked, served, page_digest) = (Arc::new(AtomicUsize::new(0)), bytes.clone(), digest.clone());
    let count = Arc::clone(&asked);
    let url = serve(Duration::ZERO, move |request| {
        if request.path.ends_with(".whl") {
            return manner(count.fetch_add(1, Ordering::SeqCst), request, &served);
        }
        Reply::new("text/html", format!("<a href=\"/{FILE}#sha256={page_digest}\">{FILE}</a>"))
    });
    let lock = format!(
        "version = 2\nrequires = \">=0.1.0\"\nmatrix = \"any\"\n[profile]\nname = \"p\"\nversion = \"1.0.0\"\nsha256 = \"{digest}\"\n\
         [[target]]\nname = \"machine\"\npython = \"3.12.1\"\nplatform = \"manylinux_2_35_x86_64\"\ngpus = []\napt = []\n\
         [[target.package]]\nname = \"demo\"\nversion = \"1.0\"\nwhy = [\"profile\"]\n\
         wheel = {{ file = \"{FILE}\", sha256 = \"{digest}\", size = {}, index = \"default\" }}\n",
        bytes.len()
    );
    World { test: Test::new().file("p.lock", &lock), url: format!("{url}/simple"), bytes, asked }
}

impl World {
    fn fetch(&self) -> Outcome {
        self.fetch_with(&[])
    }

    fn fetch_with(&self, more: &[&str]) -> Outcome {
        self.test.run(&[&["fetch", "p.lock", "--into", "house", "--index-url", &self.url], more].concat())
    }

    /// What lies in the folder, and how often the file was asked for.
    fn left(&self) -> (Vec<String>, usize) {
        let entries = std::fs::read_dir(self.test.path("house")).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        (names, self.asked.load(Ordering::SeqCst))
    }

    fn is_whole(&self) -> bool {
        std::fs::read(self.test.path("house").join(FILE)).is_ok_and(|bytes| bytes == self.bytes)
    }
}

#[test]
fn what_passes_is_waited_out() {
    let manners: [(&str, Manner, usize); 7] = [
        ("503 twice", |at, asked, bytes| if at < 2 { Reply::status(503) } else { whole(asked, bytes) }, 3),
        (
            "429 with Retry-After",
            |at, asked, bytes| {
                if at == 0 { Reply::status(429).with("Retry-After", "1") } else { whole(asked, bytes) }
            },
            2,
        ),
        (
            "cut off in the middle",
            |at, asked, bytes| {
                let reply = whole(asked, bytes);
                if at == 0 { Reply { cut: Some(100_000), ..reply } } else { reply }
            },
            2,
        ),
        (
            "cut off, and no ranges",
            |at, _, bytes| {
                let reply = Reply::new("application/zip", bytes);
                if at == 0 { Reply { cut: Some(100_000), ..reply } } else { reply }
            },
            2,
        ),
        (
            "cut off, then the whole as a part from the start",
            |at, _, bytes| {
                let reply = Reply::new("application/zip", bytes);
                if at == 0 {
                    return Reply { cut: Some(100_000), ..reply };
                }
                let range = format!("bytes 0-{}/{}", bytes.len() - 1, bytes.len());
                if at == 1 { Reply { status: 206, ..reply }.with("Content-Range", range) } else { reply }
            },
            3,
        ),
        (
            "a length that is too short, once",
            |at, asked, bytes| {
                if at == 0 { Reply::new("application/zip", &bytes[..1000]) } else { whole(asked, bytes) }
            },
            2,
        ),
        ("well", |_, asked, bytes| whole(asked, bytes), 1),
    ];
    for (name, manner, requests) in manners {
        let world = world(manner);
        let outcome = world.fetch().expect(0);
        assert!(outcome.stdout.starts_with("fetched: 1 wheel, "), "{name}: {}", outcome.stdout);
        assert!(world.is_whole(), "{name}");
        assert_eq!(world.left(), (vec![FILE.to_owned()], requests), "{name}");
        world.fetch().expect(0);
        assert_eq!(world.left().1, requests, "{name}: what is there is not fetched again");
    }
}

#[test]
fn a_lasting_fault_is_an_error_and_leaves_no_half_written_file() {
    let manners: [(&str, Manner, i32, &str, usize); 4] = [
        ("404", |_, _, _| Reply::status(404), 3, "404", 1),
        ("503 for ever", |_, _, _| Reply::status(503), 3, "503", 4),
        (
            "other bytes",
            |_, _, bytes| Reply::new("application/zip", vec![0; bytes.len()]),
            1,
            "is not the locked file",
            1,
        ),
        ("a login page", |_, _, _| Reply::new("text/html", "<form>"), 3, "stopped after 6 of", 4),
    ];
    for (name, manner, code, words, requests) in manners {
        let world = world(manner);
        let outcome = world.fetch().expect(code);
        assert!(outcome.stderr.contains(words), "{name}: {}", outcome.stderr);
        let (left, asked) = world.left();
        assert_eq!(asked, requests, "{name}");
        assert!(!left.contains(&FILE.to_owned()), "{name}: {left:?}");
    }
}

#[test]
fn a_server_that_never_comes_to_an_end_is_left_in_time() {
    const TICK: Duration = Duration::from_millis(300);
    let manners: [(&str, Manner); 3] = [
        ("it drips", |_, asked, bytes| Reply { drip: Some(TICK), ..whole(asked, bytes) }),
        ("it says nothing", |_, asked, bytes| {
            std::thread::sleep(Duration::from_mins(10));
            whole(asked, bytes)
        }),
        ("503, and another time to come", |_, _, _| Reply::status(503).with("Retry-After", "60")),
    ];
    for (name, manner) in manners {
        let world = world(manner);
        let started = Instant::now();
        let outcome = world.fetch_with(&["--network-timeout", "2"]).expect(3);
        assert!(started.elapsed() < Duration::from_secs(30), "{name}");
        for words in ["2 s has passed", "--network-timeout"] {
            assert!(outcome.stderr.contains(words), "{name}: {}", outcome.stderr);
        }
        assert!(!world.left().0.contains(&FILE.to_owned()), "{name}");
    }
    // So with a listing.
    let url = serve(Duration::ZERO, |_| Reply { drip: Some(TICK), ..Reply::new("text/html", "<a>".repeat(1000)) });
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='*'\n");
    let lock = ["lock", "p.toml", "--machine", &observed("laptop"), "--index-url", &url, "--network-timeout", "2"];
    let outcome = test.run(&lock).expect(3);
    assert!(outcome.stderr.contains("2 s has passed"), "{}", outcome.stderr);
}

#[test]
fn a_torn_part_is_not_gone_on_with_for_ever() {
    let world = world(|_, asked, bytes| whole(asked, bytes));
    std::fs::create_dir(world.test.path("house")).expect("a folder");
    std::fs::write(world.test.path("house").join(format!("{FILE}.part")), vec![7; 1000]).expect("a part");
    world.fetch().expect(0);
    assert!(world.is_whole());
    // Longer than the file, too.
    std::fs::rename(world.test.path("house").join(FILE), world.test.path("elsewhere")).expect("a rename");
    std::fs::write(world.test.path("house").join(format!("{FILE}.part")), vec![7; 1 << 20]).expect("a part");
    world.fetch().expect(0);
    assert!(world.is_whole());
}

#[test]
fn two_that_fetch_into_one_folder_take_turns() {
    const TICK: Duration = Duration::from_millis(1);
    let world = world(|at, asked, bytes| {
        let drip = (at == 0).then_some(TICK);
        Reply { drip, ..whole(asked, bytes) }
    });
    let arguments = ["fetch", "p.lock", "--into", "house", "--index-url", &world.url];
    let start = || {
        let mut command = world.test.command(&arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let first = start();
    let started = Instant::now();
    while world.left().1 == 0 {
        assert!(started.elapsed() < Duration::from_mins(1), "the first never asked");
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = start().wait_with_output().expect("an end");
    assert!(first.wait_with_output().expect("an end").status.success());
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(second.status.success() && said.contains("another colab-boot that fetches into"), "{said}");
    assert!(world.is_whole());
    assert_eq!(world.left(), (vec![FILE.to_owned()], 1), "fetched once");
}

/// `count` zero bytes, packed: about a thousandth of that.
fn packed_zeros(count: usize) -> Vec<u8> {
    let script = "import gzip, sys; sys.stdout.buffer.write(gzip.compress(bytes(int(sys.argv[1]))))";
    let mut python = Command::new(interpreter());
    python.args(["-I", "-c", script, &count.to_string()]).output().expect("Python starts").stdout
}

#[test]
fn more_than_the_lock_names_is_neither_read_nor_kept() {
    let manners: [(&str, Manner); 2] = [
        ("larger than the locked size", |_, _, bytes| {
            Reply::new("application/zip", [bytes, &vec![0; 1 << 20]].concat())
        }),
        // A small body that unpacks to 64 MiB.
        ("has the encoding `gzip`, which was not requested", |_, _, _| {
            Reply::new("application/zip", packed_zeros(64 << 20)).with("Content-Encoding", "gzip")
        }),
    ];
    for (why, manner) in manners {
        let world = world(manner);
        let outcome = world.fetch().expect(3);
        assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
        assert_eq!(world.left(), (Vec::new(), 1), "{why}: nothing stays");
    }
}

#[test]
fn a_part_that_another_has_laid_is_not_written_to() {
    let world = world(|_, asked, bytes| whole(asked, bytes));
    let (house, mine) = (world.test.path("house"), world.test.path("mine.txt"));
    std::fs::create_dir(&house).expect("a folder");
    std::fs::write(&mine, "mine").expect("a file");
    let part = house.join(format!("{FILE}.part"));
    std::os::unix::fs::symlink(&mine, &part).expect("a link");
    world.fetch().expect(0);
    assert!(world.is_whole());
    for second in [false, true] {
        std::fs::remove_file(house.join(FILE)).expect("a wheel");
        if second {
            assert!(Command::new("mkfifo").arg(&part).status().expect("mkfifo").success());
        } else {
            std::fs::hard_link(&mine, &part).expect("a link");
        }
        world.fetch().expect(0);
        assert!(world.is_whole());
    }
    assert_eq!(std::fs::read_to_string(&mine).expect("a file"), "mine");
}
