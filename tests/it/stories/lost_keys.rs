//! Keys that are lost, and keys that may do little: readers stop until they have said whom they trust now, and a key of
//! CI can only confirm an index.

use crate::stories::team::{Team, fingerprint, two_releases};
use crate::support::keys::Key;
use crate::support::test::Outcome;

const VARIABLE: &str = "COLAB_BOOT_GOLDEN_TRUST";

fn key(key: &Key) -> String {
    key.path.display().to_string()
}

/// Bob's key is lost: one of two is not enough to change the signers.
fn started_over() -> (Team, Key) {
    let team = two_releases();
    team.trust();
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
    let carol = Key::new(&team.day.test.path(""), "carol");
    let change = ["golden", "sign", "--repo", "repo", "--remove", "bob@team", "--add", "carol.pub", "--key"];
    let said = team.run(&[&change[..], &[&key(&team.alice)]].concat()).expect(0).stderr;
    assert!(said.contains("1 more of the earlier signers must sign") && said.contains("--start-over"), "{said}");
    team.sign(&carol).expect(0);
    assert!(team.run(&["golden", "check", "--repo", "repo"]).expect(1).stderr.contains("signers/1.toml"));
    let said = team.run(&["golden", "sign", "--repo", "repo", "--start-over", "--key", &key(&team.alice)]).expect(0);
    assert!(said.stderr.contains("until they trust the new ones"), "{said:?}");
    team.sign(&carol).expect(0);
    assert!(!team.day.test.path("repo/signers/1.toml").exists());
    (team, carol)
}

#[test]
fn after_lost_keys_a_cell_goes_on_once_its_user_names_the_new_ones() {
    let (team, carol) = started_over();
    let old = [&team.alice, &team.bob];
    let said = team.cell(&old, &[]).expect(1);
    assert_eq!(said.codes(), ["golden-threshold"]);
    assert!(
        said.stdout.contains("golden trust --repo") && said.stdout.contains("1 of 2 trusted signatures"),
        "{said:?}"
    );
    // What that prints is the line to run, and it works.
    let shown = team.reader(&["golden", "trust", "--repo", &team.url]).expect(0).stdout;
    let line =
        shown.lines().find_map(|line| line.trim().strip_prefix("%env COLAB_BOOT_GOLDEN_TRUST=")).expect("a line");
    let said = team.cell(&old, &[(VARIABLE, line)]).expect(0);
    assert_eq!(said.codes(), ["golden-signers-changed", "golden-deprecated", "golden-newer"]);
    assert!(said.stdout.contains("carol@team"), "{said:?}");
    // As many have to sign as before, by keys that the repository has.
    let (alice, stranger) = (fingerprint(&team.alice), fingerprint(&Key::new(&team.day.test.path(""), "mallory")));
    for (names, code) in [
        (alice.clone(), 1),
        (format!("{alice},{alice}"), 1),
        (format!("{alice},{stranger}"), 1),
        ("carol".to_owned(), 2),
        (String::new(), 1),
    ] {
        team.cell(&old, &[(VARIABLE, &names)]).expect(code);
    }
    // It replaces nothing where the keys of the cell still sign.
    let new = [&team.alice, &carol];
    assert_eq!(team.cell(&new, &[(VARIABLE, &stranger)]).expect(0).codes(), ["golden-deprecated", "golden-newer"]);
    // Who has pinned keys pins the new ones, by the command that is shown.
    assert_eq!(team.reader(&["golden", "verify", "--json"]).expect(1).codes(), ["golden-threshold"]);
    let command = shown.lines().find(|line| line.trim().starts_with("colab-boot golden trust")).expect("a command");
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    team.reader(&words).expect(0);
    assert!(team.reader(&["golden", "verify", "--json"]).expect(0).codes().is_empty());
    // What is pinned on a machine serves its cells, too.
    assert_eq!(team.cell(&old, &[]).expect(0).codes()[0], "golden-signers-changed");
    // From here on keys change as they always do.
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    Key::new(&team.day.test.path(""), "dave");
    let change = ["golden", "sign", "--repo", "repo", "--add", "dave.pub", "--key", &key(&team.alice)];
    team.run(&change).expect(0);
    team.sign(&carol).expect(0);
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    team.cell(&new, &[]).expect(0);
}

#[test]
fn check_names_cells_that_stop_and_cells_that_never_ask() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    team.profile("2.0.0", "more = '*'\n");
    team.keep(&["publish", "data.toml", "--at", &team.url]);
    let said = team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    assert!(said.stderr.contains("cells of data@1.0.0 never ask whether they were withdrawn"), "{said:?}");
    // The address is that of the last release, until another one is named.
    team.profile("3.0.0", "");
    let said = team.keep(&["publish", "data.toml", "--replaces", "2.0.0"]);
    assert!(said.stderr.contains(&format!("the cells ask {}", team.url)), "{said:?}");
    team.keep(&["withdraw", "data@1.0.0", "--because", "old", "--use", "data@3.0.0"]);
    let carol = Key::new(&team.day.test.path(""), "carol");
    let start = ["sign", "--remove", "bob@team", "--add", "carol.pub", "--start-over", "--key", &key(&team.alice)];
    let said = team.run(&[&["golden"], &start[..], &["--repo", "repo"]].concat()).expect(0).stderr;
    assert!(said.contains(&format!("1 more required, of carol@team {}", fingerprint(&carol))), "{said}");
    team.sign(&carol).expect(0);
    let said = team.run(&["golden", "check", "--repo", "repo"]).expect(1);
    assert!(said.stderr.contains("cells of data@3.0.0 stop: their keys do not vouch"), "{said:?}");
    team.profile("4.0.0", "more = '*'\n");
    let publish = ["golden", "publish", "data.toml", "--replaces", "3.0.0", "--repo", "repo", "--key"];
    team.run(&[&publish[..], &[&key(&team.alice)]].concat()).expect(0);
    team.sign(&carol).expect(0);
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
}

#[test]
fn nobody_without_a_key_starts_over() {
    let team = two_releases();
    let before = team.index();
    let mallory = Key::new(&team.day.test.path(""), "mallory");
    let change = ["--repo", "repo", "--remove", "alice@team", "--remove", "bob@team", "--add", "mallory.pub"];
    let options = ["--threshold", "1", "--start-over", "--key", &key(&mallory)];
    // With write access it can be done, as anything can; no reader follows.
    team.run(&[&["golden", "sign"], &change[..], &options].concat()).expect(0);
    assert_ne!(team.index(), before);
    assert_eq!(team.cell(&[&team.alice, &team.bob], &[]).expect(1).codes(), ["golden-threshold"]);
    // Two were needed before: the one who has come does not make it one.
    let named = [(VARIABLE, fingerprint(&mallory))];
    let named: Vec<(&str, &str)> = named.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(team.cell(&[&team.alice, &team.bob], &named).expect(1).codes(), ["golden-threshold"]);
}

#[test]
fn maintainers_sign_nothing_that_others_have_changed_without_a_word() {
    let team = two_releases();
    team.keep(&["withdraw", "--yank", "data@1.0.0", "--because", "broken"]);
    let folder = team.day.test.path("repo");
    let all = ["golden.toml", "allowed_signers"].map(|name| (name, std::fs::read(folder.join(name)).expect("a file")));
    let mallory = Key::new(&team.day.test.path(""), "mallory");
    let elsewhere = |arguments: &[&str]| {
        let _ = std::fs::remove_dir_all(team.day.test.path("mallory-state"));
        let mut command = team.day.test.command(&[&["golden"], arguments, &["--repo", "repo"]].concat());
        command.env("COLAB_BOOT_STATE_DIR", team.day.test.path("mallory-state"));
        Outcome::of(command).expect(0);
    };
    let start_over = ["sign", "--add", "mallory.pub", "--start-over", "--threshold", "1"];
    let attacks: [(&dyn Fn(), &str); 4] = [
        (&|| elsewhere(&["sign", "--add", "mallory.pub", "--threshold", "1", "--key", &key(&mallory)]), "from 2 to 1"),
        (&|| elsewhere(&["sign", "--add", "mallory.pub", "--no-sign"]), "the list of signers changed"),
        (&|| elsewhere(&[&start_over[..], &["--key", &key(&mallory)]].concat()), "the list of signers changed"),
        (
            &|| {
                let text = String::from_utf8(team.index()).expect("a text");
                let text = text.split("# -----BEGIN").next().expect("a text").replace("\"yanked\"", "\"current\"");
                std::fs::write(folder.join("golden.toml"), text).expect("an index");
            },
            "data@1.0.0 is no longer withdrawn",
        ),
    ];
    for (attack, why) in attacks {
        attack();
        let planted = team.index();
        team.run(&["golden", "sign", "--renew", "--repo", "repo", "--key", &key(&team.alice)]).expect(1);
        for said in [team.sign(&team.alice), team.sign(&team.bob)] {
            let said = said.expect(1).stderr;
            assert!(said.contains("changed since it was signed here") && said.contains(why), "{why}: {said}");
        }
        assert_eq!(team.index(), planted, "{why}");
        for (name, bytes) in &all {
            std::fs::write(folder.join(name), bytes).expect("a file");
        }
        let _ = std::fs::remove_dir_all(folder.join("signers"));
    }
    // Maintainers on two machines agree, and go on.
    Key::new(&team.day.test.path(""), "carol");
    elsewhere(&["sign", "--add", "carol.pub", "--key", &key(&team.bob)]);
    team.sign(&team.alice).expect(1);
    let said =
        team.run(&["golden", "sign", "--accept-changes", "--repo", "repo", "--key", &key(&team.alice)]).expect(0);
    assert!(said.stderr.contains("accepted: the list of signers changed"), "{said:?}");
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    team.keep(&["sign", "--renew"]);
}

#[test]
fn a_key_of_ci_confirms_an_index_for_cells_and_does_nothing_else() {
    let team = two_releases();
    let cell = || team.cell(&[&team.alice, &team.bob], &[]);
    let ci = Key::new(&team.day.test.path(""), "ci");
    let said = team.keep(&["sign", "--add-ci-key", "ci.pub"]);
    assert!(said.stdout.contains("(only confirms that the index is current)"), "{said:?}");
    team.age(40, 10);
    assert_eq!(cell().expect(1).codes(), ["golden-stale"]);
    let check = || team.run(&["golden", "check", "--repo", "repo"]);
    assert!(check().expect(1).stderr.contains("the index was fresh until"));
    team.run(&["golden", "sign", "--fresh", "--repo", "repo", "--key", &key(&ci)]).expect(0);
    check().expect(0);
    // The cell does not carry the key: the signed index names the list that does.
    assert_eq!(cell().expect(0).codes(), ["golden-deprecated", "golden-newer"]);
    // A list that the index does not name gives no key this right.
    let list = team.day.test.path("repo/allowed_signers");
    let text = std::fs::read_to_string(&list).expect("a list");
    std::fs::write(&list, format!("{text}\n")).expect("a list");
    assert_eq!(cell().expect(1).codes(), ["golden-stale"]);
    std::fs::write(&list, text).expect("a list");
    for verb in [&["sign", "--renew"][..], &["sign", "--threshold", "1"], &["policy", "set", "fresh=300d"]] {
        let before = team.index();
        team.run(&[&["golden"], verb, &["--repo", "repo", "--key", &key(&ci)]].concat()).expect(1);
        assert_eq!(team.index(), before, "{verb:?}");
    }
}

#[test]
fn a_repository_that_can_never_be_signed_is_not_begun() {
    let team = Team::new();
    Key::new(&team.day.test.path(""), "ci");
    let expired = team.alice.line("valid-before=\"20200101\"");
    std::fs::write(team.day.test.path("expired.pub"), expired).expect("a line");
    for (options, why) in [
        (&["--signer", "alice.pub", "--threshold", "2"][..], "2 signatures required, but only 1 key"),
        (&["--signer", "alice.pub", "--threshold", "0"], "the threshold is 0"),
        (&["--signer", "alice.pub", "--signer", "alice.pub", "--threshold", "2"], "are the same key"),
        (&["--signer", "alice.pub", "--ci-key", "alice.pub"], "are the same key"),
        (&["--signer", "alice.pub", "--ci-key", "ci.pub", "--threshold", "2"], "only 1 key can sign"),
        (&["--signer", "expired.pub"], "expired on 2020-01-01"),
        (&["--signer", "nowhere.pub"], "nowhere.pub"),
    ] {
        let said = team.run(&[&["golden", "init", "new", "--name", "x"], options].concat()).expect(2).stderr;
        assert!(said.contains(why), "{options:?}: {said}");
        assert!(!team.day.test.path("new").exists(), "{options:?}");
    }
}

#[test]
fn old_names_say_the_new_ones_and_policies_decide_what_fails() {
    let team = two_releases();
    for (old, new) in
        [("yank", "golden withdraw --yank"), ("renew", "golden sign --renew"), ("build", "export notebook")]
    {
        let said = team.run(&["golden", old, "data@1.0.0", "--because", "x"]).expect(2).stderr;
        assert!(said.contains(new), "{old}: {said}");
    }
    let said = team.run(&["matrix", "yank"]).expect(2).stderr;
    assert!(!said.contains("golden"), "{said}");
    let said = team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    assert!(said.stderr.contains("was not verified within 90d"), "{said:?}");
    assert!(said.stdout.contains("data: 1 current, 1 deprecated"), "{said:?}");
    team.keep(&["policy", "set", "evidence=error", "expire=365d"]);
    let strict = team.run(&["golden", "check", "--repo", "repo", "--json"]).expect(1);
    assert!(strict.codes().contains(&"golden-cadence".to_owned()), "{strict:?}");
    let shown = team.run(&["golden", "policy", "show", "--repo", "repo", "--json"]).expect(0).json();
    assert_eq!((&shown["report"]["evidence"], &shown["report"]["expire"]), (&"error".into(), &"365d".into()));
    let before = team.index();
    team.run(&["golden", "policy", "set", "evidence=loud", "--repo", "repo", "--key", &key(&team.alice)]).expect(2);
    assert_eq!(team.index(), before);
    team.trust();
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
}
