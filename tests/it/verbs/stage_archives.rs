//! `stage` with archives: tar files that it makes (`--shards`), and those that it takes apart (`--unpack`).

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::python::interpreter;
use crate::support::test::{Outcome, Test, is_root};
use crate::verbs::stage::{parts, tree, world};

fn tar_names(path: &Path) -> Vec<String> {
    let mut archive = tar::Archive::new(fs::File::open(path).expect("a tar file"));
    let names = archive
        .entries()
        .expect("entries")
        .map(|one| one.expect("an entry").path().expect("a path").display().to_string());
    names.collect()
}

#[test]
fn small_files_become_a_few_tar_files() {
    let mut test = Test::new();
    for number in 0..40 {
        test = test.file(&format!("set/{number:04}.jpg"), &"j".repeat(3000)).file(&format!("set/{number:04}.cls"), "1");
    }
    test.run(&["stage", "set", "one", "--shards", "20kB"]).expect(0);
    test.run(&["stage", "set", "two", "--shards", "20kB"]).expect(0);
    let all = tree(&test.path("one"));
    assert!(all.len() > 5 && all == tree(&test.path("two")), "{}", all.len());
    let names: Vec<String> = all.iter().flat_map(|(name, _)| tar_names(&test.path("one").join(name))).collect();
    assert_eq!(names.len(), 80);
    for (name, _) in &all {
        let names = tar_names(&test.path("one").join(name));
        assert_eq!(names.len() % 2, 0, "{name}: a sample was torn apart: {names:?}");
    }
    let again = test.run(&["stage", "set", "one", "--shards", "20kB"]).expect(0);
    assert!(again.stdout.contains("is up to date") && again.stdout.contains("80 copied before"), "{again:?}");
    // One changes: its tar file alone is made again. Many go: so do the tar files that held them.
    let inode = |name: &str| test.path("one").join(name).metadata().expect("a file").ino();
    let (first, last) = (inode("shard-000000.tar"), inode("shard-000003.tar"));
    fs::write(test.path("set/0000.cls"), "2").expect("a file");
    test.run(&["stage", "set", "one", "--shards", "20kB"]).expect(0);
    assert!(inode("shard-000000.tar") != first && inode("shard-000003.tar") == last);
    for number in 10..40 {
        fs::remove_file(test.path(&format!("set/{number:04}.jpg"))).expect("a file");
    }
    fs::write(test.path("one/shard-of-mine.tar"), "mine").expect("a file");
    test.run(&["stage", "set", "one", "--shards", "20kB"]).expect(0);
    let mut left: Vec<String> = tree(&test.path("one")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(left.pop().as_deref(), Some("shard-of-mine.tar"));
    assert_eq!(left.iter().flat_map(|name| tar_names(&test.path("one").join(name))).count(), 50);
}

/// Runs a script of Python or bash where the test's files lie.
pub(super) fn script(test: &Test, program: &Path, text: &str) {
    let done = Command::new(program).args(["-c", text]).current_dir(test.folder.path()).status();
    assert!(done.expect("it starts").success(), "{text}");
}

/// What is in `folder`, but for our own.
fn brought(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let all = if folder.exists() { tree(folder) } else { Vec::new() };
    all.into_iter().filter(|(name, _)| !name.contains(".colab-boot")).collect()
}

#[test]
fn archives_are_unpacked_whole_with_times_and_modes() {
    let test = Test::new().file("set/x/one.txt", "one").file("set/run.sh", "#!/bin/sh\n");
    let pack = "chmod 755 set/run.sh; head -c 3000000 /dev/urandom > set/x/large.bin; touch -d '2020-02-03 04:05:06.5' set/x/one.txt
ln set/x/one.txt set/x/two.txt; ln -s /etc/passwd set/x/link; chmod 555 set/x
for kind in '' .gz .zst .xz .bz2; do tar --auto-compress -cf a.tar$kind set; done
cp a.tar.gz plain-name; chmod 755 set/x; rm set/x/link; python3 -c 'import shutil; shutil.make_archive(\"a\", \"zip\", \".\", \"set\")'";
    script(&test, Path::new("bash"), pack);
    let source = tree(&test.path("set"));
    for name in ["a.tar", "a.tar.gz", "a.tar.zst", "a.tar.xz", "a.tar.bz2", "plain-name", "a.zip"] {
        let to = format!("out-{name}");
        let out = test.run(&["stage", "--unpack", name, &to]).expect(0);
        assert_eq!(out.stderr.contains("set/x/link"), name != "a.zip", "{name}: {out:?}");
        assert!(brought(&test.path(&to).join("set")) == source, "{name}");
        let data = |one: &str| test.path(&to).join("set").join(one).metadata().expect("a file");
        let modes = [data("run.sh").mode(), data("x").mode(), data("x/two.txt").mode()].map(|mode| mode & 0o777);
        assert_eq!(modes, [0o755, 0o755, 0o644], "{name}");
        assert!(data("x/one.txt").mtime() < 1_600_000_000, "{name}");
        assert!(!test.path(&to).join(".colab-boot-parts").exists(), "{name}");
        // Again: nothing; one is lost: it alone is brought; one is edited: it is the user's.
        let again = test.run(&["stage", "--unpack", name, &to]).expect(0);
        assert!(
            again.stdout.contains("is up to date") && again.stdout.contains("4 copied before"),
            "{name}: {again:?}"
        );
        let (kept, lost) = (data("x/large.bin").ino(), test.path(&to).join("set/x/one.txt"));
        fs::remove_file(&lost).expect("a file");
        test.run(&["stage", "--unpack", name, &to]).expect(0);
        assert_eq!((data("x/large.bin").ino(), fs::read(&lost).expect("a file")), (kept, b"one".to_vec()), "{name}");
        fs::write(&lost, "mine").expect("an edit");
        let refused = test.run(&["stage", "--unpack", name, &to]).expect(1);
        assert!(refused.stderr.contains("was changed since") && fs::read(&lost).expect("a file") == b"mine", "{name}");
        test.run(&["stage", "--unpack", name, &to, "--overwrite"]).expect(0);
        assert!(brought(&test.path(&to).join("set")) == source, "{name}");
    }
    // Bytes that turned bad below their time and size are found against the archive itself.
    let spoilt = test.path("out-a.tar/set/x/two.txt");
    let time = spoilt.metadata().and_then(|data| data.modified()).expect("a time");
    fs::write(&spoilt, "eno").expect("a write");
    fs::File::options().append(true).open(&spoilt).and_then(|file| file.set_modified(time)).expect("a time");
    let out = test.run(&["stage", "--unpack", "a.tar", "out-a.tar", "--verify"]).expect(0);
    assert!(out.stdout.contains("4 compared") && brought(&test.path("out-a.tar/set")) == source, "{out:?}");
}

#[test]
fn an_archive_is_unpacked_whole_or_not_at_all() {
    let test = Test::new();
    let make = r"
import gzip, io, tarfile, zipfile
def put(archive, path, data, **more):
    info = tarfile.TarInfo(path)
    info.size = len(data)
    for key, value in more.items(): setattr(info, key, value)
    archive.addfile(info, io.BytesIO(data))
large = bytes(range(256)) * 4096
for mode, name in (('w', 'whole.tar'), ('w:gz', 'whole.tar.gz')):
    with tarfile.open(name, mode) as archive:
        put(archive, 'a', large), put(archive, 'b', large)
for name in ('whole.tar', 'whole.tar.gz'):
    data = open(name, 'rb').read()
    open('cut-' + name, 'wb').write(data[:len(data) // 2])
open('edge.tar', 'wb').write(open('whole.tar', 'rb').read()[:512 + len(large)])
with tarfile.open('zeros.tar', 'w') as archive:
    put(archive, 'a', b'one'), put(archive, 'b', bytes(5120))
zeros = open('zeros.tar', 'rb').read()[:1024 + 512 + 5120]
open('zeros.tar', 'wb').write(zeros), gzip.open('zeros.tar.gz', 'wb').write(zeros)
open('empty.tar', 'wb').write(b''), open('no.zip', 'wb').write(b'no')
with tarfile.open('out.tar', 'w') as archive:
    put(archive, 'x/one', b'one'), put(archive, '../evil', b'evil')
with tarfile.open('through.tar', 'w') as archive:
    put(archive, 'x', b'', type=tarfile.SYMTYPE, linkname='..'), put(archive, 'x/evil', b'evil')
with tarfile.open('both.tar', 'w') as archive:
    put(archive, 'a', b'one'), put(archive, 'a/b', b'two')
with zipfile.ZipFile('names.zip', 'w') as archive:
    archive.writestr('x/one', 'one'), archive.writestr('../evil', 'evil'), archive.writestr('/abs', 'abs')
    link = zipfile.ZipInfo('x/link'); link.external_attr = 0o120777 << 16; link.create_system = 3
    archive.writestr(link, '/etc/passwd')
";
    script(&test, interpreter(), make);
    let there = || {
        let mut names: Vec<_> =
            fs::read_dir(test.folder.path()).expect("a folder").flatten().map(|one| one.file_name()).collect();
        names.sort();
        names
    };
    let cut = ["cut-whole.tar", "cut-whole.tar.gz", "edge.tar", "zeros.tar", "zeros.tar.gz", "empty.tar"];
    for name in cut.into_iter().chain(["out.tar", "through.tar", "both.tar", "names.zip"]) {
        fs::create_dir(test.path("to")).expect("a folder");
        let before = there();
        let out = test.run(&["stage", "--unpack", name, "to"]).expect(3);
        assert!(out.stderr.contains("nothing was unpacked") && brought(&test.path("to")).is_empty(), "{name}: {out:?}");
        assert!(!test.path("to/.colab-boot-parts").exists() && there() == before, "{name}");
        fs::remove_dir_all(test.path("to")).expect("a folder");
    }
    for (name, why) in [("no.rar", "there is no file or folder"), ("no.zip", "is not a supported archive")] {
        let out = test.run(&["stage", "--unpack", name, "cut"]).expect(2);
        assert!(out.stderr.contains(why), "{out:?}");
    }
    let bare = test.set("PATH", "/nowhere");
    let out = bare.run(&["stage", "--unpack", "names.zip", "bare"]).expect(3);
    assert!(
        out.stderr.contains("`unzip` to unpack, which is not installed")
            && out.stderr.contains("apt-get install unzip")
    );
}

#[test]
fn what_lies_in_the_destination_is_not_written_through() {
    let test = Test::new().file("away/kept", "kept").file("out/mine", "mine");
    let pack = "mkdir x; echo one > x/one; echo two > mine; echo old > same; tar -cf a.tar x mine same; echo new > same; tar -rf a.tar same
truncate -s 20M hole; echo end >> hole; tar --sparse --format=pax -rf a.tar hole";
    script(&test, Path::new("bash"), pack);
    std::os::unix::fs::symlink(test.path("away"), test.path("out/x")).expect("a link");
    let out = test.run(&["stage", "--unpack", "a.tar", "out"]).expect(1);
    for why in ["x/one: its folder is a link at the destination", "mine: a file with its name exists"] {
        assert!(out.stderr.contains(why), "{out:?}");
    }
    assert_eq!(tree(&test.path("away")), [("kept".to_owned(), b"kept".to_vec())]);
    let read = |name: &str| fs::read(test.path("out").join(name)).expect("a file");
    assert!(
        read("mine") == b"mine"
            && read("same") == b"new\n"
            && read("hole") == fs::read(test.path("hole")).expect("a file")
    );
    assert!(test.path("out/hole").metadata().expect("a file").blocks() < 1000, "a hole stays one");
}

#[test]
fn an_archive_that_is_larger_than_the_disk_is_given_up() {
    let test = Test::new();
    script(&test, Path::new("bash"), "head -c 400M /dev/zero > zeros; tar -czf a.tar.gz zeros; mkdir small");
    let mounts = Command::new("unshare").args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if !(is_root() && mounts.is_ok_and(|output| output.status.success())) {
        eprintln!("skipped: mounting wants root");
        return;
    }
    let run = r#"mount -t tmpfs -o size=200m none small; code=0; "$BINARY" stage --unpack a.tar.gz small || code=$?
[[ -z $(find small -type f ! -name '.colab-boot*') && $(df --output=used -m small | tail -1) -lt 3 ]] && exit $code"#;
    let mut command = Command::new("unshare");
    command.args(["--mount", "bash", "-c", run]).env_clear().envs(&test.environment);
    let out = Outcome::of({
        command.env("BINARY", env!("CARGO_BIN_EXE_colab-boot")).current_dir(test.folder.path());
        command
    });
    let out = out.expect(3);
    assert!(out.stderr.contains("larger than the free disk space"), "{out:?}");
}

/// Runs `arguments` under strace, which does what `injected` says.
pub fn under_strace(test: &Test, injected: &[&str], arguments: &[&str]) -> Outcome {
    let plain = test.command(arguments);
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null"]).args(injected).arg(plain.get_program()).args(plain.get_args());
    command.env_clear().envs(&test.environment).current_dir(test.folder.path());
    Outcome::of(command)
}

pub fn has_strace() -> bool {
    let works = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    let works = works.is_ok_and(|status| status.success());
    if !works {
        eprintln!("skipped: strace does not work here");
    }
    works
}

/// Runs `arguments` until strace kills it at a rename.
fn killed_at_a_rename(test: &Test, arguments: &[&str]) {
    under_strace(test, &["-e", "inject=rename,renameat,renameat2:error=EINTR:signal=KILL:when=2"], arguments);
}

#[test]
fn what_was_killed_before_a_rename_is_not_taken_for_whole() {
    if !has_strace() {
        return;
    }
    let test = Test::new().file("one/f", "content1").file("two/f", "content2").file("set/f", "v1v1");
    script(
        &test,
        Path::new("bash"),
        "touch -d 2020-01-01 one/f two/f; tar -cf a.tar -C one f; touch -d '2026-01-01 00:00:00' set/f",
    );
    test.run(&["stage", "--unpack", "a.tar", "out"]).expect(0);
    test.run(&["stage", "set", "copy"]).expect(0);
    script(
        &test,
        Path::new("bash"),
        "tar -cf a.tar -C two f; echo -n v2v2 > set/f; touch -d '2026-01-01 00:00:01' set/f",
    );
    killed_at_a_rename(&test, &["stage", "--unpack", "a.tar", "out"]);
    killed_at_a_rename(&test, &["stage", "set", "copy"]);
    test.run(&["stage", "--unpack", "a.tar", "out"]).expect(0);
    test.run(&["stage", "set", "copy"]).expect(0);
    let read = |name: &str| fs::read_to_string(test.path(name)).expect("a file");
    assert_eq!((read("out/f"), read("copy/f")), ("content2".to_owned(), "v2v2".to_owned()));
    // What the user writes there after the kill is the user's.
    fs::write(test.path("set/f"), "v3v3v3").expect("a file");
    killed_at_a_rename(&test, &["stage", "set", "copy"]);
    fs::write(test.path("copy/f"), "mine").expect("a file");
    let out = test.run(&["stage", "set/", "copy"]).expect(1);
    assert!(out.stderr.contains("was changed since") && read("copy/f") == "mine", "{out:?}");
}

#[test]
fn members_that_can_not_be_unpacked_and_links_in_the_way_are_no_success() {
    let test = Test::new()
        .file("s/a/b", "one")
        .file("s/sub/x", "x")
        .file("zipped/plain", "plain")
        .file("zipped/locked", &"locked ".repeat(20));
    let make = "import os, zipfile\nfor name in ('plain', 'locked'): os.chdir('zipped') if name == 'plain' else None
archive = zipfile.ZipFile('../a.zip', 'w'); archive.write('plain'); archive.write('locked'); archive.close()
data = bytearray(open('../a.zip', 'rb').read())
for magic, at in ((b'PK\\x03\\x04', 6), (b'PK\\x01\\x02', 8)):
    data[data.rindex(magic) + at] |= 1
open('../a.zip', 'wb').write(data)";
    script(&test, interpreter(), make);
    let out = test.run(&["stage", "--unpack", "a.zip", "out"]).expect(3);
    assert!(out.stderr.contains("1 of 2 members are missing") && brought(&test.path("out")).is_empty(), "{out:?}");
    // A folder that the user has moved to another disk: nothing behind the link goes, or comes.
    test.run(&["stage", "s", "d"]).expect(0);
    let move_ = "mkdir big; mv d/a d/sub big; ln -s ../big/a d/a; ln -s ../big/sub d/sub; rm s/a/b; mkdir -p s/a/b s/sub/new; echo c > s/a/b/c";
    script(&test, Path::new("bash"), move_);
    for more in [&[][..], &["--overwrite"]] {
        test.run(&[&["stage", "s", "d"], more].concat()).expect(1);
        assert!(test.path("big/a/b").is_file() && !test.path("big/sub/new").exists());
    }
    // An archive that another program writes to meanwhile.
    let slow = "mkdir bin; printf '#!/bin/sh\\n/usr/bin/tar \"$@\"; r=$?; printf x | dd of=%s bs=1 seek=600 conv=notrunc 2>/dev/null; exit $r\\n' \"$PWD/a.tar\" > bin/tar; chmod +x bin/tar; tar -cf a.tar s";
    script(&test, Path::new("bash"), slow);
    let path = format!("{}:{}", test.path("bin").display(), test.environment["PATH"]);
    let out = test.set("PATH", path).run(&["stage", "--unpack", "a.tar", "torn"]).expect(3);
    assert!(out.stderr.contains("changed while it was unpacked"), "{out:?}");
}

#[test]
fn what_an_archive_holds_besides_is_no_success() {
    let test = Test::new().file("a/one", "1").file("b/two", "2");
    script(
        &test,
        interpreter(),
        "import zipfile; z = zipfile.ZipFile('z.zip', 'w'); z.writestr('ok', '1'); z.writestr('../evil', '2')",
    );
    let refused = test.run(&["stage", "--unpack", "z.zip", "to"]).expect(3);
    assert!(refused.stderr.contains("leads out of the folder") && !test.path("to/ok").exists(), "{refused:?}");
    // What changed in a file's mode alone comes as well.
    test.run(&["stage", "a", "copy"]).expect(0);
    fs::set_permissions(test.path("a/one"), fs::Permissions::from_mode(0o755)).expect("a mode");
    test.run(&["stage", "a", "copy"]).expect(0);
    assert_eq!(test.path("copy/one").metadata().expect("a file").mode() & 0o777, 0o755);
    // Names of `stage`'s own are said.
    let test = test.file("a/deep/.colab-boot-stage.jsonl", "mine");
    assert!(test.run(&["stage", "a", "copy"]).expect(0).stderr.contains("deep/.colab-boot-stage.jsonl"));
}

#[test]
#[ignore = "whole"]
fn an_unpacking_that_was_killed_is_begun_anew() {
    let test = Test::new().file("set/one", "one");
    script(&test, Path::new("bash"), "head -c 300M /dev/urandom > set/large; tar -czf a.tar.gz set");
    let fresh = || parts(&test.path("out"));
    let mut command = test.command(&["stage", "--unpack", "a.tar.gz", "out"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    while !fresh().iter().any(|folder| folder.join("set").exists()) {
        assert!(child.try_wait().expect("a state").is_none(), "it ended before it could be killed");
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    let before = fresh();
    assert!(
        before.len() == 1 && brought(&test.path("out")).iter().all(|(name, _)| name.contains("parts")),
        "{before:?}"
    );
    test.run(&["stage", "--unpack", "a.tar.gz", "out"]).expect(0);
    assert!(brought(&test.path("out/set")) == tree(&test.path("set")));
}

#[test]
fn tar_files_of_before_stay_until_the_new_ones_are_whole() {
    let mut test = Test::new();
    for number in 0..20 {
        test = test.file(&format!("set/{number:02}.jpg"), &"j".repeat(3000));
    }
    let pack = ["stage", "set", "out", "--shards", "20kB"];
    test.run(&pack).expect(0);
    let before = brought(&test.path("out"));
    for number in 0..20 {
        fs::write(test.path(&format!("set/{number:02}.jpg")), "k".repeat(3500)).expect("a file");
    }
    if !has_strace() {
        return;
    }
    // The last file can't be read: not one of the tar files is another one.
    let last = test.path("set/19.jpg").display().to_string();
    let out = under_strace(&test, &["-P", &last, "-e", "inject=open,openat:error=EIO"], &pack).expect(1);
    assert!(out.stderr.contains("19.jpg") && out.stderr.contains("are kept until"), "{out:?}");
    let shards = |test: &Test| -> Vec<(String, Vec<u8>)> {
        brought(&test.path("out")).into_iter().filter(|(name, _)| !name.contains('/')).collect()
    };
    assert!(shards(&test) == before);
    // Killed while they get their names: the next run gives the others theirs, and writes none again.
    let inode = |name: &str| test.path("out").join(name).metadata().expect("a file").ino();
    under_strace(&test, &["-e", "inject=rename,renameat,renameat2:signal=KILL:when=4"], &pack);
    let mixed = shards(&test);
    let new: Vec<&String> = mixed.iter().filter(|one| !before.contains(one)).map(|(name, _)| name).collect();
    assert!(!new.is_empty() && new.len() < mixed.len(), "{new:?} of {}", mixed.len());
    let inodes: Vec<u64> = new.iter().map(|name| inode(name)).collect();
    test.run(&pack).expect(0);
    assert_eq!(new.iter().map(|name| inode(name)).collect::<Vec<_>>(), inodes);
    let names: Vec<String> =
        shards(&test).iter().flat_map(|(name, _)| tar_names(&test.path("out").join(name))).collect();
    assert_eq!(names.len(), 20);
    assert!(!shards(&test).iter().any(|one| before.contains(one)));
}

#[test]
fn a_verification_of_tar_files_reads_the_source() {
    let test = world();
    test.run(&["stage", "set", "tars", "--shards", "1MB"]).expect(0);
    let path = test.path("set/a.txt");
    let time = path.metadata().expect("a file").modified().expect("a time");
    fs::write(&path, "eno").expect("a file");
    fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(time)).expect("a time");
    let shard = test.path("tars/shard-000000.tar");
    let has = |word: &[u8]| fs::read(&shard).expect("a tar file").windows(3).any(|part| part == word);
    test.run(&["stage", "set", "tars", "--shards", "1MB"]).expect(0);
    assert!(has(b"one") && !has(b"eno"));
    test.run(&["stage", "set", "tars", "--shards", "1MB", "--verify"]).expect(0);
    assert!(has(b"eno") && !has(b"one"));
}
