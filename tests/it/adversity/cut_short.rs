//! Everything ends at once while an installer is at work: lists of files are gone, files are there, whole and cut off.

use std::os::unix::process::ExitStatusExt;

use crate::adversity::users_files::World;
use crate::support::python::uv;
use crate::support::said::Said as _;

/// Ends the script, and the colab-boot that has started it.
const END: &str = "group=$(($(ps -o pgid= -p $$))); kill -9 $(ps -o ppid= -p $group) -$group";

/// Has an apply of 2.0 killed after the shell has done `first` in site-packages, in place of what an installer does.
fn killed_after(world: World, first: &str) -> Option<World> {
    let folder = uv()?;
    let first = format!("cd {} && {first}; {END}", world.venv.layout().display());
    let World { test, venv } = world;
    let (test, real) = (test.fake("uv").set("FIRST", first), folder.join("uv").display().to_string());
    let test = test.set("REAL_UV", real);
    let python = venv.python.display().to_string();
    let two = ["apply", "two.toml", "--python", &python, "--find-links", "house", "--offline"];
    let ended = test.command(&two).output().expect("it starts");
    assert_eq!(ended.status.signal(), Some(9), "{}", String::from_utf8_lossy(&ended.stderr));
    Some(World { test: test.set("FIRST", ""), venv })
}

#[test]
fn files_of_a_version_whose_removal_was_cut_short_are_no_users() {
    let world = World::new("");
    world.pip(&["install", "demo==1.0"]);
    let of_user = world.place("SITE/demo/deep/mine.py");
    std::fs::write(&of_user, "# mine\n").expect("a file");
    // pip keeps what it removes beside it, where a folder can't go as a whole; one file of the new version is cut off.
    let first = "rm -r demo-1.0.dist-info && mkdir demo/~eep && mv demo/deep/x.py demo/~eep/ && : >utils.py";
    let Some(world) = killed_after(world, first) else { return };
    let only_old = [world.place("etc/app/user.conf"), world.place("bin/entry")];
    assert!(only_old[0].exists() && world.place("SITE/utils.py").exists());
    assert!(world.run(&["apply", "two.toml"]).expect(0).concludes("applied: 1 package"));
    assert!(of_user.exists(), "a file that no package had is gone");
    assert!(only_old.iter().all(|file| !file.exists()), "files of the old version are left");
    assert!(!world.place("SITE/demo/~eep").exists(), "what pip had kept is left");
    assert!(!world.test.state_file("on-the-way.json").exists());
    let python = world.venv.python.display().to_string();
    world.test.run(&["verify", "two.toml", "--python", &python]).expect(0);
}

#[test]
fn a_first_install_that_was_cut_short_is_undone_or_finished() {
    for finished in [false, true] {
        let world = World::new("");
        let tree = |world: &World| {
            let mut tree = world.tree();
            // uv's own.
            tree.retain(|path, _| !path.ends_with(".lock"));
            tree
        };
        let before = tree(&world);
        // Of a wheel's files one is there, one is cut off, and the metadata has no list.
        let first = "python3 -m zipfile -e \"$OLDPWD\"/house/demo-2.0-py3-none-any.whl . && rm demo-2.0.dist-info/RECORD && : >utils.py && rm -rf demo-2.0.data";
        let first = first.replace("\"$OLDPWD\"", &world.test.path("").display().to_string());
        let Some(world) = killed_after(world, &first) else { return };
        assert!(world.place("SITE/demo/deep/x.py").exists());
        if finished {
            assert!(world.run(&["apply", "two.toml"]).expect(0).concludes("applied: 1 package"));
        }
        let said = world.run(&["restore"]).expect(0);
        assert!(said.stdout.contains("restored"), "{said:?}");
        let left = tree(&world);
        assert!(
            left == before,
            "{finished}: {:?}",
            left.keys().filter(|one| !before.contains_key(*one)).collect::<Vec<_>>()
        );
    }
}
