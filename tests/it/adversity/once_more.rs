//! Files of the user's in unusual places: kept aside a second time, behind links.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::adversity::shared_files::release;
use crate::adversity::users_files::World;

const KEEP: &str = "overwrite = \"keep-aside\"";

/// Whether a file with this text lies below `folder`.
fn has(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() { has(&path, text) } else { fs::read_to_string(&path).is_ok_and(|there| there == text) }
    })
}

#[test]
fn a_second_file_in_the_place_of_one_kept_aside_loses_neither() {
    let world = World::new(KEEP);
    let place = world.place("SITE/utils.py");
    fs::write(&place, "first\n").expect("a file");
    world.run(&["apply", "p.toml"]).expect(0);
    world.pip(&["uninstall", "--yes", "demo"]);
    fs::write(&place, "second\n").expect("a file");
    let again = world.run(&["apply", "p.toml"]).expect(0);
    assert!(again.stderr.contains("the earlier file stays in"), "{again:?}");
    let said = world.run(&["restore"]).expect(0);
    assert_eq!(fs::read_to_string(&place).expect("a file"), "second\n", "{said:?}");
    assert!(has(&world.test.state_file("aside"), "first\n"), "{said:?}");
}

#[test]
fn what_lies_behind_a_link_in_place_of_a_cache_is_the_users() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let cache = world.place("SITE/demo/deep/__pycache__");
    let _ = fs::remove_dir_all(&cache);
    let mine = world.test.path("mine");
    fs::create_dir(&mine).expect("a folder");
    let tag = "import sys; print(sys.implementation.cache_tag)";
    let tag = std::process::Command::new(&world.venv.python).args(["-c", tag]).output().expect("a tag");
    let file = mine.join(format!("x.{}.pyc", String::from_utf8_lossy(&tag.stdout).trim()));
    fs::write(&file, "mine").expect("a file");
    symlink(&mine, &cache).expect("a link");
    let said = world.run(&["apply", "two.toml"]).expect(0);
    assert_eq!(fs::read_to_string(&file).expect("the file is there"), "mine", "{said:?}");
}

#[test]
fn nothing_is_written_or_left_behind_a_link_out_of_the_environment() {
    let world = World::new("");
    let outside = world.test.path("outside");
    fs::create_dir_all(outside.join("app")).expect("a folder");
    let etc = world.place("etc");
    symlink(&outside, &etc).expect("a link");
    let refused = world.run(&["apply", "p.toml"]).expect(1);
    assert!(refused.stderr.contains("are behind the link") && !outside.join("app/user.conf").exists(), "{refused:?}");
    fs::remove_file(&etc).expect("a link");
    world.run(&["apply", "p.toml"]).expect(0);
    // The package is moved to another disk.
    let (package, elsewhere) = (world.place("SITE/demo"), world.test.path("elsewhere"));
    fs::rename(&package, &elsewhere).expect("a move");
    symlink(&elsewhere, &package).expect("a link");
    let verbs = [&["restore", "--dry-run"][..], &["restore"], &["plan", "two.toml"], &["apply", "two.toml"]];
    for verb in verbs {
        let refused = world.run(verb).expect(1);
        assert!(refused.stderr.contains("are behind the link"), "{refused:?}");
        assert!(refused.stderr.contains("nothing was changed"), "{refused:?}");
        assert!(!refused.stdout.contains("restored") && elsewhere.join("deep/x.py").exists(), "{refused:?}");
    }
    fs::remove_file(&package).expect("a link");
    fs::rename(&elsewhere, &package).expect("a move");
    let said = world.run(&["restore"]).expect(0);
    assert!(!package.join("deep/x.py").exists(), "{said:?}");
}

#[test]
fn an_edit_is_kept_though_an_apply_before_did_not_end() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let edited = world.place("SITE/utils.py");
    fs::write(&edited, "a long edit of mine, longer than what was there\n").expect("a file");
    // What keeps it can't be written.
    let aside = world.test.state_file("aside");
    fs::create_dir_all(&aside).expect("a folder");
    fs::write(aside.join("demo-1.0"), "in the way").expect("a file");
    world.run(&["apply", "two.toml"]).expect(3);
    fs::remove_file(aside.join("demo-1.0")).expect("a file");
    let said = world.run(&["apply", "two.toml"]).expect(0);
    assert!(said.stderr.contains("files-edited"), "{said:?}");
    assert!(has(&aside, "a long edit of mine, longer than what was there\n"), "{said:?}");
}

#[test]
fn a_link_that_leads_nowhere_is_not_written_through() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let (file, target) = (world.place("SITE/utils.py"), world.test.path("elsewhere.py"));
    fs::remove_file(&file).expect("a file");
    symlink(&target, &file).expect("a link");
    let said = world.run(&["apply", "p.toml"]).expect(0);
    assert!(!target.exists(), "{said:?}");
    assert!(!fs::symlink_metadata(&file).expect("a file").is_symlink(), "{said:?}");
}

#[test]
fn what_is_in_the_way_of_a_kept_file_stays_and_ends_no_restore() {
    let world = World::new("");
    world.pip(&["install", "demo==1.0"]);
    let place = world.place("SITE/utils.py");
    fs::write(&place, "an edit of mine\n").expect("a file");
    world.run(&["apply", "p.toml"]).expect(0);
    fs::remove_file(&place).expect("a file");
    fs::create_dir(&place).expect("a folder");
    fs::write(place.join("mine.txt"), "mine\n").expect("a file");
    let said = world.run(&["restore"]).expect(0);
    assert!(said.stdout.contains("restored, except for 1 package"), "{said:?}");
    assert!(has(&world.test.state_file("aside"), "an edit of mine\n"), "{said:?}");
    assert!(place.join("mine.txt").exists(), "{said:?}");

    let world = World::new(KEEP);
    let place = world.place("SITE/demo/deep/x.py");
    fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
    fs::write(&place, "first\n").expect("a file");
    world.run(&["apply", "p.toml"]).expect(0);
    world.pip(&["uninstall", "--yes", "demo"]);
    let folder = world.place("SITE/demo");
    let _ = fs::remove_dir_all(&folder);
    fs::write(&folder, "a file\n").expect("a file");
    let said = world.run(&["restore"]).expect(0);
    assert_eq!(fs::read_to_string(&folder).expect("a file"), "a file\n", "{said:?}");
    assert!(has(&world.test.state_file("aside"), "first\n"), "{said:?}");
}

#[test]
fn a_file_that_is_named_like_metadata_is_kept() {
    let world = World::new("");
    let mine = world.test.path("mine");
    fs::create_dir(&mine).expect("a folder");
    fs::write(mine.join("notes.txt"), "behind a link\n").expect("a file");
    fs::write(world.place("SITE/demo-9.0.dist-info"), "a file of mine\n").expect("a file");
    symlink(&mine, world.place("SITE/demo-8.0.dist-info")).expect("a link");
    let said = world.run(&["apply", "p.toml"]).expect(0);
    assert!(has(&world.test.state_file("aside"), "a file of mine\n"), "{said:?}");
    assert!(mine.join("notes.txt").exists(), "{said:?}");
}

#[test]
fn an_edit_is_kept_once_and_a_failed_repair_has_nothing_to_undo() {
    let world = World::new("");
    world.pip(&["install", "demo==1.0"]);
    let edited = world.place("SITE/utils.py");
    fs::write(&edited, "certificates of our company\n").expect("a file");
    let before = world.tree();
    let world = World { test: world.test.fake("bash").set("FIRST", "exit 2"), ..world };
    for _ in 0..3 {
        let said = world.run(&["apply", "p.toml"]).expect(3);
        assert!(said.stderr.contains("the Python packages are as before"), "{said:?}");
    }
    let kept = world.test.state_file("aside").join("demo-1.0");
    let kept: Vec<_> = fs::read_dir(kept).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(kept, ["utils.py"]);
    let said = world.run(&["restore"]).expect(0);
    let is_own = |path: &Path| path.ends_with(".colab-boot-id") || path.to_string_lossy().contains("__pycache__");
    let now: Vec<_> = world.tree().into_iter().filter(|(path, _)| !is_own(path)).collect();
    assert_eq!(now, before.into_iter().filter(|(path, _)| !is_own(path)).collect::<Vec<_>>(), "{said:?}");
}

#[test]
fn a_restore_needs_no_file_of_identities() {
    let world = World::new("");
    let before = world.tree();
    world.run(&["apply", "p.toml"]).expect(0);
    fs::remove_file(world.place("SITE/.colab-boot-id")).expect("a file");
    assert!(!world.test.run(&["status"]).expect(0).stdout.contains("recreated"));
    let said = world.run(&["restore"]).expect(0);
    let is_left = |path: &&PathBuf| !before.contains_key(*path) && !path.to_string_lossy().contains("__pycache__");
    let now = world.tree();
    assert_eq!(now.keys().filter(is_left).collect::<Vec<_>>(), Vec::<&PathBuf>::new(), "{said:?}");
}

#[test]
fn an_edit_is_kept_though_the_list_of_files_is_damaged() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let (edited, list) = (world.place("SITE/utils.py"), world.place("SITE/demo-1.0.dist-info/RECORD"));
    let whole = fs::read_to_string(&list).expect("a list");
    let damages: [&dyn Fn(); 3] =
        [&|| fs::write(&list, "").expect("a list"), &|| fs::remove_file(&list).expect("a list"), &|| {
            let rest: String =
                whole.lines().filter(|line| !line.starts_with("utils")).map(|line| format!("{line}\n")).collect();
            fs::write(&list, rest).expect("a list");
        }];
    for (at, damage) in damages.iter().enumerate() {
        for verb in [&["apply", "p.toml"][..], &["restore"]] {
            let mine = format!("mine {at} {verb:?}\n");
            fs::write(&edited, &mine).expect("an edit");
            damage();
            let said = world.run(verb).expect(0);
            assert!(said.stderr.contains("files-edited"), "{at} {verb:?}: {said:?}");
            assert!(has(&world.test.state_file("aside"), &mine), "{at} {verb:?}: {said:?}");
        }
        world.run(&["apply", "p.toml"]).expect(0);
    }
}

#[test]
fn edits_and_notes_come_back_with_their_package() {
    let world = World::new("");
    world.pip(&["install", "demo==2.0"]);
    let (edited, note) = (world.place("SITE/demo/deep/x.py"), world.place("SITE/demo-2.0.dist-info/notes.txt"));
    let other = "[profile]\nname='other'\n[packages]\nother='*'\n";
    fs::write(world.test.path("other.toml"), other).expect("a profile");
    release(&world, "other", "1.0", &[]);
    let are_there = || [&edited, &note].map(|file| fs::read_to_string(file).unwrap_or_default() == "mine\n");
    // Restored at once, after a profile that wants neither, and after one that wants the version from before.
    for path in [&["p.toml"][..], &["p.toml", "other.toml"], &["p.toml", "two.toml"]] {
        for file in [&edited, &note] {
            fs::write(file, "mine\n").expect("a file");
        }
        for profile in path {
            world.run(&["apply", profile]).expect(0);
        }
        assert_eq!(are_there(), [path.last() == Some(&"other.toml"); 2], "{path:?}");
        let said = world.run(&["restore"]).expect(0);
        assert_eq!(are_there(), [true; 2], "{path:?}: {said:?}");
    }
}
