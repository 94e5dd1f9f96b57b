//! `scrub` on files as they lie about: folders, links, notebooks; the baseline, SARIF, a real git hook, and golden
//! cells that refuse.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::stories::table;
use crate::support::index_server::{IndexServer, Manner};
use crate::support::python::interpreter;
use crate::support::said::Said as _;
use crate::support::test::Test;

/// A token that looks like one and is none, put together here.
fn token() -> String {
    format!("hf_{}", "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zcFiLoR")
}

fn notebook(source: &str) -> String {
    let line = serde_json::to_string(source).expect("JSON");
    format!("{{\n \"nbformat\": 4,\n \"cells\": [\n  {{ \"cell_type\":\"code\",\n    \"source\": [{line}] }}\n ]\n}}")
}

#[test]
fn a_folder_is_looked_through_and_only_what_is_secret_changes() {
    let test = Test::new();
    let text = notebook(&format!("login(\"{}\")", token()));
    for (name, text) in [
        ("work/a.ipynb", text.as_str()),
        ("work/.ipynb_checkpoints/a.ipynb", &text),
        ("work/clean.ipynb", &notebook("print(1)")),
        ("work/.env", &format!("HF_TOKEN={}\n", token())),
        ("work/.git/config", &format!("url = https://x:{}@host/r\n", token())),
        ("work/venv/pyvenv.cfg", "home = /usr\n"),
        ("work/venv/lib/b.py", &format!("T = '{}'\n", token())),
    ] {
        std::fs::create_dir_all(test.path(name).parent().expect("a folder")).expect("a folder");
        std::fs::write(test.path(name), text).expect("a file");
    }
    std::fs::write(test.path("work/model.bin"), [b"\0\x01\x02\x03", token().as_bytes()].concat()).expect("a file");
    std::fs::write(test.path("elsewhere.py"), format!("T = '{}'\n", token())).expect("a file");
    std::os::unix::fs::symlink(test.path("elsewhere.py"), test.path("work/link.py")).expect("a link");
    std::fs::set_permissions(test.path("work/a.ipynb"), std::fs::Permissions::from_mode(0o640)).expect("a mode");
    let found = test.run(&["scrub", "work", "--json"]).expect(1);
    let report = &found.json()["report"]["secrets"];
    let names: Vec<&str> = report.as_array().expect("a list").iter().filter_map(|one| one["file"].as_str()).collect();
    assert_eq!(names, ["work/.env", "work/.ipynb_checkpoints/a.ipynb", "work/a.ipynb"]);
    assert!(!found.stdout.contains(&token()) && !found.stderr.contains(&token()), "{found:?}");
    let shown = test.run(&["scrub", "work/a.ipynb"]).expect(1);
    assert!(shown.stderr.contains("cell 1, line 1: hugging-face-token (hf_a…, 37 characters)"), "{shown:?}");
    assert_eq!(std::fs::read_to_string(test.path("work/a.ipynb")).expect("a notebook"), text);
    // Taken out: that string, and not a byte more; the mode stays.
    let written = test.run(&["scrub", "work", "--write"]).expect(0);
    assert!(
        written.stderr.contains("revoke it") && written.stdout.starts_with("3 secrets removed from 3 of"),
        "{written:?}"
    );
    let clean = std::fs::read_to_string(test.path("work/a.ipynb")).expect("a notebook");
    assert_eq!(clean, text.replace(&token(), "REMOVED-hugging-face-token"));
    assert_eq!(test.path("work/a.ipynb").metadata().expect("a file").permissions().mode() & 0o777, 0o640);
    assert!(std::fs::read_to_string(test.path("elsewhere.py")).expect("a file").contains(&token()));
    test.run(&["scrub", "work"]).expect(0);
    test.run(&["scrub", "work/nowhere"]).expect(2);
    test.run(&["scrub"]).expect(2);
}

#[test]
fn what_is_accepted_stays_accepted_and_a_forge_reads_the_rest() {
    let test = Test::new().file("a.py", &format!("T = '{}'\n", token()));
    test.run(&["scrub", "a.py", "--baseline", "known.json"]).expect(2);
    test.run(&["scrub", "a.py", "--baseline", "known.json", "--update-baseline"]).expect(0);
    let baseline = std::fs::read_to_string(test.path("known.json")).expect("a baseline");
    assert!(!baseline.contains(&token()), "{baseline}");
    test.run(&["scrub", "a.py", "--baseline", "known.json"]).expect(0);
    // The same secret in another file is known; another one is not.
    let other = token().replace("aB3", "zQ9");
    std::fs::write(test.path("b.py"), format!("A = '{}'\nB = '{other}'\n", token())).expect("a file");
    let found = test.run(&["scrub", ".", "--baseline", "known.json", "--sarif", "out.sarif", "--json"]).expect(1);
    assert_eq!(found.json()["report"]["secrets"].as_array().map(Vec::len), Some(1));
    let sarif: Value =
        serde_json::from_str(&std::fs::read_to_string(test.path("out.sarif")).expect("SARIF")).expect("JSON");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "hugging-face-token");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
    assert!(!sarif.to_string().contains(&other));
    // What is accepted stays where it is, also beside what is taken out.
    let kept = std::fs::read_to_string(test.path("b.py")).expect("a file");
    let out = test.run(&["scrub", "b.py", "--baseline", "known.json", "--write"]).expect(0);
    assert!(out.stdout.contains("1 secret removed from 1 of 1 file"), "{out:?}");
    let text = std::fs::read_to_string(test.path("b.py")).expect("a file");
    assert_eq!(text, kept.replace(&other, "REMOVED-hugging-face-token"));
    std::fs::write(test.path("b.py"), kept).expect("a file");
    // What was not read is not accepted with the rest, and the forge gets its log.
    std::fs::write(test.path("model.bin"), b"PK\x03\x04\0\0\0").expect("a file");
    let update = ["scrub", "model.bin", "a.py", "--baseline", "new.json", "--update-baseline", "--sarif", "-"];
    let out = test.run(&update).expect(1);
    assert!(out.stderr.contains("model.bin: it is not text") && out.stdout.contains("\"ruleId\""), "{out:?}");
    std::fs::remove_file(test.path("model.bin")).expect("a file");
    // The file of that name is added to, and read, without being named.
    std::fs::remove_file(test.path("known.json")).expect("a baseline");
    for file in ["a.py", "b.py"] {
        test.run(&["scrub", file, "--update-baseline"]).expect(0);
    }
    test.run(&["scrub", "a.py", "b.py"]).expect(0);
    std::fs::write(test.path("known.json"), "{}").expect("a baseline");
    test.run(&["scrub", "a.py", "--baseline", "known.json"]).expect(2);
}

#[test]
fn git_does_not_commit_what_it_finds() {
    let test = Test::new();
    let hook = format!(
        "#!/bin/sh\nexec '{}' scrub $(git diff --cached --name-only --diff-filter=d)\n",
        env!("CARGO_BIN_EXE_colab-boot")
    );
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@team", "-c", "commit.gpgsign=false"];
        let folder = test.path("repo");
        Command::new("git").args(identity).args(arguments).current_dir(folder).output().expect("git starts")
    };
    std::fs::create_dir(test.path("repo")).expect("a folder");
    assert!(git(&["init", "-q"]).status.success());
    let path = test.path("repo/.git/hooks/pre-commit");
    std::fs::write(&path, hook).expect("a hook");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    std::fs::write(test.path("repo/a.ipynb"), notebook(&format!("t = '{}'", token()))).expect("a notebook");
    git(&["add", "-A"]);
    let refused = git(&["commit", "-qm", "one"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("a.ipynb: cell 1, line 1"), "{said}");
    test.run(&["scrub", "repo", "--write"]).expect(0);
    git(&["add", "-A"]);
    assert!(git(&["commit", "-qm", "one"]).status.success());
    // What pre-commit reads names a verb that there is.
    let hooks = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/.pre-commit-hooks.yaml")).expect("hooks");
    assert!(hooks.contains("entry: colab-boot scrub\n"), "{hooks}");
}

#[test]
fn a_cell_with_a_secret_is_not_built() {
    let profile = format!(
        "[profile]\nname = 'p'\nversion = '1.0.0'\n[target]\nruntimes = ['bare-3.12']\n[packages]\nlib = '*'\n[env]\nMY_KEY = '{}'\n",
        token()
    );
    let index = IndexServer::start(table(&[("lib", "1.0", &[])]), Manner::Good);
    let test = Test::new().set("COLAB_BOOT_INDEX_URL", index.url.clone()).file("p.toml", &profile);
    // What it writes beside the profile holds nothing of it.
    let said = test.run(&["lock", "p.toml", "--json"]).expect(1);
    assert_eq!(said.codes(), ["secret-in-environment-file"], "{said:?}");
    assert!(!std::fs::read_to_string(test.path("p.lock")).expect("a lock").contains(&token()));
    // Of several in one line it is the one that holds it.
    let (rest, _) = profile.split_once("[env]").expect("variables");
    let inline = format!("env = {{ FLAG = 'x', MY_KEY = '{}' }}\n{rest}", token());
    let test = test.file("inline.toml", &inline);
    let said = test.run(&["lock", "inline.toml", "--json"]).expect(1);
    assert_eq!(said.codes(), ["secret-in-environment-file"], "{said:?}");
    assert!(said.stdout.contains("`MY_KEY` looks like a credential"), "{said:?}");
    let refused = test.run(&["export", "notebook", "p.toml", "--json"]).expect(1);
    assert_eq!(refused.codes(), ["golden-secret"], "{refused:?}");
    assert!(!refused.stdout.contains(&token()) && refused.stdout.contains("in line 9"), "{refused:?}");
    assert!(!test.path("golden-cells").exists());
}

#[test]
fn what_is_written_is_a_notebook_still() {
    let test = Test::new();
    let cell = notebook(&format!("login(\"{}\")", token()));
    let with_nan = format!("\u{feff}{}", cell.replacen('{', "{\"score\": NaN, ", 1));
    let log = format!("{}token: {}\n", "\0".repeat(4096), token());
    let torn = cell[..cell.len() - 2].to_owned();
    let files = [("A.IPYNB", &with_nan), ("torn.ipynb", &torn), ("train.log", &log)];
    let test = files.iter().fold(test, |test, (name, text)| test.file(name, text));
    let out = test.run(&["scrub", "A.IPYNB", "torn.ipynb", "train.log", "--write"]).expect(1);
    let read = |name: &str| std::fs::read_to_string(test.path(name)).expect("a file");
    assert_eq!(read("A.IPYNB"), with_nan.replace(&token(), "REMOVED-hugging-face-token"));
    // What can't be read as what it is called, and what is no clean text, is reported and left.
    assert_eq!((read("torn.ipynb"), read("train.log")), (torn, log));
    assert!(out.stderr.contains("torn.ipynb") && out.stderr.contains("valid object or list"), "{out:?}");
    assert!(out.stderr.contains("train.log"), "{out:?}");
}

#[test]
fn what_can_not_be_read_is_not_called_clean() {
    let test = Test::new()
        .file("work/a.txt", &format!("login {}\n", token()))
        .file("work/z.txt", &format!("login {}\n", token()));
    let latin = [b"caf\xe9 login ".as_slice(), token().as_bytes(), b"\n"].concat();
    let wide: Vec<u8> =
        std::iter::once(0xfeff).chain(format!("login {}", token()).encode_utf16()).flat_map(u16::to_le_bytes).collect();
    std::fs::write(test.path("work/latin.log"), &latin).expect("a file");
    std::fs::write(test.path("work/wide.log"), &wide).expect("a file");
    std::fs::write(test.path("model.bin"), b"PK\x03\x04\0\0\0").expect("a file");
    let out = test.run(&["scrub", "work"]).expect(1);
    assert_eq!(out.stderr.matches("hugging-face-token").count(), 4, "{out:?}");
    // What is no text is passed over in a folder, and named where it was asked for.
    let out = test.run(&["scrub", "model.bin"]).expect(1);
    assert!(out.reports_about("error[scrub-unread]", "model.bin"), "{out:?}");
    // Names that are no text count as well; and a file with two names is not clean when one of them is.
    let odd = test.path("work").join(std::os::unix::ffi::OsStrExt::from_bytes(b"\xff.py") as &std::ffi::OsStr);
    std::fs::write(&odd, token()).expect("a file");
    assert!(test.run(&["scrub", "work"]).expect(1).stdout.contains("5 secrets in 5 of 5 files"));
    std::fs::write(test.path("work/model.bin"), b"PK\x03\x04\0\0\0").expect("a file");
    let said = test.run(&["scrub", "work"]).expect(1).stdout;
    assert!(said.contains("5 secrets in 5 of 5 files; 1 not searched (not text)"), "{said}");
    std::fs::remove_file(odd).expect("a file");
    // What is not looked into is said.
    std::fs::create_dir_all(test.path("aside/.venv")).expect("a folder");
    std::fs::write(test.path("aside/.venv/x.py"), token()).expect("a file");
    std::os::unix::fs::symlink("../work/a.txt", test.path("aside/link")).expect("a link");
    let said = test.run(&["scrub", "aside"]).expect(0).stdout;
    assert_eq!(said, "0 secrets in 0 of 0 files; not searched: aside/.venv, aside/link\n");
    std::fs::create_dir(test.path("twice")).expect("a folder");
    std::fs::write(test.path("twice/one"), token()).expect("a file");
    std::fs::hard_link(test.path("twice/one"), test.path("other name")).expect("a link");
    let out = test.run(&["scrub", "--write", "twice"]).expect(1);
    assert!(out.stderr.contains("has 1 more hard link"), "{out:?}");
    // Both names in one run: nothing is left.
    std::fs::write(test.path("twice/two"), token()).expect("a file");
    std::fs::hard_link(test.path("twice/two"), test.path("twice/three")).expect("a link");
    let both = test.run(&["scrub", "--write", "twice"]).expect(0);
    assert!(
        both.stdout.starts_with("2 secrets removed from 2 of 3 files") && !both.stderr.contains("hard link"),
        "{both:?}"
    );
    // The line to paste finds the name that is left.
    let line = out.stderr.split('`').find(|part| part.starts_with("find ")).expect("a command");
    let inode = line.rsplit(' ').next().expect("a number");
    let other = std::os::unix::fs::MetadataExt::ino(&test.path("other name").metadata().expect("a file"));
    let top = line.split(' ').nth(1).expect("a folder");
    assert!(
        inode == other.to_string() && test.path("other name").canonicalize().expect("a path").starts_with(top),
        "{line}"
    );
    // What can't be written in its encoding stays as it is, and the others are done.
    let out = test.run(&["scrub", "--write", "work"]).expect(1);
    assert!(
        out.stderr.contains("latin.log: it is not UTF-8") && out.stderr.contains("wide.log: it is not UTF-8"),
        "{out:?}"
    );
    assert_eq!(std::fs::read(test.path("work/latin.log")).expect("a file"), latin);
    for name in ["work/a.txt", "work/z.txt"] {
        assert!(!std::fs::read_to_string(test.path(name)).expect("a file").contains(&token()), "{name}");
    }
}

#[test]
fn a_file_keeps_its_attributes_and_one_that_is_written_to_is_left() {
    let test = Test::new().file("a.env", &format!("HF_TOKEN={}\n", token())).file("run.log", &format!("{}\n", token()));
    let python = |script: &str| {
        let out = Command::new(interpreter()).args(["-c", script]).current_dir(test.path("")).output().expect("Python");
        assert!(out.status.success(), "{out:?}");
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    };
    python("import os; os.setxattr('a.env', 'user.note', b'mine')");
    let mut log = Command::new("sh");
    let mut writer = log.args(["-c", "exec sleep 60 >>run.log"]).current_dir(test.path("")).spawn().expect("a program");
    while std::fs::read_link(format!("/proc/{}/fd/1", writer.id())).is_ok_and(|file| !file.ends_with("run.log")) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let said = test.run(&["scrub", "--write", "a.env", "run.log"]).expect(1);
    assert!(said.stderr.contains(&format!("process {} is writing to it", writer.id())), "{said:?}");
    assert!(std::fs::read_to_string(test.path("run.log")).expect("a log").contains(&token()));
    assert!(!std::fs::read_to_string(test.path("a.env")).expect("a file").contains(&token()));
    assert_eq!(python("import os; print(os.getxattr('a.env', 'user.note').decode())"), "mine");
    writer.kill().and_then(|()| writer.wait()).expect("it ends");
    test.run(&["scrub", "--write", "run.log"]).expect(0);
}
