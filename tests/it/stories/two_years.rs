//! Two years of a repository: monthly releases, keys that change, are lost and stolen, a move, a frozen summer, an
//! index that comes back. The days lead up to today, where the cell of each month says what it should.
//!
//! A sample of the cells runs with every test; `CASES=all` runs all of them.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::stories::Day;
use crate::stories::notebook::{Notebook, Stack};
use crate::support::http::{Reply, serve};
use crate::support::keys::Key;
use crate::support::object::build_fake;
use crate::support::said::Said as _;
use crate::support::test::{Outcome, takes_all};

/// The last month; it began five days ago.
const LAST: usize = 25;
/// From here on the repository is served at its second address, and the first one is gone.
const MOVED: usize = 6;
const LOST: usize = 9;
/// The release of the month before is withdrawn: a thief may have signed it.
const STOLEN: usize = 13;
const FROZEN: std::ops::Range<usize> = 16..18;
const ROLLED_BACK: usize = 20;
const ROTATED: [usize; 6] = [3, 7, 11, STOLEN, 19, 22];

struct Life {
    day: Day,
    addresses: [String; 2],
    has_moved: Arc<AtomicBool>,
    /// All that there ever were; the last two sign.
    keys: Vec<Key>,
}

impl Life {
    fn begin() -> Self {
        let mut day = Day::new(&[("lib", "1.0", &[]), ("lib", "2.0", &[])]);
        let library = day.test.path("clock.so");
        build_fake("clock.c", &library);
        let shift = day.test.path("shift").display().to_string();
        day.test = day.test.set("CLOCK_SHIFT", shift).set("CLOCK_OF", "colab-boot");
        day.test = day.test.set("LD_PRELOAD", library.display().to_string());
        let has_moved = Arc::new(AtomicBool::new(false));
        let served = |is_first: bool| {
            let (folder, has_moved) = (day.test.path("repo"), Arc::clone(&has_moved));
            serve(Duration::ZERO, move |asked| {
                let bytes = std::fs::read(folder.join(asked.path.trim_start_matches('/')));
                let is_gone = is_first && has_moved.load(Ordering::SeqCst);
                bytes
                    .ok()
                    .filter(|_| !is_gone)
                    .map_or_else(|| Reply::status(404), |bytes| Reply::new("text/plain", bytes))
            })
        };
        let addresses = [served(true), served(false)];
        let mut life = Self { day, addresses, has_moved, keys: Vec::new() };
        life.at(0);
        life.new_key();
        life.new_key();
        let ci = Key::new(&life.day.test.path(""), "ci");
        assert!(ci.path.exists());
        let signers = ["--signer", "key0.pub", "--signer", "key1.pub", "--ci-key", "ci.pub", "--threshold", "2"];
        life.run(&[&["golden", "init", "repo", "--name", "team-x"], &signers[..]].concat()).expect(0);
        life.git(&["init", "--quiet"]);
        life
    }

    /// Sets the clock to the first day of a month.
    fn at(&self, month: usize) {
        let days = i64::try_from((LAST - month) * 30 + 5).expect("days");
        std::fs::write(self.day.test.path("shift"), (-days * 86_400).to_string()).expect("a write");
    }

    fn today(&self) {
        std::fs::write(self.day.test.path("shift"), "0").expect("a write");
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.day.test.run(arguments)
    }

    /// Somebody with an environment, pins and a memory of their own.
    fn reader(&self, arguments: &[&str]) -> Outcome {
        let mut command = self.day.test.command(arguments);
        for folder in ["config", "state"] {
            let name = format!("COLAB_BOOT_{}_DIR", folder.to_uppercase());
            command.env(name, self.day.test.path("reader").join(folder));
        }
        Outcome::of(command)
    }

    fn git(&self, arguments: &[&str]) {
        let options = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"];
        let mut git = Command::new("git");
        git.current_dir(self.day.test.path("repo")).args(options).args(arguments);
        assert!(git.status().expect("git").success(), "{arguments:?}");
    }

    fn new_key(&mut self) {
        let key = Key::new(&self.day.test.path(""), &format!("key{}", self.keys.len()));
        self.keys.push(key);
    }

    /// A verb of the key that is this many places from the newest.
    fn keep(&self, from_last: usize, arguments: &[&str]) -> Outcome {
        let key = self.keys[self.keys.len() - 1 - from_last].path.display().to_string();
        self.run(&[&["golden"], arguments, &["--repo", "repo", "--key", &key]].concat())
    }

    /// The older of the two signers is replaced; it signs that where its key is not lost.
    fn rotate(&mut self, is_lost: bool) {
        let gone = format!("key{}@team", self.keys.len() - 2);
        self.new_key();
        let new = format!("key{}.pub", self.keys.len() - 1);
        let change = ["sign", "--remove", &gone, "--add", &new];
        if is_lost {
            self.keep(1, &[&change[..], &["--start-over"]].concat()).expect(0);
        } else {
            self.keep(1, &change).expect(0);
            self.keep(2, &["sign"]).expect(0);
        }
        self.keep(0, &["sign"]).expect(0);
    }

    fn publish(&self, month: usize) {
        let lib = if month.is_multiple_of(2) { "1.0" } else { "2.0" };
        let text = format!(
            "[profile]\nname = 'data'\nversion = '{}.0.0'\n[target]\nruntimes = ['bare-3.12']\n[frameworks]\nlib = '=={lib}'\n",
            month + 1
        );
        std::fs::write(self.day.test.path("data.toml"), text).expect("a profile");
        self.day.run(&["lock", "data.toml"]).expect(0);
        let before =
            (0..month).rev().find(|before| !FROZEN.contains(before)).map(|before| format!("{}.0.0", before + 1));
        let replaces: Vec<&str> = before.iter().flat_map(|before| ["--replaces", before.as_str()]).collect();
        let address = &self.addresses[usize::from(month >= MOVED)];
        self.keep(0, &[&["publish", "data.toml", "--at", address][..], &replaces].concat()).expect(0);
        self.keep(1, &["sign"]).expect(0);
    }

    /// The reader pins the keys that sign today.
    fn trust(&self) {
        let shown = self.reader(&["golden", "trust", "--repo", &self.addresses[1]]).expect(0).stdout;
        let command = shown.lines().find(|line| line.contains("golden trust --repo")).expect("a command");
        self.reader(&command.split_whitespace().skip(1).collect::<Vec<_>>()).expect(0);
        let into = self.day.test.path("pinned").display().to_string();
        self.reader(&["golden", "add", "data", "--repo", &self.addresses[1], "--into", &into]).expect(0);
    }

    fn verify(&self) -> Vec<String> {
        let into = self.day.test.path("pinned").display().to_string();
        self.reader(&["golden", "verify", "--into", &into, "--json"]).codes()
    }

    /// One month of the repository, and its CI at the end of it.
    fn live(&mut self, month: usize) {
        self.at(month);
        if FROZEN.contains(&month) {
            return;
        }
        if month == MOVED {
            self.has_moved.store(true, Ordering::SeqCst);
        }
        if month == FROZEN.end {
            // The last renewal was three months ago.
            assert_eq!(
                self.run(&["golden", "check", "--repo", "repo", "--json"]).expect(1).codes()[0],
                "golden-cadence"
            );
            assert_eq!(self.verify(), ["golden-stale"]);
        }
        if month == LOST || ROTATED.contains(&month) {
            self.rotate(month == LOST);
        }
        if month == STOLEN {
            let gone = format!("data@{STOLEN}.0.0");
            self.keep(0, &["withdraw", "--yank", &gone, "--because", "a key was stolen"]).expect(0);
            self.keep(1, &["sign"]).expect(0);
        }
        let old = std::fs::read(self.day.test.path("repo/golden.toml")).expect("an index");
        self.publish(month);
        if month == LOST {
            self.trust();
        } else if month == ROLLED_BACK {
            let path = self.day.test.path("repo/golden.toml");
            let new = std::fs::read(&path).expect("an index");
            assert!(self.verify().contains(&"golden-newer".to_owned()));
            std::fs::write(&path, old).expect("an index");
            assert_eq!(self.verify(), ["golden-rolled-back"]);
            std::fs::write(&path, new).expect("an index");
        }
        self.run(&["golden", "check", "--repo", "repo"]).expect(0);
        let ci = self.day.test.path("ci").display().to_string();
        self.run(&["golden", "sign", "--fresh", "--repo", "repo", "--key", &ci]).expect(0);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", &format!("month {month}")]);
    }
}

/// How the cell of a month ends today: its exit code, and what it says of its release.
fn ends(month: usize) -> (i32, &'static [&'static str]) {
    match month {
        _ if month < MOVED => (0, &["golden-unchecked"]),
        _ if month < LOST => (1, &["golden-threshold", "so it is not used"]),
        _ if month + 1 == STOLEN => (1, &["golden-yanked", "a key was stolen", "must not be used"]),
        _ if (LAST - month) * 30 + 5 >= 180 => (0, &["golden-expired"]),
        LAST => (0, &[]),
        _ => (0, &["golden-deprecated", "use data@"]),
    }
}

#[test]
fn two_years_of_a_repository_end_with_cells_that_say_what_is_true() {
    let mut life = Life::begin();
    for month in 0..=LAST {
        life.live(month);
    }
    life.today();
    life.run(&["golden", "check", "--repo", "repo"]).expect(0);
    life.git(&["clone", "--quiet", ".", "../clone"]);
    life.run(&["golden", "check", "--repo", "clone"]).expect(0);
    let cells = (0..=LAST).filter(|month| !FROZEN.contains(month));
    let sample = [0, MOVED, LOST, STOLEN - 1, 19, 22, LAST];
    for month in cells.filter(|month| takes_all() || sample.contains(month)) {
        let cell = life.day.test.path(&format!("repo/data/{}.0.0/data.py", month + 1));
        let mut command = Command::new(&life.day.venv.python);
        command.arg(cell).current_dir(life.day.test.path("")).env_clear().envs(&life.day.test.environment);
        command.env("COLAB_BOOT_BINARY", env!("CARGO_BIN_EXE_colab-boot"));
        let said = Outcome::of(command);
        let (code, words) = ends(month);
        let all = format!("{}{}", said.stdout, said.stderr);
        assert!(said.code == code && words.iter().all(|word| all.contains(word)), "{month}: {said:?}");
        let wrong = ["golden-yanked", "golden-threshold", "golden-stale", "golden-expired", "golden-deprecated"];
        let strange = wrong.iter().find(|word| all.contains(*word) && !words.contains(word));
        assert!(strange.is_none(), "{month}: {strange:?}: {all}");
    }
    let Some(mut notebook) = Notebook::open(&life.day, Stack::Current) else { return };
    let mut kernel = notebook.kernel();
    let cell = |month: usize| {
        let text =
            std::fs::read_to_string(life.day.test.path(&format!("repo/data/{month}.0.0/data.py"))).expect("cells");
        text.split("\n# %%\n").next().expect("a cell").to_owned()
    };
    let (_, said) = notebook.boot(&mut kernel, &cell(LAST + 1));
    assert!(said.concludes("ready") || said.concludes("applied"), "{said}");
    assert!(notebook.run(&kernel, &cell(STOLEN)).contains("must not be used"));
}
