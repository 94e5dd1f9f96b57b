//! The extension of `IPython`, in real kernels: `%load_ext colab_boot`, then `%%boot` and `%boot`.

use std::io::Write as _;
use std::path::Path;

use colab_boot::core::model::Sha256;
use serde_json::Value;
use sha2::Digest as _;

use crate::stories::Day;
use crate::stories::notebook::{Kernel, Notebook, Stack, stacks};
use crate::support::keys::Key;
use crate::support::said::Said as _;

const ROWS: &[(&str, &str, &[&str])] = &[
    ("app", "1.0", &["lib<2"]),
    ("app", "2.0", &["lib>=2"]),
    ("lib", "1.0", &[]),
    ("lib", "2.0", &[]),
    ("tool", "1.0", &[]),
    ("odd", "1.0", &[]),
];

/// A notebook whose kernels have the extension, as an installed wheel gives it to them; and a kernel that has loaded
/// it.
pub fn opened(day: &Day, stack: Stack) -> Option<(Notebook, Kernel)> {
    let link = format!("{}/src/python\n", env!("CARGO_MANIFEST_DIR"));
    std::fs::write(day.venv.layout().join("extension.pth"), link).expect("a link");
    let mut notebook = Notebook::open(day, stack)?;
    let kernel = notebook.kernel();
    assert_eq!(notebook.run(&kernel, "%load_ext colab_boot"), "");
    Some((notebook, kernel))
}

#[test]
fn a_profile_in_a_cell_is_planned_applied_and_verified() {
    for stack in stacks() {
        let day = Day::new(ROWS);
        let Some((mut notebook, mut kernel)) = opened(&day, stack) else { return };
        let body = "[packages]\napp = '<2'\n\n[env]\nTOKENIZERS_PARALLELISM = 'false'\n";
        let said = notebook.run(&kernel, &format!("%%boot plan\n{body}"));
        assert!(said.concludes("plan: 2 to install"), "{stack:?}: {said}");
        assert!(notebook.page.contains("<td") && notebook.page.contains("<code>app</code>"), "{}", notebook.page);
        let (restarts, said) = notebook.boot(&mut kernel, &format!("%%boot\n{body}"));
        assert!(!restarts && said.concludes("applied: 2 packages"), "{stack:?}: {said}");
        let look = "import os, lib; print(lib.word, os.environ['TOKENIZERS_PARALLELISM'])";
        assert_eq!(notebook.run(&kernel, look).trim(), "1.0 false", "{stack:?}");
        assert!(notebook.run(&kernel, "%boot verify").concludes("verified"), "{stack:?}");
        // Lines as pip takes them; what the kernel has loaded changes, and it restarts once.
        let lines = "%%boot\n# what we need\napp>=2\ntool";
        let (restarts, said) = notebook.boot(&mut kernel, lines);
        assert!(restarts, "{stack:?}: {said}");
        notebook.run(&kernel, "%load_ext colab_boot");
        let (restarts, said) = notebook.boot(&mut kernel, lines);
        assert!(!restarts && said.concludes("ready: 3 packages"), "{stack:?}: {said}");
        assert_eq!(notebook.run(&kernel, "import lib; print(lib.word)").trim(), "2.0", "{stack:?}");
        let said = notebook.run(&kernel, "%boot restore");
        assert!(said.contains("restored"), "{stack:?}: {said}");
    }
}

/// The starter notebook, and inline metadata as juv writes it: no profile is written by hand.
#[test]
fn a_form_and_inline_metadata_are_profiles() {
    for stack in stacks() {
        let day = Day::new(ROWS);
        day.test.run(&["init", "--notebook"]).expect(0);
        day.test.run(&["init", "--notebook"]).expect(2).says("exists already");
        let starter: Value = serde_json::from_str(&day.read("notebook.ipynb")).expect("JSON");
        let lines = |cell: &Value| {
            cell["source"].as_array().expect("lines").iter().filter_map(Value::as_str).collect::<String>()
        };
        let (form, verify) = (lines(&starter["cells"][1]), lines(&starter["cells"][2]));
        assert!(form.contains("\"torch\"") && form.contains("\"transformers accelerate\""), "{form}");
        let filled = |packages: &str| form.replace("\"torch\"", "\"app\"").replace("transformers accelerate", packages);
        let Some((mut notebook, mut kernel)) = opened(&day, stack) else { return };
        let (restarts, said) = notebook.boot(&mut kernel, &filled("tool, lib < 2").replacen("\"any\"", "\"1\"", 1));
        assert!(!restarts && said.concludes("applied: 3 packages"), "{stack:?}: {said}");
        assert!(day.read(".notebook.toml").contains("app = \"==1.*\""), "{}", day.read(".notebook.toml"));
        assert!(notebook.run(&kernel, &verify).concludes("verified"), "{stack:?}");
        let (_, said) = notebook.boot(&mut kernel, &filled("tool, lib < 2").replacen("\"any\"", "\"1\"", 1));
        assert!(said.concludes("ready: 3 packages"), "{stack:?}: {said}");
        let said = notebook.run(&kernel, &filled("tool").replace("%boot form", "%boot form plan"));
        assert!(said.concludes("plan: 2 to upgrade, 1 kept"), "{stack:?}: {said}");
        for (cell, words) in [
            (filled("").replace("\"app\"", "\"None\""), "the form names no package"),
            (filled("tool lib=1"), "the form says what can't be installed"),
            (filled("").replacen("\"any\"", "2.10", 1), "version is no text of one line: write it in quotes"),
            (filled("").replace("packages = \"\"", "packages = ['tool', None]"), "packages is no text"),
            (filled("").replacen("\"this machine\"", "'T4\\ntool'", 1), "gpu is no text of one line"),
            ("%boot apply nowhere.toml".to_owned(), "there is no profile nowhere.toml"),
        ] {
            let said = notebook.run(&kernel, &cell);
            assert!(said.contains(words), "{stack:?}: {cell}: {said}");
        }
        assert!(notebook.run(&kernel, &verify).concludes("verified"), "{stack:?}: nothing has changed");
        let (_, said) = notebook
            .boot(&mut kernel, &filled("pip install tool,lib[x, y] <2  # both").replacen("\"any\"", "\"1\"", 1));
        assert!(said.contains("3 packages"), "{stack:?}: {said}");
        let said = notebook.run(&kernel, &filled("").replacen("\"this machine\"", "\"X9\"", 1));
        assert!(said.contains("there is no GPU `X9`"), "{stack:?}: {said}");
    }
}

/// The last header counts where nothing else was applied after it.
#[test]
fn inline_metadata_is_a_profile() {
    for stack in stacks() {
        let day = Day::new(ROWS);
        let Some((mut notebook, mut kernel)) = opened(&day, stack) else { return };
        notebook.boot(&mut kernel, "%%boot\napp<2\ntool\n");
        let header =
            |version: &str| format!("# /// script\n# dependencies = [\n#   'app{version}',\n# ]\n# ///\nprint('mine')");
        let kernel = &mut notebook.kernel();
        notebook.run(kernel, "%load_ext colab_boot");
        assert_eq!(notebook.run(kernel, &header("<2")), "mine\n");
        let said = notebook.run(kernel, "%boot plan");
        assert!(said.contains("plan: 1 to remove, 2 kept"), "{stack:?}: {said}");
        let (_, said) = notebook.boot(kernel, "%boot apply");
        assert!(said.contains("2 packages"), "{stack:?}: {said}");
        for (cell, words) in [
            ("# /// script\n# dependencies = []\n", "has no end"),
            (
                "# /// script\n# dependencies = ['a b', 'app']\n# ///",
                "the inline metadata says what can't be installed",
            ),
        ] {
            notebook.run(kernel, cell);
            let said = notebook.run(kernel, "%boot apply");
            assert!(said.contains(words), "{stack:?}: {said}");
        }
        notebook.run(kernel, &header(">=2"));
        let (_, said) = notebook.boot(kernel, "%boot apply");
        assert!(said.concludes("applied: 2 packages") && day.installed()["lib"] == "2.0", "{stack:?}: {said}");
        let (_, said) = notebook.boot(kernel, &format!("%%boot\n{}", header("<2")));
        assert!(said.contains("2 packages") && day.installed()["lib"] == "1.0", "{stack:?}: {said}");
    }
}

#[test]
fn a_refused_cell_stops_those_behind_it() {
    let day = Day::new(ROWS);
    let Some((mut notebook, kernel)) = opened(&day, Stack::Current) else { return };
    for (cell, says) in [
        ("%boot explain", "no cell of this kernel has failed"),
        ("%boot verify", "there is no profile"),
        ("%%boot\n[packages]\napp = '=1'\n", "--> cell:2:7"),
        ("%%boot\napp>=3\n", "there is no app >=3"),
        (
            "%%boot\nhello world, this is no requirement\n",
            "the cell can't be read: write a profile or requirement lines",
        ),
        ("%%boot status\n[packages]\n", "takes no text below it"),
        ("%%boot aply\napp\n", "write %%boot, %%boot plan or %%boot lock"),
        ("%%boot --no-restart\napp\n", "leave out --no-restart"),
        ("%%boot\n# nothing\n", "the cell names no package"),
        ("%boot plna", "a similar subcommand exists: 'plan'"),
        ("%boot add app@1.0 --from /nowhere", "NAME@VERSION#SHA256"),
    ] {
        let (statuses, outputs) = notebook.run_all(&kernel, &[cell]);
        let said = outputs.concat();
        assert!(said.contains(says) && !said.contains("Traceback"), "{cell}: {said}");
        assert_eq!(statuses, ["error"], "{cell}");
    }
    let (statuses, _) = notebook.run_all(&kernel, &["%%boot\napp>=3\n", "print('behind')"]);
    assert_eq!(statuses, ["error", "aborted"]);
}

#[test]
fn after_a_cell_known_errors_and_foreign_changes_are_said_once() {
    let day = Day::new(ROWS);
    let Some((mut notebook, mut kernel)) = opened(&day, Stack::Colab) else { return };
    let failing = "raise RuntimeError('CUDA error: no kernel image is available for execution on the device')";
    let said = notebook.run(&kernel, failing);
    assert_eq!(said.matches("colab-boot knows this error").count(), 1, "{said}");
    assert!(!notebook.run(&kernel, failing).contains("colab-boot knows"));
    assert!(notebook.run(&kernel, "%boot explain").contains("gpu-not-covered"));
    for quiet in ["1 / 0", "raise SystemExit", "%nothing", "1 +", "raise KeyboardInterrupt"] {
        let said = notebook.run(&kernel, quiet);
        assert!(!said.contains("colab-boot"), "{quiet}: {said}");
    }
    notebook.boot(&mut kernel, "%%boot\napp<2");
    // What no lock names is the user's.
    day.pip(&["install", "tool"]);
    assert_eq!(notebook.run(&kernel, "print(1)"), "1\n");
    day.pip(&["install", "lib==2.0"]);
    let said = notebook.run(&kernel, "print(1)");
    assert!(said.contains("packages differ from the lock: lib is 2.0, locked is 1.0"), "{said}");
    assert_eq!(notebook.run(&kernel, "print(1)"), "1\n");
    notebook.boot(&mut kernel, "%boot apply");
    assert_eq!(notebook.run(&kernel, "print(1)"), "1\n");
    notebook.run(&kernel, "import os; os.environ['COLAB_BOOT_HOOKS'] = '0'");
    day.pip(&["install", "lib==2.0"]);
    assert!(!notebook.run(&kernel, "raise RuntimeError('CUDA error: out of memory')").contains("colab-boot knows"));
}

#[test]
fn what_is_planted_in_texts_is_no_markup() {
    let day = Day::new(ROWS);
    let Some((mut notebook, kernel)) = opened(&day, Stack::Current) else { return };
    let planted = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    let cell =
        format!("%%boot plan\n[profile]\nname = \"p\"\n[packages]\napp = \"{planted}\"\n[env]\nA = \"{planted}\"\n");
    notebook.run(&kernel, &cell);
    assert!(notebook.page.contains("&lt;script&gt;") && !notebook.page.contains("<script"), "{}", notebook.page);
    let cell = format!("%%boot plan\n[packages]\napp = \"*\"\n[env]\nA = \"{planted}\"\n");
    notebook.run(&kernel, &cell);
    assert!(notebook.page.contains("&lt;img") && !notebook.page.contains("<img"), "{}", notebook.page);
}

#[test]
fn a_release_is_taken_by_the_digest_of_its_lock() {
    let day = Day::new(ROWS);
    let Some((mut notebook, mut kernel)) = opened(&day, Stack::Current) else { return };
    let alice = Key::new(&day.test.path(""), "alice");
    let key = alice.path.display().to_string();
    let golden = |arguments: &[&str]| {
        day.test.run(&[&["golden"], arguments, &["--repo", "repo", "--key", &key]].concat()).expect(0);
    };
    day.test.run(&["golden", "init", "repo", "--name", "team-x", "--signer", "alice.pub"]).expect(0);
    day.profile("data", &["app <2"], "");
    day.run(&["lock", "data.toml"]).expect(0);
    golden(&["publish", "data.toml"]);
    let digest = Sha256::of(day.read("data.lock").as_bytes()).to_string();
    let add = |digest: &str| format!("%boot add data@1.0.0#{digest} --from {}", day.test.path("repo").display());
    let said = notebook.run(&kernel, &add(&"0".repeat(64)));
    assert!(said.contains(&format!("the lock of data@1.0.0 has sha256 {digest}")), "{said}");
    assert!(day.installed().is_empty());
    let (restarts, said) = notebook.boot(&mut kernel, &add(&digest));
    assert!(!restarts && said.concludes("applied: 2 packages"), "{said}");
    let (_, said) = notebook.boot(&mut kernel, &add(&digest));
    assert!(said.concludes("ready: 2 packages"), "{said}");
    assert!(notebook.run(&kernel, "%boot verify").concludes("verified"));
    // Withdrawn: the kernel asks again on the next day, or with another boot.
    golden(&["withdraw", "--yank", "data@1.0.0", "--because", "wrong numbers"]);
    let folder = day.test.path(&format!("cache/releases/{}", &digest[..12]));
    std::fs::remove_file(folder.join("asked")).expect("a note");
    let said = notebook.run(&kernel, &add(&digest));
    assert!(said.contains("must not be used") && said.contains("wrong numbers"), "{said}");
    // A file of it that was edited is not used.
    std::fs::write(folder.join("data.lock"), "").expect("a lock");
    let said = notebook.run(&kernel, &add(&digest));
    assert!(said.contains("golden-yanked") && !said.concludes("ready"), "{said}");
}

#[test]
fn what_is_not_applied_leaves_the_profile_of_the_notebook() {
    let day = Day::new(ROWS);
    let Some((mut notebook, mut kernel)) = opened(&day, Stack::Colab) else { return };
    std::fs::write(day.test.path("more.txt"), "tool\n").expect("a list");
    let (_, said) = notebook.boot(&mut kernel, "%%boot\napp<2\n-r more.txt\n");
    assert!(said.concludes("applied: 3 packages"), "{said}");
    let kept = || (day.read(".notebook.toml"), day.read(".notebook.lock"));
    let before = kept();
    // Planned, refused, mistyped: what was applied is still what this notebook is about.
    let said = notebook.run(&kernel, "%%boot plan\n[packages]\nlib = '*'\n");
    assert!(said.concludes("plan: 1 to upgrade"), "{said}");
    for cell in ["%%boot\napp>=3\n", "%%boot\n[packages]\napp = '=1'\n", "%%boot\napp lib\n", "%%boot plan\napp=1\n"] {
        let said = notebook.run(&kernel, cell);
        assert!(said.contains("colab-boot") && !said.contains("/dev/stdin"), "{cell}: {said}");
    }
    assert!(kept() == before, "{:?}", kept());
    // What is refused once its lock is written.
    for module in ["odd.py", "odd/__init__.py"] {
        let file = day.venv.layout().join(module);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, "# the user's\n").expect("a file");
    }
    let said = notebook.run(&kernel, "%%boot\napp<2\n-r more.txt\nodd\n");
    assert!(said.concludes("refused: 1 error, nothing was changed"), "{said}");
    assert!(kept() == before, "{:?}", kept());
    assert!(notebook.run(&kernel, "%boot verify").concludes("verified"));
    notebook.run(&kernel, "%%boot\napp>=3\n");
    assert!(notebook.run(&kernel, "%boot explain").contains("resolve-conflict"));
    assert!(notebook.run(&kernel, "%boot verify").concludes("verified"));
    assert!(notebook.run(&kernel, "%boot tree").contains("lib 1.0"));
    // Wherever the kernel works.
    notebook.run(&kernel, "import os; os.makedirs('below', exist_ok=True); os.chdir('below')");
    assert!(notebook.run(&kernel, "%boot verify").concludes("verified"));
    let (_, said) = notebook.boot(&mut kernel, "%%boot\napp<2\n-r more.txt\n");
    assert!(said.concludes("ready: 3 packages"), "{said}");
    // What the user has written there is the user's.
    std::fs::write(day.test.path(".notebook.toml"), "# mine\n[packages]\nlib = '*'\n").expect("a profile");
    let (_, said) = notebook.boot(&mut kernel, "%%boot\napp<2\n");
    assert!(said.contains("was edited by hand: it is kept as"), "{said}");
    assert!(day.read(".notebook.toml.1").starts_with("# mine"));
    assert!(std::fs::read_dir(day.test.path("")).expect("a folder").flatten().all(|file| {
        let name = file.file_name().into_string().expect("a name");
        !name.contains("plan") && !name.contains("cell") && !name.ends_with(".new")
    }));
}

/// Notebooks of one folder have one profile; files of other names are the user's.
#[test]
fn a_notebook_is_about_what_its_own_cell_says() {
    let day = Day::new(ROWS);
    let Some((mut notebook, mut kernel)) = opened(&day, Stack::Current) else { return };
    for name in [".notebook-plan.toml", ".notebook-cell.txt", ".notebook.toml.new"] {
        std::fs::write(day.test.path(name), "mine").expect("a file");
    }
    notebook.run(&kernel, "%%boot plan\napp<2\n");
    let (_, said) = notebook.boot(&mut kernel, "%%boot\napp<2\n");
    assert!(said.concludes("applied: 2 packages"), "{said}");
    for name in [".notebook-plan.toml", ".notebook-cell.txt", ".notebook.toml.new"] {
        assert_eq!(day.read(name), "mine", "{name}");
    }
    for cell in ["%boot add tool", "%boot remove lib"] {
        assert!(notebook.run(&kernel, cell).contains("change its lines instead"), "{cell}");
    }
    // What helps is written as a line of the cell.
    let said = notebook.run(&kernel, "%%boot\napp==9\n");
    assert!(said.contains("`app>=") || said.contains("`app==") || said.contains("`app<"), "{said}");
    assert!(
        notebook.page.contains("`app&lt;") || notebook.page.contains("`app&gt;=") || notebook.page.contains("`app==")
    );
    let mut other = notebook.kernel();
    notebook.run(&other, "%load_ext colab_boot");
    let (_, said) = notebook.boot(&mut other, "%%boot\ntool\n");
    assert!(said.concludes("applied: 1 package"), "{said}");
    let said = notebook.run(&kernel, "%boot verify");
    assert!(said.contains("is not what %%boot of this kernel has written"), "{said}");
    assert!(notebook.run(&other, "%boot verify").concludes("verified"));
    notebook.run(&other, "import tool");
    let (restarts, said) = notebook.boot(&mut other, "%boot restore");
    assert!(restarts && said.contains("run the cells but those of %%boot"), "{said}");
    std::fs::write(day.test.path(".notebook.toml"), b"\xff\xfe").expect("a file");
    let said = notebook.run(&kernel, "%%boot\napp<2\n");
    assert!(said.contains("can't be read") && !said.contains("Traceback"), "{said}");
}

/// The wheel is a file on `sys.path`: nothing is installed, and the program comes out of it.
#[test]
fn a_wheel_works_without_being_installed() {
    let day = Day::new(ROWS);
    let Some(mut notebook) = Notebook::open(&day, Stack::Colab) else { return };
    let wheel = day.test.path("colab_boot-0.1.0-py3-none-any.whl");
    write_wheel(&wheel);
    let mut kernel = notebook.kernel();
    let load = format!(
        "import os, sys; os.environ.pop('COLAB_BOOT_BINARY', None); sys.path.insert(0, {:?})\n%load_ext colab_boot",
        wheel.display().to_string()
    );
    assert_eq!(notebook.run(&kernel, &load), "");
    let (_, said) = notebook.boot(&mut kernel, "%%boot\napp<2");
    assert!(said.concludes("applied: 2 packages"), "{said}");
    let programs = std::fs::read_dir(day.test.path("cache/bin")).expect("a cache").flatten().collect::<Vec<_>>();
    let program = programs.first().expect("a program").path().join("colab-boot");
    assert_eq!(programs.len(), 1);
    // What lies in the cache is compared with the wheel each time.
    std::fs::remove_file(&program).expect("a file");
    std::fs::write(&program, "#!/bin/sh\necho tampered\n").expect("a file");
    let (_, said) = notebook.boot(&mut kernel, "%boot apply");
    assert!(said.concludes("ready: 2 packages"), "{said}");
}

/// A wheel with the extension; its program runs that of this build.
pub fn write_wheel(archive: &Path) {
    let mut wheel = zip::ZipWriter::new(std::fs::File::create(archive).expect("a wheel"));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut record = Vec::new();
    let mut add = |name: &str, bytes: &[u8]| {
        wheel.start_file(name, stored).expect("a member");
        wheel.write_all(bytes).expect("its bytes");
        let digest = data_encoding::BASE64URL_NOPAD.encode(&sha2::Sha256::digest(bytes));
        record.push([name, ",sha256=", &digest, ",", &bytes.len().to_string(), "\n"].concat());
    };
    for name in ["__init__.py", "facts.py", "kernel.py"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/python/colab_boot").join(name);
        add(&format!("colab_boot/{name}"), &std::fs::read(path).expect("a module"));
    }
    let program = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_colab-boot"));
    add("colab_boot-0.1.0.data/scripts/colab-boot", program.as_bytes());
    add("colab_boot-0.1.0.dist-info/METADATA", b"Metadata-Version: 2.1\nName: colab-boot\nVersion: 0.1.0\n");
    let record = record.concat() + "colab_boot-0.1.0.dist-info/RECORD,,\n";
    wheel.start_file("colab_boot-0.1.0.dist-info/RECORD", stored).expect("a member");
    wheel.write_all(record.as_bytes()).expect("its bytes");
    wheel.finish().expect("an archive");
}
