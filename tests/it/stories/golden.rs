//! The life of a golden repository: keepers with keys of their own, a web server that may lie, readers who have pinned what they take.

use std::path::PathBuf;
use std::process::Command;

use crate::stories::team::{Team, fingerprint};
use crate::support::http::Reply;
use crate::support::keys::Key;
use crate::support::test::Test;

/// What becomes of a file on its way.
type Change = Box<dyn Fn(Vec<u8>) -> Reply + Send + Sync>;

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
    let own = team.day.test.path("reader/data.toml");
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
            !team.day.test.path("reader/data.lock").exists()
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
    let mallory = Key::new(&team.day.test.path(""), "mallory");
    let signers = team.day.test.path("repo/allowed_signers");
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
    let fresh = Test::new().set("HOME", team.day.test.path("stranger-home").display().to_string());
    let said = fresh.run(&["golden", "trust", &team.url, "--key", &fingerprint(&team.alice), "--json"]);
    assert_eq!(said.codes(), ["golden-threshold"], "{said:?}");
    team.tells_the_truth();
    std::fs::write(&signers, good).expect("a list");
    // A key that is in no line signs nothing.
    let stranger = Key::new(&team.day.test.path(""), "stranger");
    let said = team.sign(&stranger).expect(1);
    assert!(said.stderr.contains("does not name the key"), "{said:?}");
    // The number goes back: neither keepers nor readers go on.
    let before = team.index();
    team.keep(&["renew"]);
    team.reader(&["golden", "verify"]).expect(0);
    let newest = team.index();
    std::fs::write(team.day.test.path("repo/golden.toml"), before).expect("an index");
    assert_eq!(team.run(&["golden", "renew", "--repo", "repo", "--json"]).expect(1).codes(), ["golden-rolled-back"]);
    std::fs::write(team.day.test.path("repo/golden.toml"), newest).expect("an index");
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
    let repo = team.day.test.path("repo");
    git(repo.clone(), &["init", "-q"]);
    git(repo.clone(), &["add", "-A"]);
    git(repo, &["-c", "user.name=a", "-c", "user.email=a@team", "-c", "commit.gpgsign=false", "commit", "-qm", "one"]);
    let clone = |name: &str| {
        git(team.day.test.path(""), &["-c", "core.autocrlf=true", "clone", "-q", "repo", name]);
        team.run(&["golden", "add", "data", "--from", name, "--into", &format!("{name}-reader"), "--json"])
    };
    clone("kept").expect(0);
    // Without the line in .gitattributes git changes them.
    let repo = team.day.test.path("repo");
    std::fs::remove_file(repo.join(".gitattributes")).expect("a file");
    git(repo, &["-c", "user.name=a", "-c", "user.email=a@team", "-c", "commit.gpgsign=false", "commit", "-qam", "two"]);
    assert_eq!(clone("changed").expect(1).codes(), ["golden-line-ends"]);
}
