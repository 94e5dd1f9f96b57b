//! Locks on the second day: made again, upgraded, handed to a colleague, merged badly.

use crate::stories::{Day, colleague, these};
use crate::support::said::Said as _;

const ROWS: &[(&str, &str, &[&str])] = &[
    ("app", "1.0", &["lib"]),
    ("app", "2.0", &["lib>=2"]),
    ("lib", "1.0", &[]),
    ("lib", "2.0", &[]),
    ("more", "1.0", &[]),
    ("plot", "1.0", &["lib"]),
];

fn wheels(day: &Day) -> usize {
    day.read("p.lock").matches("wheel = ").count()
}

#[test]
fn a_lock_made_where_everything_is_installed_still_serves_a_colleague() {
    let day = Day::new(ROWS);
    day.profile("p", &["app"], "");
    day.run(&["lock", "p.toml"]).expect(0);
    day.run(&["apply", "p.toml"]).expect(0);
    day.profile("p", &["app", "more"], "");
    day.run(&["lock", "p.toml"]).expect(0);
    assert_eq!(wheels(&day), 3, "{}", day.read("p.lock"));

    let other = colleague(&day, "colleague").display().to_string();
    let state = day.test.path("colleague-state").display().to_string();
    let mut theirs = day.test.command(&["apply", "p.toml", "--locked", "--python", &other]);
    let outcome = crate::support::test::Outcome::of({
        theirs.env("COLAB_BOOT_STATE_DIR", &state);
        theirs
    });
    assert!(outcome.expect(0).concludes("applied: 3 packages"));
    let fetched = day.test.run(&["fetch", "p.lock", "--into", "house"]).expect(0);
    assert!(fetched.stdout.contains("fetched: 3 wheels"), "{fetched:?}");
    day.test.run(&["export", "notebook", "p.toml", "--out", "cells"]).expect(0);
    // And the one who made it has one wheel to install.
    let plan = day.run(&["plan", "p.toml"]).expect(0);
    assert!(plan.stdout.contains("1 to install") && plan.stdout.contains("2 kept"), "{plan:?}");
}

#[test]
fn a_lock_is_fresh_after_its_own_apply_and_after_another() {
    let day = Day::new(ROWS);
    day.profile("p", &["app <2"], "");
    day.pip(&["install", "lib==1.0"]);
    day.run(&["lock", "p.toml"]).expect(0);
    let before = day.read("p.lock");
    day.run(&["lock", "--check", "p.toml"]).expect(0);
    day.run(&["apply", "p.toml"]).expect(0);
    day.run(&["lock", "--check", "p.toml"]).expect(0);
    // Another profile moves what this one chose; the lock speaks of the environment without colab-boot.
    day.profile("q", &["app >=2"], "");
    day.run(&["apply", "q.toml"]).expect(0);
    assert_eq!(day.installed(), these(&[("app", "2.0"), ("lib", "2.0")]));
    day.run(&["lock", "--check", "p.toml"]).expect(0);
    std::fs::remove_file(day.test.path("p.lock")).expect("a lock");
    day.run(&["lock", "p.toml"]).expect(0);
    assert_eq!(day.read("p.lock"), before, "byte for byte");
}

#[test]
fn an_upgrade_moves_packages_of_the_image_and_of_an_apply() {
    let day = Day::new(ROWS);
    day.pip(&["install", "lib==1.0"]);
    day.profile("p", &["app", "plot"], "[constraints]\napp = '<2'\n");
    day.run(&["apply", "p.toml"]).expect(0);
    assert!(day.read("p.lock").contains("lib-1.0"), "what is installed is preferred");
    let outcome = day.run(&["lock", "p.toml", "--upgrade-package", "lib"]).expect(0);
    assert!(outcome.stderr.contains("lib moves from 1.0 to 2.0"), "{outcome:?}");
    day.profile("p", &["app", "plot"], "");
    day.run(&["lock", "p.toml", "--upgrade"]).expect(0);
    assert!(day.read("p.lock").contains("app-2.0"), "{}", day.read("p.lock"));
    let misspelt = day.run(&["lock", "p.toml", "--upgrade-package", "libb"]).expect(2);
    assert!(misspelt.stderr.contains("did you mean `lib`?"), "{misspelt:?}");
    day.run(&["apply", "p.toml", "--locked"]).expect(0);
    assert_eq!(day.installed(), these(&[("app", "2.0"), ("lib", "2.0"), ("plot", "1.0")]));
}

#[test]
fn a_lock_that_lost_a_package_in_a_merge_is_stale_for_everybody() {
    let day = Day::new(ROWS);
    day.profile("p", &["app", "more"], "");
    day.run(&["lock", "p.toml"]).expect(0);
    let whole = day.read("p.lock");
    let at = whole.find("\n[[target.package]]\nname = \"more\"").expect("a package");
    std::fs::write(day.test.path("p.lock"), format!("{}\n", &whole[..at])).expect("a merge");
    for verb in [["apply", "p.toml", "--locked"], ["plan", "p.toml", "--locked"]] {
        let outcome = day.run(&verb).expect(1);
        assert!(outcome.stderr.contains("it does not contain `more`, which the profile needs"), "{outcome:?}");
    }
    assert!(day.run(&["verify", "p.toml"]).expect(1).reports("error[lock-stale]"));
    // Without --locked it is made anew.
    day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(day.read("p.lock"), whole);
    let both = format!("<<<<<<< HEAD\n{whole}=======\n{whole}>>>>>>> other\n");
    std::fs::write(day.test.path("p.lock"), &both).expect("a conflict");
    for verb in ["lock", "plan", "apply"] {
        let outcome = day.run(&[verb, "p.toml"]).expect(1);
        assert!(outcome.stderr.contains("it has merge conflict markers"), "{verb}: {outcome:?}");
        assert_eq!(day.read("p.lock"), both, "{verb}");
    }
}

#[test]
fn a_stale_lock_is_written_anew_only_where_nothing_of_it_is_lost() {
    let day = Day::new(ROWS);
    day.profile("p", &["lib"], "");
    day.run(&["lock", "p.toml"]).expect(0);
    day.profile("p", &["lib <2"], "");
    for verb in ["plan", "apply"] {
        let said = day.run(&[verb, "p.toml"]).expect(0).stderr;
        let note = "note[lock-stale]: `p.lock` is stale: the profile has changed since. The profile was resolved again";
        assert!(said.contains(note), "{verb}: {said}");
    }
    assert!(!day.run(&["apply", "p.toml"]).expect(0).stderr.contains("lock-stale"));
    // A lock that has a target of another machine is not replaced by this one's.
    let elsewhere = day.read("p.lock").replace("name = \"machine\"", "name = \"colab\"");
    std::fs::write(day.test.path("p.lock"), &elsewhere).expect("a lock");
    day.profile("p", &["lib"], "");
    let applied = day.run(&["apply", "p.toml"]).expect(0);
    assert!(applied.reports_about("warning[lock-stale]", "p.lock"), "{applied:?}");
    assert!(applied.stderr.contains("was not changed") && applied.stderr.contains("run `colab-boot lock p.toml`"));
    assert!(applied.stdout.contains("as resolved for this machine"), "{applied:?}");
    assert_eq!(day.read("p.lock"), elsewhere);
}

#[test]
fn the_order_of_the_tables_changes_neither_the_lock_nor_the_work() {
    let day = Day::new(ROWS);
    let tables = ["[packages]\napp = '*'\nplot = '*'\n", "[frameworks]\nplot = '*'\n[packages]\napp = '*'\n"];
    let mut seen = Vec::new();
    for table in tables {
        let text = format!("[profile]\nname = 'p'\nversion = '1.0.0'\n{table}");
        std::fs::write(day.test.path("p.toml"), text).expect("a profile");
        let _ = std::fs::remove_file(day.test.path("p.lock"));
        let _ = std::fs::remove_dir_all(day.test.path("cache"));
        let before = day.server.asked().len();
        day.run(&["lock", "p.toml"]).expect(0);
        let lock = day.read("p.lock");
        let packages = lock[lock.find("[[target]]").expect("a target")..].to_owned();
        seen.push((packages, day.server.asked().len() - before));
    }
    assert_eq!(seen[0], seen[1]);
}
