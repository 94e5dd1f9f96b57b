//! `verify`, where nothing but files is looked at; `stories/verified.rs` has the rest.

use crate::support::address::Loaded;
use crate::support::python::wheel;

#[test]
fn verifying_another_profile_leaves_this_one_alone() {
    let (world, second) = Loaded::restarted();
    // Never applied here, and its files differ.
    let python = world.venv.python.display().to_string();
    let test = &world.test;
    let other = "[profile]\nname='q'\nversion='1.0.0'\n[packages]\nother='*'\n";
    std::fs::write(test.path("q.toml"), other).expect("a profile");
    let house = test.path("house");
    std::fs::create_dir(&house).expect("a folder");
    wheel(&house, ("other", "1.0"), "other");
    test.run(&["lock", "q.toml", "--python", &python, "--find-links", "house", "--offline"]).expect(0);
    test.run(&["verify", "q.toml", "--python", &python]).expect(1);
    assert!(world.apply("second", &second.pid(), &[]).expect(0).stdout.contains("ready: "));
}
