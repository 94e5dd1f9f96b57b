//! Resolver scenarios: one TOML file a case, served by a real index on loopback, solved by the real binary.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::support::index_server::{IndexServer, Looks, Manner, Release, Table};
use crate::support::test::{Test, observed, sample};
use crate::support::wheel::{files, wheel};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    /// What it is about, in one line.
    about: String,
    /// The tables of the profile after `[profile]`.
    profile: String,
    /// Options besides the machine record.
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    index: Table,
    /// How the index presents it.
    #[serde(default)]
    server: Looks,
    /// A folder of wheels, `wheels`, beside the profile.
    #[serde(default)]
    folder: Table,
    /// What the machine's Python is, where it is not that of the record: `version`, `libc`, `architecture`,
    /// `free-threaded`.
    #[serde(default)]
    python: BTreeMap<String, serde_json::Value>,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// The whole set, where it is solvable.
    packages: Option<BTreeMap<String, String>>,
    /// Wheels that must have been chosen among those of a version.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// The finding, where it is not.
    code: Option<String>,
    /// Words that the notes and help must hold.
    #[serde(default)]
    says: Vec<String>,
    /// Words that nothing may hold.
    #[serde(default)]
    lacks: Vec<String>,
}

#[test]
fn scenarios_are_solved_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("scenarios").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    assert!(paths.len() >= 120, "where are the scenarios?");
    let faults: Vec<String> = sample(&paths, 3).filter_map(|path| check(path).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).expect("a scenario");
    let scenario: Scenario = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let server = IndexServer::with(scenario.index, Manner::Good, scenario.server);
    let profile = format!("[profile]\nname = 'scenario'\nversion = '1.0.0'\n{}", scenario.profile);
    let mut test = Test::new().file("p.toml", &profile.replace("SERVER", &server.url));
    let machine = machine(&scenario.python);
    test = test.file("machine.json", &machine);
    put_wheels(&test, &scenario.folder);
    let mut arguments = vec!["lock", "p.toml", "--json", "-", "--index-url", &server.url];
    if !scenario.options.contains(&"--runtime".to_owned()) {
        arguments.extend(["--machine", "machine.json"]);
    }
    arguments.extend(scenario.options.iter().map(String::as_str));
    let outcome = test.run(&arguments);
    let wrong = |what: String| Err(format!("{} ({}): {what}\n{}", path.display(), scenario.about, outcome.stderr));
    if let Some(expected) = scenario.expect.packages {
        if outcome.code != 0 {
            return wrong(format!("exit code {}", outcome.code));
        }
        let packages = outcome.json()["report"]["targets"][0]["packages"].as_array().cloned().unwrap_or_default();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let got: BTreeMap<_, _> = packages.iter().map(|one| (text(&one["name"]), text(&one["version"]))).collect();
        if got != expected {
            return wrong(format!("got {got:?}, expected {expected:?}"));
        }
        let file = |name: &str| packages.iter().find(|one| one["name"] == name).map(|one| text(&one["wheel"]));
        for (name, wanted) in &scenario.expect.files {
            if file(name).as_ref() != Some(wanted) {
                return wrong(format!("{name} is {:?}, expected {wanted}", file(name)));
            }
        }
    }
    if let Some(code) = scenario.expect.code {
        let fatal = scenario.expect.says.is_empty() || outcome.code == 1 || outcome.code == 0;
        if !outcome.codes().contains(&code) || !fatal {
            return wrong(format!("codes {:?}, expected {code}", outcome.codes()));
        }
    }
    let said = |words: &String| outcome.stderr.contains(words.as_str()) || outcome.stdout.contains(words.as_str());
    if let Some(words) = scenario.expect.lacks.iter().find(|words| said(words)) {
        return wrong(format!("says {words:?}"));
    }
    // The reader has gone.
    if outcome.code == 1 && outcome.stderr.lines().count() > 10 {
        return wrong("takes more than ten lines".to_owned());
    }
    let missing: Vec<_> = scenario.expect.says.iter().filter(|words| !said(words)).collect();
    if missing.is_empty() { Ok(()) } else { wrong(format!("does not say {missing:?}\n{}", outcome.stdout)) }
}

/// The laptop's record with another Python.
fn machine(python: &BTreeMap<String, serde_json::Value>) -> String {
    let text = std::fs::read_to_string(observed("laptop")).expect("a record");
    let mut record: serde_json::Value = serde_json::from_str(&text).expect("a record");
    for (key, value) in python {
        record["python"][key] = value.clone();
    }
    record.to_string()
}

fn put_wheels(test: &Test, folder: &Table) {
    std::fs::create_dir(test.path("wheels")).expect("a folder");
    for (name, releases) in folder {
        for (version, release) in releases {
            for file in files(name, version, release) {
                let bytes = wheel(name, &file, releases).expect("a wheel");
                std::fs::write(test.path("wheels").join(file), bytes).expect("a wheel");
            }
        }
    }
}

#[test]
fn the_same_question_gives_the_same_bytes() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/backtracking.toml"))
        .expect("a scenario");
    let scenario: Scenario = toml::from_str(&text).expect("a scenario");
    let server = IndexServer::start(scenario.index, Manner::Good);
    let profile = format!("[profile]\nname = 'scenario'\nversion = '1.0.0'\n{}", scenario.profile);
    let lock = || {
        let test = Test::new().file("p.toml", &profile);
        test.run(&["lock", "p.toml", "--index-url", &server.url, "--machine", &observed("laptop")]).expect(0);
        std::fs::read_to_string(test.path("p.lock")).expect("a lock")
    };
    let first = lock();
    assert!((0..5).all(|_| lock() == first));
    assert!(!first.contains("127.0.0.1"), "a lock names no host");
}

#[test]
fn nothing_is_fetched_twice_and_offline_needs_no_network() {
    let mut table = Table::new();
    table.entry("a".into()).or_default().insert("1.0".into(), Release::default());
    let server = IndexServer::start(table, Manner::Good);
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n");
    let machine = observed("laptop");
    let lock = |more: &[&str]| {
        test.run(&[&["lock", "p.toml", "--index-url", &server.url, "--machine", &machine], more].concat())
    };
    lock(&["--offline"]).expect(3);
    lock(&[]).expect(0);
    let asked = server.asked().len();
    lock(&[]).expect(0);
    lock(&["--offline"]).expect(0);
    assert_eq!(server.asked().len(), asked, "{:?}", server.asked());
}

#[test]
fn a_missing_sidecar_never_means_no_dependencies() {
    let mut table = Table::new();
    table.entry("a".into()).or_default().insert("1.0".into(), Release::default());
    let server = IndexServer::start(table, Manner::NoWheels);
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n");
    // This index has no wheel either, so there is nothing left to ask: that is an error, not an empty set.
    let outcome = test.run(&["lock", "p.toml", "--index-url", &server.url, "--machine", &observed("laptop")]).expect(3);
    assert!(outcome.stderr.contains("a-1.0-py3-none-any.whl"), "{}", outcome.stderr);
    assert!(!test.path("p.lock").exists());
}

#[test]
fn metadata_that_is_not_beside_the_wheel_is_read_from_it() {
    let mut table = Table::new();
    let needs_b = Release { requires: vec!["b".to_owned()], ..Release::default() };
    table.entry("a".into()).or_default().insert("1.0".into(), needs_b);
    table.entry("b".into()).or_default().insert("1.0".into(), Release::default());
    let server = IndexServer::start(table, Manner::NoSidecar);
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n");
    test.run(&["lock", "p.toml", "--index-url", &server.url, "--machine", &observed("laptop")]).expect(0);
    assert!(std::fs::read_to_string(test.path("p.lock")).expect("a lock").contains("b-1.0-py3-none-any.whl"));
}

#[test]
fn an_explicit_index_is_the_only_source_of_its_packages() {
    let release = |version: &str| {
        let mut table = Table::new();
        table.entry("tool".into()).or_default().insert(version.into(), Release::default());
        table
    };
    let public = IndexServer::start(release("9.0"), Manner::Good);
    for (internal, code) in [(release("1.0"), 0), (Table::new(), 1)] {
        let internal = IndexServer::start(internal, Manner::Good);
        let profile = format!(
            "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ntool='*'\n[[index]]\nname='internal'\nurl='{}'\npackages=['tool']\n",
            internal.url
        );
        let test = Test::new().file("p.toml", &profile);
        test.run(&["lock", "p.toml", "--index-url", &public.url, "--machine", &observed("laptop")]).expect(code);
        if code == 0 {
            let lock = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
            assert!(lock.contains("index = \"internal\"") && lock.contains("version = \"1.0\""), "{lock}");
        }
    }
    assert!(public.asked().is_empty(), "{:?}", public.asked());
}
