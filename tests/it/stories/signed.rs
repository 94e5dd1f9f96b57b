//! Keys of a repository: the list that the signed index names, numbers that do not go back, names that belong to one
//! repository.

use std::path::PathBuf;

use crate::stories::team::{Team, fingerprint, two_releases};
use crate::support::http::Reply;
use crate::support::keys::Key;

#[test]
fn pinning_the_same_keys_again_forgets_no_newer_index() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    let old = team.index();
    team.trust();
    team.profile("2.0.0", "more = '*'\n");
    team.keep(&["publish", "data.toml", "--replaces", "1.0.0"]);
    team.reader(&["golden", "list", "--repo", &team.url]).expect(0);
    team.lies(move |path, bytes| Reply::new("text/plain", if path == "golden.toml" { old.clone() } else { bytes }));
    let keys = [fingerprint(&team.alice), fingerprint(&team.bob)];
    let trust = ["golden", "trust", "--repo", &team.url, "--key", &keys[0], "--key", &keys[1]];
    for arguments in [&["golden", "list", "--repo", &team.url][..], &trust, &["golden", "list", "--repo", &team.url]] {
        let said = team.reader(arguments).expect(1);
        assert!(said.stderr.contains("golden-rolled-back"), "{said:?}");
    }
    team.tells_the_truth();
    team.reader(&trust).expect(0);
    // A record that is damaged is no record of nothing.
    let folder = team.day.test.path("state/golden");
    let mut records = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let is_of_the_index =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.display().to_string().starts_with("team-x-"));
    let record = records.find(is_of_the_index).expect("a record");
    std::fs::write(&record, "{\"seq\":").expect("a record");
    let refused = team.reader(&["golden", "list", "--repo", &team.url]).expect(1);
    assert!(refused.stderr.contains(", which records the newest index of team-x"), "{refused:?}");
    std::fs::remove_file(record).expect("a record");
    team.reader(&["golden", "list", "--repo", &team.url]).expect(0);
}

#[test]
fn the_signed_index_names_the_list_of_signers() {
    let team = two_releases();
    let alice = team.alice.path.display().to_string();
    let list = team.day.test.path("repo/allowed_signers");
    let (good, index) = (std::fs::read_to_string(&list).expect("a list"), team.index());
    // No verb signs a list to which somebody else has added a line.
    let mallory = Key::new(&team.day.test.path(""), "mallory");
    std::fs::write(&list, format!("{good}{}", mallory.line(""))).expect("a list");
    let key = mallory.path.display().to_string();
    for verb in [
        &["sign", "--threshold", "1", "--key", &alice][..],
        &["sign", "--renew", "--key", &alice],
        &["sign", "--renew", "--key", &key],
        &["withdraw", "--yank", "data@2.0.0", "--because", "x", "--key", &key],
    ] {
        let refused = team.run(&[&["golden"], verb, &["--repo", "repo"]].concat()).expect(1);
        assert!(refused.stderr.contains("does not match the signed index"), "{verb:?}: {refused:?}");
        assert_eq!(team.index(), index, "{verb:?}");
    }
    std::fs::write(&list, &good).expect("a list");
    // A change that was killed between the index and its list goes on with the next one.
    Key::new(&team.day.test.path(""), "carol");
    team.run(&["golden", "sign", "--add", "carol.pub", "--repo", "repo", "--key", &alice]).expect(0);
    let new = std::fs::read_to_string(&list).expect("a list");
    std::fs::write(team.day.test.path("repo/.allowed_signers.next"), &new).expect("a list");
    std::fs::write(&list, &good).expect("a list");
    team.sign(&team.bob).expect(0);
    assert_eq!(std::fs::read_to_string(&list).expect("a list"), new);
    assert!(!team.day.test.path("repo/.allowed_signers.next").exists());
    // Without a key nothing is replaced, unless that is asked for.
    let index = team.index();
    let refused = team.run(&["golden", "sign", "--renew", "--repo", "repo"]).expect(2);
    assert!(
        refused.stderr.contains("no key to sign with; nothing was changed") && team.index() == index,
        "{refused:?}"
    );
}

#[test]
fn a_pin_remembers_the_number_of_its_index_and_a_name_has_one_repository() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    let old = team.index();
    team.profile("2.0.0", "more = '*'\n");
    team.keep(&["publish", "data.toml", "--replaces", "1.0.0"]);
    team.trust();
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
    // A new machine: the keys and `golden.lock` came along, the memory of what was seen did not.
    std::fs::remove_dir_all(team.day.test.path("state/golden")).expect("a folder");
    team.lies(move |path, bytes| Reply::new("text/plain", if path == "golden.toml" { old.clone() } else { bytes }));
    let python = team.day.python();
    for verb in [&["golden", "verify"][..], &["apply", "data.toml", "--python", &python]] {
        let refused = team.reader(verb).expect(1);
        assert!(refused.stderr.contains("golden-rolled-back"), "{verb:?}: {refused:?}");
    }
    team.tells_the_truth();
    // Another repository with that name does not take over its keys.
    let dana = Key::new(&team.day.test.path(""), "dana");
    team.run(&["golden", "init", "other", "--name", "team-x", "--signer", "dana.pub"]).expect(0);
    team.run(&["golden", "sign", "--renew", "--repo", "other", "--key", &dana.path.display().to_string()]).expect(0);
    let refused = team.run(&["golden", "trust", "--repo", "other", "--key", &fingerprint(&dana)]).expect(1);
    assert!(refused.stderr.contains("another repository named `team-x` is pinned"), "{refused:?}");
    team.reader(&["golden", "verify"]).expect(0);
}
