//! A team with two keys, a golden repository that both have to sign, and a web server for it that may lie; and somebody
//! who reads.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use colab_boot::golden::signed_text::join;

use crate::stories::Day;
use crate::support::http::{Reply, serve};
use crate::support::keys::Key;
use crate::support::test::Outcome;

/// What the server does to a path that it is asked for.
type Lie = Box<dyn Fn(&str, Vec<u8>) -> Reply + Send>;

/// Keepers and their server; the reader's folder is `reader`.
pub struct Team {
    pub day: Day,
    pub alice: Key,
    pub bob: Key,
    pub url: String,
    lie: Arc<Mutex<Option<Lie>>>,
}

impl Team {
    pub fn new() -> Self {
        let rows: &[(&str, &str, &[&str])] = &[("lib", "1.0", &[]), ("lib", "2.0", &[]), ("more", "1.0", &["lib"])];
        let day = Day::new(rows);
        let test = &day.test;
        let (alice, bob) = (Key::new(&test.path(""), "alice"), Key::new(&test.path(""), "bob"));
        std::fs::create_dir(test.path("reader")).expect("a folder");
        let folder = test.path("repo");
        let lie: Arc<Mutex<Option<Lie>>> = Arc::default();
        let said = Arc::clone(&lie);
        let url =
            serve(Duration::ZERO, move |asked| answer(&folder, &asked.path, said.lock().expect("a lie").as_ref()));
        let team = Self { day, alice, bob, url, lie };
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

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        self.day.test.run(arguments)
    }

    /// In the reader's folder.
    pub fn reader(&self, arguments: &[&str]) -> Outcome {
        let mut command = self.day.test.command(arguments);
        command.current_dir(self.day.test.path("reader"));
        Outcome::of(command)
    }

    /// A profile of this version, locked.
    pub fn profile(&self, version: &str, packages: &str) {
        let text = format!(
            "[profile]\nname = 'data'\nversion = '{version}'\ndescription = 'Tables'\n[target]\nruntimes = ['bare-3.12']\n[frameworks]\nlib = '*'\n[packages]\n{packages}"
        );
        std::fs::write(self.day.test.path("data.toml"), text).expect("a profile");
        self.run(&["lock", "data.toml"]).expect(0);
    }

    /// A verb that changes the repository, signed by both.
    pub fn keep(&self, arguments: &[&str]) -> Outcome {
        let key = self.alice.path.display().to_string();
        let outcome = self.run(&[&["golden"], arguments, &["--repo", "repo", "--key", &key]].concat()).expect(0);
        self.sign(&self.bob).expect(0);
        outcome
    }

    pub fn sign(&self, key: &Key) -> Outcome {
        self.run(&["golden", "sign", "--repo", "repo", "--key", &key.path.display().to_string()])
    }

    pub fn trust(&self) {
        self.trust_all(&[&self.alice, &self.bob]);
    }

    /// The reader pins these keys.
    pub fn trust_all(&self, keys: &[&Key]) {
        let fingerprints: Vec<String> = keys.iter().map(|key| fingerprint(key)).collect();
        let options = fingerprints.iter().flat_map(|one| ["--key", one.as_str()]);
        self.run(&["golden", "trust", "--repo", &self.url].into_iter().chain(options).collect::<Vec<_>>()).expect(0);
    }

    pub fn lies(&self, lie: impl Fn(&str, Vec<u8>) -> Reply + Send + 'static) {
        *self.lie.lock().expect("a lie") = Some(Box::new(lie));
    }

    pub fn tells_the_truth(&self) {
        *self.lie.lock().expect("a lie") = None;
    }

    /// Makes the index as it would be if its last renewal, by both, was so many days earlier; `seq` is its number.
    pub fn age(&self, days: i64, seq: u64) {
        let whole = String::from_utf8(self.index()).expect("a text");
        let text = whole.split("# -----BEGIN").next().expect("a text");
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).expect("a line").to_owned();
        let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
        let day = today.checked_sub(jiff::Span::new().days(days)).expect("a day");
        let text = text
            .replace(&line("fresh-until = "), &format!("fresh-until = {day}"))
            .replace(&line("issued = "), &format!("issued = {day}"))
            .replace(&line("seq = "), &format!("seq = {seq}"));
        let blocks = [&self.alice, &self.bob].map(|key| key.sign(&text, "colab-boot-golden@v1", &[]));
        std::fs::write(self.day.test.path("repo/golden.toml"), join(&text, &blocks)).expect("an index");
    }

    /// What a cell asks that was made of `data@1.0.0` with these keys; two of them have to sign.
    pub fn cell(&self, keys: &[&Key], variables: &[(&str, &str)]) -> Outcome {
        let lines: Vec<String> = keys
            .iter()
            .map(|key| std::fs::read_to_string(key.path.with_extension("pub")).expect("a key").trim().to_owned())
            .collect();
        let lock = std::fs::read(self.day.test.path("repo/data/1.0.0/data.lock")).expect("a lock");
        let release = format!("data@1.0.0#sha256={}", colab_boot::core::model::Sha256::of(&lock));
        let options = ["--repo", &self.url, "--threshold", "2", "--min-seq", "3", "--json"];
        let mut command = self.day.test.command(&[&["golden", "verify", &release][..], &options].concat());
        command.args(lines.iter().flat_map(|line| ["--trusted-key", line.as_str()]));
        command.current_dir(self.day.test.path("reader")).envs(variables.iter().copied());
        Outcome::of(command)
    }

    pub fn index(&self) -> Vec<u8> {
        std::fs::read(self.day.test.path("repo/golden.toml")).expect("an index")
    }
}

fn answer(folder: &Path, path: &str, lie: Option<&Lie>) -> Reply {
    let path = path.trim_start_matches('/');
    let Ok(bytes) = std::fs::read(folder.join(path)) else { return Reply::status(404) };
    lie.map_or_else(|| Reply::new("text/plain", bytes.clone()), |lie| lie(path, bytes.clone()))
}

pub fn fingerprint(key: &Key) -> String {
    let output =
        Command::new("ssh-keygen").arg("-lf").arg(key.path.with_extension("pub")).output().expect("ssh-keygen");
    String::from_utf8_lossy(&output.stdout).split_whitespace().nth(1).expect("a fingerprint").to_owned()
}

/// A team whose repository has `data@1.0.0` and `data@2.0.0`, signed by both.
pub fn two_releases() -> Team {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    team.profile("2.0.0", "more = '*'\n");
    team.keep(&["publish", "data.toml", "--replaces", "1.0.0"]);
    team
}
