//! The life of a golden repository: keepers with keys of their own, a web server that may lie, readers who have pinned what they take.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::stories::{Day, table};
use crate::support::http::{Reply, serve};
use crate::support::index_server::{IndexServer, Manner};
use crate::support::keys::Key;
use crate::support::python::interpreter;
use crate::support::test::{Outcome, Test};

/// What becomes of a file on its way.
type Change = Box<dyn Fn(Vec<u8>) -> Reply + Send + Sync>;

/// What the server does to a path that it is asked for.
type Lie = Box<dyn Fn(&str, Vec<u8>) -> Reply + Send>;

/// A team with two keys, a repository that both have to sign, and a server for it; and somebody who reads.
struct Team {
    test: Test,
    alice: Key,
    bob: Key,
    url: String,
    lie: Arc<Mutex<Option<Lie>>>,
    _index: IndexServer,
}

impl Team {
    fn new() -> Self {
        let rows: &[(&str, &str, &[&str])] = &[("lib", "1.0", &[]), ("lib", "2.0", &[]), ("more", "1.0", &["lib"])];
        let index = IndexServer::start(table(rows), Manner::Good);
        let test = Test::new().set("COLAB_BOOT_INDEX_URL", index.url.clone());
        let (alice, bob) = (Key::new(&test.path(""), "alice"), Key::new(&test.path(""), "bob"));
        std::fs::create_dir(test.path("reader")).expect("a folder");
        let folder = test.path("repo");
        let lie: Arc<Mutex<Option<Lie>>> = Arc::default();
        let said = Arc::clone(&lie);
        let url =
            serve(Duration::ZERO, move |asked| answer(&folder, &asked.path, said.lock().expect("a lie").as_ref()));
        let team = Self { test, alice, bob, url, lie, _index: index };
        team.run(&[
            "golden",
            "init",
            "repo",
            "--name",
            "team-x",
            "--signer",
            "alice.pub",
            "--signer",
            "bob.pub",
            "--threshold",
            "2",
        ])
        .expect(0);
        team
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.test.run(arguments)
    }

    /// In the reader's folder.
    fn reader(&self, arguments: &[&str]) -> Outcome {
        let mut command = self.test.command(arguments);
        command.current_dir(self.test.path("reader"));
        Outcome::of(command)
    }

    /// A profile of this version, locked.
    fn profile(&self, version: &str, packages: &str) {
        let text = format!(
            "[profile]\nname = 'data'\nversion = '{version}'\ndescription = 'Tables'\n[target]\nruntimes = ['bare-3.12']\n[frameworks]\nlib = '*'\n[packages]\n{packages}"
        );
        std::fs::write(self.test.path("data.toml"), text).expect("a profile");
        self.run(&["lock", "data.toml"]).expect(0);
    }

    /// A verb that changes the repository, signed by both.
    fn keep(&self, arguments: &[&str]) -> Outcome {
        let key = self.alice.path.display().to_string();
        let outcome = self.run(&[&["golden"], arguments, &["--repo", "repo", "--key", &key]].concat()).expect(0);
        self.sign(&self.bob).expect(0);
        outcome
    }

    fn sign(&self, key: &Key) -> Outcome {
        self.run(&["golden", "sign", "--repo", "repo", "--key", &key.path.display().to_string()])
    }

    fn trust(&self) {
        let fingerprints: Vec<String> = [&self.alice, &self.bob].into_iter().map(fingerprint).collect();
        self.run(&["golden", "trust", &self.url, "--key", &fingerprints[0], "--key", &fingerprints[1]]).expect(0);
    }

    fn lies(&self, lie: impl Fn(&str, Vec<u8>) -> Reply + Send + 'static) {
        *self.lie.lock().expect("a lie") = Some(Box::new(lie));
    }

    fn tells_the_truth(&self) {
        *self.lie.lock().expect("a lie") = None;
    }

    fn index(&self) -> Vec<u8> {
        std::fs::read(self.test.path("repo/golden.toml")).expect("an index")
    }
}

fn answer(folder: &Path, path: &str, lie: Option<&Lie>) -> Reply {
    let path = path.trim_start_matches('/');
    let Ok(bytes) = std::fs::read(folder.join(path)) else { return Reply::status(404) };
    lie.map_or_else(|| Reply::new("text/plain", bytes.clone()), |lie| lie(path, bytes.clone()))
}

fn fingerprint(key: &Key) -> String {
    let output =
        Command::new("ssh-keygen").arg("-lf").arg(key.path.with_extension("pub")).output().expect("ssh-keygen");
    String::from_utf8_lossy(&output.stdout).split_whitespace().nth(1).expect("a fingerprint").to_owned()
}

#[test]
fn a_release_is_published_taken_replaced_and_withdrawn() {
    let team = Team::new();
    team.profile("1.0.0", "");
    // One signature of two is none yet.
    let key = team.alice.path.display().to_string();
    team.run(&["golden", "publish", "data.toml", "--repo", "repo", "--key", &key]).expect(0);
    assert_eq!(team.run(&["golden", "check", "--repo", "repo", "--json"]).expect(1).codes()[0], "golden-threshold");
    team.sign(&team.bob).expect(0);
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    // Published again it is the same; with other bytes it is refused, and nothing has changed.
    let before = team.index();
    team.run(&["golden", "publish", "data.toml", "--repo", "repo", "--key", &key]).expect(0);
    team.profile("1.0.0", "more = '*'\n");
    let again = team.run(&["golden", "publish", "data.toml", "--repo", "repo", "--json"]).expect(1);
    assert_eq!((again.codes(), team.index()), (vec!["golden-republished".to_owned()], before));
    // A reader pins who may sign, takes it, and boots from what lies here.
    team.trust();
    let own = team.test.path("reader/data.toml");
    std::fs::write(&own, "# mine\n").expect("a profile");
    team.reader(&["golden", "add", "data", "--from", &team.url]).expect(2);
    assert_eq!(std::fs::read_to_string(&own).expect("a profile"), "# mine\n");
    std::fs::remove_file(&own).expect("a profile");
    team.reader(&["golden", "add", "data", "--from", &team.url]).expect(0);
    team.reader(&["golden", "verify"]).expect(0);
    let locked = team.reader(&["lock", "data.toml", "--check"]);
    assert_eq!(locked.code, 0, "{locked:?}");
    // The next version takes its place.
    team.profile("2.0.0", "more = '*'\n");
    team.keep(&["publish", "data.toml", "--replaces", "1.0.0"]);
    let codes = |code: i32| team.reader(&["golden", "verify", "--json"]).expect(code).codes();
    assert_eq!(codes(0), ["golden-deprecated", "golden-newer"]);
    let dry = team.reader(&["golden", "update", "--dry-run"]).expect(0);
    assert!(dry.stdout.contains("data@1.0.0 -> data@2.0.0") && dry.stdout.contains("more 1.0 is new"), "{dry:?}");
    assert_eq!(codes(0), ["golden-deprecated", "golden-newer"]);
    // Nor is lost what somebody has changed since.
    let taken = std::fs::read_to_string(&own).expect("a profile");
    std::fs::write(&own, format!("{taken}# mine\n")).expect("a profile");
    team.reader(&["golden", "update"]).expect(2);
    std::fs::write(&own, taken).expect("a profile");
    team.reader(&["golden", "update"]).expect(0);
    assert!(codes(0).is_empty());
    // It is found to be broken: who has pinned it is stopped, and may insist.
    team.keep(&["yank", "data@2.0.0", "--because", "corrupts decimals", "--use", "data@1.0.0"]);
    assert_eq!(codes(1), ["golden-yanked"]);
    let stopped = team.reader(&["golden", "verify"]).expect(1);
    assert!(stopped.stderr.contains("corrupts decimals") && stopped.stderr.contains("take data@1.0.0"), "{stopped:?}");
    team.reader(&["golden", "verify", "--allow-yanked"]).expect(0);
    team.reader(&["golden", "add", "data@2.0.0", "--from", &team.url]).expect(1);
    let listed = team.reader(&["golden", "list", "--from", &team.url]).expect(0);
    assert!(listed.stdout.starts_with("data@1.0.0  current") && !listed.stdout.contains("data@2.0.0"), "{listed:?}");
}

#[test]
fn a_server_that_lies_is_believed_in_nothing() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    let old = team.index();
    team.trust();
    team.reader(&["golden", "add", "data", "--from", &team.url]).expect(0);
    team.profile("2.0.0", "more = '*'\n");
    team.keep(&["publish", "data.toml"]);
    team.reader(&["golden", "verify"]).expect(0);
    let refused = |what: &str| {
        let outcome = team.reader(&["golden", "add", "data@2.0.0", "--from", &team.url, "--json"]);
        assert_ne!(outcome.code, 0, "{what}: {outcome:?}");
        assert!(
            !team.test.path("reader/data.lock").exists()
                || !team.reader(&["golden", "verify"]).stdout.contains("2.0.0"),
            "{what}"
        );
        outcome.codes()
    };
    // An index from before, as a cache may have it or somebody may want it.
    let stale = old.clone();
    team.lies(move |path, bytes| Reply::new("text/plain", if path == "golden.toml" { stale.clone() } else { bytes }));
    assert_eq!(refused("old index"), ["golden-rolled-back"]);
    // The same number, other content; text behind the signatures; somebody else's word.
    for (what, from, to) in [
        ("changed", "status = \"current\"", "status = \"current\" "),
        ("unsigned", "# -----BEGIN SSH SIGNATURE-----\n", "\n"),
        ("renamed", "name = \"team-x\"", "name = \"team-y\""),
    ] {
        let (from, to) = (from.to_owned(), to.to_owned());
        team.lies(move |path, bytes| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Reply::new(
                "text/plain",
                if path == "golden.toml" { text.replacen(&from, &to, 1).into_bytes() } else { bytes },
            )
        });
        let codes = refused(what);
        assert!(codes == ["golden-threshold"] || codes == ["golden-unreadable"], "{what}: {codes:?}");
    }
    // A file that is not the one of the index: longer, shorter, another, a page, nothing, a pointer of LFS.
    let bodies: [(&str, Change); 5] = [
        ("longer", Box::new(|bytes| Reply::new("text/plain", [bytes, b"x".to_vec()].concat()))),
        ("shorter", Box::new(|bytes| Reply::new("text/plain", bytes[1..].to_vec()))),
        ("a page", Box::new(|_| Reply::new("text/html", "<html>sign in</html>"))),
        ("nothing", Box::new(|_| Reply::status(404))),
        (
            "a pointer",
            Box::new(|_| Reply::new("text/plain", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")),
        ),
    ];
    for (what, body) in bodies {
        team.lies(
            move |path, bytes| if path.ends_with(".lock") { body(bytes) } else { Reply::new("text/plain", bytes) },
        );
        assert_eq!(refused(what), ["golden-file-differs"], "{what}");
    }
    // One that can't be asked says nothing of what is pinned.
    team.lies(|_, _| Reply::status(503));
    assert_eq!(team.reader(&["golden", "verify", "--json"]).expect(0).codes(), ["golden-unchecked"]);
    team.tells_the_truth();
    team.reader(&["golden", "add", "data@2.0.0", "--from", &team.url]).expect(0);
}

#[test]
fn keys_change_by_the_word_of_the_old_ones_and_a_lost_one_is_no_end() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    team.trust();
    team.reader(&["golden", "add", "data", "--from", &team.url]).expect(0);
    // Somebody puts a list with a key of their own into the repository, and signs with that.
    let mallory = Key::new(&team.test.path(""), "mallory");
    let signers = team.test.path("repo/allowed_signers");
    let good = std::fs::read_to_string(&signers).expect("a list");
    std::fs::write(&signers, format!("{good}{}", mallory.line(""))).expect("a list");
    team.sign(&mallory).expect(0);
    team.reader(&["golden", "verify"]).expect(0);
    assert_ne!(team.run(&["golden", "trust", &team.url, "--key", &fingerprint(&mallory)]).code, 0);
    // Nor does somebody who comes anew and names one good key get the bad one with it: the index that the bad one has signed alone is refused.
    let index = String::from_utf8(team.index()).expect("an index");
    let text = index.split("# -----BEGIN").next().expect("a text");
    let longer = std::fs::read(&signers).expect("a list");
    let old = text.split("sha256 = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a digest");
    let digest = colab_boot::model::Sha256::of(&longer).to_string();
    let text = text.replace(old, &digest).replace("threshold = 2", "threshold = 1");
    let signature = mallory.sign(&text, "colab-boot-golden@v1", &[]);
    let forged = colab_boot::golden::signed_text::join(&text, &[signature]);
    team.lies(move |path, bytes| {
        Reply::new("text/plain", if path == "golden.toml" { forged.clone().into_bytes() } else { bytes })
    });
    let fresh = Test::new().set("HOME", team.test.path("stranger-home").display().to_string());
    let said = fresh.run(&["golden", "trust", &team.url, "--key", &fingerprint(&team.alice), "--json"]);
    assert_eq!(said.codes(), ["golden-threshold"], "{said:?}");
    team.tells_the_truth();
    std::fs::write(&signers, good).expect("a list");
    // A key that is in no line signs nothing.
    let stranger = Key::new(&team.test.path(""), "stranger");
    let said = team.sign(&stranger).expect(1);
    assert!(said.stderr.contains("does not name the key"), "{said:?}");
    // The number goes back: neither keepers nor readers go on.
    let before = team.index();
    team.keep(&["renew"]);
    team.reader(&["golden", "verify"]).expect(0);
    let newest = team.index();
    std::fs::write(team.test.path("repo/golden.toml"), before).expect("an index");
    assert_eq!(team.run(&["golden", "renew", "--repo", "repo", "--json"]).expect(1).codes(), ["golden-rolled-back"]);
    std::fs::write(team.test.path("repo/golden.toml"), newest).expect("an index");
    team.reader(&["golden", "verify"]).expect(0);
}

#[test]
fn a_clone_with_other_line_ends_says_so() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    let git = |folder: PathBuf, arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(folder).output().expect("git starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let repo = team.test.path("repo");
    git(repo.clone(), &["init", "-q"]);
    git(repo.clone(), &["add", "-A"]);
    git(repo, &["-c", "user.name=a", "-c", "user.email=a@team", "-c", "commit.gpgsign=false", "commit", "-qm", "one"]);
    let clone = |name: &str| {
        git(team.test.path(""), &["-c", "core.autocrlf=true", "clone", "-q", "repo", name]);
        team.run(&["golden", "add", "data", "--from", name, "--into", &format!("{name}-reader"), "--json"])
    };
    clone("kept").expect(0);
    // Without the line in .gitattributes git changes them.
    let repo = team.test.path("repo");
    std::fs::remove_file(repo.join(".gitattributes")).expect("a file");
    git(repo, &["-c", "user.name=a", "-c", "user.email=a@team", "-c", "commit.gpgsign=false", "commit", "-qam", "two"]);
    assert_eq!(clone("changed").expect(1).codes(), ["golden-line-ends"]);
}

#[test]
fn what_was_verified_on_a_machine_stands_beside_the_release() {
    let day = Day::new(&[("lib", "1.0", &[]), ("lib", "2.0", &[])]);
    let alice = Key::new(&day.test.path(""), "alice");
    let key = alice.path.display().to_string();
    let run = |arguments: &[&str]| day.test.run(arguments);
    let publish = |more: &[&str]| run(&[&["golden", "publish", "--repo", "repo", "--key", &key], more].concat());
    run(&["golden", "init", "repo", "--name", "team-x", "--signer", "alice.pub"]).expect(0);
    day.profile("data", &["lib"], "");
    day.run(&["lock", "data.toml"]).expect(0);
    publish(&["data.toml"]).expect(0);
    day.run(&["apply", "data.toml"]).expect(0);
    day.run(&["verify", "data.toml", "--record", "good.json"]).expect(0);
    let record = day.read("good.json");
    let folder = day.test.path("").display().to_string();
    let host =
        Command::new("hostname").output().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    for word in [folder, host.unwrap_or_default()] {
        assert!(word.is_empty() || !record.contains(&word), "{word}: {record}");
    }
    publish(&["--verified", "good.json"]).expect(0);
    let shown = run(&["golden", "show", "data", "--from", "repo"]).expect(0);
    assert!(shown.stdout.contains("verified    on "), "{shown:?}");
    run(&["golden", "check", "--repo", "repo"]).expect(0);
    // Once is enough; what failed, and what is of another lock, is no evidence.
    let before = std::fs::read(day.test.path("repo/golden.toml")).expect("an index");
    publish(&["--verified", "good.json"]).expect(0);
    day.pip(&["install", "lib==1.0"]);
    day.run(&["verify", "data.toml", "--record", "bad.json"]).expect(1);
    let refused = publish(&["--verified", "bad.json"]).expect(1);
    assert!(refused.stderr.contains("that verification failed: foreign-change, verify-files"), "{refused:?}");
    let mut other: serde_json::Value = serde_json::from_str(&record).expect("a record");
    other["lock"] = "0".repeat(64).into();
    std::fs::write(day.test.path("other.json"), other.to_string()).expect("a record");
    publish(&["--verified", "other.json"]).expect(1);
    assert_eq!(std::fs::read(day.test.path("repo/golden.toml")).expect("an index"), before);
}

#[test]
fn a_cell_asks_once_a_boot_and_stops_at_what_was_withdrawn() {
    let team = Team::new();
    team.profile("1.0.0", "");
    // A wheel as `.ci/wheel` builds it, with what starts the program under test.
    let mut wheel = zip::ZipWriter::new(std::fs::File::create(team.test.path("boot.whl")).expect("a wheel"));
    let options = zip::write::SimpleFileOptions::default();
    wheel.start_file("colab_boot-0.1.0.data/scripts/colab-boot", options).expect("a member");
    let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_colab-boot"));
    std::io::Write::write_all(&mut wheel, script.as_bytes()).expect("its bytes");
    wheel.finish().expect("an archive");
    team.keep(&["publish", "data.toml", "--at", &team.url, "--binary", "boot.whl"]);
    let cell = std::fs::read_to_string(team.test.path("repo/data/1.0.0/data.py")).expect("a cell");
    let functions = cell.split("\ncolab_boot_apply()").next().expect("a cell").to_owned();
    std::fs::write(team.test.path("cell.py"), format!("{functions}\ncolab_boot_golden()\n")).expect("a cell");
    let run = |more: &[(&str, &str)]| {
        let mut command = Command::new(interpreter());
        command.arg(team.test.path("cell.py")).env_clear().envs(&team.test.environment);
        // colab-boot is nowhere on this machine: the cell takes it from the repository.
        command.envs(more.iter().copied());
        Outcome::of(command)
    };
    let asked_again = || std::fs::remove_dir_all(team.test.path("home/.cache/colab-boot/cells")).expect("a cache");
    run(&[]).expect(0);
    // Within one boot nobody is asked again: a server that is gone costs nothing.
    team.lies(|_, _| Reply::status(500));
    let quiet = run(&[]).expect(0);
    assert_eq!(quiet.stdout, "", "{quiet:?}");
    asked_again();
    assert!(run(&[]).expect(0).stdout.contains("golden-unchecked"));
    team.tells_the_truth();
    team.profile("2.0.0", "more = '*'\n");
    team.keep(&["publish", "data.toml", "--at", &team.url]);
    team.keep(&["yank", "data@1.0.0", "--because", "wrong numbers", "--use", "data@2.0.0"]);
    asked_again();
    let stopped = run(&[]).expect(1);
    let words = format!("{}{}", stopped.stdout, stopped.stderr);
    assert!(words.contains("wrong numbers") && words.contains("data@1.0.0 must not be used"), "{words}");
    assert!(run(&[("COLAB_BOOT_ALLOW_YANKED", "1")]).expect(0).stdout.contains("wrong numbers"));
    // An index that is not signed by those whom the cell names is no answer to go on with.
    asked_again();
    team.lies(|path, bytes| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Reply::new("text/plain", if path == "golden.toml" { text.replace("yanked", "current") } else { text })
    });
    assert!(run(&[]).expect(1).stdout.contains("golden-threshold"));
}
