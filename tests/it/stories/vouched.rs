//! What a signature vouches for: nothing that somebody without a key has written, no file of the keeper's own, and a
//! withdrawal for good.

use std::process::Command;

use crate::stories::team::{Team, two_releases};
use crate::support::http::Reply;
use crate::support::said::Said as _;
use crate::support::test::Outcome;

#[test]
fn no_verb_signs_what_somebody_without_a_key_has_written() {
    let team = two_releases();
    team.keep(&["withdraw", "--yank", "data@2.0.0", "--because", "CVE"]);
    let (path, alice) = (team.day.test.path("repo/golden.toml"), team.alice.path.display().to_string());
    let signed = std::fs::read_to_string(&path).expect("an index");
    let changed = signed.replace("status = \"yanked\"\n", "status = \"current\"\n").replace("because = \"CVE\"\n", "");
    assert_ne!(changed, signed);
    let bare = changed.split("# -----BEGIN").next().expect("a text").to_owned();
    team.profile("3.0.0", "");
    let verbs: [&[&str]; 6] = [
        &["publish", "data.toml"],
        &["sign", "--renew"],
        &["withdraw", "data@1.0.0", "--because", "old"],
        &["withdraw", "--yank", "data@1.0.0", "--because", "old"],
        &["sign", "--threshold", "1"],
        &["sign", "--fresh"],
    ];
    for text in [&changed, &bare] {
        std::fs::write(&path, text).expect("an index");
        for verb in verbs {
            let refused = team.run(&[&["golden"], verb, &["--repo", "repo", "--key", &alice]].concat()).expect(1);
            assert!(refused.reports_about("error[golden-threshold]", "repo"), "{verb:?}: {refused:?}");
            assert_eq!(std::fs::read_to_string(&path).expect("an index"), **text, "{verb:?}");
        }
    }
    // Signatures that are of another text are no unsigned index.
    std::fs::write(&path, &changed).expect("an index");
    assert!(team.sign(&team.alice).expect(1).stderr.contains("was changed after it was signed"));
    // A keeper who reads it, too, remembers what was signed with that number.
    std::fs::write(&path, &signed).expect("an index");
    team.trust();
    for named in ["repo", "repo/golden.toml"] {
        team.run(&["golden", "list", "--repo", named]).expect(0);
    }
    std::fs::write(&path, &bare).expect("an index");
    let refused = team.sign(&team.alice).expect(1).stderr;
    assert!(refused.contains("has sequence number 4, like a different index seen before"), "{refused}");
    std::fs::write(&path, signed).expect("an index");
    team.keep(&["publish", "data.toml"]);
}

#[test]
fn what_was_withdrawn_stays_so_when_its_repository_is_away() {
    let team = two_releases();
    team.trust();
    let (python, profile) = (team.day.python(), ["apply", "data.toml"]);
    let apply = || team.reader(&[&profile[..], &["--python", &python]].concat());
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
    apply().expect(0);
    team.keep(&["withdraw", "--yank", "data@2.0.0", "--because", "CVE"]);
    apply().expect(1);
    team.lies(|_, _| Reply::status(503));
    for verb in [
        &["golden", "verify"][..],
        &["apply", "data.toml", "--python", &python],
        &["verify", "data.toml", "--python", &python],
    ] {
        let said = team.reader(verb).expect(1).stderr;
        assert!(said.reports_about("error[golden-yanked]", "data@2.0.0"), "{verb:?}: {said}");
    }
    team.tells_the_truth();
    // Who wants it all the same says so once.
    team.reader(&["golden", "add", "data@2.0.0", "--repo", &team.url]).expect(1);
    let said = team.reader(&["golden", "add", "data@2.0.0", "--repo", &team.url, "--allow-yanked"]).expect(0).stderr;
    assert!(said.contains("next: `colab-boot apply data.toml`"), "{said}");
    assert!(apply().expect(0).reports("warning[golden-yanked]"));
    team.lies(|_, _| Reply::status(503));
    assert!(apply().expect(0).reports("warning[golden-yanked]"));
}

#[test]
fn publishing_writes_over_no_file_of_the_keepers() {
    let team = two_releases();
    let (alice, at) = (team.alice.path.display().to_string(), |name: &str| team.day.test.path(name));
    let publish = || team.run(&["golden", "publish", "data.toml", "--repo", "repo", "--key", &alice]);
    // A file that is gone is written again, one that was edited is named.
    let cell = at("repo/data/2.0.0/data.lock");
    let lock = std::fs::read(&cell).expect("a lock");
    std::fs::remove_file(&cell).expect("a file");
    assert!(publish().expect(0).stderr.contains("`repo/data/2.0.0/data.lock` was missing and is restored"));
    assert_eq!(std::fs::read(&cell).expect("a lock"), lock);
    std::fs::write(&cell, "edited").expect("a file");
    assert!(publish().expect(1).reports_about("error[golden-file-differs]", "repo/data/2.0.0/data.lock"));
    std::fs::write(&cell, lock).expect("a file");
    team.profile("3.0.0", "");
    let index = team.index();
    // The keeper's own file where a release is to be, and a link that leads out of the repository.
    std::fs::create_dir_all(at("repo/data/3.0.0")).expect("a folder");
    std::fs::write(at("repo/data/3.0.0/data.py"), "my notes").expect("a file");
    assert!(
        publish().expect(2).stderr.contains("`repo/data/3.0.0/data.py` exists, but belongs to no release of the index")
    );
    assert_eq!(std::fs::read(at("repo/data/3.0.0/data.py")).expect("a file"), b"my notes");
    std::fs::remove_dir_all(at("repo/data/3.0.0")).expect("a folder");
    std::fs::create_dir(at("elsewhere")).expect("a folder");
    std::os::unix::fs::symlink(at("elsewhere"), at("repo/data/3.0.0")).expect("a link");
    assert!(publish().expect(2).stderr.contains("`repo/data/3.0.0` is a link"));
    assert_eq!((std::fs::read_dir(at("elsewhere")).expect("a folder").count(), team.index()), (0, index));
    std::fs::remove_file(at("repo/data/3.0.0")).expect("a link");
    team.keep(&["publish", "data.toml"]);
}

#[test]
fn a_key_of_another_kind_is_a_mistake_and_one_for_freshness_can_be_added() {
    let team = two_releases();
    let at = |name: &str| team.day.test.path(name);
    for kind in ["rsa", "ecdsa"] {
        let path = at(kind).display().to_string();
        let made = Command::new("ssh-keygen").args(["-q", "-t", kind, "-N", "", "-C", "carol", "-f", &path]).status();
        assert!(made.expect("ssh-keygen").success());
        let refused = team.run(&["golden", "sign", "--renew", "--repo", "repo", "--key", &path]).expect(2).stderr;
        assert!(refused.contains("only Ed25519"), "{kind}: {refused}");
    }
    let path = at("ci").display().to_string();
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "ci", "-f", &path]).status();
    assert!(made.expect("ssh-keygen").success());
    team.keep(&["sign", "--add-ci-key", "ci.pub"]);
    team.run(&["golden", "sign", "--fresh", "--repo", "repo", "--key", &path]).expect(0);
    assert!(
        team.run(&["golden", "sign", "--renew", "--repo", "repo", "--key", &path])
            .expect(1)
            .stderr
            .contains("can't sign")
    );
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
}

/// The commands in `said` that colab-boot asks for.
fn asked(said: &str) -> Vec<Vec<String>> {
    let commands = said.split('`').filter_map(|part| part.strip_prefix("colab-boot "));
    commands.map(|command| command.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn what_a_message_asks_for_works_from_where_it_was_said() {
    let team = Team::new();
    team.run(&["golden", "init", "team", "--name", "team-y", "--signer", "alice.pub"]).expect(0);
    let alice = team.alice.path.display().to_string();
    team.profile("1.0.0", "");
    let run = |words: &[String], more: &[&str]| {
        let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        team.run(&words)
    };
    let init = team.run(&["golden", "init", "other", "--name", "team-z", "--signer", "alice.pub"]).expect(0);
    let mut next = asked(&init.stderr).remove(0);
    next[2] = "data.toml".to_owned();
    // It names the key whose public half was named.
    let key = next.split_off(next.len() - 2);
    assert_eq!(key, ["--key", "alice"]);
    run(&next, &["--no-sign"]).expect(0);
    let check = team.run(&["golden", "check", "--repo", "other"]).expect(1);
    run(&asked(&check.stderr)[0], &["--key", &alice]).expect(0);
    let list = team.run(&["golden", "list", "--repo", "other"]).expect(0);
    run(&asked(&list.stderr)[0], &[]).expect(0);
    let add = team.run(&["golden", "add", "data", "--repo", "other", "--into", "in/here"]).expect(0);
    let python = team.day.python();
    let next = asked(&add.stderr).into_iter().find(|words| words[0] == "apply").expect("a command");
    run(&next, &["--python", &python]).expect(0);
    team.run(&["golden", "add", "data", "--repo", "other", "--into", "n.ipynb"]).expect(0);
    team.profile("2.0.0", "more = '*'\n");
    team.run(&["golden", "publish", "data.toml", "--repo", "other", "--key", &alice]).expect(0);
    for into in ["in/here", "n.ipynb"] {
        let verify = team.run(&["golden", "verify", "--into", into]).expect(0);
        let update = asked(&verify.stderr).into_iter().find(|words| words[1] == "update").expect("a command");
        let said = run(&update, &[]);
        assert_eq!(said.code, 0, "{into} {update:?} {verify:?} {said:?}");
    }
}

#[test]
fn an_index_that_nobody_renews_stops_its_readers_after_a_month() {
    let team = two_releases();
    team.trust();
    team.reader(&["golden", "add", "data@1.0.0", "--repo", &team.url]).expect(0);
    let python = team.day.python();
    team.reader(&["apply", "data.toml", "--python", &python]).expect(0);
    let takes: [&[&str]; 4] = [
        &["golden", "add", "data@1.0.0", "--repo", &team.url, "--json"],
        &["golden", "update", "--dry-run", "--json"],
        &["golden", "verify", "--json"],
        &["apply", "data.toml", "--python", &python, "--json"],
    ];
    team.age(20, 10);
    for verb in takes {
        assert!(team.reader(verb).expect(0).codes().contains(&"golden-stale".to_owned()), "{verb:?}");
    }
    team.age(40, 11);
    let apply = |value: &str| {
        let mut command = team.day.test.command(takes[3]);
        command.current_dir(team.day.test.path("reader")).env("COLAB_BOOT_ALLOW_STALE", value);
        Outcome::of(command)
    };
    for verb in takes {
        assert_eq!(team.reader(verb).expect(1).codes(), ["golden-stale"], "{verb:?}");
    }
    for verb in &takes[..3] {
        team.reader(&[verb, &["--allow-stale"][..]].concat()).expect(0);
    }
    apply("0").expect(1);
    apply("1").expect(0);
    // To look at it is not to use it.
    assert_eq!(team.reader(&["golden", "list", "--repo", &team.url, "--json"]).expect(0).codes(), ["golden-stale"]);
    team.keep(&["sign", "--renew"]);
    for verb in takes {
        team.reader(verb).expect(0);
    }
}
