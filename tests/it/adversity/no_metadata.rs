//! Packages whose metadata was deleted by hand: their files are still there, and no installer knows them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::adversity::shared_files::release;
use crate::adversity::users_files::World;
use crate::support::test::Outcome;

/// Deletes the metadata of this version of `demo`.
fn strip(world: &World, version: &str) {
    fs::remove_dir_all(world.place(&format!("SITE/demo-{version}.dist-info"))).expect("metadata");
}

/// `tree` without what differs at each look: what Python has compiled.
fn stable(tree: BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<PathBuf, Vec<u8>> {
    tree.into_iter().filter(|(path, _)| !path.to_string_lossy().contains("__pycache__")).collect()
}

fn assert_is(world: &World, before: &BTreeMap<PathBuf, Vec<u8>>, said: &Outcome) {
    let after = stable(world.tree());
    let names = |tree: &BTreeMap<PathBuf, Vec<u8>>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&after), names(before), "{said:?}");
    assert_eq!(&after, before, "{said:?}");
}

#[test]
fn a_restore_removes_what_a_package_without_metadata_has_left() {
    let world = World::new("overwrite = \"keep-aside\"");
    let mine = world.place("SITE/utils.py");
    fs::write(&mine, "mine\n").expect("a file");
    let before = stable(world.tree());
    world.run(&["apply", "p.toml"]).expect(0);
    strip(&world, "1.0");
    let plan = world.run(&["restore", "--dry-run"]).expect(0);
    assert!(plan.stdout.contains("metadata was deleted"), "{plan:?}");
    let said = world.run(&["restore"]).expect(0);
    assert_is(&world, &before, &said);
    assert!(!said.stdout.contains("nothing to undo"), "{said:?}");
}

#[test]
fn it_does_so_after_another_profile() {
    let world = World::new("");
    let before = stable(world.tree());
    world.run(&["apply", "p.toml"]).expect(0);
    strip(&world, "1.0");
    release(&world, "other", "1.0", &[]);
    let other = "[profile]\nname='other'\nversion='1.0.0'\n[packages]\nother='*'\n[policy]\nprune = false\n";
    fs::write(world.test.path("other.toml"), other).expect("a profile");
    world.run(&["apply", "other.toml"]).expect(0);
    assert!(world.place("SITE/demo/deep/x.py").exists());
    let said = world.run(&["restore"]).expect(0);
    assert_is(&world, &before, &said);
}

#[test]
fn the_version_of_before_comes_back() {
    let world = World::new("");
    world.pip(&["install", "demo==2.0"]);
    let before = stable(world.tree());
    world.run(&["apply", "p.toml"]).expect(0);
    strip(&world, "1.0");
    let said = world.run(&["restore"]).expect(0);
    // pip and uv write the metadata each in their own way.
    let code = |tree: BTreeMap<PathBuf, Vec<u8>>| {
        tree.into_iter().filter(|(path, _)| !path.to_string_lossy().contains(".dist-info/")).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(code(stable(world.tree())), code(before), "{said:?}");
}

#[test]
fn files_of_the_user_and_edits_stay_and_are_named() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let (edited, added) = (world.place("SITE/demo/deep/x.py"), world.place("SITE/demo/deep/mine.py"));
    fs::write(&edited, "# edited by me\n").expect("a file");
    fs::write(&added, "# mine\n").expect("a file");
    let single = world.place("SITE/utils.py");
    fs::write(&single, "# edited, too\n").expect("a file");
    strip(&world, "1.0");
    let said = world.run(&["restore"]).expect(0);
    for file in [&edited, &added, &single] {
        assert!(
            file.exists() && said.stderr.contains(&*file.file_name().expect("a name").to_string_lossy()),
            "{said:?}"
        );
    }
    assert!(said.stderr.contains("files-left"), "{said:?}");
}

#[test]
fn after_pip_has_removed_it_what_lies_there_is_the_users() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    world.pip(&["uninstall", "--yes", "demo"]);
    let own = world.place("SITE/demo/deep/x.py");
    fs::create_dir_all(own.parent().expect("a folder")).expect("a folder");
    fs::write(&own, "# my own package\n").expect("a file");
    let said = world.run(&["restore"]).expect(0);
    assert!(own.exists(), "{said:?}");
}

#[test]
fn an_edit_is_kept_though_no_list_tells_what_was_installed() {
    for list in [Some(""), None] {
        let world = World::new("");
        world.pip(&["install", "demo==2.0"]);
        let (record, edited) = (world.place("SITE/demo-2.0.dist-info/RECORD"), world.place("SITE/demo/deep/x.py"));
        list.map_or_else(|| fs::remove_file(&record), |text| fs::write(&record, text)).expect("a damaged list");
        fs::write(&edited, "# edited by me\n").expect("a file");
        let later = SystemTime::now() + Duration::from_secs(10);
        fs::File::options().append(true).open(&edited).and_then(|file| file.set_modified(later)).expect("a time");
        let said = world.run(&["apply", "p.toml"]).expect(0);
        assert!(said.stderr.contains("kept your edited `demo/deep/x.py`"), "{list:?}: {said:?}");
        assert_eq!(said.stderr.matches("kept your edited").count(), 1, "{list:?}: {said:?}");
        let said = world.run(&["restore"]).expect(0);
        assert_eq!(fs::read_to_string(&edited).expect("a file"), "# edited by me\n", "{list:?}: {said:?}");
    }
}
