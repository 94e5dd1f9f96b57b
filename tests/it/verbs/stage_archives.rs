//! `stage` with archives: tar files that it makes (`--shards`), and those that it takes apart (`--unpack`).

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::support::python::interpreter;
use crate::support::test::Test;
use crate::verbs::stage::tree;

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
    assert!(again.stdout.contains("nothing new") && again.stdout.contains("80 were there"), "{again:?}");
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

/// With Python's own writers, a link and a way out among the members.
fn archives(test: &Test) {
    let script = r"
import io, sys, tarfile, zipfile
for mode, name in (('w', 'a.tar'), ('w:gz', 'a.tar.gz')):
    with tarfile.open(name, mode) as archive:
        def put(path, data, **more):
            info = tarfile.TarInfo(path)
            info.size = len(data)
            for key, value in more.items(): setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
        put('x/one.txt', b'one')
        put('../evil.txt', b'evil')
        put('/abs.txt', b'evil')
        put('x/link', b'', type=tarfile.SYMTYPE, linkname='/etc/passwd')
        put('x/large.bin', bytes(range(256)) * 4096)
with zipfile.ZipFile('a.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
    archive.writestr('x/one.txt', 'one')
    archive.writestr('../evil.txt', 'evil')
    archive.writestr('/abs.txt', 'evil')
    archive.writestr('x/large.bin', bytes(range(256)) * 4096)
    link = zipfile.ZipInfo('x/link'); link.external_attr = 0o120777 << 16; link.create_system = 3
    archive.writestr(link, '/etc/passwd')
";
    let status = Command::new(interpreter()).args(["-c", script]).current_dir(test.folder.path()).status();
    assert!(status.expect("a Python").success());
}

#[test]
fn archives_are_unpacked_and_nothing_gets_out() {
    let test = Test::new();
    archives(&test);
    for name in ["a.tar", "a.tar.gz", "a.zip"] {
        let to = format!("out-{name}/set");
        let out = test.run(&["stage", "--unpack", name, &to]).expect(1);
        assert!(
            out.stderr.matches("its name leads out of the folder").count() == 2 && out.stderr.contains("x/link"),
            "{name}: {out:?}"
        );
        let names: Vec<String> = tree(&test.path(&format!("out-{name}"))).into_iter().map(|(name, _)| name).collect();
        let ours = |name: &&String| !name.contains(".colab-boot");
        assert_eq!(names.iter().filter(ours).collect::<Vec<_>>(), ["set/x/large.bin", "set/x/one.txt"], "{name}");
        let inode = |one: &str| test.path(&to).join(one).metadata().expect("a file").ino();
        let (kept, lost) = (inode("x/large.bin"), test.path(&to).join("x/one.txt"));
        fs::remove_file(&lost).expect("a file");
        test.run(&["stage", "--unpack", name, &to]).expect(1);
        assert_eq!((inode("x/large.bin"), fs::read(&lost).expect("a file")), (kept, b"one".to_vec()), "{name}");
    }
    let bytes = fs::read(test.path("a.tar.gz")).expect("a file");
    fs::write(test.path("cut.tar.gz"), &bytes[..bytes.len() / 2]).expect("a file");
    let out = test.run(&["stage", "--unpack", "cut.tar.gz", "cut"]).expect(3);
    assert!(out.stderr.contains("unpack") || out.stderr.contains("no whole tar file"), "{out:?}");
    assert!(!test.path("cut/x/large.bin").exists());
    fs::write(test.path("no.zip"), "no").expect("a file");
    test.run(&["stage", "--unpack", "no.zip", "cut"]).expect(3);
    let out = test.run(&["stage", "--unpack", "no.rar", "cut"]).expect(2);
    assert!(out.stderr.contains("there is no file or folder"), "{out:?}");
}

#[test]
fn tar_files_that_are_cut_off_give_no_half_file() {
    let test = Test::new();
    let script = r"
import io, tarfile
with tarfile.open('a.tar', 'w') as archive:
    for name in ('a', 'b'):
        info = tarfile.TarInfo(name); info.size = 1 << 20
        archive.addfile(info, io.BytesIO(b'x' * (1 << 20)))
    link = tarfile.TarInfo('c'); link.type = tarfile.LNKTYPE; link.linkname = 'a'
    archive.addfile(link)
whole = open('a.tar', 'rb').read()
open('cut.tar', 'wb').write(whole[:1500000])
open('edge.tar', 'wb').write(whole[:512 + (1 << 20)])
open('empty.tar', 'wb').write(b'')
";
    let status = Command::new(interpreter()).args(["-c", script]).current_dir(test.folder.path()).status();
    assert!(status.expect("a Python").success());
    test.run(&["stage", "--unpack", "a.tar", "whole"]).expect(0);
    let names: Vec<(String, usize)> =
        tree(&test.path("whole")).into_iter().map(|(name, bytes)| (name, bytes.len())).collect();
    assert_eq!(names, [("a".to_owned(), 1 << 20), ("b".to_owned(), 1 << 20), ("c".to_owned(), 1 << 20)]);
    for (name, left) in [("cut.tar", 1), ("edge.tar", 1), ("empty.tar", 0)] {
        let out = test.run(&["stage", "--unpack", name, name.trim_end_matches(".tar")]).expect(3);
        assert!(out.stderr.contains("tar file"), "{name}: {out:?}");
        let there = tree(&test.path(name.trim_end_matches(".tar")));
        let there: Vec<_> = there.iter().filter(|(name, _)| !name.contains("colab-boot")).collect();
        assert!(
            there.len() == left && there.iter().all(|(_, bytes)| bytes.len() == 1 << 20),
            "{name}: {}",
            there.len()
        );
    }
}
