//! Profiles and locks that somebody else wrote: whatever stands in them, nothing of it runs, nothing is written
//! elsewhere, and nothing reaches a terminal that could steer it. Each text stands in a quarter of the places, each
//! place has a quarter of the texts; `CASES=all` puts all of them everywhere.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use colab_boot::boot::lock::read_lock;
use colab_boot::boot::profile::Profile;
use colab_boot::core::diag::Source;

use serde_json::json;

use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::python::wheel;
use crate::support::test::{Outcome, Test, observed, takes_all};

/// What a script must not do with a value. `CANARY` is a path that must never exist.
const ORDERS: &[&str] = &[
    "$(touch CANARY)",
    "`touch CANARY`",
    "; touch CANARY;",
    "| touch CANARY",
    "&& touch CANARY",
    "& touch CANARY &",
    "\ntouch CANARY\n",
    "\r\ntouch CANARY\r\n",
    "' ; touch CANARY ; '",
    "\" ; touch CANARY ; \"",
    "'\"$(touch CANARY)\"'",
    "\\'; touch CANARY; \\'",
    "x\nEND_OF_REQUIREMENTS\ntouch CANARY\ncat <<'END_OF_REQUIREMENTS'",
    "x\nEND_OF_LINE\ntouch CANARY\n",
    "x\u{2028}import os; os.system('touch CANARY')",
    "x\u{85}import os; os.system('touch CANARY')",
    "x'})\nimport os; os.system('touch CANARY')\n({'",
    "*) touch CANARY;;",
    "$((a[$(touch CANARY)]))",
    "<(touch CANARY)",
    "${x:-$(touch CANARY)}",
    "-o Dpkg::Pre-Invoke::=touch CANARY",
];

/// What a program could take for an option, a path, a format or another name.
const NAMES: &[&str] = &[
    "-r /etc/passwd",
    "-r/etc/passwd",
    "--index-url=http://evil.test/simple",
    "--break-system-packages",
    "-",
    "--",
    "-oDebug=1",
    "bash-",
    "bash+",
    "base.fil",
    "libc6:i386",
    "hello=1.0",
    "hello/stable",
    "^hello$",
    "../../../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "~root",
    "~/x",
    "*",
    "?",
    "[a-z]",
    "{a,b}",
    "file:///etc/passwd",
    "http://evil.test/x.whl",
    "https://user:secret@evil.test/x.whl",
    "x @ https://evil.test/x.whl",
    "x # comment",
    "x ; python_version > '3'",
    "x\\",
    "x\\\n--index-url http://evil.test",
    "a\0b",
    "\0",
    "@PROFILE@",
    "@PACKAGES@",
    "@BINARY_URL@",
    "%s%n%d",
    "{0}{}",
    "${IFS}",
    "$HOME",
    "CON",
    "",
    " ",
    "\t",
    "1e999",
    "99999999999999999999999999999999",
    "true",
    "null",
];

/// What a terminal would obey, or show as something else.
const SHOWN: &[&str] = &[
    "\u{1b}]0;owned\u{7}\u{1b}[31m",
    "\u{1b}[2J\u{1b}[H",
    "\u{9b}31m",
    "x\rerror: none",
    "x\u{8}\u{8}\u{8}y",
    "gnp\u{202e}exe.",
    "a\u{200b}b",
    "\u{feff}x",
    "x\u{2066}y\u{2069}",
    "\u{7f}",
    "\u{e000}",
    "а", // Cyrillic
    "ａ",
    "e\u{301}",
];

fn corpus(canary: &str) -> Vec<String> {
    let long = ["A".repeat(10_000), "a".repeat(200), "1.".repeat(5_000), "[".repeat(3_000), "\n".repeat(1_000)];
    let all = ORDERS.iter().chain(NAMES).chain(SHOWN).map(|text| text.replace("CANARY", canary));
    all.chain(long).collect()
}

/// One place of so many is tried.
fn stride() -> usize {
    if takes_all() { 1 } else { 7 }
}

/// The places that a text is tried in, by the `number` of the text: each place has its turn.
fn sample<T>(places: impl IntoIterator<Item = T>, number: usize) -> impl Iterator<Item = T> {
    places.into_iter().skip(number % stride()).step_by(stride())
}

/// A TOML string of any characters.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The places of a profile, and what is written there when nothing evil is.
const PLACES: &[(&str, &str)] = &[
    ("name", "'p'"),
    ("version", "'1.0.0'"),
    ("description", "'d'"),
    ("owner", "'o'"),
    ("review-by", "2099-01-01"),
    ("package", "'demo'"),
    ("specifier", "'*'"),
    ("extra", "'x'"),
    ("marker", "\"python_version > '3'\""),
    ("bound", "'>=0'"),
    ("apt", "'hello'"),
    ("variable", "'FLAG'"),
    ("value", "'on'"),
    ("index", "'own'"),
    ("path", "'house'"),
    ("policy", "'prefer'"),
    ("gpu", "'T4'"),
    ("cuda", "'auto'"),
    ("python", "'3.12'"),
    ("direct", "'https://host.test/other-1.0-py3-none-any.whl'"),
    ("smoke", "'demo'"),
];

const SHAPE: &str = "[profile]\nname = <name>\nversion = <version>\ndescription = <description>\nowner = <owner>\nreview-by = <review-by>\n\
    [target]\ncuda = <cuda>\npython = <python>\n[packages]\n\
    <package> = { version = <specifier>, extras = [<extra>], marker = <marker> }\n\
    [constraints]\ndemo = <bound>\n[apt]\npackages = [<apt>]\n[env]\n<variable> = <value>\n\
    [[index]]\nname = <index>\npath = <path>\n[policy]\ninstalled = <policy>\n[verify]\nsmoke = [<smoke>]\n";

/// A profile with `evil` in one place after the other.
fn profiles(evil: &str) -> Vec<(&'static str, String)> {
    let with = |place: &str| {
        let shape = match place {
            "direct" => SHAPE.replace("[constraints]", "other = { url = <direct>, sha256 = 'DIGEST' }\n[constraints]"),
            "gpu" => SHAPE.replace("[packages]", "gpus = [<gpu>]\n[packages]"),
            _ => SHAPE.to_owned(),
        };
        PLACES.iter().fold(shape.replace("DIGEST", &"0".repeat(64)), |text, (name, usual)| {
            // Keys can't be multi-line strings.
            let bad = if ["package", "variable"].contains(name) { json!(evil).to_string() } else { quoted(evil) };
            text.replace(&format!("<{name}>"), if *name == place { &bad } else { usual })
        })
    };
    PLACES.iter().map(|(place, _)| (*place, with(place))).collect()
}

/// A world with a wheelhouse and fake tools that write down what they were asked.
fn world() -> Test {
    let test = ["apt-get", "dpkg", "dpkg-query", "python3", "ldconfig"].into_iter().fold(Test::new(), Test::fake);
    let house = test.path("house");
    std::fs::create_dir(&house).expect("a folder");
    wheel(&house, ("demo", "1.0"), "demo");
    let path = format!("{}:/usr/bin:/bin", test.path("bin").display());
    test.set("PATH", path)
}

/// The files of the world, but for those that a run is meant to write.
fn files(test: &Test) -> BTreeSet<String> {
    let found = Command::new("find").arg(".").current_dir(test.folder.path()).output().expect("find starts");
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    let ours = ["./cache", "./state", "./p.lock", "./install.sh", "./asked", "./journal", "./site"];
    text.lines().filter(|path| !ours.iter().any(|own| path.starts_with(own))).map(str::to_owned).collect()
}

/// What a run has printed can't steer a terminal.
fn is_harmless(outcome: &Outcome, what: &str) {
    let hostile = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(!text.contains(hostile), "{what}: {text:?}");
    }
    assert!([0, 1, 2, 3].contains(&outcome.code), "{what}: {outcome:?}");
}

/// Plans with what lies in the world, and runs the script if there is one, with the fakes.
fn plan_and_run(test: &Test, what: &str) {
    let _ = std::fs::remove_file(test.path("install.sh"));
    let laptop = observed("laptop");
    let base = ["plan", "p.toml", "--machine", &laptop, "--offline", "--find-links", "house", "--index-url"];
    let outcome = test.run(&[&base[..], &["http://127.0.0.1:9/simple", "--script", "install.sh"]].concat());
    is_harmless(&outcome, what);
    if !test.path("install.sh").exists() {
        return;
    }
    std::fs::create_dir_all(test.path("site")).expect("a folder");
    let mut script = Command::new("bash");
    script.arg(test.path("install.sh")).env_clear().envs(&test.environment).current_dir(test.folder.path());
    script.env("FAKE_LOG", test.path("asked")).env("FAKE_FAIL", "").env("FAKE_SITE", test.path("site"));
    script.env("COLAB_BOOT_PYTHON", test.path("bin/python3")).env("COLAB_BOOT_JOURNAL", test.path("journal"));
    Outcome::of(script);
    let Ok(asked) = std::fs::read_to_string(test.path("asked")) else {
        return;
    };
    let known = ["apt-get", "dpkg", "dpkg-query", "python3", "ldconfig"];
    let odd = asked.lines().find(|line| !line.split(' ').next().is_some_and(|name| known.contains(&name)));
    assert_eq!(odd, None, "{what}: an argument had a second line");
    let _ = std::fs::remove_file(test.path("asked"));
}

#[test]
fn nothing_that_stands_in_a_profile_runs() {
    let test = world();
    let canary = test.path("canary").display().to_string();
    let mut accepted = 0;
    let test = test.file("p.toml", "");
    let before = files(&test);
    for (number, evil) in corpus(&canary).iter().enumerate() {
        for (place, text) in sample(profiles(evil), number) {
            let what = format!("{place} = {:?}", evil.chars().take(80).collect::<String>());
            let source = Source { name: "p.toml".into(), text: text.clone().into() };
            let parsed = Profile::parse(&source, test.folder.path());
            // What is refused is refused by every verb; one in a hundred is enough to see that its message is harmless.
            if parsed.is_err() && evil.len() % 7 != 0 {
                continue;
            }
            accepted += usize::from(parsed.is_ok());
            std::fs::write(test.path("p.toml"), text).expect("a profile");
            plan_and_run(&test, &what);
            assert!(!Path::new(&canary).exists(), "{what} has run");
        }
    }
    assert!(accepted > 100 / stride(), "{accepted}: the corpus never gets past the reader");
    let after: BTreeSet<String> = files(&test);
    assert_eq!(after.difference(&before).count(), 0, "written elsewhere: {:?}", after.difference(&before));
}

#[test]
fn nothing_that_stands_in_a_lock_runs() {
    let test = world();
    let canary = test.path("canary").display().to_string();
    let profile = "[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\ndemo = '*'\n[apt]\npackages = ['hello']\n";
    let test = test.file("p.toml", profile);
    let laptop = observed("laptop");
    let offline =
        ["--machine", &laptop, "--offline", "--find-links", "house", "--index-url", "http://127.0.0.1:9/simple"];
    test.run(&[&["lock", "p.toml"], &offline[..]].concat()).expect(0);
    let lock = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    let values: BTreeSet<&str> = lock.split('"').skip(1).step_by(2).collect();
    assert!(values.len() > 8, "{values:?}");
    let before = files(&test);
    let mut accepted = 0;
    for (number, evil) in corpus(&canary).iter().enumerate() {
        for value in sample(&values, number) {
            let changed = lock.replacen(&format!("\"{value}\""), &quoted(evil), 1);
            let readable = read_lock(&changed).is_ok();
            if !readable && evil.len() % 11 != 0 {
                continue;
            }
            accepted += usize::from(readable);
            std::fs::write(test.path("p.lock"), &changed).expect("a lock");
            let what = format!("{value} = {:?}", evil.chars().take(80).collect::<String>());
            plan_and_run(&test, &what);
            assert!(!Path::new(&canary).exists(), "{what} has run");
        }
    }
    assert!(accepted > 50 / stride(), "{accepted}: the corpus never gets past the reader");
    let after: BTreeSet<String> = files(&test);
    assert_eq!(after.difference(&before).count(), 0, "written elsewhere: {:?}", after.difference(&before));
}

#[test]
fn absurdly_large_files_are_refused_before_they_are_read() {
    let profile = "[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\ndemo = '*'\n";
    let large: [(&str, String, &str); 5] = [
        ("p.toml", format!("{profile}# {}", "x".repeat(1 << 20)), "256"),
        ("p.toml", "[[a]]\n".repeat(60_000), "256"),
        ("p.toml", format!("a = {}", "[".repeat(100_000)), "profile-syntax"),
        ("p.lock", "[[a]]\n".repeat(1 << 20), "4 MB"),
        ("p.lock", format!("a = {}", "[".repeat(100_000)), "lock-malformed"),
    ];
    for (name, text, words) in large {
        let test = world().file("p.toml", profile).file(name, &text);
        let outcome = test.run(&["plan", "p.toml", "--machine", &observed("laptop"), "--locked"]);
        assert!([1, 2].contains(&outcome.code), "{name}: {outcome:?}");
        assert!(
            outcome.stderr.contains(words),
            "{name}: {words}: {}",
            outcome.stderr.chars().take(500).collect::<String>()
        );
        assert!(outcome.stderr.len() < 4000, "{name}: {} bytes", outcome.stderr.len());
    }
}

#[test]
fn texts_of_an_index_can_not_steer_a_terminal() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}";
    let mut table = Table::new();
    let release =
        Release { yanked: Some(evil.to_owned()), lines: vec![format!("Summary: {evil}")], ..Release::default() };
    table.entry("demo".into()).or_default().insert("1.0".into(), release);
    let needs = Release { requires: vec![format!("demo=={evil}"), "demo==1.0".into()], ..Release::default() };
    table.entry("user".into()).or_default().insert("1.0".into(), needs);
    let server = IndexServer::start(table, Manner::Good);
    let profile = "[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\ndemo = '==1.0'\nuser = '*'\n";
    let test = Test::new().file("p.toml", profile);
    let base = ["plan", "p.toml", "--machine", &observed("laptop"), "--index-url", &server.url];
    let outcome = test.run(&base);
    is_harmless(&outcome, "a yanked release");
    assert!(outcome.stderr.contains("owned"), "the reason is given: {}", outcome.stderr);
}
