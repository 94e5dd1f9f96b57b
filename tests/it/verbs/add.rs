//! `add`, `remove`, `upgrade`: the profile is edited as its owner would, and locked; neither where that fails.

use crate::stories::Day;

const PROFILE: &str =
    "# Ours.\n[profile]\nname = 'p'  # short\n\n[packages]\n# the app\napp = '<2'\n\n[policy]\nprune = true\n";

#[test]
fn packages_come_and_go_with_their_lock() {
    let day = Day::new(&[
        ("app", "1.0", &["lib>=1"]),
        ("app", "2.0", &["lib>=1"]),
        ("lib", "1.0", &[]),
        ("extra-one", "1.0", &[]),
    ]);
    std::fs::write(day.test.path("profile.toml"), PROFILE).expect("a profile");
    let run = |arguments: &[&str]| day.run(arguments);
    run(&["add", "extra_one"]).expect(0);
    let with = PROFILE.replace("app = '<2'\n", "app = '<2'\nextra-one = \"*\"\n");
    assert_eq!(day.read("profile.toml"), with);
    assert!(day.read("profile.lock").contains("name = \"extra-one\""));
    run(&["lock", "--check"]).expect(0);
    // What can't be had changes neither; the nearest is named.
    let lock = day.read("profile.lock");
    for (asked, part) in [("nunpy", "did you mean `numpy`?"), ("app==9", "app"), ("app>>1", "can't be added")] {
        let said = run(&["add", asked]);
        assert!(said.code != 0 && said.stderr.contains(part), "{asked}: {said:?}");
        assert_eq!((day.read("profile.toml"), day.read("profile.lock")), (with.clone(), lock.clone()), "{asked}");
    }
    let said = run(&["remove", "extra-on"]).expect(2);
    assert!(said.stderr.contains("did you mean `extra-one`?"), "{said:?}");
    run(&["remove", "Extra.One"]).expect(0);
    assert_eq!(day.read("profile.toml"), PROFILE);
    assert!(!day.read("profile.lock").contains("extra-one"));
    // Another version in the place of the old one; then what the index has since.
    run(&["add", "app>=1"]).expect(0);
    assert_eq!(day.read("profile.toml"), PROFILE.replace("'<2'", "\">=1\""));
    assert!(day.read("profile.lock").contains("version = \"1.0\""), "what was locked stays where it fits");
    // A name alone says nothing of the version.
    run(&["add", "app"]).expect(0).says("profile.toml: it asks already for app");
    assert_eq!(day.read("profile.toml"), PROFILE.replace("'<2'", "\">=1\""));
    let said = run(&["upgrade", "app"]).expect(0);
    assert!(said.stderr.contains("app moves from 1.0 to 2.0"), "{said:?}");
    assert!(run(&["upgrade"]).expect(0).stderr.contains("is up to date"));
    run(&["add", "extra-one; sys_platform == 'win32'"]).expect(0).says("its marker in the profile does not hold here");
    run(&["remove", "extra-one"]).expect(0);
    // The last package stays: a profile without one is none.
    let said = run(&["remove", "app"]).expect(2);
    assert!(said.stderr.contains("nothing was changed") && said.stderr.contains("`colab-boot restore`"), "{said:?}");
    run(&["apply"]).expect(0);
}

#[test]
fn what_is_no_profile_says_what_to_do() {
    let day = Day::new(&[("app", "1.0", &[])]);
    std::fs::write(day.test.path("requirements.txt"), "app\n").expect("a file");
    for (line, part) in [
        (&["add", "app"][..], "`colab-boot init profile.toml`"),
        (&["plan", "requirements.txt"], "colab-boot init profile.toml --from requirements.txt"),
        (&["lock", "uv.lock"], "this is a lock"),
        (&["plan", "p.lock"], "`p.toml`"),
        (&["install"], "'colab-boot apply'"),
        (&["plan", "--gup", "T4"], "'--gpu'"),
    ] {
        let said = day.run(line).expect(2);
        assert!(said.stderr.contains(part), "{line:?}: {said:?}");
    }
    // A profile needs no version, and takes any spelling of one.
    for (version, written) in [("", "0.0.0"), ("version = '1'\n", "1.0.0"), ("version = 'v2026.07'\n", "2026.7.0")] {
        let text = format!("[profile]\nname = 'p'\n{version}[packages]\napp = '*'\n");
        std::fs::write(day.test.path("profile.toml"), text).expect("a profile");
        day.run(&["lock"]).expect(0);
        assert!(day.read("profile.lock").contains(&format!("version = \"{written}\"")), "{version}");
    }
}
