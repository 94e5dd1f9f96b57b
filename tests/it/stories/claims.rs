//! What verdicts used to claim without having looked: libraries outside of site-packages, names that share an object,
//! submodules from elsewhere, metadata that comes first, what a restore can't bring back.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::stories::notebook::{Notebook, Stack, cells, stacks};
use crate::stories::{Day, release, says, these};
use crate::support::index_server::Table;
use crate::support::said::Said as _;
use crate::support::test::{Outcome, is_root};

fn day() -> Day {
    let mut table = Table::new();
    let mut add = |name: &str, version: &str, files: &[(&str, &str)]| {
        table.entry(name.to_owned()).or_default().insert(version.to_owned(), release(files));
    };
    add("shared", "1.0", &[("shared.py", "A = B = {}\nC = [A, A]\n")]);
    add("shared", "2.0", &[("shared.py", "A = {}\nB = {}\nC = [A, A]\n")]);
    for (version, word) in [("1.0", "old"), ("2.0", "new")] {
        let core = format!("def word():\n    return '{word}'\n");
        add("deep", version, &[("deep/__init__.py", ""), ("deep/core.py", &core)]);
        let library = format!("native-{version}.data/data/lib/libnative.so.1");
        add("native", version, &[(&library, word), ("native.py", &core)]);
    }
    Day::of_table(table)
}

/// Maps the library of `native`, as `ctypes` does.
const MAPS: &str = "import mmap, sys\nfile = open(sys.prefix + '/lib/libnative.so.1')\n\
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\nprint(mapped[:])";

fn pip(day: &Day, what: &str) -> String {
    let url = &day.server.url;
    format!(
        "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', 'install', '--quiet', '--no-deps', '--no-cache-dir', \
         '--disable-pip-version-check', '--index-url', '{url}', '{what}'], stdout=subprocess.DEVNULL, check=True)"
    )
}

#[test]
fn a_kernel_restarts_for_a_library_outside_of_site_packages_and_for_a_shared_object() {
    for stack in stacks() {
        let day = day();
        let Some(mut notebook) = Notebook::open(&day, stack) else { return };
        day.pip(&["install", "native==1.0", "shared==1.0"]);
        day.profile("p", &["native >=2", "shared >=2"], "");
        let (boot, _) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        assert_eq!(notebook.run(&kernel, MAPS).trim(), "b'old'");
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert!(
            restarts && said.contains("restart   native is loaded and changes from 1.0 to 2.0"),
            "{stack:?}: {said}"
        );
        assert_eq!(notebook.run(&kernel, MAPS).trim(), "b'new'");
        assert!(!notebook.boot(&mut kernel, &boot).0);
        // Another tool replaces it with other bytes: pip moves what is mapped to a folder of its own and deletes it
        // there.
        notebook.run(&kernel, &pip(&day, "native==1.0"));
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert!(restarts, "{stack:?}: {said}");
        notebook.run(&kernel, &pip(&day, "shared==1.0"));
        notebook.run(&kernel, "import shared");
        notebook.run(&kernel, &pip(&day, "shared==2.0"));
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert!(restarts && said.contains("(`B` has another value)"), "{stack:?}: {said}");
    }
}

#[test]
#[ignore = "whole"]
fn a_terminal_sees_a_kernel_whose_library_it_replaces() {
    let day = day();
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.pip(&["install", "native==1.0"]);
    day.profile("p", &["native >=2"], "");
    let mut kernel = notebook.kernel();
    notebook.run(&kernel, MAPS);
    for verb in ["apply", "apply", "plan"] {
        let said = day.run(&[verb, "p.toml"]).expect(if verb == "plan" { 0 } else { 10 });
        assert!(said.stdout.contains("a running kernel has old code"), "{verb}: {said:?}");
    }
    let verified = day.run(&["verify", "p.toml"]).expect(1);
    assert!(verified.stderr.contains("lib/libnative.so.1`, which was replaced since"), "{verified:?}");
    assert!(day.run(&["status"]).expect(0).stdout.contains("restart it: kernel "));
    notebook.restart(&mut kernel);
    notebook.run(&kernel, MAPS);
    assert!(day.run(&["apply", "p.toml"]).expect(0).concludes("ready"));
    day.run(&["verify", "p.toml"]).expect(0);
    assert!(!day.run(&["status"]).expect(0).stdout.contains("restart it"));
}

#[test]
#[ignore = "whole"]
fn a_stop_below_capture_ends_the_queued_cells() {
    for stack in stacks() {
        let day = day();
        let Some(mut notebook) = Notebook::open(&day, stack) else { return };
        day.pip(&["install", "deep==1.0"]);
        day.profile("p", &["deep >=2"], "");
        let (boot, _) = cells(&day, "p");
        let kernel = notebook.kernel();
        assert_eq!(notebook.run(&kernel, "import deep.core; print(deep.core.word())").trim(), "old");
        let captured = format!("%%capture\n{boot}");
        let (statuses, said) = notebook.run_all(&kernel, &[&captured, "print(deep.core.word())"]);
        assert_eq!(statuses, ["error", "aborted"], "{stack:?}: {said:?}");
        assert!(said[0].contains("the kernel restarts now, once"), "{stack:?}: {said:?}");
        let kernel = notebook.restarted(&kernel);
        let (statuses, _) = notebook.run_all(&kernel, &[&captured, "import deep.core; print(deep.core.word())"]);
        assert_eq!(statuses, ["ok", "ok"], "{stack:?}");
    }
}

#[test]
fn a_submodule_from_elsewhere_is_named() {
    let day = day();
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.profile("p", &["deep >=2"], "");
    let (boot, _) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    notebook.boot(&mut kernel, &boot);
    let over = day.test.path("over/deep");
    std::fs::create_dir_all(&over).expect("a folder");
    std::fs::write(over.join("core.py"), "def word():\n    return 'mine'\n").expect("a module");
    let import = format!("import deep\ndeep.__path__.insert(0, {over:?})\nimport deep.core\nprint(deep.core.word())");
    assert_eq!(notebook.run(&kernel, &import).trim(), "mine");
    let said = notebook.run(&kernel, &boot);
    assert!(said.reports_about("error[kernel-shadowed]", "deep.core"), "{said}");
    notebook.restart(&mut kernel);
    assert!(notebook.run(&kernel, &boot).concludes("ready"));
}

#[test]
fn the_reason_of_a_ready_kernel_is_true() {
    let day = day();
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.pip(&["install", "deep==1.0"]);
    day.profile("p", &["deep >=2"], "");
    let (boot, _) = cells(&day, "p");
    let (mut first, mut second) = (notebook.kernel(), notebook.kernel());
    notebook.run(&first, "import deep.core");
    assert!(notebook.boot(&mut first, &boot).0);
    let (restarts, said) = notebook.boot(&mut second, &boot);
    assert!(!restarts && !said.contains("started since"), "it is older than the apply: {said}");
}

#[test]
fn metadata_that_comes_first_is_an_error_until_it_is_gone() {
    let day = day();
    day.profile("p", &["deep >=2"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    let info = day.test.path("ahead/deep-0.5.dist-info");
    std::fs::create_dir_all(&info).expect("a folder");
    std::fs::write(info.join("METADATA"), "Metadata-Version: 2.1\nName: deep\nVersion: 0.5\n").expect("a file");
    let link = day.venv.layout().join("a.pth");
    let ahead = info.parent().expect("a folder").display().to_string();
    std::fs::write(&link, format!("import sys; sys.path.insert(0, {ahead:?})\n")).expect("a file");
    for verb in ["verify", "plan", "apply"] {
        let refused = day.run(&[verb, "p.toml"]).expect(1);
        assert!(refused.stderr.contains("error[kernel-shadowed]: `"), "{verb}: {refused:?}");
        assert!(
            refused.stderr.contains("deep-0.5.dist-info` hides the metadata of the locked deep"),
            "{verb}: {refused:?}"
        );
        assert!(!refused.stderr.contains("foreign-change"), "{verb}: {refused:?}");
    }
    // Whichever copy an installer takes away first, what is restored is.
    let first = day.run(&["restore"]);
    let said = format!("{}{}", first.stdout, first.stderr);
    let is_there = day.venv.layout().join("deep/core.py").exists();
    assert_eq!(first.code == 0 && said.contains("restored: "), !is_there, "{first:?}");
    std::fs::remove_file(link).expect("a file");
    day.run(&["restore"]).expect(0);
    assert_eq!(day.installed(), these(&[]));
}

#[test]
fn a_python_without_site_packages_is_not_ready() {
    let day = day();
    day.profile("p", &["deep >=2"], "");
    let (boot, _) = cells(&day, "p");
    std::fs::write(day.test.path("boot.py"), boot).expect("a script");
    let run = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env_clear().envs(&day.test.environment).current_dir(day.test.folder.path());
        command.env("COLAB_BOOT_BINARY", env!("CARGO_BIN_EXE_colab-boot"));
        Outcome::of(command)
    };
    let python = day.python();
    run(&[&python, "boot.py"]).expect(0);
    let bare = run(&[&python, "-S", "boot.py"]).expect(1);
    let said = format!("{}{}", bare.stdout, bare.stderr);
    assert!(said.contains("`sys.path`: packages in it can't be imported"), "{bare:?}");
    if !is_root() {
        eprintln!("skipped: no namespace of processes can be made");
        return;
    }
    // The kernel of a container may be its first process.
    let first = run(&["unshare", "--pid", "--fork", "--mount-proc", &python, "boot.py"]).expect(0);
    assert!(first.concludes("ready: 1 package"), "{first:?}");
}

/// A day on which the environment has a `deep` 1.0 of other bytes than the index, as a patched wheel has.
fn patched() -> Day {
    let day = day();
    day.pip(&["install", "deep==1.0"]);
    let site = day.venv.layout();
    let record = site.join("deep-1.0.dist-info/RECORD");
    let code = "import base64, hashlib, pathlib, sys\nfile, record = map(pathlib.Path, sys.argv[1:])\n\
        file.write_text('def word():\\n    return \"patched\"\\n')\n\
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).decode().rstrip('=')\n\
        lines = [line for line in record.read_text().splitlines() if not line.startswith('deep/core.py')]\n\
        lines.append(f'deep/core.py,sha256={digest},{file.stat().st_size}')\n\
        record.write_text('\\n'.join(lines) + '\\n')\n";
    let done = Command::new(&day.venv.python).args(["-c", code]).arg(site.join("deep/core.py")).arg(record).status();
    assert!(done.is_ok_and(|done| done.success()));
    day
}

#[test]
fn what_was_installed_from_elsewhere_is_not_said_to_be_the_locked_wheel() {
    let day = patched();
    day.profile("p", &["deep ==1.0"], "");
    let applied = day.run(&["apply", "p.toml"]).expect(0);
    let open = "(1 package compared with the installed RECORD, not the locked wheel";
    assert!(applied.stdout.contains(open), "{applied:?}");
    assert!(day.run(&["verify", "p.toml"]).expect(0).stdout.contains(open));
    // Without its RECORD nothing is left to compare.
    std::fs::remove_file(day.venv.layout().join("deep-1.0.dist-info/RECORD")).expect("a file");
    let verified = day.run(&["verify", "p.toml"]).expect(1);
    assert!(verified.concludes("not verified: only versions could be compared"), "{verified:?}");
}

#[test]
fn a_restore_says_what_does_not_come_back() {
    let day = patched();
    day.profile("p", &["deep >=2"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    let restored = day.run(&["restore"]).expect(0);
    assert!(restored.stdout.contains("restored, except for 1 package"), "{restored:?}");
    assert!(restored.reports_about("warning[restore-differs]", "deep 1.0"), "{restored:?}");
    assert_eq!(says(&day.venv.python, "import deep.core; print(deep.core.word())"), "old");
}

#[test]
fn a_restore_brings_edits_back() {
    let day = day();
    day.pip(&["install", "deep==1.0"]);
    let file = day.venv.layout().join("deep/core.py");
    let edit = |path: &Path| std::fs::write(path, "def word():\n    return 'edited'\n").expect("a file");
    edit(&file);
    day.profile("p", &["deep >=2"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(says(&day.venv.python, "import deep.core; print(deep.core.word())"), "new");
    let restored = day.run(&["restore"]).expect(0);
    assert!(restored.stdout.contains("restored: all changes that colab-boot made are undone"), "{restored:?}");
    assert_eq!(says(&day.venv.python, "import deep.core; print(deep.core.word())"), "edited");
    // Without the kept file it is said.
    day.run(&["apply", "p.toml"]).expect(0);
    let kept = files_below(&day.test.path("state"), "deep-1.0/deep/core.py");
    assert_eq!(kept.len(), 1, "{kept:?}");
    std::fs::remove_file(&kept[0]).expect("a file");
    let restored = day.run(&["restore"]).expect(0);
    assert!(restored.stderr.contains("deep 1.0 was reinstalled without your edits: deep/core.py"), "{restored:?}");
    assert!(restored.stdout.contains("restored, except for 1 package"), "{restored:?}");
}

/// The files below `folder` whose paths end in `end`.
fn files_below(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| if path.is_dir() { files_below(&path, end) } else { vec![path] })
        .filter(|path| path.ends_with(end))
        .collect()
}

/// The edited files of an image's package come back also where they lie outside of site-packages; a header is compared
/// like any file.
#[test]
fn data_and_headers_of_a_package_are_its_files() {
    let mut table = Table::new();
    for (version, word) in [("1.0", "old"), ("2.0", "new")] {
        let data = format!("spread-{version}.data");
        let files = [
            ("spread.py".to_owned(), format!("WORD = '{word}'\n")),
            (format!("{data}/data/share/spread.txt"), word.to_owned()),
            (format!("{data}/headers/spread.h"), word.to_owned()),
        ];
        let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>();
        table.entry("spread".to_owned()).or_default().insert(version.to_owned(), release(&files));
    }
    let day = Day::of_table(table);
    day.pip(&["install", "spread==1.0"]);
    let shared = day.prefix().join("share/spread.txt");
    std::fs::write(&shared, "mine").expect("a file");
    day.profile("p", &["spread >=2"], "");
    let applied = day.run(&["apply", "p.toml"]).expect(0);
    assert!(applied.stderr.contains("files-edited") && applied.stderr.contains("share/spread.txt"), "{applied:?}");
    assert_eq!(std::fs::read_to_string(&shared).expect("a file"), "new");
    let header = files_below(&day.prefix().join("include"), "spread.h");
    assert_eq!(header.len(), 1, "{header:?}");
    std::fs::remove_file(&header[0]).expect("a file");
    assert!(day.run(&["verify", "p.toml"]).expect(1).concludes("not verified"));
    day.run(&["apply", "p.toml"]).expect(0);
    day.run(&["verify", "p.toml"]).expect(0);
    day.run(&["restore"]).expect(0);
    assert_eq!(std::fs::read_to_string(&shared).expect("a file"), "mine");
}

#[test]
fn two_packages_with_one_script_become_ready() {
    let script = |name: &str| {
        let text = format!("[console_scripts]\ntool = {name}:main\n");
        release(&[
            (&format!("{name}.py"), "def main():\n    pass\n"),
            (&format!("{name}-1.0.dist-info/entry_points.txt"), &text),
        ])
    };
    let table: Table = ["one", "two"].map(|name| (name.to_owned(), [("1.0".to_owned(), script(name))].into())).into();
    let day = Day::of_table(table);
    day.profile("p", &["one", "two"], "");
    assert!(day.run(&["apply", "p.toml"]).expect(0).stdout.starts_with("applied: 2 packages"));
    assert!(day.run(&["apply", "p.toml"]).expect(0).stdout.starts_with("ready: 2 packages"));
    assert!(day.run(&["verify", "p.toml"]).expect(0).stdout.contains("\nverified"));
}

#[test]
fn a_path_file_restarts_a_kernel_that_started_without_it() {
    let mut table = Table::new();
    for version in ["1.0", "2.0"] {
        let folder = format!("lib_{}", &version[..1]);
        let files =
            [("pathy.pth".to_owned(), folder.clone()), (format!("{folder}/inner.py"), format!("word = '{version}'\n"))];
        let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>();
        table.entry("pathy".to_owned()).or_default().insert(version.to_owned(), release(&files));
    }
    let day = Day::of_table(table);
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    let mut kernel = notebook.kernel();
    for (range, version, verb) in [("<2", "1.0", "brings"), (">=2", "2.0", "has")] {
        day.profile("p", &[&format!("pathy {range}")], "");
        let (boot, _) = cells(&day, "p");
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert!(restarts && said.contains(&format!("pathy {verb} a `.pth` file")), "{said}");
        assert!(!notebook.boot(&mut kernel, &boot).0);
        assert_eq!(notebook.run(&kernel, "import inner; print(inner.word)").trim(), version);
    }
}

#[test]
fn a_linked_site_packages_is_refused_before_anything_is_written() {
    let day = day();
    day.profile("p", &["deep >=2"], "");
    let site = day.venv.layout();
    let away = day.test.path("away");
    std::fs::rename(&site, &away).expect("a folder");
    std::os::unix::fs::symlink(&away, &site).expect("a link");
    let refused = day.run(&["apply", "p.toml"]).expect(2);
    assert!(refused.stderr.contains("outside of the environment") && !away.join("deep").exists(), "{refused:?}");
}

/// uv links the files of all environments to those of its cache: one more environment moves the ctime of each.
#[test]
#[ignore = "whole"]
fn another_name_of_a_file_is_no_change_of_it() {
    let day = super::held_code::day();
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.pip(&["install", "opaque==1.0"]);
    day.profile("p", &["words"], "");
    let (boot, _) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    notebook.run(&kernel, "import opaque");
    notebook.boot(&mut kernel, &boot);
    assert!(notebook.boot(&mut kernel, &boot).1.concludes("ready"));
    notebook.run(&kernel, "import opaque");
    let file = notebook.run(&kernel, "print(opaque.__file__)").trim().to_owned();
    let other = day.test.path("other.py");
    for change in [&|| std::fs::hard_link(&file, &other), &|| std::fs::remove_file(&other)]
        as [&dyn Fn() -> std::io::Result<()>; 2]
    {
        change().expect("a change");
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert!(!restarts && said.concludes("ready"), "{said}");
    }
    let text = std::fs::read_to_string(&file).expect("a module");
    std::fs::hard_link(&file, &other).expect("a link");
    std::fs::write(&file, text.replace("'o', 'l', 'd'", "'n', 'e', 'w'")).expect("an edit");
    assert!(notebook.boot(&mut kernel, &boot).0, "another content is a change");
    // Nor is it one to a kernel in which no cell has run yet.
    std::fs::write(&file, text).expect("an edit");
    notebook.restart(&mut kernel);
    std::fs::remove_file(&other).expect("a file");
    std::fs::hard_link(&file, &other).expect("a link");
    notebook.restart(&mut kernel);
    notebook.run(&kernel, "import opaque");
    std::fs::hard_link(&file, day.test.path("third.py")).expect("a link");
    let (restarts, said) = notebook.boot(&mut kernel, &boot);
    assert!(!restarts && said.concludes("ready"), "{said}");
}
