//! Environments broken in ten ways: what `pip check` and `uv pip check` see, `audit` sees too.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::stories::Day;
use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::python::uv;
use crate::support::said::Said as _;
use crate::support::test::{Test, observed, sample};

const ROWS: &[(&str, &str, &[&str])] = &[
    ("app", "1.0", &["lib<2", "more"]),
    ("lib", "1.0", &[]),
    ("lib", "2.0", &[]),
    ("more", "1.0", &["lib[fast]>=1"]),
    ("plain", "1.0", &[]),
];

/// Says whether a checker objects, and all that it says.
fn check(program: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::new(program).args(arguments).output().expect("a checker starts");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (!output.status.success(), text)
}

fn metadata(day: &Day, name: &str, change: &dyn Fn(String) -> String) {
    let info = day.venv.site_packages().into_iter().find(|entry| entry.starts_with(&format!("{name}-")));
    let path = day.venv.layout().join(info.expect(name)).join("METADATA");
    let text = std::fs::read_to_string(&path).expect("metadata");
    std::fs::write(path, change(text)).expect("metadata");
}

fn require(day: &Day, name: &str, line: &str) {
    metadata(day, name, &|text| format!("{}\n{line}\n", text.trim_end()));
}

fn copy_info(day: &Day, from: &str, to: &str) {
    let site = day.venv.layout();
    let done = Command::new("cp").arg("-a").arg(site.join(from)).arg(site.join(to)).status().expect("cp starts");
    assert!(done.success());
    let path = site.join(to).join("METADATA");
    let text = std::fs::read_to_string(&path).expect("metadata");
    std::fs::write(path, text.replace("Version: 1.0", "Version: 0.9")).expect("metadata");
}

/// A way to break an environment: what is wrong, and how it comes about.
type Way<'a> = (&'a str, &'a dyn Fn(&Day));

#[test]
fn nothing_that_pip_and_uv_see_is_missed() {
    let ways: &[Way<'_>] = &[
        ("lib", &|day| day.pip(&["install", "--no-deps", "lib==2.0"])),
        ("lib", &|day| day.pip(&["uninstall", "--yes", "lib"])),
        ("more", &|day| day.pip(&["uninstall", "--yes", "more"])),
        ("nowhere", &|day| require(day, "plain", "Requires-Dist: nowhere>=1")),
        ("lib", &|day| require(day, "plain", "Requires-Dist: lib>=3; python_version >= '3.8'")),
        ("lib", &|day| require(day, "plain", "Requires-Dist: lib!=1.0")),
        ("plain", &|day| {
            let newer = |text: String| {
                text.replace(
                    "
Version:",
                    "
Requires-Python: >=3.99
Version:",
                )
            };
            metadata(day, "plain", &newer);
        }),
        ("plain", &|day| {
            let wheel = day.venv.layout().join("plain-1.0.dist-info/WHEEL");
            let text = std::fs::read_to_string(&wheel).expect("WHEEL");
            std::fs::write(wheel, text.replace("py3-none-any", "cp27-cp27m-win32")).expect("WHEEL");
        }),
        ("plain", &|day| copy_info(day, "plain-1.0.dist-info", "plain-0.9.dist-info")),
        ("lib", &|day| require(day, "more", "Requires-Dist: lib===2.0")),
    ];
    let day = Day::new(ROWS);
    let python = day.venv.python.clone();
    let uv = uv().map(|folder| folder.join("uv"));
    let audit = || day.run(&["audit"]);
    day.pip(&["install", "app", "plain"]);
    assert_eq!(audit().code, 0, "a good environment is left alone: {:?}", audit());
    std::fs::remove_file(day.venv.layout().join("plain.py")).expect("a module");
    let lacking = day.run(&["audit", "--json"]).expect(0);
    assert_eq!(lacking.codes(), ["files-missing"], "{lacking:?}");
    for (at, (name, harm)) in sample(ways.iter().enumerate(), 3) {
        let _ = std::fs::remove_dir_all(day.venv.layout().join("plain-0.9.dist-info"));
        day.pip(&["install", "--force-reinstall", "app", "plain"]);
        harm(&day);
        let (pip, said) = check(&python, &["-m", "pip", "check"]);
        let of_uv = uv.as_deref().map(|uv| check(uv, &["pip", "check", "--python", &day.python()]));
        let outcome = audit();
        let shown = format!("way {at}, {name}:\npip: {said}\nuv: {of_uv:?}\n{outcome:?}");
        let seen = pip || of_uv.as_ref().is_some_and(|(objects, _)| *objects);
        assert!(seen || at == 7, "nothing is found: {shown}");
        assert_eq!(outcome.code, 1, "{shown}");
        assert!(outcome.stderr.contains(name), "{shown}");
    }
}

#[test]
fn a_list_of_pins_is_judged_line_by_line() {
    let day = Day::new(ROWS);
    let list = |text: &str| {
        std::fs::write(day.test.path("r.txt"), text).expect("a list");
        day.run(&["audit", "r.txt"])
    };
    list("app==1.0\nlib==1.0\nmore==1.0\n").expect(0);
    let outcome = list("# pins\napp==1.0\nlib==2.0   # too new\nmore==1.0\nappp==1.0\n").expect(1);
    for words in [
        "r.txt:2:1",
        "app 1.0 needs a different lib than the file requires",
        "`lib==1.0` works: solved",
        "r.txt:5:1",
        "no index has a package `appp`",
    ] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    let refused = list("numpy=1.26\n").expect(2);
    assert!(refused.stderr.contains("line 1: `numpy=1.26`"), "{refused:?}");
    let refused = list("numpy==1.26.4,==2.0.0\n").expect(2);
    assert!(
        refused.stderr.contains("line 1: `numpy==1.26.4,==2.0.0`: no version satisfies all of its specifiers"),
        "{refused:?}"
    );
    let empty = list("# nothing yet\n").expect(0);
    assert!(empty.stdout.contains("nothing was checked"), "{empty:?}");
}

/// Ranges, bare names, what needs another Python, what has no wheel at all, a name that does not exist: each is one
/// finding, with its line, and the rest is solved.
#[test]
fn a_whole_list_is_solved_and_all_that_hinders_is_named() {
    let mut table = Table::new();
    let mut add = |name: &str, release: Release| {
        table.entry(name.to_owned()).or_default().insert("1.0".to_owned(), release);
    };
    add("good", Release { requires: vec!["lib>=0.5".into()], ..Release::default() });
    add("lib", Release::default());
    add("old", Release { tags: Some(vec!["cp38-cp38-manylinux2014_x86_64".into()]), ..Release::default() });
    add("source", Release { tags: Some(Vec::new()), ..Release::default() });
    add("needs", Release { requires: vec!["source".into()], ..Release::default() });
    add("strict", Release { requires: vec!["lib<0.9".into()], ..Release::default() });
    let server = IndexServer::start(table, Manner::Good);
    let audit = |text: &str, code: i32| {
        let test = Test::new().file("r.txt", text);
        let machine = observed("laptop");
        test.run(&["audit", "r.txt", "--machine", &machine, "--gpu", "T4", "--index-url", &server.url]).expect(code)
    };
    let fine = audit("good\nlib>=1\n", 0);
    assert!(fine.stdout.contains("2 packages") && fine.stdout.contains("can be installed; "), "{fine:?}");
    let built = audit("good\nneeds\nsource\n", 0);
    assert!(built.stdout.contains("can be installed if pip builds 1 package from source; 1 warning"), "{built:?}");
    assert!(built.reports_about("warning[resolve-from-source]", "source 1.0"), "{built:?}");
    let wheels = audit("good\nold==1.0\n", 1);
    assert!(wheels.stdout.contains("cannot be installed from wheels; 1 error"), "{wheels:?}");
    assert!(wheels.stderr.contains("2 | old==1.0") && wheels.stderr.contains("Python 3.8"), "{wheels:?}");
    let many = audit("good<1\nstrict\nlib>=1\nnowhere\nold\ngood>1\n", 1);
    for words in [
        "no version of good satisfies both lines that name it",
        "6 | good>1",
        "strict 1.0 needs lib <0.9",
        "no index has a package `nowhere`",
        "5 | old",
    ] {
        assert!(many.stderr.contains(words), "{words}: {many:?}");
    }
    assert!(many.stdout.contains("cannot be installed; 4 errors"), "{many:?}");
}

/// Files are solved as pip would, on top of the image: what that breaks there is said, an upgrade takes the newest, and
/// what is installed without its requirements lacks them.
#[test]
fn a_list_is_installed_on_top_of_the_image_as_pip_would() {
    let mut table = Table::new();
    let mut add = |name: &str, version: &str, release: Release| {
        table.entry(name.to_owned()).or_default().insert(version.to_owned(), release);
    };
    add("torch", "2.6.0", Release::default());
    add("six", "99.0", Release::default());
    add("fresh", "1.0", Release::default());
    add("fresh", "2.0", Release { tags: Some(Vec::new()), ..Release::default() });
    add("loner", "1.0", Release { requires: vec!["nowhere".into()], ..Release::default() });
    let server = IndexServer::start(table, Manner::Good);
    let audit = |name: &str, text: &str, code: i32| {
        let test = Test::new().file(name, text);
        test.run(&["audit", name, "--runtime", "colab-2026.07", "--gpu", "T4", "--index-url", &server.url]).expect(code)
    };
    let cell = |line: &str| serde_json::json!({ "nbformat": 4, "cells": [{ "cell_type": "code", "source": line }] });
    let notebook = |line: &str, code: i32| audit("n.ipynb", &cell(line).to_string(), code);

    let older = audit("r.txt", "torch==2.6.0\n", 0);
    assert!(older.stdout.contains("can be installed, but breaks the requirements of"), "{older:?}");
    for words in ["torchvision 0.26.0+cu128 requires torch==2.11.0, but torch 2.6.0", "torch 2.11.0+cu128 -> 2.6.0"] {
        assert!(older.stderr.contains(words), "{words}: {older:?}");
    }
    let kept = notebook("!pip install six", 0);
    assert!(kept.stdout.contains("can be installed; no problems found"), "{kept:?}");
    let upgraded = notebook("!pip install -U six --no-deps", 0);
    assert!(!upgraded.stderr.contains("behind the newest"), "{upgraded:?}");
    // Pip prefers a newer source to an older wheel.
    let built = audit("r.txt", "fresh\n", 0);
    assert!(built.stderr.contains("fresh 2.0 has no wheel for this platform"), "{built:?}");
    assert!(audit("r.txt", "loner\n", 1).stderr.contains("no index has a package `nowhere`"));
    let alone = notebook("!pip install --no-deps loner==1.0", 1);
    assert!(alone.stdout.contains("can be installed, but does not work as it is"), "{alone:?}");
    assert!(alone.stderr.contains("loner 1.0 requires nowhere, which is not installed"), "{alone:?}");
    let other =
        audit("pyproject.toml", "[project]\nname = 'x'\nrequires-python = '<3.12'\ndependencies = ['six']\n", 1);
    assert!(other.stdout.contains("cannot be installed on this Python"), "{other:?}");
}

/// Packages for the commands of notebooks.
fn shelf() -> IndexServer {
    let mut table = Table::new();
    let mut add = |name: &str, version: &str, requires: &[&str]| {
        let requires = requires.iter().map(|&one| one.to_owned()).collect();
        let release = Release { requires, ..Release::default() };
        table.entry(name.to_owned()).or_default().insert(version.to_owned(), release);
    };
    add("app", "1.0", &["lib<2"]);
    add("app", "2.0", &["lib>=2"]);
    add("lib", "1.0", &[]);
    add("lib", "2.0", &[]);
    add("tool", "1.0", &["lib"]);
    add("tool", "2.0.dev1", &["lib>=2"]);
    add("six", "99.0", &[]);
    add("legacy", "1.0", &["lib (>=1.*)"]);
    add("pip", "24.0", &[]);
    IndexServer::start(table, Manner::Good)
}

/// What `audit` says of a notebook with these cells.
fn cells(server: &IndexServer, cells: &[&str]) -> Value {
    let cells: Vec<_> = cells.iter().map(|text| serde_json::json!({ "cell_type": "code", "source": text })).collect();
    let notebook = serde_json::json!({ "nbformat": 4, "cells": cells }).to_string();
    let test = Test::new().file("n.ipynb", &notebook).file("c.txt", "lib<2\n");
    let on = ["--runtime", "colab-2026.07", "--gpu", "T4", "--index-url", &server.url, "--json"];
    test.run(&[&["audit", "n.ipynb"], on.as_slice()].concat()).json()
}

/// The installed packages that would lack something.
fn breaks(report: &Value) -> Vec<Value> {
    report["report"]["breaks"].as_array().cloned().unwrap_or_default()
}

/// The commands of a notebook run one after the other, each on top of those before: what a later one breaks is said, a
/// version that it replaces is gone, and a command that fails installs nothing.
#[test]
fn the_commands_of_a_notebook_are_solved_in_their_order() {
    let server = shelf();
    // As one set these have no answer; pip installs the second over the first.
    let broken = cells(&server, &["!pip install app==1.0", "!pip install -U lib"]);
    assert_eq!((&broken["report"]["installs"], breaks(&broken)), (&true.into(), vec!["app".into()]), "{broken}");
    assert!(broken["findings"].to_string().contains("app 1.0 requires lib<2, but lib 2.0 is installed"), "{broken}");
    // What is there satisfies the second, so nothing moves.
    let kept = cells(&server, &["!pip install app==1.0\n!pip install tool"]);
    assert_eq!((&kept["report"]["installs"], breaks(&kept).len()), (&true.into(), 0), "{kept}");
    // In one command both are asked for together.
    let together = cells(&server, &["!pip install app==1.0 'lib>=2'"]);
    assert_eq!(together["report"]["installs"], false, "{together}");
    // The last word counts, and what the first one brought along moves with it.
    let replaced = cells(&server, &["!pip install app==1.0", "!pip install app==2.0"]);
    assert_eq!((&replaced["report"]["installs"], breaks(&replaced).len()), (&true.into(), 0), "{replaced}");
    let failed = cells(&server, &["!pip install app==3.0", "!pip install six -U && pip install tool"]);
    assert_eq!(failed["report"]["installs"], false, "{failed}");
    assert_eq!(failed["report"]["replaces"]["six"][1], "99.0", "{failed}");
    // A pin that a later command moves is not what is there at the end.
    let moved = cells(&server, &["!pip install lib==1.0", "!pip install app==2.0"]);
    assert!(breaks(&moved).is_empty() && moved["report"]["installs"] == true, "{moved}");
    assert!(!moved["findings"].to_string().contains("requires lib"), "{moved}");
    let pre = cells(&server, &["!pip install lib==1.0", "!pip install --pre tool && pip install app==1.0"]);
    assert_eq!(breaks(&pre), ["tool"], "{pre}");
    // The image's pip refuses METADATA that its predecessor took.
    let refused = cells(&server, &["!pip install legacy"]);
    assert_eq!(refused["report"]["installs"], false, "{refused}");
    let taken = cells(&server, &["!pip install 'pip<24.1'", "!pip install legacy"]);
    assert_eq!(taken["report"]["installs"], true, "{taken}");
}

/// What a shell and pip's options make of commands.
#[test]
fn what_fails_removes_or_installs_elsewhere_counts_as_for_pip() {
    let server = shelf();
    // What fails installs nothing of its command, and neither does what depends on it.
    let none = cells(
        &server,
        &["!pip install app==3.0 six==99.0 && pip install lib==1.0", "!pip install app==1.0 || pip install six"],
    );
    assert_eq!(
        (&none["report"]["installs"], &none["report"]["replaces"]),
        (&false.into(), &serde_json::json!({})),
        "{none}"
    );
    let ended = cells(&server, &["%%bash\nset -e\npip install app==3.0\npip install -U six\n"]);
    assert_eq!(ended["report"]["replaces"], serde_json::json!({}), "{ended}");
    let removed = cells(&server, &["!pip install app==1.0\n!pip uninstall -y lib six"]);
    assert!(breaks(&removed).contains(&"app".into()) && breaks(&removed).len() > 1, "{removed}");
    assert_eq!(removed["report"]["removes"], serde_json::json!(["six"]), "{removed}");
    // A file that a cell writes is the one that the next reads.
    let written = cells(
        &server,
        &[
            "%%writefile gone.txt\nlib\n",
            "%%writefile -a ./gone.txt\nsix\n",
            "!pip install app==1.0 && pip uninstall -y --requirement=/content/gone.txt",
        ],
    );
    assert_eq!(written["report"]["removes"], serde_json::json!(["six"]), "{written}");
    let listed = cells(&server, &["%%writefile my.txt\napp==2.0\n", "!pip install -qrmy.txt --progress-bar=off"]);
    assert_eq!((&listed["report"]["installs"], &listed["report"]["packages"]), (&true.into(), &2.into()), "{listed}");
    let bound = cells(&server, &["!pip install tool app==2.0 -c c.txt"]);
    assert_eq!(bound["report"]["installs"], false, "{bound}");
    let absent = cells(&server, &["!pip install -c gone.txt tool"]);
    assert!(absent["findings"].to_string().contains("gone.txt"), "{absent}");
    let elsewhere = cells(
        &server,
        &["%env PIP_CONSTRAINT=c.txt\n!pip install --target x six==99.0\n!pip install --dry-run lib==1.0"],
    );
    assert_eq!(elsewhere["report"]["replaces"], serde_json::json!({}), "{elsewhere}");
    for words in ["PIP_CONSTRAINT", "--target"] {
        assert!(elsewhere["findings"].to_string().contains(words), "{words}: {elsewhere}");
    }
    let unquoted = cells(&server, &["!pip install app<2 six==99.0"]);
    assert_eq!(unquoted["report"]["replaces"], serde_json::json!({}), "{unquoted}");
    let eager = cells(&server, &["!pip install -I tool"]);
    assert!(eager["report"]["packages"].as_u64() == Some(2) && eager["report"]["installs"] == true, "{eager}");
}

/// A package that refuses an older release of another one in its code: nothing brings that along, but where it is, it
/// moves; an audit of both says so.
#[test]
fn what_code_refuses_counts_where_it_is_there() {
    let day = Day::new(&[("peft", "0.19.1", &[]), ("torchao", "0.10.0", &[]), ("torchao", "0.18.0", &[])]);
    day.profile("p", &["peft"], "[target]\ngpus = ['T4']\n");
    let on_image = day.test.run(&["plan", "p.toml", "--runtime", "colab-2026.07"]);
    assert!(on_image.stdout.contains("torchao 0.10.0 -> 0.18.0"), "{on_image:?}");
    let bare = day.test.run(&["plan", "p.toml", "--runtime", "bare-3.12", "--gpu", "T4"]).expect(0);
    assert!(bare.stdout.contains("peft 0.19.1") && !bare.stdout.contains("torchao"), "{bare:?}");
    day.profile("p", &["peft", "torchao <0.16"], "[target]\ngpus = ['T4']\n");
    let both = day.test.run(&["plan", "p.toml", "--runtime", "bare-3.12", "--gpu", "T4"]).expect(1);
    assert!(both.stderr.contains("peft 0.19.1 needs torchao >=0.16.0"), "{both:?}");
    std::fs::write(day.test.path("r.txt"), "peft==0.19.1\ntorchao==0.10.0\n").expect("a file");
    let audit = day.test.run(&["audit", "r.txt", "--runtime", "bare-3.12", "--gpu", "T4"]).expect(1);
    assert!(audit.stderr.contains("peft 0.19.1 needs torchao >=0.16.0, but 0.10.0 is installed"), "{audit:?}");
}

#[test]
fn a_plan_that_would_leave_a_family_behind_is_refused_and_names_all_of_it() {
    let day = Day::new(&[
        ("torch", "2.6.0", &[]),
        ("torchvision", "0.21.0", &["torch==2.6.0"]),
        ("torchaudio", "2.6.0", &[]),
    ]);
    day.profile("p", &["torch ==2.6.0"], "[target]\ngpus = ['T4']\n");
    let plan = || day.test.run(&["plan", "p.toml", "--runtime", "colab-2026.07"]);
    let outcome = plan().expect(1);
    for words in ["torchvision 0.26.0+cu128 needs torch", "torchaudio 2.11.0+cu128 needs torch", "error[family-broken]"]
    {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    day.profile("p", &["torch ==2.6.0", "torchvision", "torchaudio"], "[target]\ngpus = ['T4']\n");
    let together = plan();
    assert!(!together.stderr.contains("torchvision 0.26.0+cu128 needs"), "{together:?}");
    assert!(!together.stderr.contains("torchaudio 2.11.0+cu128 needs"), "{together:?}");
}
