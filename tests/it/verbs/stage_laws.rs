//! Whatever a folder has, and whenever a run of `stage` is killed, the next one brings all of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::support::numbers::Numbers;
use crate::support::test::Test;
use crate::verbs::stage::tree;
use crate::verbs::stage_archives::{has_strace, under_strace};

const PATHS: [&str; 8] = ["a", "b/c.jpg", "b/c.cls", "b/d", "e/f/g", "e/f/h h", "e/\u{e9}", "z"];

const CALLS: [&str; 6] = [
    "openat",
    "write,pwrite64,copy_file_range",
    "rename,renameat,renameat2",
    "fsync,fdatasync",
    "unlink,unlinkat,rmdir",
    "mkdir,mkdirat,chmod,fchmod,utimensat",
];

/// Changes a few files of the source; some keep their size, and some their time, too.
fn change(source: &Path, numbers: &mut Numbers) {
    for _ in 0..=numbers.below(3) {
        let place = source.join(numbers.choose(&PATHS));
        let time = place.metadata().and_then(|data| data.modified()).ok();
        if numbers.below(5) == 0 {
            drop(fs::remove_file(&place));
            continue;
        }
        let size = numbers.choose(&[0, 1, 600, 1024, 70_000]);
        let bytes: Vec<u8> = (0..size).map(|_| u8::try_from(numbers.below(256)).expect("a byte")).collect();
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::write(&place, bytes).expect("a file");
        if let Some(time) = time.filter(|_| numbers.below(3) == 0) {
            fs::File::options().append(true).open(&place).and_then(|file| file.set_modified(time)).expect("a time");
        }
    }
}

#[test]
fn what_is_killed_at_any_call_is_whole_after_the_next_run() {
    if !has_strace() {
        return;
    }
    let seed: u64 = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let rounds: usize = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(12);
    let mut numbers = Numbers(seed);
    let test = Test::new().file("set/keep", "kept");
    let source = test.path("set");
    for round in 0..rounds {
        change(&source, &mut numbers);
        let shards = numbers.below(2) == 0;
        let arguments = ["stage", "set", if shards { "tars" } else { "fast" }, "--shards", "2kB"];
        let arguments = &arguments[..if shards { 5 } else { 3 }];
        let when = numbers.below(40) + 1;
        let calls = numbers.choose(&CALLS);
        let about = format!("SEED={seed}, round {round}: {arguments:?} killed at {calls} {when}");
        let killed = format!("inject={calls}:signal=KILL:when={when}");
        under_strace(&test, &["-e", &killed], arguments);
        if numbers.below(2) == 0 {
            change(&source, &mut numbers);
        }
        let out = test.run(&[arguments, &["--verify"]].concat());
        assert_eq!(out.code, 0, "{about}: {out:?}");
        let whole = tree(&source);
        let brought = if shards { unpacked(&test) } else { tree(&test.path("fast")) };
        let missing: Vec<&str> =
            whole.iter().filter(|one| !brought.contains(one)).map(|(name, _)| name.as_str()).collect();
        assert!(missing.is_empty(), "{about}: {missing:?}, and it says {out:?}");
        assert!(!shards || whole.len() == brought.len(), "{about}: more files than there are");
        let again = test.run(arguments).expect(0);
        assert!(again.stdout.contains("is up to date"), "{about}: {again:?}");
    }
}

/// What the tar files hold, by the system's tar.
fn unpacked(test: &Test) -> Vec<(String, Vec<u8>)> {
    let into = test.path("unpacked");
    drop(fs::remove_dir_all(&into));
    fs::create_dir(&into).expect("a folder");
    let mut names: Vec<_> =
        fs::read_dir(test.path("tars")).expect("a folder").flatten().map(|one| one.path()).collect();
    names.retain(|path| path.extension().is_some_and(|end| end == "tar"));
    for path in names {
        let done = Command::new("tar").arg("-xf").arg(path).arg("-C").arg(&into).status().expect("tar starts");
        assert!(done.success());
    }
    tree(&into)
}

#[test]
fn what_has_a_name_of_colab_boots_own_is_said_wherever_it_lies() {
    let test = Test::new().file("drive/keep.txt", "k\n").file("drive/.colab-boot-parts/mine", "m\n");
    let test = test.file("drive/below/.colab-boot-stage.jsonl", "j\n");
    let (from, to) = (test.path("drive").display().to_string(), test.path("fast").display().to_string());
    let staged = test.run(&["stage", "--verify", &from, &to]).expect(0);
    assert!(staged.stderr.contains("2 names skipped"), "{staged:?}");
    assert!(staged.stderr.contains(".colab-boot-parts"), "{staged:?}");
}

#[test]
fn modes_are_those_of_the_source() {
    let test = Test::new();
    fs::create_dir_all(test.path("set/private")).expect("a folder");
    let names = ["private/key", "shown", "run"];
    for name in names {
        fs::write(test.path("set").join(name), name).expect("a file");
    }
    let set = |name: &str, bits: u32| {
        fs::set_permissions(test.path("set").join(name), fs::Permissions::from_mode(bits)).expect("a mode");
    };
    set("private", 0o700);
    // A mode that has changed alone is brought, too.
    for modes in [[0o600, 0o444, 0o755], [0o644, 0o600, 0o700]] {
        names.into_iter().zip(modes).for_each(|(name, bits)| set(name, bits));
        test.run(&["stage", "set", "fast"]).expect(0);
        test.run(&["stage", "set", "packed", "--shards", "1MB"]).expect(0);
        let bits = |folder: &str, name: &str| {
            test.path(folder).join(name).metadata().expect("a file").permissions().mode() & 0o777
        };
        assert_eq!(bits("fast", "private"), 0o700);
        let listed = Command::new("tar").arg("-tvf").arg(test.path("packed/shard-000000.tar")).output().expect("tar");
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        for (name, mode) in names.into_iter().zip(modes) {
            assert_eq!(bits("fast", name), mode, "{name}");
            let line = listed.lines().find(|line| line.ends_with(name)).expect(name);
            assert_eq!(line.starts_with("-rwx"), mode & 0o100 != 0, "{line}");
        }
    }
}
