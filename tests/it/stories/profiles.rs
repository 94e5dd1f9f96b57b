//! Profiles that follow each other, shrink, and go; other hands in between.

use crate::support::said::Said as _;
use std::process::Command;

use crate::stories::{Day, says, these};

const ROWS: &[(&str, &str, &[&str])] = &[
    ("app", "1.0", &["lib<2"]),
    ("app", "2.0", &["lib>=2"]),
    ("lib", "1.0", &[]),
    ("lib", "2.0", &[]),
    ("more", "1.0", &["extra"]),
    ("extra", "1.0", &[]),
    ("mine", "1.0", &["extra"]),
];

#[test]
fn two_profiles_take_turns_for_ever() {
    let day = Day::new(ROWS);
    day.profile("a", &["app <2"], "");
    day.profile("b", &["app >=2"], "");
    for round in 0..3 {
        day.run(&["apply", "a.toml"]).expect(0);
        assert_eq!(day.installed(), these(&[("app", "1.0"), ("lib", "1.0")]), "round {round}");
        day.run(&["apply", "b.toml"]).expect(0);
        assert_eq!(day.installed(), these(&[("app", "2.0"), ("lib", "2.0")]), "round {round}");
        assert!(day.run(&["apply", "b.toml"]).expect(0).concludes("ready"));
        assert!(day.run(&["verify", "b.toml"]).expect(0).stdout.ends_with("verified\n"));
    }
    day.profile("c", &["more"], "");
    day.run(&["apply", "c.toml"]).expect(0);
    assert_eq!(day.installed(), these(&[("extra", "1.0"), ("more", "1.0")]), "a third profile is not blocked");
}

#[test]
fn packages_that_leave_the_profile_are_removed_and_replaced_ones_come_back() {
    let day = Day::new(ROWS);
    day.pip(&["install", "lib==1.0"]);
    day.profile("p", &["app >=2", "more"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(day.installed().len(), 4);
    day.profile("p", &["app >=2"], "");
    let plan = day.run(&["plan", "p.toml"]).expect(0).stdout;
    assert!(plan.contains("remove    more 1.0") && plan.contains("it is no longer needed"), "{plan}");
    day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(day.installed(), these(&[("app", "2.0"), ("lib", "2.0")]));
    // Nothing of the first wish is left: the image's own version comes back.
    day.profile("p", &["extra"], "");
    let outcome = day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(day.installed(), these(&[("extra", "1.0"), ("lib", "1.0")]), "{outcome:?}");
    assert!(day.run(&["apply", "p.toml"]).expect(0).concludes("ready"));
}

#[test]
fn what_comes_back_and_does_not_fit_the_profile_is_said_and_is_no_dead_end() {
    let day = Day::new(ROWS);
    day.pip(&["install", "app==2.0"]);
    day.profile("p", &["app <2", "lib ==1.0"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    day.profile("p", &["lib ==1.0"], "");
    let outcome = day.run(&["apply", "p.toml"]).expect(0);
    assert!(outcome.reports_about("warning[requirement-broken]", "app 2.0"), "{outcome:?}");
    assert_eq!(day.installed(), these(&[("app", "2.0"), ("lib", "1.0")]));
    assert!(day.run(&["apply", "p.toml"]).expect(0).concludes("ready: 1 package"));
}

#[test]
fn what_others_need_stays_and_prune_can_be_turned_off() {
    let day = Day::new(ROWS);
    day.profile("p", &["more"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    // The user's own package needs what colab-boot has brought.
    day.pip(&["install", "mine"]);
    day.profile("p", &["lib <2"], "");
    let outcome = day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(day.installed(), these(&[("extra", "1.0"), ("lib", "1.0"), ("mine", "1.0")]));
    assert!(outcome.stderr.contains("not removed, because other installed packages need them: extra"), "{outcome:?}");
    day.profile("p", &["app <2"], "[policy]\nprune = false\n");
    day.run(&["apply", "p.toml"]).expect(0);
    day.profile("p", &["lib <2"], "[policy]\nprune = false\n");
    day.run(&["apply", "p.toml"]).expect(0);
    assert!(day.installed().contains_key("app"), "nothing is removed");
}

#[test]
fn restore_undoes_everything_and_is_done_once() {
    let day = Day::new(ROWS);
    day.pip(&["install", "lib==1.0", "extra"]);
    let before = day.installed();
    day.profile("a", &["app >=2"], "[env]\nTOKENIZERS_PARALLELISM = 'false'\n");
    day.profile("b", &["more", "app <2"], "");
    for profile in ["a.toml", "b.toml", "a.toml"] {
        day.run(&["apply", profile]).expect(0);
    }
    assert_eq!(says(&day.venv.python, "import os; print(os.environ['TOKENIZERS_PARALLELISM'])"), "false");
    let preview = day.run(&["restore", "--dry-run"]).expect(0).stdout;
    assert!(preview.contains("remove    app 2.0") && preview.contains("downgrade lib 2.0 -> 1.0"), "{preview}");
    assert!(day.run(&["restore"]).expect(0).stdout.contains("restored: "));
    assert_eq!(day.installed(), before);
    assert_eq!(says(&day.venv.python, "import os; print(os.environ.get('TOKENIZERS_PARALLELISM'))"), "None");
    let again = day.run(&["restore"]).expect(0);
    assert!(again.stderr.contains("installed nothing here") && day.installed() == before, "{again:?}");
    day.run(&["apply", "a.toml"]).expect(0);
    assert_eq!(day.installed()["lib"], "2.0", "and it can begin anew");
}

#[test]
#[ignore = "whole"]
fn another_hand_is_named_and_put_right() {
    let day = Day::new(ROWS);
    day.profile("p", &["app >=2"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    for _ in 0..2 {
        day.pip(&["install", "--no-deps", "lib==1.0"]);
        let verified = day.run(&["verify", "p.toml"]).expect(1);
        assert!(verified.stderr.contains("lib 2.0 was replaced with 1.0 by pip"), "{verified:?}");
        assert!(
            verified.stderr.contains("lib 2.0: 1.0 is installed"),
            "a wrong version is no missing one: {verified:?}"
        );
        let outcome = day.run(&["apply", "p.toml"]).expect(0);
        assert!(outcome.stderr.contains("lib 2.0 was replaced with 1.0 by pip"), "{outcome:?}");
        assert_eq!(day.installed()["lib"], "2.0");
    }
    // What the user adds and does not go with it is reported as an audit would.
    day.pip(&["install", "--no-deps", "app==1.0"]);
    let together = day.run(&["verify", "p.toml"]).expect(1);
    assert!(together.stderr.contains("app 1.0 requires lib<2, but lib 2.0 is installed"), "{together:?}");
    day.run(&["apply", "p.toml"]).expect(0);
    day.pip(&["uninstall", "--yes", "lib"]);
    let verified = day.run(&["verify", "p.toml"]).expect(1);
    assert!(verified.stderr.contains("lib 2.0: is not installed"), "{verified:?}");
    day.run(&["apply", "p.toml"]).expect(0);
    assert!(day.run(&["verify", "p.toml"]).expect(0).stdout.ends_with("verified\n"));
}

#[test]
fn a_package_removed_by_hand_and_no_longer_wanted_is_left_alone() {
    let day = Day::new(ROWS);
    day.profile("p", &["more"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    day.pip(&["uninstall", "--yes", "more", "extra"]);
    day.profile("p", &["lib"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(day.installed(), these(&[("lib", "2.0")]));
    day.run(&["restore"]).expect(0);
    assert!(day.installed().is_empty());
}

/// A team's settings over some days: a preset, a seed, an edit, a kill in the middle, a colleague's hand, and all of it
/// gone.
#[test]
fn settings_come_change_and_go() {
    let day = Day::new(&[("tokenizers", "0.22", &[]), ("jax", "0.9.0", &["jaxlib"]), ("jaxlib", "0.9.0", &[])]);
    let names = ["TOKENIZERS_PARALLELISM", "JAX_TRACEBACK_FILTERING", "PYTHONHASHSEED", "MY_NOTE"];
    let seen = || {
        let code = format!("import os; print([os.environ.get(name) for name in {names:?}])");
        says(&day.venv.python, &code).trim().to_owned()
    };
    let edit = |more: &str| day.profile("p", &["tokenizers", "jax"], more);
    edit("[env]\npreset = 'training'\nMY_NOTE = '''it's \"$HOME\" `x` \\ %s é'''\n");
    day.run(&["lock", "p.toml"]).expect(0);
    day.run(&["apply", "p.toml", "--locked"]).expect(0);
    assert_eq!(seen(), "['false', None, None, 'it\\'s \"$HOME\" `x` \\\\ %s é']");
    assert!(day.run(&["verify", "p.toml"]).expect(0).stdout.ends_with("verified\n"));
    // The next day: another preset and a seed. A lock of yesterday says so; a plan names what changes.
    edit("[env]\npreset = 'debug'\n[determinism]\nseed = 7\n");
    day.run(&["apply", "p.toml", "--locked"]).expect(1);
    day.run(&["lock", "p.toml"]).expect(0);
    let plan = day.run(&["plan", "p.toml"]).expect(0);
    assert!(!plan.stderr.contains("environment-at-start"), "there is no kernel that lacks it: {plan:?}");
    let plan = plan.stdout;
    for words in ["unset     TOKENIZERS_PARALLELISM", "unset     MY_NOTE", "set       PYTHONHASHSEED=7"] {
        assert!(plan.contains(words), "{words}: {plan}");
    }
    assert!(plan.contains("plan: 4 variables to change, 3 kept"), "{plan}");
    // An apply that is killed, whenever: the next one does what is left.
    for wait in [5, 30, 60, 120, 250] {
        let python = day.python();
        let mut apply = day.test.command(&["apply", "p.toml", "--python", &python]).spawn().expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(wait));
        apply.kill().expect("a kill");
        apply.wait().expect("ended");
        assert!(["['false'", "[None, 'off', '7', None]"].iter().any(|one| seen().starts_with(one)), "{}", seen());
    }
    day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(seen(), "[None, 'off', '7', None]");
    assert!(day.run(&["apply", "p.toml"]).expect(0).concludes("ready"));
    // Another hand.
    let file = day.venv.layout().join("colab-boot-env.pth");
    let text = std::fs::read_to_string(&file).expect("a file");
    std::fs::write(&file, text.replace("'7'", "'8'").replace("\"7\"", "\"8\"")).expect("a file");
    let verified = day.run(&["verify", "p.toml"]).expect(1);
    assert!(
        verified.stderr.contains("verify-environment") && verified.stderr.contains("PYTHONHASHSEED"),
        "{verified:?}"
    );
    day.run(&["apply", "p.toml"]).expect(0);
    assert!(day.run(&["verify", "p.toml"]).expect(0).stdout.ends_with("verified\n"));
    // A profile that wants nothing of it.
    edit("");
    day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(seen(), "[None, None, None, None]");
    assert!(!file.exists());
}

#[test]
#[ignore = "whole"]
fn restore_names_what_another_tool_has_changed_since() {
    let day = Day::new(&[ROWS, &[("lib", "1.5", &[])]].concat());
    day.pip(&["install", "lib==1.0"]);
    day.profile("p", &["lib >=2"], "");
    for (tool, said) in [
        (&["uninstall", "-y", "lib"][..], "lib was removed by another tool after colab-boot changed it"),
        (&["install", "lib==1.5"], "lib 1.5 stays: another tool installed it after colab-boot"),
    ] {
        day.run(&["apply", "p.toml"]).expect(0);
        day.pip(tool);
        let restored = day.run(&["restore"]).expect(0);
        assert!(restored.stderr.contains(said), "{restored:?}");
        assert!(restored.stderr.contains("Before the first apply it was version 1.0"), "{restored:?}");
        assert!(restored.stdout.contains("restored, except for 1 package"), "{restored:?}");
        day.pip(&["install", "lib==1.0"]);
    }
}

#[test]
fn restore_without_the_record_of_what_was_changed_says_so() {
    let day = Day::new(ROWS);
    day.pip(&["install", "lib==1.0"]);
    day.profile("p", &["lib >=2"], "");
    let refused = |about: &str| {
        let refused = day.run(&["restore"]).expect(1);
        assert!(refused.stderr.contains("has no record of what was there before"), "{about}: {refused:?}");
    };
    day.run(&["apply", "p.toml"]).expect(0);
    let copy = day.test.path("copy");
    let venv = day.venv.python.ancestors().nth(2).expect("a folder");
    let copied = Command::new("cp").arg("-a").args([venv, &copy]).status();
    assert!(copied.is_ok_and(|done| done.success()));
    day.run(&["restore"]).expect(0);
    assert!(day.run(&["restore"]).expect(0).stdout.contains("restored: nothing to undo"));
    // A copy from before the changes were undone.
    std::fs::remove_dir_all(venv).expect("a removal");
    std::fs::rename(&copy, venv).expect("a move");
    refused("a copy");
    std::fs::remove_dir_all(day.test.path("state")).expect("a removal");
    refused("no state");
    // It is still an environment to work with.
    assert!(day.run(&["apply", "p.toml"]).expect(0).concludes("ready"));
}
