//! `stage` on real files: what is there stays, a kill costs what was under way, and nothing stands under its name that
//! is not whole.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::python::interpreter;
use crate::support::said::Said as _;
use crate::support::test::{Test, is_root};

/// All names below `folder` that are not hidden, with what is in them.
pub fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for one in fs::read_dir(next).expect("a folder").map(|one| one.expect("an entry").path()) {
            let name = one.strip_prefix(folder).expect("below").display().to_string();
            if one.is_dir() {
                waiting.push(one);
            } else if !name.starts_with(".colab-boot-stage") {
                all.push((name, fs::read(&one).expect("a file")));
            }
        }
    }
    all.sort();
    all
}

pub fn world() -> Test {
    Test::new().file("set/b/2.txt", "two").file("set/a.txt", "one").file("set/b/empty", "")
}

fn set_modified(path: &Path, seconds: u64) {
    let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    fs::File::options().append(true).open(path).and_then(|file| file.set_modified(time)).expect("a time");
}

/// `size` bytes that do not repeat.
fn large(path: &Path, size: usize) {
    let bytes: Vec<u8> =
        (0..size / 8).flat_map(|number| (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect();
    fs::write(path, bytes).expect("a file");
}

#[test]
fn a_second_run_brings_what_has_changed() {
    let test = world();
    fs::set_permissions(test.path("set/a.txt"), fs::Permissions::from_mode(0o640)).expect("a mode");
    symlink("/etc/hostname", test.path("set/link")).expect("a link");
    let first = test.run(&["stage", "set", "fast/set"]).expect(0);
    assert!(first.stdout.starts_with("3 files, ") && first.reports("note[stage-skipped]"), "{first:?}");
    let without_link = || tree(&test.path("set")).into_iter().filter(|(name, _)| name != "link").collect::<Vec<_>>();
    assert_eq!(tree(&test.path("fast/set")), without_link());
    let [from, to] = ["set/a.txt", "fast/set/a.txt"].map(|name| test.path(name).metadata().expect("a file"));
    assert_eq!((from.mtime(), from.mtime_nsec(), from.mode()), (to.mtime(), to.mtime_nsec(), to.mode()));
    let again = test.run(&["stage", "set", "fast/set"]).expect(0);
    assert!(again.stdout.contains(" is up to date") && again.stdout.contains("3 copied before"), "{again:?}");
    // Of the same size, and of another time.
    fs::write(test.path("set/b/2.txt"), "zwo").expect("a file");
    fs::write(test.path("fast/set/own.txt"), "mine").expect("a file");
    let third = test.run(&["stage", "set", "fast/set"]).expect(0);
    assert!(third.stdout.starts_with("1 file,"), "{third:?}");
    assert_eq!(fs::read(test.path("fast/set/b/2.txt")).expect("a file"), b"zwo");
    assert!(test.path("fast/set/own.txt").exists());
}

/// A file that was brought, with other bytes of the same size and time.
fn spoilt(test: &Test) -> PathBuf {
    let path = test.path("fast/a.txt");
    let time = path.metadata().expect("a file").modified().expect("a time");
    fs::write(&path, "eno").expect("a file");
    fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(time)).expect("a time");
    path
}

#[test]
fn what_was_spoilt_since_is_found_and_brought_again() {
    let test = world();
    test.run(&["stage", "set", "fast"]).expect(0);
    let spoilt = spoilt(&test);
    test.run(&["stage", "set", "fast"]).expect(0);
    assert_eq!(fs::read(&spoilt).expect("a file"), b"eno");
    let out = test.run(&["stage", "set", "fast", "--verify"]).expect(0);
    assert!(out.stdout.contains("1 file,") && out.stdout.contains("3 compared"), "{out:?}");
    assert_eq!(fs::read(&spoilt).expect("a file"), b"one");
}

pub fn parts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join(".colab-boot-parts")).into_iter().flatten();
    entries.map(|one| one.expect("an entry").path()).collect()
}

#[test]
fn a_killed_run_is_gone_on_with() {
    let test = world();
    large(&test.path("set/large.bin"), 400 << 20);
    let mut command = test.command(&["stage", "set", "fast", "--jobs", "1"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let begun = || parts(&test.path("fast")).first().and_then(|path| path.metadata().ok()).map_or(0, |data| data.len());
    while begun() < 8 << 20 {
        assert!(child.try_wait().expect("a state").is_none(), "it ended before it could be killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    assert!(!test.path("fast/large.bin").exists() && parts(&test.path("fast")).len() == 1);
    let out = test.run(&["stage", "set", "fast", "--json"]).expect(0);
    let continued = out.json()["report"]["continued"].as_u64().expect("a number");
    assert!(continued >= 8 << 20, "{out:?}");
    assert!(tree(&test.path("set")) == tree(&test.path("fast")), "not the same");
    // A source that has changed meanwhile is brought from its beginning, and what was begun of the old one goes.
    fs::create_dir(test.path("fast/.colab-boot-parts")).expect("a folder");
    fs::write(test.path("fast/.colab-boot-parts/0123456789abcdef"), "old").expect("a file");
    large(&test.path("set/large.bin"), 1 << 20);
    test.run(&["stage", "set", "fast"]).expect(0);
    assert_eq!(tree(&test.path("set")), tree(&test.path("fast")));
}

#[test]
fn checkpoints_come_oldest_first_and_whole() {
    let test = world();
    for (name, time) in [("c", 300), ("a", 100), ("b", 200)] {
        large(&test.path(&format!("set/{name}.pt")), 1 << 20);
        set_modified(&test.path(&format!("set/{name}.pt")), 1_700_000_000 + time);
    }
    test.run(&["stage", "--back", "set", "drive"]).expect(0);
    let journal = fs::read_to_string(test.path("drive/.colab-boot-stage.jsonl")).expect("a journal");
    let place = |name: &str| journal.find(&format!("\"path\":\"{name}.pt\"")).expect(name);
    assert!(place("a") < place("b") && place("b") < place("c"), "{journal}");
    // One that is being written all the while is not brought half.
    let script = "import sys,time\nwhile True:\n open(sys.argv[1],'ab').write(b'x'*65536)\n time.sleep(.001)";
    large(&test.path("set/live.pt"), 64 << 20);
    let live = test.path("set/live.pt");
    let mut writer = Command::new(interpreter()).args(["-c", script]).arg(&live).spawn().expect("a Python");
    std::thread::sleep(Duration::from_millis(200));
    let out = test.run(&["stage", "--back", "set", "drive"]).expect(1);
    writer.kill().expect("killed");
    writer.wait().expect("ended");
    assert!(out.reports("error[stage-incomplete]") && out.stderr.contains("changed while being read"), "{out:?}");
    assert!(!test.path("drive/live.pt").exists() && parts(&test.path("drive")).is_empty());
    test.run(&["stage", "--back", "set", "drive"]).expect(0);
    assert!(tree(&test.path("set")) == tree(&test.path("drive")));
}

#[test]
fn what_can_not_be_is_refused_before_anything_is_written() {
    let test = world();
    for (arguments, said) in [
        (["stage", "nowhere", "fast"], "there is no file or folder"),
        (["stage", "set", "set/b"], "contains the other"),
        (["stage", "set/b", "set"], "contains the other"),
        (["stage", "set", "set"], "contains the other"),
        (["stage", "set", "set/a.txt"], "is a file, but must be a folder"),
        (["stage", "set/a.txt", "set"], "contains the other"),
    ] {
        let before = tree(&test.path("set"));
        let out = test.run(&arguments).expect(2);
        assert!(out.stderr.contains(said), "{arguments:?}: {out:?}");
        assert_eq!(tree(&test.path("set")), before);
        assert!(!test.path("fast").exists());
    }
    // A file that is no folder's own is brought as it is.
    test.run(&["stage", "set/a.txt", "fast"]).expect(0);
    assert_eq!(tree(&test.path("fast")), [("a.txt".to_owned(), b"one".to_vec())]);
}

#[test]
fn a_disk_that_is_too_small_is_left_alone() {
    if !is_root() {
        eprintln!("skipped: mounting wants root");
        return;
    }
    let test = world();
    large(&test.path("set/large.bin"), 16 << 20);
    fs::create_dir(test.path("small")).expect("a folder");
    let mount = |arguments: &[&str]| Command::new(arguments[0]).args(&arguments[1..]).arg(test.path("small")).status();
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=70m", "tmpfs"]).expect("mount").success() {
        eprintln!("skipped: nothing can be mounted here");
        return;
    }
    let out = test.run(&["stage", "set", "small"]);
    let left: Vec<String> = tree(&test.path("small")).into_iter().map(|(name, _)| name).collect();
    assert!(mount(&["umount"]).expect("umount").success());
    let out = out.expect(3);
    assert!(out.stderr.contains("are needed") && left.is_empty(), "{out:?} {left:?}");
}

#[test]
#[ignore = "whole"]
fn two_at_once_do_not_write_over_each_other() {
    let test = world();
    large(&test.path("set/large.bin"), 300 << 20);
    let mut command = test.command(&["stage", "set", "fast"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    while parts(&test.path("fast")).is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = test.run(&["stage", "set", "fast"]);
    assert!(child.wait().expect("ended").success());
    assert!(second.stderr.contains("another colab-boot holds"), "{second:?}");
    assert!(tree(&test.path("set")) == tree(&test.path("fast")));
}

#[test]
fn files_of_others_are_not_written_over() {
    let test = world().file("other/a.txt", "other").file("fast/a.txt", "mine, and newer");
    let out = test.run(&["stage", "set", "fast"]).expect(1);
    assert!(out.stderr.contains("a.txt: a file with its name exists") && out.stderr.contains("--overwrite"), "{out:?}");
    assert_eq!(fs::read(test.path("fast/a.txt")).expect("a file"), b"mine, and newer");
    assert_eq!(fs::read(test.path("fast/b/2.txt")).expect("a file"), b"two");
    test.run(&["stage", "set", "fast", "--overwrite"]).expect(0);
    assert_eq!(fs::read(test.path("fast/a.txt")).expect("a file"), b"one");
    // Nor those of another source, nor what was changed since, though its size is the same.
    let out = test.run(&["stage", "other", "fast"]).expect(1);
    assert!(out.stderr.contains("a file with its name exists"), "{out:?}");
    fs::write(test.path("fast/b/2.txt"), "own").expect("a file");
    set_modified(&test.path("fast/b/2.txt"), 1_700_000_000);
    test.run(&["stage", "set", "fast"]).expect(1);
    assert_eq!(fs::read(test.path("fast/b/2.txt")).expect("a file"), b"own");
    // The same of checkpoints, and of tar files.
    let test = test.file("drive/a.txt", "from another run");
    test.run(&["stage", "--back", "set", "drive"]).expect(1);
    assert_eq!(fs::read(test.path("drive/a.txt")).expect("a file"), b"from another run");
    test.run(&["stage", "set", "tars", "--shards", "1kB"]).expect(0);
    let before = tree(&test.path("tars"));
    let out = test.run(&["stage", "other", "tars", "--shards", "1kB"]).expect(2);
    assert!(out.stderr.contains("differs from what was packed from here"), "{out:?}");
    assert_eq!(tree(&test.path("tars")), before);
}

#[test]
fn a_file_that_became_a_folder_makes_room_and_holes_stay_holes() {
    let test = world();
    test.run(&["stage", "set", "fast"]).expect(0);
    fs::remove_file(test.path("set/a.txt")).expect("a file");
    let test = test.file("set/a.txt/in", "below").file("set/c/d", "below").file("fast/c", "of somebody else");
    let out = test.run(&["stage", "set", "fast"]).expect(1);
    assert_eq!(fs::read(test.path("fast/a.txt/in")).expect("a file"), b"below");
    assert!(out.stderr.contains("c/d: a file with its name exists"), "{out:?}");
    assert_eq!(fs::read(test.path("fast/c")).expect("a file"), b"of somebody else");
    test.run(&["stage", "set", "fast", "--overwrite"]).expect(0);
    assert_eq!(fs::read(test.path("fast/c/d")).expect("a file"), b"below");
    // Many at once are not in each other's way.
    for name in 0..100 {
        fs::write(test.path(&format!("set/many{name}")), "a file").expect("a file");
    }
    test.run(&["stage", "set", "fast"]).expect(0);
    for name in 0..100 {
        let place = test.path(&format!("set/many{name}"));
        fs::remove_file(&place).expect("a file");
        fs::create_dir(&place).expect("a folder");
        (0..8).for_each(|part| fs::write(place.join(part.to_string()), "below").expect("a file"));
    }
    test.run(&["stage", "set", "fast"]).expect(0);
    (0..100).for_each(|name| assert_eq!(fs::read_dir(test.path(&format!("fast/many{name}"))).expect("it").count(), 8));
    // The other way round nothing is taken away.
    fs::remove_dir_all(test.path("set/c")).expect("a folder");
    let test = test.file("set/c", "a file now");
    let out = test.run(&["stage", "set", "fast", "--overwrite"]).expect(1);
    assert!(out.stderr.contains("c: a folder with its name exists") && test.path("fast/c/d").is_file(), "{out:?}");
    fs::remove_file(test.path("set/c")).expect("a file");
    let mut sparse = fs::File::create(test.path("set/sparse")).expect("a file");
    std::io::Seek::seek(&mut sparse, std::io::SeekFrom::Start(100 << 20)).expect("a hole");
    std::io::Write::write_all(&mut sparse, b"end").expect("a file");
    drop(sparse);
    test.run(&["stage", "set", "fast", "--verify"]).expect(0);
    let data = test.path("fast/sparse").metadata().expect("a file");
    assert_eq!(data.len(), (100 << 20) + 3);
    assert!(std::os::unix::fs::MetadataExt::blocks(&data) * 512 < 10 << 20, "{data:?}");
    assert!(fs::read(test.path("fast/sparse")).expect("a file") == fs::read(test.path("set/sparse")).expect("a file"));
}

#[test]
fn a_verification_without_an_account_reads_the_source() {
    let test = world();
    test.run(&["stage", "set", "fast"]).expect(0);
    let spoilt = spoilt(&test);
    fs::remove_file(test.path("fast/.colab-boot-stage.jsonl")).expect("a journal");
    // It may have been there before.
    let out = test.run(&["stage", "set", "fast", "--verify"]).expect(1);
    assert!(out.stderr.contains("a.txt") && out.stderr.contains("--overwrite"), "{out:?}");
    assert_eq!(fs::read(&spoilt).expect("a file"), b"eno");
    let out = test.run(&["stage", "set", "fast", "--verify", "--overwrite"]).expect(0);
    assert!(out.stdout.contains("1 file,") && out.stdout.contains("3 compared"), "{out:?}");
    assert_eq!(fs::read(&spoilt).expect("a file"), b"one");
}

#[test]
fn what_waits_under_a_name_of_ours_is_not_written_to() {
    let test = world();
    let precious = test.path("precious");
    fs::write(&precious, "mine").expect("a file");
    let parts = test.path("fast/.colab-boot-parts");
    // A folder that is a link is no safe place; links and pipes under the names of parts, shards, the journal and the
    // files are replaced.
    fs::create_dir_all(test.path("fast")).expect("a folder");
    fs::create_dir(test.path("elsewhere")).expect("a folder");
    std::os::unix::fs::symlink(test.path("elsewhere"), &parts).expect("a link");
    let out = test.run(&["stage", "set", "fast"]).expect(3);
    assert!(out.stderr.contains("can't be stored safely"), "{out:?}");
    fs::remove_file(&parts).expect("a link");
    for more in [[].as_slice(), &["--shards", "1kB"]] {
        for link in [true, false] {
            let to = format!("to-{link}-{}", more.len());
            let name = |path: &str| test.path(&to).join(path);
            fs::create_dir_all(name(".colab-boot-parts")).expect("a folder");
            let places =
                [".colab-boot-parts/shard-000000.tar", ".colab-boot-parts/member", ".colab-boot-stage.jsonl", "a.txt"];
            for place in places.iter().map(|place| name(place)) {
                if link {
                    std::os::unix::fs::symlink(&precious, place).expect("a link");
                } else {
                    fs::hard_link(&precious, place).expect("a hard link");
                }
            }
            test.run(&[["stage", "set", &to, "--overwrite"].as_slice(), more].concat()).expect(0);
            assert_eq!(fs::read_to_string(&precious).expect("a file"), "mine");
            // What is brought as a tar file leaves `a.txt` to whom it belongs.
            assert_eq!(name("a.txt").is_symlink(), link && !more.is_empty());
            assert!(!name(".colab-boot-stage.jsonl").is_symlink());
        }
    }
    // A link inside the destination is not followed.
    std::os::unix::fs::symlink(test.path("elsewhere"), test.path("fast/b")).expect("a link");
    let out = test.run(&["stage", "set", "fast"]).expect(1);
    assert!(out.stderr.contains("links are not followed"), "{out:?}");
    assert_eq!(fs::read_dir(test.path("elsewhere")).expect("a folder").count(), 0);
}

#[test]
fn another_source_is_not_taken_for_the_one_before() {
    let test = world().file("other/a.txt", "two").file("same/a.txt", "one");
    let time = |path: &str| set_modified(&test.path(path), 1_700_000_000);
    for path in ["set/a.txt", "other/a.txt", "same/a.txt"] {
        time(path);
    }
    test.run(&["stage", "set", "fast"]).expect(0);
    // The size and the time are the same, and the bytes are not.
    let out = test.run(&["stage", "other", "fast"]).expect(1);
    assert!(out.stderr.contains("a.txt: a file with its name exists"), "{out:?}");
    test.run(&["stage", "same", "fast", "--verify"]).expect(0);
    test.run(&["stage", "other", "fast", "--overwrite"]).expect(0);
    assert_eq!(fs::read(test.path("fast/a.txt")).expect("a file"), b"two");
    // What is verified is held against the source as it is now.
    fs::write(test.path("other/a.txt"), "six").expect("a file");
    time("other/a.txt");
    let out = test.run(&["stage", "other", "fast", "--verify"]).expect(0);
    assert!(out.stdout.contains("1 file,"), "{out:?}");
    assert_eq!(fs::read(test.path("fast/a.txt")).expect("a file"), b"six");
}

#[test]
fn a_source_that_is_empty_or_can_not_be_read_takes_no_tar_file_away() {
    let test = world();
    test.run(&["stage", "set", "tars", "--shards", "1kB"]).expect(0);
    let before = tree(&test.path("tars"));
    fs::rename(test.path("set"), test.path("mounted")).expect("a rename");
    fs::create_dir(test.path("set")).expect("a folder");
    let out = test.run(&["stage", "set", "tars", "--shards", "1kB"]).expect(3);
    assert!(out.stderr.contains("is empty, but files were packed from it before"), "{out:?}");
    assert_eq!(tree(&test.path("tars")), before);
}

#[test]
fn odd_sources_are_named() {
    let test = world();
    for source in ["/dev/zero", "/dev/null"] {
        let out = test.run(&["stage", source, "fast"]).expect(2);
        assert!(out.stderr.contains("a pipe or a device"), "{out:?}");
    }
    let odd = test.path("set").join(std::ffi::OsStr::from_bytes(b"bad\xff.bin"));
    fs::write(&odd, "x").expect("a file");
    let out = test.run(&["stage", "set", "fast"]).expect(1);
    assert!(out.stderr.contains("its name is not valid UTF-8"), "{out:?}");
    fs::create_dir(test.path("set/empty folder")).expect("a folder");
    test.run(&["stage", "set", "fast"]).expect(1);
    assert!(test.path("fast/empty folder").is_dir());
    assert_eq!(fs::read(test.path("fast/b/2.txt")).expect("a file"), b"two");
}
