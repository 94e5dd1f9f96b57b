//! What wheels are linked against: read from real shared objects, beside `readelf`, and decided by in locks.

use std::path::{Path, PathBuf};
use std::process::Command;

use colab_boot::core::inspect::{SharedObject, Sink as _};
use colab_boot::core::model::linking::Object;

use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::object::object;
use crate::support::test::{Test, observed};

fn read(path: &Path, bytes: &[u8], piece: usize) -> Option<Object> {
    let mut object = SharedObject::new(&path.display().to_string(), bytes.len() as u64);
    for bytes in bytes.chunks(piece) {
        object.take(bytes).expect("an object");
    }
    object.finish().expect("an object")
}

/// The libraries of this machine.
fn libraries() -> Vec<PathBuf> {
    let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    found.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so.")));
    found.sort();
    found
}

/// What `readelf` says of one tag: `(NEEDED)`, `(SONAME)`.
fn tagged(text: &str, tag: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.contains(tag));
    lines.filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned())).collect()
}

#[test]
fn the_libraries_of_this_machine_are_read_as_readelf_reads_them() {
    let mut compared = 0;
    for path in libraries().into_iter().take(150) {
        let text = Command::new("readelf").args(["-dVW"]).arg(&path).output().expect("readelf starts").stdout;
        let text = String::from_utf8_lossy(&text).into_owned();
        let bytes = std::fs::read(&path).expect("a library");
        let Some(found) = read(&path, &bytes, 64 << 10) else {
            assert!(!text.contains("(STRTAB)"), "{}", path.display());
            continue;
        };
        assert_eq!(found.needed, tagged(&text, "(NEEDED)"), "{}", path.display());
        assert_eq!(found.soname.into_iter().collect::<Vec<_>>(), tagged(&text, "(SONAME)"), "{}", path.display());
        if let Some(newest) = found.versions.get("GLIBC") {
            assert!(text.contains(&format!("GLIBC_{newest}")), "{}: {newest}", path.display());
        }
        compared += 1;
    }
    assert!(compared > 20, "where are the libraries? {compared}");
}

#[test]
fn however_the_bytes_arrive_the_same_is_read() {
    let words = "needs:libcudart.so.12 needs:libc10.so soname:libx.so.1 asks:_ZN3c105ErrorC1Ev defines:PyInit__c says:numpy.core.multiarray";
    let bytes = object(words);
    let whole = read(Path::new("x.so"), &bytes, bytes.len()).expect("an object");
    assert_eq!(whole.needed[..2], ["libcudart.so.12", "libc10.so"]);
    assert_eq!((whole.soname.as_deref(), whole.is_module, whole.torch.len()), (Some("libx.so.1"), true, 1));
    for piece in [1, 63, 4096, 5000] {
        assert_eq!(read(Path::new("x.so"), &bytes, piece).as_ref(), Some(&whole), "{piece}");
    }
    // Cut off anywhere it is an error, or no object; nothing is made up.
    for end in (0..bytes.len()).step_by(97) {
        let mut object = SharedObject::new("x.so", bytes.len() as u64);
        object.take(&bytes[..end]).expect("bytes");
        let cut = object.finish().ok().flatten();
        assert!(cut.is_none_or(|cut| cut.needed == whole.needed || cut.needed.is_empty()), "{end}");
    }
}

/// A release with shared objects.
fn compiled(objects: &[(&str, &str)], requires: &[&str]) -> Release {
    Release {
        tags: Some(vec!["cp312-cp312-manylinux_2_17_x86_64".to_owned()]),
        objects: objects.iter().map(|(path, words)| ((*path).to_owned(), (*words).to_owned())).collect(),
        requires: requires.iter().map(|&line| line.to_owned()).collect(),
        ..Release::default()
    }
}

fn table(rows: Vec<(&str, &str, Release)>) -> Table {
    let mut table = Table::new();
    for (name, version, release) in rows {
        table.entry(name.to_owned()).or_default().insert(version.to_owned(), release);
    }
    table
}

#[test]
fn what_nobody_has_read_is_read_during_the_solve() {
    let module = |words: &str| format!("defines:PyInit__c {words}");
    let rows = vec![
        ("nvidia-cuda-runtime-cu12", "12.8.90", Release::default()),
        ("nvidia-cuda-runtime", "13.0.96", Release::default()),
        ("app", "1.0", compiled(&[("app/_c.so", &module("needs:libcudart.so.12"))], &[])),
        // As 2.0: it is no suggestion.
        ("app", "1.5", compiled(&[("app/_c.so", &module("needs:libcudart.so.13"))], &[])),
        ("app", "2.0", compiled(&[("app/_c.so", &module("needs:libcudart.so.13"))], &[])),
        // One of its parts alone needs CUDA 13: it can be imported.
        ("parts", "1.0", compiled(&[("parts/_c.so", &module("")), ("parts/plugin.so", "needs:libcudart.so.13")], &[])),
        // Any one of its variants is enough.
        (
            "variants",
            "1.0",
            compiled(&[("variants/a.so", "needs:libcudart.so.13"), ("variants/b.so", "needs:libcudart.so.12")], &[]),
        ),
    ];
    let server = IndexServer::start(table(rows), Manner::Good);
    let profile = |app: &str, more: &str| {
        format!(
            "[profile]\nname='p'\nversion='1.0.0'\n[packages]\nnvidia-cuda-runtime-cu12='*'\napp='{app}'\nparts='*'\nvariants='*'\n{more}"
        )
    };
    let test = Test::new().file("p.toml", &profile("*", "")).file("two.toml", &profile("==2.0", ""));
    let machine = observed("laptop");
    let run = |verb: &[&str], code: i32| {
        test.run(&[verb, &["--machine", &machine, "--index-url", &server.url]].concat()).expect(code)
    };
    run(&["lock", "p.toml"], 0);
    let lock = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    assert!(lock.contains("app-1.0-cp312"), "{lock}");
    let refused = run(&["lock", "two.toml"], 1).stderr;
    for words in [
        "linked against libcudart.so.13",
        "only the libraries of CUDA 12",
        "can't be loaded",
        "`app = \"==1.0\"` works: solved",
    ] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
    // Somebody knows better: the lock keeps it, and says so.
    let accept = "[[accept]]\npackage='app'\ncode='library-missing'\nbecause='the toolkit of this machine has it'\n";
    let test = test.file("accepted.toml", &profile("==2.0", accept));
    let run = |verb: &[&str], code: i32| {
        test.run(&[verb, &["--machine", &machine, "--index-url", &server.url]].concat()).expect(code)
    };
    run(&["lock", "accepted.toml"], 0);
    let lock = std::fs::read_to_string(test.path("accepted.lock")).expect("a lock");
    let line = "accept = [{ package = \"app\", code = \"library-missing\", because = \"the toolkit of this machine has it\" }]";
    assert!(lock.contains(line) && lock.contains("app-2.0-cp312"), "{lock}");
    run(&["lock", "accepted.toml", "--check"], 0);
}

#[test]
fn torchs_symbols_and_numpys_generation_decide_in_what_is_read() {
    let module = |words: &str| [("app/_c.so", format!("defines:PyInit__c {words}"))];
    let release = |words: &str, requires: &[&str]| {
        let [(path, words)] = module(words);
        compiled(&[(path, &words)], requires)
    };
    // Compiled against NumPy 1; its METADATA lets NumPy 2 in.
    let rows = vec![
        ("numpy", "1.26.4", Release::default()),
        ("numpy", "2.1.0", Release::default()),
        ("app", "1.0", release("says:numpy.core.multiarray says:compiled+against+ABI+version", &["numpy>=1.20"])),
        ("app", "2.0", release("says:numpy.core.multiarray says:numpy._core", &["numpy>=1.20"])),
        // As those of older pybind11: it looks NumPy up when it is used.
        ("lazy", "1.0", release("says:numpy.core.multiarray", &["numpy>=1.20"])),
    ];
    let server = IndexServer::start(table(rows), Manner::Good);
    let profile = |packages: &str| format!("[profile]\nname='p'\nversion='1.0.0'\n[packages]\n{packages}\n");
    let test = Test::new()
        .file("old.toml", &profile("app='==1.0'"))
        .file("both.toml", &profile("app='==1.0'\nnumpy='>=2'"))
        .file("new.toml", &profile("app='*'\nlazy='*'"));
    let machine = observed("laptop");
    let lock = |name: &str, code: i32| {
        let profile = format!("{name}.toml");
        let outcome = test.run(&["lock", &profile, "--machine", &machine, "--index-url", &server.url]).expect(code);
        (outcome.stderr, std::fs::read_to_string(test.path(&format!("{name}.lock"))).unwrap_or_default())
    };
    assert!(lock("new", 0).1.contains("numpy-2.1.0"));
    let refused = lock("both", 1).0;
    assert!(refused.contains("compiled against NumPy 1") && refused.contains("works: solved"), "{refused}");
    assert!(lock("old", 0).1.contains("numpy-1.26.4"));
    // An audit reads what a solve reads.
    std::fs::write(test.path("r.txt"), "app==1.0\nlazy==1.0\nnumpy==2.1.0\n").expect("a file");
    let audit = test.run(&["audit", "r.txt", "--machine", &machine, "--index-url", &server.url]).expect(1);
    assert!(audit.stderr.contains("app 1.0 needs numpy <2, but 2.1.0 is installed"), "{audit:?}");
    assert!(!audit.stderr.contains("lazy 1.0 needs"), "{audit:?}");
}

#[test]
fn inspect_says_in_short_what_a_wheel_asks_for() {
    let objects = [
        (
            "app/_c.so",
            "defines:PyInit__c needs:libapp.so needs:libGL.so.1 asks:_ZN2at6detail3foov says:numpy.core.multiarray says:compiled+against+ABI+version",
        ),
        ("app/libapp.so", "soname:libapp.so needs:libcudart.so.12 needs:libcopied-1a2b.so.1.1.1k"),
        // What auditwheel copies, and what is built for TensorFlow.
        ("app.libs/libcopied-1a2b.so.1.1.1k", "soname:libcopied-1a2b.so.1.1.1k needs:libexpat.so.1"),
        (
            "app/ops.so",
            "needs:libtensorflow_framework.so.2 asks:_ZNK10tensorflow8OpKernel4nameEv asks:_ZN4absl6StatusD1Ev",
        ),
        ("app/plugin.so", "needs:libX11.so.6 says:libcudnn.so.9"),
    ];
    let server = IndexServer::start(table(vec![("app", "1.0", compiled(&objects, &[]))]), Manner::Good);
    let test = Test::new();
    let run = |more: &[&str]| {
        let base = ["matrix", "inspect", "app", "--python", "3.12", "--platform", "manylinux_2_35_x86_64"];
        test.run(&[&base, more, &["--index-url", &server.url]].concat()).expect(0)
    };
    let text = run(&[]).stdout;
    for line in [
        "links      5 shared objects",
        "needs      libGL.so.1 libcudart.so.12 libexpat.so.1",
        "parts need libX11.so.6 libtensorflow_framework.so.2",
        "TensorFlow 2 symbols of its C++ interface",
        "may open   libcudnn.so.9",
        "NumPy      built for NumPy 1: fails with NumPy 2",
        "torch      1 symbol of its C++ interface",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let json = run(&["--json"]).json();
    let linking = &json["report"]["builds"][0]["linking"];
    assert_eq!(linking["needs"], serde_json::json!([["libGL.so.1", "libcudart.so.12", "libexpat.so.1"]]));
    assert_eq!((&linking["numpy"], &linking["torch"]), (&"first".into(), &1.into()));
}
