//! What used to be called verified or ready and is not.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::stories::{Day, says, these};
use crate::support::index_server::{Advertised, Digests, IndexServer, Looks, Manner};
use crate::support::python::interpreter;
use crate::support::said::Said as _;

const ROWS: &[(&str, &str, &[&str])] = &[("app", "1.0", &["lib"]), ("lib", "1.0", &[]), ("lib", "2.0", &[])];

#[test]
fn an_older_copy_that_every_kernel_finds_first_is_no_verified_environment() {
    let day = Day::new(ROWS);
    day.profile("p", &["app"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    let ahead = day.test.path("ahead");
    std::fs::create_dir(&ahead).expect("a folder");
    std::fs::write(ahead.join("lib.py"), "word = '0.1'\n").expect("a module");
    let Day { test, venv, server } = day;
    let day = Day { test: test.set("PYTHONPATH", ahead.display().to_string()), venv, server };
    let outcome = day.run(&["verify", "p.toml"]).expect(1);
    assert!(outcome.reports("error[kernel-shadowed]"), "{outcome:?}");
    assert!(outcome.stderr.contains("Python finds `lib` in"), "{outcome:?}");
    for verb in ["plan", "apply"] {
        let refused = day.run(&[verb, "p.toml"]).expect(1);
        assert!(refused.reports_about("error[kernel-shadowed]", "lib"), "{verb}: {refused:?}");
        assert!(refused.stdout.ends_with("refused: 1 error, nothing was changed\n"), "{verb}: {refused:?}");
    }
    std::fs::remove_file(ahead.join("lib.py")).expect("a module");
    day.run(&["verify", "p.toml"]).expect(0);
    // Folders that every project has hide nothing that is meant.
    std::fs::create_dir(ahead.join("tests")).expect("a folder");
    std::fs::write(ahead.join("tests/__init__.py"), "").expect("a module");
    assert!(day.run(&["apply", "p.toml"]).expect(0).stdout.starts_with("ready: "));
}

#[test]
fn a_copy_that_comes_first_is_found_before_its_package_is_installed() {
    let day = Day::new(ROWS);
    day.profile("p", &["app"], "");
    let ahead = day.test.path("ahead/lib");
    std::fs::create_dir_all(&ahead).expect("a folder");
    std::fs::write(ahead.join("__init__.py"), "word = '0.1'\n").expect("a module");
    let Day { test, venv, server } = day;
    let ahead = ahead.parent().expect("a folder").display().to_string();
    let day = Day { test: test.set("PYTHONPATH", ahead.clone()), venv, server };
    let refused = day.run(&["apply", "p.toml"]).expect(1);
    assert!(refused.reports_about("error[kernel-shadowed]", "lib"), "{refused:?}");
    assert!(refused.stderr.contains(&ahead), "{refused:?}");
    assert!(!day.venv.layout().join("app.py").exists(), "nothing was to be installed");
}

#[test]
fn copies_in_zip_files_and_compiled_ones_come_first_as_well() {
    let day = Day::new(ROWS);
    day.profile("p", &["app"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    let make = "import py_compile, sys, zipfile\n\
        open('lib.py', 'w').write('word = 0\\n')\n\
        py_compile.compile('lib.py', 'compiled/lib.pyc')\n\
        zipfile.ZipFile('old.zip', 'w').write('lib.py')\n";
    let done = Command::new(&day.venv.python).args(["-c", make]).current_dir(day.test.folder.path()).status();
    assert!(done.is_ok_and(|done| done.success()));
    let mut day = day;
    for ahead in ["old.zip", "compiled"] {
        let place = day.test.path(ahead).display().to_string();
        day.test.environment.insert("PYTHONPATH".to_owned(), place);
        let refused = day.run(&["apply", "p.toml"]).expect(1);
        assert!(refused.reports_about("error[kernel-shadowed]", "lib"), "{ahead}: {refused:?}");
    }
}

#[test]
fn copies_that_come_first_in_a_namespace_are_found() {
    let mut table = crate::stories::table(ROWS);
    let files = [("space/part/__init__.py", "word = 1\n")];
    table.entry("part".to_owned()).or_default().insert("1.0".to_owned(), crate::stories::release(&files));
    let mut day = Day::of_table(table);
    day.profile("p", &["part", "lib"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    let (site, ahead) = (day.venv.layout(), day.test.path("ahead"));
    day.test.environment.insert("PYTHONPATH".to_owned(), ahead.display().to_string());
    for (place, text) in [
        (ahead.join("space/__init__.py"), ""),
        (ahead.join("space/part/__init__.py"), "word = 2\n"),
        (ahead.join("space/part.py"), "word = 2\n"),
        (site.join("space.py"), ""),
        (site.join("space/__init__.py"), "1 / 0\n"),
    ] {
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        std::fs::write(&place, text).expect("a module");
        for verb in ["apply", "verify"] {
            let refused = day.run(&[verb, "p.toml"]).expect(1);
            assert!(refused.reports("error[kernel-shadowed]"), "{place:?} {verb}: {refused:?}");
        }
        std::fs::remove_file(&place).expect("a removal");
        let _ = std::fs::remove_dir_all(&ahead);
        day.run(&["apply", "p.toml"]).expect(0);
    }
    // Another portion, and an `__init__` that says nothing, hide nothing.
    std::fs::create_dir_all(ahead.join("space/other")).expect("a folder");
    std::fs::write(ahead.join("space/other/__init__.py"), "").expect("a module");
    std::fs::write(site.join("space/__init__.py"), "").expect("a module");
    assert!(day.run(&["apply", "p.toml"]).expect(0).concludes("ready"));
}

#[test]
fn scripts_that_were_emptied_or_deleted_are_found_and_repaired() {
    let day = Day::new(ROWS);
    let house = day.test.path("house");
    std::fs::create_dir(&house).expect("a folder");
    tool_wheel(&house);
    day.profile("p", &["tool"], "");
    let house = house.display().to_string();
    day.run(&["apply", "p.toml", "--find-links", &house]).expect(0);
    let script = day.test.path("venv/bin/tool");
    let run = || std::process::Command::new(&script).output().map(|output| output.stdout).unwrap_or_default();
    assert_eq!(run(), b"tool\n");
    for harm in ["empty", "delete", "replace"] {
        match harm {
            "empty" => std::fs::write(&script, "").expect("a write"),
            "delete" => std::fs::remove_file(&script).expect("a file"),
            _ => {
                std::fs::write(&script, "#!/bin/sh\necho other\n").expect("a write");
                std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("a mode");
            }
        }
        let outcome = day.run(&["verify", "p.toml"]).expect(1);
        assert!(outcome.stderr.contains("bin/tool"), "{harm}: {outcome:?}");
        day.run(&["apply", "p.toml", "--find-links", &house]).expect(0);
        assert_eq!(run(), b"tool\n", "{harm}");
        day.run(&["verify", "p.toml"]).expect(0);
    }
}

#[test]
fn two_states_of_one_environment_do_not_both_say_ready() {
    let day = Day::new(ROWS);
    day.profile("a", &["lib <2"], "");
    day.profile("b", &["lib >=2"], "");
    let elsewhere = day.test.path("another-state").display().to_string();
    let as_other = |arguments: &[&str]| {
        let python = day.python();
        let mut command = day.test.command(&[arguments, &["--python", &python]].concat());
        command.env("COLAB_BOOT_STATE_DIR", &elsewhere);
        crate::support::test::Outcome::of(command)
    };
    day.run(&["apply", "a.toml"]).expect(0);
    as_other(&["apply", "b.toml"]).expect(0);
    assert_eq!(day.installed(), these(&[("lib", "2.0")]));
    let outcome = day.run(&["apply", "a.toml"]).expect(0);
    assert!(outcome.stderr.contains("lib 1.0 was replaced with 2.0"), "{outcome:?}");
    assert!(as_other(&["verify", "b.toml"]).expect(1).stderr.contains("lib"), "the other sees it, too");
}

#[test]
fn a_release_that_was_yanked_since_the_lock_is_not_installed_without_a_word() {
    let mut day = Day::new(ROWS);
    day.profile("p", &["app"], "");
    day.run(&["lock", "p.toml"]).expect(0);
    let mut table = crate::stories::table(ROWS);
    table.get_mut("lib").and_then(|all| all.get_mut("2.0")).expect("a release").yanked = Some("leaks memory".into());
    let looks = Looks { digests: Digests::True, json: true, ..Looks::default() };
    let server = IndexServer::with(table, Manner::Good, looks);
    day.test = day.test.set("COLAB_BOOT_INDEX_URL", server.url.clone());
    let outcome = day.run(&["apply", "p.toml", "--locked"]).expect(0);
    assert!(outcome.stderr.contains("resolve-yanked") && outcome.stderr.contains("leaks memory"), "{outcome:?}");
}

#[test]
fn a_wheel_that_requires_more_than_its_index_shows_changes_nothing() {
    let mut day = Day::new(ROWS);
    let looks = Looks { digests: Digests::True, json: true, sidecar: Advertised::Hiding, ..Looks::default() };
    day.server = IndexServer::with(crate::stories::table(ROWS), Manner::Good, looks);
    day.test = day.test.set("COLAB_BOOT_INDEX_URL", day.server.url.clone());
    day.profile("p", &["app"], "");
    let outcome = day.run(&["apply", "p.toml"]).expect(1);
    assert!(outcome.reports_about("error[requirement-broken]", "app 1.0"), "{outcome:?}");
    assert!(outcome.stderr.contains("the downloaded wheel requires it"), "{outcome:?}");
    assert!(outcome.reports_about("error[metadata-differs]", "app 1.0"), "{outcome:?}");
    assert_eq!(day.installed(), these(&[]));
    // Where nothing is missing, it is another METADATA still.
    day.profile("p", &["app", "lib"], "");
    let outcome = day.run(&["apply", "p.toml"]).expect(1);
    assert!(outcome.stderr.contains("solved with ") && outcome.stderr.contains("the wheel has "), "{outcome:?}");
    assert_eq!(day.installed(), these(&[]));
    let looks = Looks { digests: Digests::True, json: true, ..Looks::default() };
    day.server = IndexServer::with(crate::stories::table(ROWS), Manner::Good, looks);
    day.test = day.test.set("COLAB_BOOT_INDEX_URL", day.server.url.clone());
    day.run(&["lock", "p.toml", "--refresh"]).expect(0);
    day.run(&["apply", "p.toml"]).expect(0);
    day.run(&["verify", "p.toml"]).expect(0);
}

#[test]
fn an_apply_that_ends_ready_is_what_the_environment_is() {
    let day = Day::new(ROWS);
    day.profile("p", &["app"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(says(&day.venv.python, "import app, lib; print(app.word, lib.word)"), "1.0 2.0");
    // A file of it is edited by hand; only verify reads all of them.
    let lib = day.venv.layout().join("lib.py");
    std::fs::write(&lib, "word = 'x'\n").expect("a write");
    assert!(day.run(&["verify", "p.toml"]).expect(1).stderr.contains("`lib.py` differs from the wheel"));
    day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(says(&day.venv.python, "import lib; print(lib.word)"), "2.0");
    assert!(day.run(&["verify", "p.toml"]).expect(0).stdout.ends_with("verified\n"));
}

/// Writes `tool-1.0-py3-none-any.whl`, which has an entry point.
const TOOL: &str = "
import base64, hashlib, os, sys, zipfile
info = 'tool-1.0.dist-info'
files = {
    'tool.py': 'def main():\\n    print(\"tool\")\\n',
    f'{info}/METADATA': 'Metadata-Version: 2.1\\nName: tool\\nVersion: 1.0\\n',
    f'{info}/WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
    f'{info}/entry_points.txt': '[console_scripts]\\ntool = tool:main\\n',
}
record = ''
with zipfile.ZipFile(os.path.join(sys.argv[1], 'tool-1.0-py3-none-any.whl'), 'w') as wheel:
    for file, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()
        record += f'{file},sha256={digest},{len(text)}\\n'
        wheel.writestr(zipfile.ZipInfo(file), text)
    wheel.writestr(zipfile.ZipInfo(f'{info}/RECORD'), record + f'{info}/RECORD,,\\n')
";

/// A wheel with a script in `folder`.
fn tool_wheel(folder: &Path) {
    let done = Command::new(interpreter()).args(["-I", "-c", TOOL]).arg(folder).status().expect("Python starts");
    assert!(done.success());
}

#[test]
fn what_runs_when_python_starts_is_judged_wherever_it_lies() {
    let mut day = Day::new(ROWS);
    day.profile("p", &["app"], "");
    let (ahead, copies, site) = (day.test.path("ahead"), day.test.path("copies"), day.venv.layout());
    for (place, text) in [
        (copies.join("lib.py"), "word = 0\n".to_owned()),
        (ahead.join("sitecustomize.py"), "import helper\n".to_owned()),
        (ahead.join("helper.py"), String::new()),
        (site.join("zz.pth"), "import own_helper\n".to_owned()),
        (site.join("own_helper.py"), String::new()),
    ] {
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        std::fs::write(&place, text).expect("a module");
    }
    day.run(&["apply", "p.toml"]).expect(0);
    day.test.environment.insert("PYTHONPATH".to_owned(), ahead.display().to_string());
    day.run(&["apply", "p.toml"]).expect(0);
    let first = format!("import sys; sys.path.insert(0, '{}')\n", copies.display());
    // The files that Python looks for by name, and what these import, edited in place.
    for place in
        [ahead.join("sitecustomize.py"), ahead.join("helper.py"), site.join("own_helper.py"), site.join("zz.pth")]
    {
        let before = std::fs::read(&place).expect("a file");
        std::fs::write(&place, &first).expect("a module");
        for verb in ["apply", "verify", "apply"] {
            let refused = day.run(&[verb, "p.toml"]).expect(1);
            let said = &refused.stderr;
            assert!(said.reports_about("error[kernel-shadowed]", "lib"), "{place:?} {verb}: {said}");
            assert!(said.contains(&place.display().to_string()) || verb == "verify", "{place:?}: {said}");
        }
        std::fs::write(&place, before).expect("a module");
        assert!(day.run(&["apply", "p.toml"]).expect(0).concludes("ready"), "{place:?}");
        day.run(&["verify", "p.toml"]).expect(0);
    }
}

#[test]
#[ignore = "whole"]
fn two_packages_that_have_one_module_in_different_files_are_no_verified_environment() {
    let mut table = crate::stories::table(ROWS);
    for (name, file) in [
        ("single", "mod.py"),
        ("folder", "mod/__init__.py"),
        ("below", "space/mod.py"),
        ("deep", "space/mod/__init__.py"),
        ("tidy", "tests/__init__.py"),
        ("untidy", "tests.py"),
        // One that hands its module over to the other.
        ("multipart", "multipart.py"),
        ("python-multipart", "multipart/__init__.py"),
    ] {
        let files = [(file, "word = 1\n")];
        table.entry(name.to_owned()).or_default().insert("1.0".to_owned(), crate::stories::release(&files));
    }
    let day = Day::of_table(table);
    for (both, said) in [
        (["single", "folder"], "Python imports `mod/__init__.py` of folder instead of `mod.py` of single"),
        (["below", "deep"], "Python imports `space/mod/__init__.py` of deep instead of `space/mod.py` of below"),
    ] {
        day.profile("p", &both, "");
        for verb in ["plan", "apply"] {
            let refused = day.run(&[verb, "p.toml"]).expect(1);
            assert!(refused.stderr.contains(&format!("error[files-collide]: {said}")), "{verb}: {refused:?}");
            assert!(refused.stdout.ends_with("refused: 1 error, nothing was changed\n"), "{verb}: {refused:?}");
        }
        assert!(day.run(&["lock", "p.toml"]).expect(1).stderr.contains(said), "{both:?}");
        let accepted = format!("[[accept]]\npackage='{}'\ncode='files-collide'\nbecause='of a test'\n", both[0]);
        day.profile("p", &both, &accepted);
        day.run(&["apply", "p.toml"]).expect(0);
        day.run(&["verify", "p.toml"]).expect(0);
        // However they came together: what Python imports is not what is locked.
        day.profile("p", &both[..1], "");
        day.run(&["lock", "p.toml"]).expect(0);
        day.pip(&["install", both[0], both[1], "--index-url", &day.server.url]);
        let verified = day.run(&["verify", "p.toml"]).expect(1);
        assert!(verified.reports("error[files-collide]"), "{verified:?}");
        day.pip(&["uninstall", "-y", both[1]]);
        day.run(&["apply", "p.toml"]).expect(0);
        day.run(&["verify", "p.toml"]).expect(0);
        // An apply that takes one away and brings the other, either way.
        for one in [&both[1..], &both[..1], &both[1..]] {
            day.profile("p", one, "");
            day.run(&["apply", "p.toml"]).expect(0);
            day.run(&["verify", "p.toml"]).expect(0);
        }
    }
    day.profile("p", &["tidy", "untidy", "multipart", "python-multipart"], "");
    for verb in ["lock", "plan", "apply", "verify", "apply"] {
        let outcome = day.run(&[verb, "p.toml"]).expect(0);
        assert!(!outcome.stderr.contains("files-collide"), "{verb}: {outcome:?}");
    }
}
