//! Golden cells: made from profile and lock, the same bytes each time, and runnable Python.

use std::path::Path;
use std::process::Command;

use crate::support::python;
use crate::support::test::Test;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a verb on `day`; its exit code and what it said.
fn on(day: i64, arguments: &[&str]) -> (u8, String) {
    let test = Test::new();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = colab_boot::run(colab_boot::Ambient {
        arguments: ["colab-boot"].iter().chain(arguments).map(Into::into).collect(),
        environment: test.environment.clone(),
        now: u64::try_from(day * 86_400).expect("a day"),
        terminal: false,
        out: &mut out,
        err: &mut err,
        progress: std::sync::Arc::new(|_| ()),
    });
    (code, String::from_utf8_lossy(&[out, err].concat()).into_owned())
}

/// What is published here is what was signed, and does not change with the program. Its days are those of its index:
/// what is overdue today is for its keepers to see.
#[test]
fn the_committed_repository_is_whole_and_keeps_its_own_cadence() {
    let folder = root().join("golden-cells");
    let repo = folder.display().to_string();
    let text = std::fs::read_to_string(folder.join("golden.toml")).expect("an index");
    let issued = text.lines().find_map(|line| line.strip_prefix("issued = ")).expect("a day");
    let day = issued.parse::<jiff::civil::Date>().expect("a day");
    let day = i64::from(day.since(jiff::civil::date(1970, 1, 1)).expect("days").get_days());
    let (code, said) = on(day, &["golden", "check", "--repo", &repo]);
    assert!(code == 0 && said.contains("4 releases") && said.contains("signed by keepers@colab-boot"), "{said}");
    assert!(!said.contains("is not in the index") && !said.contains("index.html"), "{said}");
    let (_, listed) = on(day, &["golden", "list", "--repo", &repo]);
    for words in ["pytorch@2026.10.0  deprecated", "pytorch@2026.11.0  current", "jax@2026.11.0", "data@2026.11.0"] {
        assert!(listed.contains(words), "{listed}");
    }
    // Half a year later nobody gets them any more.
    assert_eq!(on(day + 40, &["golden", "check", "--repo", &repo]).0, 1);
    let (_, listed) = on(day + 200, &["golden", "list", "--repo", &repo]);
    assert!(listed.contains("0 of 4 releases"), "{listed}");
    let (code, said) = on(day + 200, &["golden", "check", "--repo", &repo]);
    assert!(code == 1 && said.contains("pytorch has no release that can be added"), "{said}");
    // A clock that was set back: nothing expires by it.
    let (_, said) = on(day - 400, &["golden", "list", "--repo", &repo]);
    assert!(said.contains("correct the clock of this machine"), "{said}");
}

#[test]
fn a_cell_that_was_edited_is_found() {
    let test = Test::new();
    let profile = root().join("profiles/pytorch.toml").display().to_string();
    test.run(&["export", "notebook", &profile, "--out", "cells"]).expect(0);
    let path = test.path("cells/pytorch.py");
    let text = std::fs::read_to_string(&path).expect("a cell");
    std::fs::write(&path, text.replace("\"--locked\"", "\"--unlocked\"")).expect("a write");
    let outcome = test.run(&["export", "notebook", &profile, "--out", "cells", "--check"]).expect(1);
    assert!(outcome.stderr.contains("pytorch.py"), "{}", outcome.stderr);
}

#[test]
fn a_profile_past_its_review_is_not_published() {
    let text = std::fs::read_to_string(root().join("profiles/pytorch.toml")).expect("a profile");
    let old = text.replace("[target]", "review-by = 2020-01-01\n[target]");
    let test = Test::new().file("pytorch.toml", &old);
    let lock = std::fs::read_to_string(root().join("profiles/pytorch.lock")).expect("a lock");
    let digest = colab_boot::core::model::Sha256::of(old.as_bytes()).to_string();
    let was = colab_boot::core::model::Sha256::of(text.as_bytes()).to_string();
    std::fs::write(test.path("pytorch.lock"), lock.replace(&was, &digest)).expect("a write");
    let outcome = test.run(&["export", "notebook", "pytorch.toml"]).expect(1);
    assert!(outcome.stderr.contains("2020-01-01"), "{}", outcome.stderr);
}

/// A wheel with what `.ci/wheel` puts into it, for pip and for the cell.
fn write_wheel(served: &Path) {
    let archive = served.join("colab_boot-0.1.0-py3-none-any.whl");
    let mut wheel = zip::ZipWriter::new(std::fs::File::create(&archive).expect("a wheel"));
    wheel
        .start_file("colab_boot-0.1.0.data/scripts/colab-boot", zip::write::SimpleFileOptions::default())
        .expect("a member");
    std::io::Write::write_all(&mut wheel, b"#!/bin/sh\necho pinned\n").expect("its bytes");
    for (name, text) in [
        ("METADATA", "Metadata-Version: 2.1\nName: colab-boot\nVersion: 0.1.0\n"),
        ("WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n"),
        ("RECORD", ""),
    ] {
        let member = format!("colab_boot-0.1.0.dist-info/{name}");
        wheel.start_file(member, zip::write::SimpleFileOptions::default()).expect("a member");
        std::io::Write::write_all(&mut wheel, text.as_bytes()).expect("its bytes");
    }
    wheel.finish().expect("an archive");
}

/// The cell's own functions, run by a real Python outside a notebook.
#[test]
fn the_cell_runs_only_the_binary_that_it_pins() {
    let test = Test::new();
    let profile = root().join("profiles/pytorch.toml").display().to_string();
    let served = test.path("served");
    std::fs::create_dir(&served).expect("a folder");
    std::fs::write(served.join("colab-boot"), "#!/bin/sh\necho pinned\n").expect("a write");
    write_wheel(&served);
    let digest = |name: &str| {
        let bytes = std::fs::read(served.join(name)).expect("a file");
        colab_boot::core::model::Sha256::of(&bytes).to_string()
    };
    let wheel = "colab_boot-0.1.0-py3-none-any.whl";
    for (name, digest, words) in [
        ("colab-boot", digest("colab-boot"), "colab-boot"),
        // A folder, as a Kaggle dataset is.
        ("", digest(wheel), "colab-boot"),
        ("", "0".repeat(64), "there is no colab-boot with sha256"),
        (wheel, digest(wheel), "colab-boot"),
        ("colab-boot", "0".repeat(64), "it was not run"),
        // What pip finds where it looks, here a folder.
        ("index:colab-boot==0.1.0", digest(wheel), "colab-boot"),
        ("index:colab-boot==0.1.0", "0".repeat(64), "it was not run"),
        ("index:colab-boot==9.9.9", "1".repeat(64), "pip could not fetch colab-boot==9.9.9"),
    ] {
        let scheme = if name.is_empty() { "" } else { "file://" };
        let url = if name.starts_with("index:") {
            name.to_owned()
        } else {
            format!("{scheme}{}", served.join(name).display())
        };
        test.run(&["export", "notebook", &profile, "--out", "cells", "--binary-url", &url, "--binary-sha256", &digest])
            .expect(0);
        let code = std::fs::read_to_string(test.path("cells/pytorch.py")).expect("a cell");
        let functions = code.split("\ncolab_boot_apply()\n").next().expect("functions");
        let python = format!(
            "{functions}\nimport subprocess\ntry:\n    print(subprocess.check_output([colab_boot_binary()], text=True) == 'pinned\\n', 'colab-boot')\n\
             except ColabBootStop as stop:\n    print(stop)\nprint(colab_boot_files())\n"
        );
        let output = Command::new(python::interpreter())
            .args(["-I", "-c", &python])
            .env_clear()
            .env("HOME", test.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("PIP_NO_INDEX", "1")
            .env("PIP_FIND_LINKS", &served)
            .output()
            .expect("Python starts");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            stdout.contains(words) && stdout.contains("pytorch.toml") && !stdout.contains("False"),
            "{stdout}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn a_version_of_an_index_is_named_and_nothing_else() {
    let (test, profile) = (Test::new(), format!("{}/profiles/pytorch.toml", env!("CARGO_MANIFEST_DIR")));
    for url in ["index:colab-boot", "index:", "index:--index-url=x==1", "index:colab-boot>=1", "index:a b==1"] {
        let digest = "0".repeat(64);
        let said = test
            .run(&["export", "notebook", &profile, "--out", "cells", "--binary-url", url, "--binary-sha256", &digest])
            .expect(2);
        assert!(said.stderr.contains("index:NAME==VERSION"), "{said:?}");
    }
}

#[test]
fn the_cell_checks_its_binary_at_each_run_and_heals_it() {
    let (test, profile) = (Test::new(), format!("{}/profiles/pytorch.toml", env!("CARGO_MANIFEST_DIR")));
    let served = test.path("binary");
    std::fs::write(&served, "#!/bin/sh\necho pinned\n").expect("a file");
    let digest = colab_boot::core::model::Sha256::of(&std::fs::read(&served).expect("a file")).to_string();
    let url = format!("file://{}", served.display());
    test.run(&["export", "notebook", &profile, "--out", "cells", "--binary-url", &url, "--binary-sha256", &digest])
        .expect(0);
    let code = std::fs::read_to_string(test.path("cells/pytorch.py")).expect("a cell");
    let functions = code.split("\ncolab_boot_apply()\n").next().expect("functions");
    let python = format!(
        "{functions}\nimport pathlib, subprocess\npath = pathlib.Path(colab_boot_binary())\ndef says():\n    return subprocess.check_output([colab_boot_binary()], text=True)\n\
         for broken in (b'', b'#!/bin/sh\\necho tampered\\n'):\n    path.write_bytes(broken)\n    print(says())\n\
         (path.parent / 'download').write_bytes(b'')\npath.chmod(0o644)\nprint(says())\n"
    );
    let mut command = Command::new(python::interpreter());
    command.args(["-I", "-c", &python]).env_clear().env("HOME", test.path("home")).env("PATH", "/usr/bin:/bin");
    let output = command.output().expect("Python starts");
    let said = String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(said, ["pinned"; 3], "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs functions of the cell, and of what it passes on, in a Python.
fn in_python(code: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let prelude = format!(
        "import json, os, pathlib, sys, tempfile, types\n\
         def taken(file, name):\n    \
             blocks = pathlib.Path({folder:?}, file).read_text().split('\\n\\n\\n')\n    \
             exec(next(block for block in blocks if block.startswith('def ' + name)), globals())\n"
    );
    let output = Command::new(python::interpreter()).args(["-c", &format!("{prelude}{code}")]).output();
    let output = output.expect("a Python");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn torn_files_of_servers_and_odd_modules_do_not_end_the_cell() {
    let server = in_python(
        "taken('python/colab_boot/kernel.py', 'colab_boot_server')\n\
         folder = tempfile.mkdtemp()\n\
         paths = types.ModuleType('jupyter_core.paths'); paths.jupyter_runtime_dir = lambda: folder\n\
         sys.modules.update({'jupyter_core': types.ModuleType('jupyter_core'), 'jupyter_core.paths': paths})\n\
         os.environ['JPY_PARENT_PID'] = '7'; os.environ.pop('COLAB_JUPYTER_IP', None)\n\
         texts = ['', '{', '[]', 'null', '{\"pid\": 8}', '{\"pid\": 7}', '{\"pid\": 7, \"url\": \"http://here/\"}']\n\
         [pathlib.Path(folder, f'jpserver-{at}.json').write_text(text) for at, text in enumerate(texts)]\n\
         print(colab_boot_server())",
    );
    assert_eq!(server, "('http://here/', '')");
    let facts = in_python(
        "taken('python/colab_boot/facts.py', 'colab_boot_facts')\n\
         class Odd(types.ModuleType):\n    __file__ = property(lambda self: 1 / 0)\n\
         sys.modules['a\\ud800'] = types.ModuleType('x'); sys.modules['odd'] = Odd('odd')\n\
         torn = types.ModuleType('torn'); torn.__file__ = '/x/\\ud800.py'; torn.__version__ = 3; sys.modules['torn'] = torn\n\
         sys.modules[7] = torn\n\
         print(json.dumps(colab_boot_facts(['HOME']), ensure_ascii=False)[:1])",
    );
    assert_eq!(facts, "{");
}

/// A notebook or script of the user's may have the name of the profile, and a built one may have got cells of theirs.
#[test]
fn a_build_writes_over_nothing_of_the_users() {
    let test = Test::new();
    let profile = root().join("profiles/pytorch.toml").display().to_string();
    let build = ["export", "notebook", &profile, "--out", "cells"];
    test.run(&build).expect(0);
    test.run(&build).expect(0);
    for name in ["pytorch.ipynb", "pytorch.py"] {
        let path = test.path(&format!("cells/{name}"));
        let built = std::fs::read_to_string(&path).expect("a file");
        let more = match name.strip_suffix(".ipynb") {
            Some(_) => built.replacen("  \"cells\": [", "  \"cells\": [\n    {\"cell_type\": \"code\", \"id\": \"mine\", \"metadata\": {}, \"execution_count\": null, \"outputs\": [], \"source\": [\"mine = 1\"]},", 1),
            None => format!("{built}\n# %%\nmine = 1\n"),
        };
        assert_ne!(more, built);
        // Text of the user's, too, and a line in the cell.
        let edited = built.replacen("import ast", "import precious, ast", 1);
        let about = built.replacen("\"cell_type\": \"markdown\"", "\"cell_type\": \"raw\"", 1);
        assert_ne!(edited, built);
        let others = [about, edited].into_iter().filter(|text| *text != built);
        for text in [more, "mine".to_owned(), String::new()].into_iter().chain(others) {
            std::fs::write(&path, &text).expect("a file");
            let refused = test.run(&build).expect(2);
            assert!(refused.stderr.contains("differs from what `export notebook` wrote"), "{refused:?}");
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), text);
        }
        let elsewhere = test.path("elsewhere");
        std::fs::write(&elsewhere, &built).expect("a file");
        std::fs::remove_file(&path).expect("a file");
        std::os::unix::fs::symlink(&elsewhere, &path).expect("a link");
        assert!(test.run(&build).expect(2).stderr.contains("is a link"));
        std::fs::remove_file(&path).expect("a link");
        std::fs::write(&path, built).expect("a file");
    }
}
