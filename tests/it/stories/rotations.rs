//! Keys of a repository that are replaced one after the other: a reader and a cell that know the first keys go on. Only
//! the earlier signers can lead them to other keys.

use std::process::{Command, Stdio};

use crate::stories::team::Team;
use crate::support::http::Reply;
use crate::support::keys::Key;
use crate::support::test::Outcome;

/// A team of three of whom two have to sign, with the release `data@1.0.0`; carol is the third.
fn three() -> (Team, Key) {
    let team = Team::new();
    let carol = Key::new(&team.day.test.path(""), "carol");
    change(&team, &["--add", "carol.pub"], &[&team.alice, &team.bob]);
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    (team, carol)
}

/// A change of the signers, by the first of `keys`; then the others sign.
fn change(team: &Team, options: &[&str], keys: &[&Key]) {
    let first = keys[0].path.display().to_string();
    team.run(&[&["golden", "sign", "--repo", "repo", "--key", &first], options].concat()).expect(0);
    for key in &keys[1..] {
        team.sign(key).expect(0);
    }
}

fn cell(team: &Team, keys: &[&Key]) -> Outcome {
    team.cell(keys, &[])
}

#[test]
fn every_earlier_cell_and_pin_follows_a_rotation() {
    let (team, carol) = three();
    team.trust_all(&[&team.alice, &team.bob, &carol]);
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
    let first = [&team.alice, &team.bob, &carol];
    assert!(cell(&team, &first).expect(0).codes().is_empty());
    // Two of three keys go one after the other, by their own owners; then the index is renewed.
    let [dave, erin] = ["dave", "erin"].map(|name| Key::new(&team.day.test.path(""), name));
    change(&team, &["--remove", "alice@team", "--add", "dave.pub"], &[&team.alice, &team.bob, &dave]);
    let between = [&team.bob, &carol, &dave];
    change(&team, &["--remove", "bob@team", "--add", "erin.pub"], &[&dave, &carol]);
    let key = carol.path.display().to_string();
    team.run(&["golden", "sign", "--renew", "--repo", "repo", "--key", &key]).expect(0);
    team.sign(&erin).expect(0);
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    for keys in [&first, &between] {
        let said = cell(&team, keys).expect(0);
        assert_eq!(said.codes(), ["golden-signers-changed"]);
        let notes = said.json()["findings"][0]["notes"].to_string();
        assert!(notes.contains("+ erin@team") && notes.contains("- bob"), "{notes}");
    }
    assert!(cell(&team, &[&carol, &dave, &erin]).expect(0).codes().is_empty());
    // Who has pinned the first keys has the new ones pinned, and hears of it once.
    assert_eq!(team.reader(&["golden", "verify", "--json"]).expect(0).codes(), ["golden-signers-changed"]);
    assert!(team.reader(&["golden", "verify", "--json"]).expect(0).codes().is_empty());
    // Stock ssh-keygen says the same of each change, with the list from before it.
    let text = std::fs::read_to_string(team.day.test.path("repo/signers/2.toml")).expect("a change");
    let (payload, block) = text.split_once("# -----BEGIN").expect("a signature");
    let block = block.split("# -----BEGIN").next().expect("a signature").replace("\n# ", "\n");
    std::fs::write(team.day.test.path("one.sig"), format!("-----BEGIN{block}")).expect("a signature");
    std::fs::write(team.day.test.path("list"), format!("{}{}", team.alice.line(""), team.bob.line("")))
        .expect("a list");
    let mut verify = Command::new("ssh-keygen");
    verify.args(["-Y", "verify", "-f", "list", "-I", "alice@team", "-n", "colab-boot-golden@v1", "-s", "one.sig"]);
    let mut verify = verify.current_dir(team.day.test.path("")).stdin(Stdio::piped()).spawn().expect("ssh-keygen");
    std::io::Write::write_all(&mut verify.stdin.take().expect("a pipe"), payload.as_bytes()).expect("a payload");
    assert!(verify.wait().expect("an end").success());
}

#[test]
fn a_broken_chain_of_changes_stops_readers_and_says_where() {
    let (team, carol) = three();
    let first = [&team.alice, &team.bob, &carol];
    let dave = Key::new(&team.day.test.path(""), "dave");
    // One signature of before is not enough, however many sign the index.
    change(&team, &["--remove", "alice@team", "--add", "dave.pub"], &[&team.alice, &carol, &dave]);
    let path = team.day.test.path("repo/signers/2.toml");
    let whole = std::fs::read_to_string(&path).expect("a change");
    let (text, blocks) = whole.split_at(whole.find("# -----BEGIN").expect("a signature"));
    let one = blocks.split_inclusive("# -----END SSH SIGNATURE-----\n").next().expect("a signature");
    assert_eq!(cell(&team, &first).expect(0).codes(), ["golden-signers-changed"]);
    let other = text.replacen("threshold = 2", "threshold = 1", 1);
    for (lie, why) in [
        (None, "is missing"),
        (Some(format!("{text}{one}")), "has 1 of 2 signatures"),
        (Some(format!("{text}{one}{one}")), "has 1 of 2 signatures"),
        (Some(format!("{other}{blocks}")), "has 0 of 2 signatures"),
        (Some(whole.replace("step = 2", "step = 1")), "is change 1"),
        (Some(whole.replace('\n', "\r\n")), "carriage returns"),
        (Some(format!("{whole}more\n")), "can't be read"),
    ] {
        match &lie {
            Some(text) => std::fs::write(&path, text).expect("a change"),
            None => std::fs::remove_file(&path).expect("a change"),
        }
        let said = cell(&team, &first).expect(1);
        assert_eq!(said.codes(), ["golden-threshold"]);
        assert!(said.stdout.contains("signers/2.toml") && said.stdout.contains(why), "{why}: {said:?}");
        assert!(team.run(&["golden", "check", "--repo", "repo"]).expect(1).stderr.contains("signers/2.toml"), "{why}");
    }
    // Who signs never signs a change that somebody without a key has put there.
    let mallory = Key::new(&team.day.test.path(""), "mallory");
    for planted in [text.replace("dave@team", "mallory@team"), text.replace("seq = ", "seq = 9")] {
        std::fs::write(&path, &planted).expect("a change");
        let refused = team.sign(&carol).expect(1).stderr;
        assert!(refused.contains("leads to other signers than the index"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).expect("a change"), planted);
    }
    std::fs::write(&path, &whole).expect("a change");
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    // Keys that never were in the repository follow nothing, and an old index is not believed after a change.
    assert_eq!(cell(&team, &[&mallory, &team.alice, &carol]).expect(1).codes(), ["golden-threshold"]);
    team.trust_all(&[&team.bob, &carol, &dave]);
    let old = team.index();
    let key = carol.path.display().to_string();
    team.run(&["golden", "sign", "--renew", "--repo", "repo", "--key", &key]).expect(0);
    team.sign(&dave).expect(0);
    team.reader(&["golden", "list", "--repo", &team.url]).expect(0);
    team.lies(move |path, bytes| Reply::new("text/plain", if path == "golden.toml" { old.clone() } else { bytes }));
    assert_eq!(
        team.reader(&["golden", "list", "--repo", &team.url, "--json"]).expect(1).codes(),
        ["golden-rolled-back"]
    );
}
