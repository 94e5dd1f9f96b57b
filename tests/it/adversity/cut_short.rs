//! Everything ends at once while an installer removes the old version: its list is gone, and files of it are there.

use std::os::unix::process::ExitStatusExt;

use crate::adversity::users_files::World;
use crate::support::python::uv;

/// Ends the script, and the colab-boot that has started it.
const END: &str = "group=$(($(ps -o pgid= -p $$))); kill -9 $(ps -o ppid= -p $group) -$group";

#[test]
fn files_of_a_version_whose_removal_was_cut_short_are_no_users() {
    let Some(folder) = uv() else { return };
    let world = World::new("");
    world.pip(&["install", "demo==1.0"]);
    let of_user = world.place("SITE/demo/deep/mine.py");
    std::fs::write(&of_user, "# mine\n").expect("a file");
    let remove = format!("rm -r {}/demo-1.0.dist-info; {END}", world.venv.layout().display());
    let World { test, venv } = world;
    let test = test.fake("uv").set("FIRST", remove).set("REAL_UV", folder.join("uv").display().to_string());
    let python = venv.python.display().to_string();
    let two = ["apply", "two.toml", "--python", &python, "--find-links", "house", "--offline"];
    let ended = test.command(&two).output().expect("it starts");
    assert_eq!(ended.status.signal(), Some(9), "{}", String::from_utf8_lossy(&ended.stderr));
    let world = World { test: test.set("FIRST", ""), venv };
    let only_old = [world.place("etc/app/user.conf"), world.place("bin/entry")];
    assert!(only_old[0].exists() && world.place("SITE/utils.py").exists());
    assert!(world.run(&["apply", "two.toml"]).expect(0).stdout.contains("applied: 1 package"));
    assert!(of_user.exists(), "a file that no package had is gone");
    assert!(only_old.iter().all(|file| !file.exists()), "files of the old version are left");
    assert!(!world.test.state_file("going.json").exists());
    world.test.run(&["verify", "two.toml", "--python", &python]).expect(0);
}
