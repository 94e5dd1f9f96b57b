//! Archives that are several in one, or look like another one.

use std::fs;
use std::path::Path;

use crate::support::said::Said as _;
use crate::support::test::Test;
use crate::verbs::stage_archives::script;

#[test]
fn several_archives_in_one_file_come_whole_or_not_at_all() {
    let test = Test::new().file("a/one", "1").file("b/two", "2");
    // As tar pads them, without that, with one block of zeros between, packed; and the last one cut off.
    let make = "tar cf one.tar a; tar cf two.tar b; tar -b 4 -cf small.tar a; head -c 2048 small.tar > least.tar; cat one.tar two.tar > padded.tar
        cat least.tar two.tar > bare.tar; (head -c 1536 least.tar; cat two.tar) > lone.tar
        (gzip -c one.tar; gzip -c two.tar) > packed.tar.gz
        (cat one.tar; head -c 1536 two.tar) > cut.tar";
    script(&test, Path::new("bash"), make);
    for name in ["padded.tar", "bare.tar", "lone.tar", "packed.tar.gz"] {
        let to = format!("of-{name}");
        test.run(&["stage", "--unpack", name, &to]).expect(0);
        let all = test.path(&to);
        assert!(all.join("a/one").exists() && all.join("b/two").exists(), "{name}");
    }
    let cut = test.run(&["stage", "--unpack", "cut.tar", "cut"]).expect(3);
    assert!(cut.stderr.contains("is truncated") && !test.path("cut/a").exists(), "{cut:?}");
}

#[test]
fn an_archive_of_the_size_and_time_of_another_is_another_one() {
    let test = Test::new().file("x/labels", "of part 0").file("y/labels", "of part 1");
    script(
        &test,
        Path::new("bash"),
        "tar cf p0.tar -C x labels; tar cf p1.tar -C y labels; touch -d 2026-01-01 p0.tar p1.tar",
    );
    test.run(&["stage", "--unpack", "p0.tar", "to"]).expect(0);
    for more in [&[][..], &["--verify"]] {
        let refused = test.run(&[&["stage", "--unpack", "p1.tar", "to"], more].concat()).expect(1);
        assert_eq!(fs::read_to_string(test.path("to/labels")).expect("a file"), "of part 0", "{refused:?}");
    }
    test.run(&["stage", "--unpack", "--overwrite", "p1.tar", "to"]).expect(0);
    assert_eq!(fs::read_to_string(test.path("to/labels")).expect("a file"), "of part 1");
}

/// What is no archive is called so, and an empty source is no success without a word.
#[test]
fn what_can_not_be_unpacked_and_what_is_empty_is_said() {
    let test = Test::new().file("one.csv", "a,b\n").file("set/open", "x").file("set/own", "y");
    script(
        &test,
        Path::new("bash"),
        "gzip one.csv; head -c 3000000 /dev/urandom | gzip >two.gz; mkdir empty; chmod 644 set/open; chmod 600 set/own",
    );
    for name in ["one.csv.gz", "two.gz"] {
        let said = test.run(&["stage", "--unpack", name, "out"]).expect(2);
        assert!(said.stderr.contains("is a single compressed file, not an archive"), "{said:?}");
    }
    let said = test.run(&["stage", "empty", "fast"]).expect(0);
    assert!(said.reports("warning[stage-empty]"), "{said:?}");
    // A tar file may be read by those who may read all that it holds.
    for (own, mode) in [("0o600", 0o600), ("0o644", 0o644)] {
        let code = format!("import os; os.chmod('set/own', {own})");
        script(&test, Path::new("bash"), &format!("python3 -c \"{code}\""));
        test.run(&["stage", "--shards", "1MB", "set", &format!("tars{own}")]).expect(0);
        let tar = test.path(&format!("tars{own}/shard-000000.tar")).metadata().expect("a tar file");
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&tar.permissions()) & 0o777, mode);
    }
}

/// A checkpoint that another process writes to is half of one: the whole copy from before stays.
#[test]
fn a_checkpoint_that_is_being_written_is_left_for_later() {
    let test = Test::new();
    std::fs::create_dir(test.path("c")).expect("a folder");
    let (file, copy) = (test.path("c/last.pt"), test.path("d/last.pt"));
    std::fs::write(&file, [7; 4000]).expect("a checkpoint");
    let (from, to) = (test.path("c").display().to_string(), test.path("d").display().to_string());
    test.run(&["stage", "--back", &from, &to]).expect(0);
    // This process is not looked at, for it may be the one that copies: another one holds the file.
    std::fs::write(&file, [8; 1000]).expect("a part");
    let mut writer = std::process::Command::new("sleep")
        .arg("60")
        .stdout(std::fs::OpenOptions::new().append(true).open(&file).expect("a file"))
        .spawn()
        .expect("sleep starts");
    let busy = test.run(&["stage", "--back", &from, &to]);
    writer.kill().and_then(|()| writer.wait()).expect("it ends");
    assert!(busy.code == 1 && busy.stderr.contains("is writing to it"), "{busy:?}");
    assert_eq!(std::fs::read(&copy).expect("a copy"), [7; 4000]);
    test.run(&["stage", "--back", &from, &to]).expect(0);
    assert_eq!(std::fs::read(&copy).expect("a copy"), [8; 1000]);
}
