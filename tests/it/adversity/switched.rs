//! The switch of wheels under strace: killed or failing at its system calls, alone or with the colab-boot that has
//! started it. The environment is as it was, or becomes so with the next run.
//!
//! A sample runs with every test; `CASES=all` takes every call.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::adversity::system_calls::strace_works;
use crate::adversity::users_files::World;
use crate::support::test::{Outcome, sample};

type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// An environment with `demo` 1.0, which an apply of 2.0 would replace.
struct Rig {
    world: World,
    /// What is in the environment before, and after 2.0.
    before: Tree,
    after: Tree,
}

impl Rig {
    fn new() -> Self {
        let world = World::new("");
        let world = World { test: world.test.fake("bash").set("INJECT", "trace=all"), ..world };
        let trace = world.test.path("trace").display().to_string();
        let world = World { test: world.test.set("TRACE", trace), ..world };
        world.run(&["apply", "p.toml"]).expect(0);
        let mut rig = Self { world, before: Tree::new(), after: Tree::new() };
        rig.before = rig.tree();
        rig.copy("venv", "kept-venv");
        rig.copy("state", "kept-state");
        rig.world.run(&["apply", "two.toml"]).expect(0);
        rig.after = rig.tree();
        assert_ne!(rig.before, rig.after);
        rig
    }

    fn copy(&self, from: &str, to: &str) {
        let (from, to) = (self.world.test.path(from), self.world.test.path(to));
        let _ = std::fs::remove_dir_all(&to);
        assert!(Command::new("cp").arg("-a").args([from, to]).status().expect("cp starts").success());
    }

    /// The environment's files, but for what Python compiles and for what is colab-boot's own.
    fn tree(&self) -> Tree {
        let mut tree = self.world.tree();
        tree.retain(|path, _| !path.to_string_lossy().contains("__pycache__") && !path.ends_with(".colab-boot-id"));
        tree
    }

    /// One apply of 2.0 in which `injected` happens to the switch.
    fn apply(&self, injected: &str, all_end: bool) -> Outcome {
        self.copy("kept-venv", "venv");
        self.copy("kept-state", "state");
        let python = self.world.venv.python.display().to_string();
        let two = ["apply", "two.toml", "--python", &python, "--find-links", "house", "--offline"];
        let mut command = self.world.test.command(&two);
        command.env("INJECT", injected).envs(all_end.then_some(("ENDS", "1")));
        let outcome = Outcome::of(command);
        assert_eq!(outcome.code == -1, all_end, "{injected}: {outcome:?}");
        outcome
    }

    /// How often the switch makes each call.
    fn calls(&self) -> BTreeMap<String, usize> {
        self.apply("trace=all", false).expect(0);
        let trace = std::fs::read_to_string(self.world.test.path("trace")).expect("a trace");
        let mut calls = BTreeMap::new();
        for name in trace.lines().filter_map(|line| line.split_once('(')).map(|(name, _)| name) {
            *calls.entry(name.to_owned()).or_default() += 1;
            *calls.entry("all".to_owned()).or_default() += 1;
        }
        calls
    }

    /// What is wrong after `injected`.
    fn case(&self, injected: &str, all_end: bool, number: usize) -> Option<String> {
        let hit = self.apply(injected, all_end);
        let is = |expected: &Tree| differing(expected, &self.tree());
        if !all_end {
            // Whatever was not done, nothing was.
            let expected = if hit.code == 0 { &self.after } else { &self.before };
            let differs = is(expected).or_else(|| self.left());
            let ended = if [0, 3].contains(&hit.code) { None } else { Some(format!("{hit:?}")) };
            return ended.or(differs).map(|why| format!("{injected}: {why}\n{}", hit.stderr));
        }
        let (verb, expected) =
            if number.is_multiple_of(2) { ("apply", &self.after) } else { ("restore", &Tree::new()) };
        let arguments = if verb == "apply" { vec!["apply", "two.toml"] } else { vec!["restore"] };
        let next = self.world.run(&arguments);
        let differs = if verb == "apply" { is(expected) } else { self.demo().map(|path| format!("{path} is left")) };
        let ended = (next.code != 0).then(|| format!("{next:?}"));
        ended.or(differs).or_else(|| self.left()).map(|why| format!("{injected}, then {verb}: {why}\n{}", next.stderr))
    }

    /// A file of `demo` that is there.
    fn demo(&self) -> Option<String> {
        let site = self.world.venv.layout();
        let is_demos = |path: &Path| match path.strip_prefix(&site) {
            Ok(path) => path.starts_with("demo") || path.ends_with("utils.py") && path.components().count() == 1,
            Err(_) => ["mytool", "user.conf", "entry"].iter().any(|name| path.ends_with(name)),
        };
        self.tree().into_keys().find(|path| is_demos(path)).map(|path| path.display().to_string())
    }

    /// What an install has left beside the environment.
    fn left(&self) -> Option<String> {
        let site = std::fs::read_dir(self.world.venv.layout()).expect("a folder").flatten();
        let names = site.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let left = names.into_iter().find(|name| name.starts_with(".colab-boot-") && name != ".colab-boot-id");
        let journal = self.world.test.state_file("switch.journal");
        left.or_else(|| journal.exists().then(|| journal.display().to_string())).map(|name| format!("`{name}` is left"))
    }
}

fn differing(expected: &Tree, is: &Tree) -> Option<String> {
    let lost = expected.iter().find(|(path, bytes)| is.get(*path) != Some(bytes)).map(|(path, _)| path);
    let odd = lost.or_else(|| is.keys().find(|path| !expected.contains_key(*path)));
    odd.map(|path| format!("{} is not as it should be", path.display()))
}

#[test]
fn a_switch_that_is_killed_or_fails_is_undone_or_finished() {
    if !strace_works() {
        return;
    }
    let rig = Rig::new();
    let calls = rig.calls();
    let mut cases: Vec<(String, bool)> = Vec::new();
    let renames = ["rename", "renameat", "renameat2"];
    for name in renames {
        for at in 1..=calls.get(name).copied().unwrap_or(0) {
            cases.extend([false, true].map(|ends| (format!("inject={name}:signal=KILL:when={at}"), ends)));
            for error in ["ENOSPC", "EIO", "EACCES"] {
                cases.push((format!("inject={name}:error={error}:when={at}"), false));
            }
        }
    }
    for name in ["write", "openat", "unlink", "mkdir", "fdatasync"] {
        for at in 1..=calls.get(name).copied().unwrap_or(0) {
            cases.push((format!("inject={name}:error=ENOSPC:when={at}"), false));
        }
    }
    for at in 1..=calls["all"] {
        cases.extend([false, true].map(|ends| (format!("inject=all:signal=KILL:when={at}"), ends)));
    }
    let chosen: Vec<_> = sample(cases.iter().enumerate(), 131).collect();
    let wrong: Vec<String> =
        chosen.iter().filter_map(|(number, (injected, ends))| rig.case(injected, *ends, *number)).collect();
    eprintln!("{} of {} cases, {} wrong", chosen.len(), cases.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(5)].join("\n"));
}

/// The whole of it was switched when everything was killed: what is written into it until the next run is the user's.
#[test]
fn what_is_added_to_packages_of_an_interrupted_apply_is_kept() {
    if !strace_works() {
        return;
    }
    let rig = Rig::new();
    rig.apply("trace=all", true);
    let (added, edited) = (rig.world.place("SITE/demo/deep/mine.txt"), rig.world.place("SITE/utils.py"));
    std::fs::write(added, "mine\n").expect("a file");
    std::fs::write(edited, "mine, too\n").expect("an edit");
    let journal = std::fs::read_to_string(rig.world.test.state_file("switch.journal")).unwrap_or_default();
    let said = rig.world.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(differing(&rig.before, &rig.tree()), None, "{said:?} {journal}");
    let aside = rig.world.test.state_file("aside");
    let kept = |path: &str| std::fs::read_to_string(aside.join(path)).unwrap_or_default();
    assert_eq!((kept("demo/deep/mine.txt").as_str(), kept("utils.py").as_str()), ("mine\n", "mine, too\n"));
}

/// Between a kill and the next run another tool changes the package: what it has made is the truth, not the journal.
#[test]
#[ignore = "whole"]
fn what_another_tool_does_after_a_kill_stays() {
    if !strace_works() {
        return;
    }
    let rig = Rig::new();
    let world = &rig.world;
    let renames = rig.calls().into_iter().filter(|(name, _)| name.starts_with("rename"));
    let kills =
        renames.flat_map(|(name, count)| (1..=count).map(move |at| format!("inject={name}:signal=KILL:when={at}")));
    let mut kills: Vec<String> = sample(kills, 17).collect();
    kills.push("trace=all".to_owned());
    eprintln!("{} kills", kills.len());
    for kill in &kills {
        // An edit of what pip has installed is kept, and the rest becomes what is asked for.
        rig.apply(kill, true);
        world.pip(&["install", "--force-reinstall", "demo==1.0"]);
        let edited = world.place("SITE/utils.py");
        std::fs::write(&edited, "mine\n").expect("an edit");
        let said = world.run(&["apply", "two.toml"]).expect(0);
        assert_eq!(differing(&rig.after, &rig.tree()), None, "{kill}: {said:?}");
        assert!(said.stderr.contains("kept your edited `utils.py`"), "{kill}: {said:?}");
        // What it has removed is not half there again.
        rig.apply(kill, true);
        world.pip(&["uninstall", "--yes", "demo"]);
        let said = world.run(&["restore"]).expect(0);
        assert_eq!(rig.demo(), None, "{kill}: {said:?}");
        let left = world.venv.site_packages().into_iter().find(|name| name.starts_with("demo-"));
        assert_eq!(left, None, "{kill}: {said:?}");
    }
}

/// An apply with another state folder knows nothing of the journal: what the interrupted one has moved aside is not its
/// to remove.
#[test]
fn another_state_folder_leaves_an_interrupted_switch_alone() {
    if !strace_works() {
        return;
    }
    let rig = Rig::new();
    rig.apply("trace=all", true);
    let python = rig.world.venv.python.display().to_string();
    let one = ["apply", "p.toml", "--python", &python, "--find-links", "house", "--offline"];
    let mut command = rig.world.test.command(&one);
    command.env("COLAB_BOOT_STATE_DIR", rig.world.test.path("other")).env("INJECT", "").env("FIRST", "exit 1");
    let failed = Outcome::of(command);
    assert_eq!(failed.code, 3, "{failed:?}");
    let said = rig.world.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(differing(&rig.before, &rig.tree()), None, "{said:?}");
}

#[test]
fn two_applies_with_different_state_folders_do_not_meet() {
    let rig = World::new("");
    let world = World { test: rig.test.fake("bash"), ..rig };
    let (folder, python) = (world.test.folder.path().display().to_string(), world.venv.python.display().to_string());
    let other = format!(
        "cd {folder}; export COLAB_BOOT_STATE_DIR={folder}/other; unset FIRST; \
         \"$REAL_PROGRAM\" apply two.toml --python {python} --find-links house --offline >said 2>&1; echo $? >>said"
    );
    std::fs::write(world.test.path("other.sh"), other).expect("a script");
    let begins = format!(
        "setsid sh {folder}/other.sh & until grep -q waiting {folder}/said 2>&1; do sleep 0.05; done >/dev/null"
    );
    let world = World { test: world.test.set("FIRST", begins), ..world };
    world.run(&["apply", "p.toml"]).expect(0);
    let said = || std::fs::read_to_string(world.test.path("said")).expect("an answer");
    for _ in 0..600 {
        if said().ends_with("\n0\n") {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let said = said();
    assert!(said.contains("another colab-boot is changing this environment") && said.ends_with("\n0\n"), "{said}");
    assert!(world.venv.site_packages().contains(&"demo-2.0.dist-info".to_owned()), "{said}");
}
