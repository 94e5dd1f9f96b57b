//! Locks that a merge has damaged, environments that are half gone, and applies that did not come to their end.

use crate::stories::{Day, these};
use crate::support::said::Said as _;

const ROWS: &[(&str, &str, &[&str])] =
    &[("app", "1.0", &["lib"]), ("lib", "1.0", &[]), ("lib", "2.0", &[]), ("tool", "1.0", &[])];

/// `lock` without the package `name`.
fn without(lock: &str, name: &str) -> String {
    let blocks = lock.split("[[target.package]]\n");
    let kept: Vec<&str> = blocks.filter(|block| !block.starts_with(&format!("name = \"{name}\""))).collect();
    kept.join("[[target.package]]\n")
}

#[test]
fn a_lock_that_has_lost_a_dependency_is_not_called_applied_or_ready() {
    let day = Day::new(ROWS);
    day.profile("p", &["app"], "");
    day.run(&["lock", "p.toml"]).expect(0);
    let whole = day.read("p.lock");
    std::fs::write(day.test.path("p.lock"), without(&whole, "lib")).expect("a write");
    let outcome = day.run(&["apply", "p.toml", "--locked"]).expect(1);
    assert!(outcome.stderr.contains("app 1.0 requires lib"), "{outcome:?}");
    assert_eq!(day.installed(), these(&[]), "nothing was changed");
    std::fs::write(day.test.path("p.lock"), &whole).expect("a write");
    day.run(&["apply", "p.toml"]).expect(0);
    day.pip(&["uninstall", "--yes", "lib"]);
    std::fs::write(day.test.path("p.lock"), without(&whole, "lib")).expect("a write");
    for verb in [&["plan", "p.toml"][..], &["apply", "p.toml"], &["apply", "p.toml", "--locked"], &["verify", "p.toml"]]
    {
        let outcome = day.run(verb).expect(1);
        assert!(outcome.reports_about("error[requirement-broken]", "app 1.0"), "{verb:?} {outcome:?}");
    }
    day.run(&["lock", "p.toml"]).expect(0);
    day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(day.installed(), these(&[("app", "1.0"), ("lib", "2.0")]));
}

#[test]
fn a_merged_lock_is_refused_by_every_verb_that_reads_it() {
    let day = Day::new(ROWS);
    day.profile("p", &["app", "tool"], "");
    day.run(&["lock", "p.toml"]).expect(0);
    let whole = day.read("p.lock");
    let block = whole.split("[[target.package]]\n").find(|block| block.starts_with("name = \"lib\"")).expect("a block");
    let twice = format!("{whole}\n[[target.package]]\n{block}");
    let orphan = without(&whole, "app");
    for (text, says) in [(twice, "has `lib` twice"), (orphan, "has `lib` because of `app`")] {
        std::fs::write(day.test.path("p.lock"), text).expect("a write");
        for verb in [
            &["plan", "p.toml"][..],
            &["apply", "p.toml", "--locked"],
            &["verify", "p.toml"],
            &["lock", "p.toml", "--check"],
        ] {
            let outcome = day.run(verb).expect(1);
            assert!(outcome.reports("error[lock-malformed]") && outcome.stderr.contains(says), "{verb:?} {outcome:?}");
        }
        for verb in [&["export", "notebook", "p.toml"][..], &["fetch", "p.lock", "--into", "house"]] {
            let outcome = day.test.run(verb).expect(1);
            assert!(outcome.stderr.contains(says), "{verb:?} {outcome:?}");
        }
    }
    std::fs::write(day.test.path("p.lock"), without(&whole, "tool")).expect("a write");
    for verb in [&["export", "notebook", "p.toml"][..], &["fetch", "p.lock", "--into", "house"]] {
        let outcome = day.test.run(verb).expect(1);
        assert!(outcome.stderr.contains("is stale: it does not contain `tool`"), "{verb:?} {outcome:?}");
    }
    assert!(!day.test.path("golden-cells").exists() && !day.test.path("house").exists());
}

#[test]
fn an_environment_without_its_interpreter_is_an_error() {
    let day = Day::new(ROWS);
    day.profile("p", &["tool"], "");
    std::fs::create_dir_all(day.test.path(".venv/bin")).expect("a folder");
    std::fs::write(day.test.path(".venv/pyvenv.cfg"), "home = /opt/gone\n").expect("a file");
    std::os::unix::fs::symlink("/opt/gone/python", day.test.path(".venv/bin/python")).expect("a link");
    for verb in [&["lock", "p.toml"][..], &["plan", "p.toml"], &["apply", "p.toml"], &["restore"], &["audit"]] {
        let outcome = day.test.run(verb).expect(2);
        assert!(outcome.stderr.contains(".venv` has no usable `bin/python`"), "{verb:?} {outcome:?}");
        assert!(outcome.stderr.contains("it points to `/opt/gone/python`, which does not exist"), "{outcome:?}");
        assert!(outcome.stderr.contains("python3 -m venv --clear"), "{outcome:?}");
    }
    assert!(!day.test.path("p.lock").exists());
    day.run(&["apply", "p.toml"]).expect(0);
}

#[test]
fn a_wheelhouse_is_all_there_is() {
    let day = Day::new(ROWS);
    day.profile("p", &["lib <2"], "");
    day.run(&["lock", "p.toml"]).expect(0);
    let fetched = day.test.run(&["fetch", "p.lock", "--into", "house"]).expect(0);
    assert!(fetched.stdout.contains("fetched: 1 wheel"), "{fetched:?}");
    day.profile("p", &["lib"], "");
    std::fs::remove_file(day.test.path("p.lock")).expect("a lock");
    day.run(&["apply", "p.toml", "--wheelhouse", "house"]).expect(0);
    assert_eq!(day.installed(), these(&[("lib", "1.0")]), "the cached page of the index has 2.0");
    day.profile("p", &["tool"], "");
    let outcome = day.run(&["apply", "p.toml", "--wheelhouse", "house"]).expect(3);
    assert!(outcome.stderr.contains("the wheelhouse has no wheel of `tool`"), "{outcome:?}");
    assert!(!outcome.stderr.contains("--offline"), "{outcome:?}");
    let outcome = day.run(&["apply", "p.toml", "--wheelhouse", "nowhere"]).expect(2);
    assert!(outcome.stderr.contains("--wheelhouse: there is no folder"), "{outcome:?}");
}

#[test]
fn a_command_line_that_makes_no_sense_is_json_too() {
    let day = Day::new(ROWS);
    for line in [&["apply", "--json"][..], &["lock", "p.toml", "--bogus", "--json"], &["golden", "--json=-"]] {
        let outcome = day.test.run(line).expect(2);
        let value: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("one document");
        assert_eq!(value["command"], line[0], "{value}");
        assert!(value["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{value}");
    }
}

#[test]
fn a_package_whose_module_is_gone_is_not_called_ready() {
    let day = Day::new(ROWS);
    day.profile("p", &["app"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    let module = day.venv.layout().join("lib.py");
    std::fs::remove_file(&module).expect("the module of lib");
    let plan = day.run(&["plan", "p.toml"]).expect(0);
    assert!(plan.stdout.contains("replace") && plan.stdout.contains("lib 2.0"), "{}", plan.stdout);
    day.run(&["apply", "p.toml"]).expect(0);
    assert!(module.is_file());
    let again = day.run(&["apply", "p.toml"]).expect(0);
    assert!(again.concludes("ready"), "{}", again.stdout);
    day.run(&["verify", "p.toml"]).expect(0);
    // The same where nothing is known of the apply any more.
    let state = day.test.path("state");
    assert!(state.is_dir());
    std::fs::remove_dir_all(&state).expect("the state folder");
    std::fs::remove_file(&module).expect("the module of lib");
    let blind = day.run(&["apply", "p.toml"]).expect(0);
    assert!(blind.concludes("applied") && module.is_file(), "{}", blind.stdout);
}

#[test]
fn restore_asks_the_index_again_where_it_is_to() {
    let day = Day::new(&[("lib", "1.0", &[]), ("lib", "2.0", &[])]);
    day.pip(&["install", "lib==1.0"]);
    day.profile("p", &["lib >=2"], "");
    let asked = |arguments: &[&str]| {
        day.run(&["apply", "p.toml"]).expect(0);
        let before = day.server.asked().len();
        day.run(arguments).expect(0);
        day.server.asked()[before..].iter().filter(|path| path.ends_with("/lib/")).count()
    };
    asked(&["restore"]);
    assert_eq!(asked(&["restore"]), 0, "its listing is fresh");
    assert_ne!(asked(&["restore", "--refresh"]), 0);
}
