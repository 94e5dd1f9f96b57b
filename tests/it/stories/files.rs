//! Installed files that a user edits, deletes and adds: the next apply sees all of it, and repairs what is
//! colab-boot's.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::stories::{Day, release, says};
use crate::support::index_server::Table;
use crate::support::said::Said as _;

/// A package with a subpackage, data and a script, and a module that stands alone.
fn day() -> Day {
    let mut table = Table::new();
    let files = [
        ("pkg/__init__.py", "word = 'as locked'\n"),
        ("pkg/deep/__init__.py", "def answer():\n    return 42\n"),
        ("pkg/deep/table.json", "{\"a\": 1}\n"),
        ("pkg-1.0.data/scripts/pkg-tool", "#!python\nprint('tool')\n"),
        ("pkg-1.0.data/data/share/pkg/notes.txt", "notes\n"),
    ];
    table.entry("pkg".to_owned()).or_default().insert("1.0".to_owned(), release(&files));
    table
        .entry("single".to_owned())
        .or_default()
        .insert("1.0".to_owned(), release(&[("single.py", "word = 'as locked'\n")]));
    let day = Day::of_table(table);
    day.profile("p", &["pkg", "single"], "");
    day
}

const READY: &str = "ready: 2 packages as locked, no restart needed";

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a write");
}

#[test]
fn every_damage_is_repaired_by_the_next_apply() {
    let day = day();
    assert!(day.run(&["apply", "p.toml"]).expect(0).concludes("applied: 2 packages"));
    assert!(day.run(&["apply", "p.toml"]).expect(0).stdout.contains(READY));
    let site = day.venv.layout();
    let at = |path: &str| site.join(path);
    let run =
        |line: &str| assert!(Command::new("sh").args(["-c", line]).current_dir(&site).status().expect("sh").success());
    let cases: [(&str, &dyn Fn()); 13] = [
        ("a line edited", &|| write(&at("single.py"), "word = 'edited!!!'\n")),
        ("edited with its size and time kept", &|| {
            run("cp -p single.py kept; sed -i s/locked/edited/ single.py; touch -r kept single.py; rm kept");
        }),
        ("a folder removed", &|| std::fs::remove_dir_all(at("pkg/deep")).expect("a removal")),
        ("everything but the metadata removed", &|| std::fs::remove_dir_all(at("pkg")).expect("a removal")),
        ("cut short", &|| write(&at("pkg/deep/table.json"), "")),
        ("replaced with a link to something else", &|| {
            run("echo no > pkg/other.py; ln -sf other.py pkg/__init__.py; true");
        }),
        ("data beside site-packages edited", &|| write(&day.prefix().join("share/pkg/notes.txt"), "other\n")),
        ("a script removed", &|| std::fs::remove_file(day.prefix().join("bin/pkg-tool")).expect("a removal")),
        ("a script edited", &|| write(&day.prefix().join("bin/pkg-tool"), "#!/bin/sh\n")),
        ("the list of files edited along", &|| {
            run("echo 'word = 1' > single.py; sed -i '/^single.py/d' single-1.0.dist-info/RECORD");
        }),
        ("the list of files gone", &|| std::fs::remove_file(at("single-1.0.dist-info/RECORD")).expect("a removal")),
        ("a second entry of another version", &|| {
            write(&at("single-0.9.dist-info/METADATA"), "Name: single\nVersion: 0.9\n");
        }),
        ("a cache that nothing checks", &|| {
            let compile = "import py_compile; py_compile.compile('single.py', doraise=True, \
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)";
            let done = Command::new(&day.venv.python).args(["-c", compile]).current_dir(&site).status();
            assert!(done.expect("Python").success());
        }),
    ];
    for (about, damage) in cases {
        repaired(&day, about, damage);
    }
}

/// One damage, from a plan that names it to the same packages as before.
fn repaired(day: &Day, about: &str, damage: &dyn Fn()) {
    damage();
    let planned = day.run(&["plan", "p.toml"]).expect(0);
    let has_plan = planned.stdout.contains("to replace") || planned.stdout.contains("to upgrade");
    // A cache is no file of a RECORD: a plan does not read it.
    assert!(has_plan || about.starts_with("a cache"), "{about}: {planned:?}");
    let applied = day.run(&["apply", "p.toml"]).expect(0);
    assert!(applied.concludes("applied: 2 packages"), "{about}: {applied:?}");
    assert!(day.run(&["verify", "p.toml"]).expect(0).stdout.contains("\nverified"), "{about}");
    let again = day.run(&["apply", "p.toml"]).expect(0);
    assert!(again.stdout.contains(READY), "{about}: {again:?}");
    let python = &day.venv.python;
    assert_eq!(
        says(python, "import pkg.deep, single; print(pkg.word, pkg.deep.answer(), single.word)"),
        "as locked 42 as locked",
        "{about}"
    );
}

#[test]
fn metadata_that_is_there_twice_or_says_less_is_repaired() {
    let day = day();
    day.run(&["apply", "p.toml"]).expect(0);
    let (site, sed) = (day.venv.layout(), "sed -i s/^single-/SINGLE-/ SINGLE-1.0.dist-info/RECORD");
    let of_setuptools = "printf 'Metadata-Version: 1.0\\nName: single\\nVersion: 0.9\\n' > single.egg-info/PKG-INFO";
    for (about, line) in [
        ("another spelling of its metadata", "mv single-1.0.dist-info Single-1.0.dist-info"),
        ("the same metadata twice", &format!("cp -r single-1.0.dist-info SINGLE-1.0.dist-info; {sed}")),
        ("metadata of setuptools beside its own", &format!("mkdir single.egg-info; {of_setuptools}")),
        ("metadata of distutils beside its own", "cp single-1.0.dist-info/METADATA single-1.0-py3.9.egg-info"),
        ("the list of files cut short", "sed -i 2,4d pkg-1.0.dist-info/RECORD"),
    ] {
        repaired(&day, about, &|| {
            assert!(Command::new("sh").args(["-c", line]).current_dir(&site).status().expect("sh").success());
        });
    }
}

#[test]
fn what_a_damaged_list_of_files_leaves_out_goes_with_the_rest() {
    let day = day();
    let site = day.venv.layout();
    day.run(&["apply", "p.toml"]).expect(0);
    for damage in
        ["sed -i 2,9d pkg-1.0.dist-info/RECORD", "rm pkg-1.0.dist-info/RECORD", ": > single-1.0.dist-info/RECORD"]
    {
        day.run(&["apply", "p.toml"]).expect(0);
        assert!(Command::new("sh").args(["-c", damage]).current_dir(&site).status().expect("sh").success());
        day.run(&["restore"]).expect(0);
        for path in ["pkg", "pkg-1.0.dist-info", "single.py", "single-1.0.dist-info"] {
            assert!(!site.join(path).exists(), "{damage}: {path}");
        }
        for path in ["bin/pkg-tool", "share/pkg/notes.txt"] {
            assert!(!day.prefix().join(path).exists(), "{damage}: {path}");
        }
    }
}

#[test]
fn what_does_not_change_a_file_changes_nothing() {
    let day = day();
    day.run(&["apply", "p.toml"]).expect(0);
    let site = day.venv.layout();
    let cases: [(&str, &dyn Fn()); 5] = [
        ("a hard link made elsewhere", &|| {
            std::fs::hard_link(site.join("single.py"), day.test.path("elsewhere.py")).expect("a link");
        }),
        ("another mode", &|| {
            std::fs::set_permissions(site.join("single.py"), PermissionsExt::from_mode(0o600)).expect("a mode");
        }),
        ("written again with the same bytes", &|| write(&site.join("single.py"), "word = 'as locked'\n")),
        ("a module of the user's own", &|| write(&site.join("mine.py"), "x = 1\n")),
        ("a folder that is no package", &|| write(&site.join("single/notes.txt"), "x\n")),
    ];
    for (about, touch) in cases {
        touch();
        let again = day.run(&["apply", "p.toml"]).expect(0);
        assert!(again.stdout.contains(READY), "{about}: {again:?}");
    }
    assert!(site.join("mine.py").exists() && site.join("single/notes.txt").exists());
}

#[test]
fn files_that_come_first_are_named_and_never_removed() {
    let day = day();
    day.run(&["apply", "p.toml"]).expect(0);
    let site = day.venv.layout();
    let elsewhere = day.test.path("elsewhere");
    write(&elsewhere.join("single.py"), "word = 'another'\n");
    let first = format!("import sys; sys.path.insert(0, '{}')\n", elsewhere.display());
    for (about, path, text) in [
        ("a package beside a module", "single/__init__.py", "word = 'mine'\n"),
        ("a package beside a module, below", "pkg/deep/__init__.so", "no library"),
        ("a start-up module that changes the path", "sitecustomize.py", first.as_str()),
        ("a path file that changes the path", "zz-mine.pth", first.as_str()),
        ("one for the user", "usercustomize/__init__.py", first.as_str()),
    ] {
        let place = site.join(path);
        write(&place, text);
        // A user's own start-up module is read where users have a site-packages folder.
        if about == "one for the user" && says(&day.venv.python, "import single; print(single.word)") == "as locked" {
            std::fs::remove_dir_all(site.join("usercustomize")).expect("a removal");
            continue;
        }
        let refused = day.run(&["apply", "p.toml"]).expect(1);
        assert!(refused.reports("error[kernel-shadowed]"), "{about}: {refused:?}");
        assert!(refused.stdout.ends_with("refused: 1 error, nothing was changed\n"), "{about}: {refused:?}");
        assert!(day.run(&["verify", "p.toml"]).expect(1).concludes("not verified"), "{about}");
        assert!(place.exists(), "{about}");
        std::fs::remove_file(&place).expect("a removal");
        let again = day.run(&["apply", "p.toml"]).expect(0);
        assert!(again.stdout.contains(READY) || again.concludes("applied: 2"), "{about}: {again:?}");
    }
    // One that changes nothing of what is locked is the user's own business.
    write(&site.join("zz-mine.pth"), &format!("{}\n", elsewhere.display()));
    assert!(day.run(&["apply", "p.toml"]).expect(0).stdout.contains(READY));
}

#[test]
fn what_runs_at_the_start_is_judged_for_each_package_and_each_time() {
    let day = day();
    day.profile("one", &["pkg"], "");
    day.pip(&["install", "single", "--index-url", &day.server.url]);
    let (site, elsewhere) = (day.venv.layout(), day.test.path("elsewhere"));
    let hides = |profile: &str| {
        let refused = day.run(&["apply", profile]).expect(1);
        assert!(refused.reports_about("error[kernel-shadowed]", "single"), "{refused:?}");
        assert!(refused.stdout.ends_with("refused: 1 error, nothing was changed\n"), "{refused:?}");
    };
    // An import hook that hides a package of which the first profile knows nothing.
    write(&elsewhere.join("single.py"), "word = 'another'\n");
    write(
        &site.join("hook.py"),
        &format!(
            "import sys\nfrom importlib.machinery import PathFinder\nclass Hook:\n    @staticmethod\n    def find_spec(name, path=None, \
             target=None):\n        return PathFinder.find_spec(name, ['{}']) if name == 'single' else None\nsys.meta_path.insert(0, \
             Hook)\n",
            elsewhere.display()
        ),
    );
    write(&site.join("hook.pth"), "import hook\n");
    for profile in ["one.toml", "one.toml"] {
        day.run(&["apply", profile]).expect(0);
    }
    hides("p.toml");
    std::fs::remove_file(site.join("hook.pth")).expect("a removal");
    std::fs::remove_file(elsewhere.join("single.py")).expect("a removal");
    // A folder that comes first, and gets its copy later.
    write(&site.join("first.pth"), &format!("import sys; sys.path.insert(0, '{}')\n", elsewhere.display()));
    day.run(&["apply", "p.toml"]).expect(0);
    assert!(day.run(&["apply", "p.toml"]).expect(0).concludes("ready"));
    write(&elsewhere.join("single.py"), "word = 'another'\n");
    hides("p.toml");
}

#[test]
fn a_plan_that_is_refused_says_so_last() {
    let day = day();
    day.run(&["apply", "p.toml"]).expect(0);
    write(&day.venv.layout().join("single/__init__.py"), "");
    let planned = day.run(&["plan", "p.toml"]).expect(1);
    assert!(planned.stdout.ends_with("refused: 1 error, nothing was changed\n"), "{planned:?}");
    let report = day.run(&["plan", "p.toml", "--json"]).expect(1).json();
    assert_eq!(report["report"]["verdict"]["word"], "refused");
    // So do conflicts and missing locks, whose errors are all that there is to say.
    day.profile("q", &["pkg ==9"], "");
    for verb in ["plan", "apply"] {
        let refused = day.run(&[verb, "q.toml"]).expect(1);
        assert!(refused.stderr.ends_with("refused: 1 error, nothing was changed\n"), "{refused:?}");
        assert!(refused.stdout.is_empty(), "{refused:?}");
        let report = day.run(&[verb, "q.toml", "--json"]).expect(1).json();
        assert_eq!(report["report"]["verdict"]["word"], "refused", "{verb}");
    }
}
