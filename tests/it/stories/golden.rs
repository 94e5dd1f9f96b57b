//! The life of a golden repository: keepers with keys of their own, a web server that may lie, readers who have pinned
//! what they take.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::stories::team::{Team, fingerprint};
use crate::support::http::{Reply, serve};
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
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(2);
    assert_eq!(std::fs::read_to_string(&own).expect("a profile"), "# mine\n");
    std::fs::remove_file(&own).expect("a profile");
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
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
    team.keep(&["withdraw", "--yank", "data@2.0.0", "--because", "corrupts decimals", "--use", "data@1.0.0"]);
    assert_eq!(codes(1), ["golden-yanked"]);
    let stopped = team.reader(&["golden", "verify"]).expect(1);
    assert!(stopped.stderr.contains("corrupts decimals") && stopped.stderr.contains("use data@1.0.0"), "{stopped:?}");
    team.reader(&["golden", "verify", "--allow-yanked"]).expect(0);
    team.reader(&["golden", "add", "data@2.0.0", "--repo", &team.url]).expect(1);
    let listed = team.reader(&["golden", "list", "--repo", &team.url]).expect(0);
    assert!(listed.stdout.starts_with("data@1.0.0  current") && !listed.stdout.contains("data@2.0.0"), "{listed:?}");
}

#[test]
fn a_server_that_lies_is_believed_in_nothing() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    let old = team.index();
    team.trust();
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
    team.profile("2.0.0", "more = '*'\n");
    team.keep(&["publish", "data.toml"]);
    team.reader(&["golden", "verify"]).expect(0);
    let refused = |what: &str| {
        let outcome = team.reader(&["golden", "add", "data@2.0.0", "--repo", &team.url, "--json"]);
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
    assert_eq!(refused("outdated index"), ["golden-rolled-back"]);
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
    team.reader(&["golden", "add", "data@2.0.0", "--repo", &team.url]).expect(0);
}

#[test]
fn keys_change_by_the_word_of_the_old_ones_and_a_lost_one_is_no_end() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    team.trust();
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
    // Somebody puts a list with a key of their own into the repository, and signs with that.
    let mallory = Key::new(&team.day.test.path(""), "mallory");
    let signers = team.day.test.path("repo/allowed_signers");
    let good = std::fs::read_to_string(&signers).expect("a list");
    std::fs::write(&signers, format!("{good}{}", mallory.line(""))).expect("a list");
    let refused = team.sign(&mallory).expect(1);
    assert!(refused.stderr.contains("does not match the signed index"), "{refused:?}");
    team.reader(&["golden", "verify"]).expect(0);
    assert_ne!(team.run(&["golden", "trust", "--repo", &team.url, "--key", &fingerprint(&mallory)]).code, 0);
    // Nor does somebody who comes anew and names one good key get the bad one with it: the index that the bad one has
    // signed alone is refused.
    let index = String::from_utf8(team.index()).expect("an index");
    let text = index.split("# -----BEGIN").next().expect("a text");
    let longer = std::fs::read(&signers).expect("a list");
    let old = text.split("sha256 = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a digest");
    let digest = colab_boot::core::model::Sha256::of(&longer).to_string();
    let text = text.replace(old, &digest).replace("threshold = 2", "threshold = 1");
    let signature = mallory.sign(&text, "colab-boot-golden@v1", &[]);
    let forged = colab_boot::golden::signed_text::join(&text, &[signature]);
    team.lies(move |path, bytes| {
        Reply::new("text/plain", if path == "golden.toml" { forged.clone().into_bytes() } else { bytes })
    });
    let fresh = Test::new().set("HOME", team.day.test.path("stranger-home").display().to_string());
    let said = fresh.run(&["golden", "trust", "--repo", &team.url, "--key", &fingerprint(&team.alice), "--json"]);
    assert_eq!(said.codes(), ["golden-threshold"], "{said:?}");
    team.tells_the_truth();
    std::fs::write(&signers, good).expect("a list");
    // A key that is in no line signs nothing.
    let stranger = Key::new(&team.day.test.path(""), "stranger");
    let said = team.sign(&stranger).expect(1);
    assert!(said.stderr.contains("does not name the key"), "{said:?}");
    // The number goes back: neither keepers nor readers go on.
    let before = team.index();
    team.keep(&["sign", "--renew"]);
    team.reader(&["golden", "verify"]).expect(0);
    let newest = team.index();
    std::fs::write(team.day.test.path("repo/golden.toml"), before).expect("an index");
    assert_eq!(
        team.run(&["golden", "sign", "--renew", "--repo", "repo", "--json"]).expect(1).codes(),
        ["golden-rolled-back"]
    );
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
        team.run(&["golden", "add", "data", "--repo", name, "--into", &format!("{name}-reader"), "--json"])
    };
    clone("kept").expect(0);
    // Without the line in .gitattributes git changes them.
    let repo = team.day.test.path("repo");
    std::fs::remove_file(repo.join(".gitattributes")).expect("a file");
    git(repo, &["-c", "user.name=a", "-c", "user.email=a@team", "-c", "commit.gpgsign=false", "commit", "-qam", "two"]);
    assert_eq!(clone("changed").expect(1).codes(), ["golden-line-ends"]);
}

#[test]
fn keepers_come_and_go_and_their_readers_go_on() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    team.trust();
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
    // One list of pins for several folders: a link stays one.
    let pins = team.day.test.path("reader/golden.lock");
    std::fs::rename(&pins, team.day.test.path("pins")).expect("a file");
    std::os::unix::fs::symlink("../pins", &pins).expect("a link");
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
    assert!(pins.is_symlink());
    let carol = Key::new(&team.day.test.path(""), "carol");
    let list = || std::fs::read_to_string(team.day.test.path("repo/allowed_signers")).expect("a list");
    let before = (list(), team.index());
    let key = |key: &Key| key.path.display().to_string();
    // Mistakes change nothing.
    for arguments in [
        &["--remove", "nobody"][..],
        &["--remove", "bob@team"],
        &["--add", "alice.pub"],
        &["--threshold", "0"],
        &["--add", "carol.pub", "--threshold", "4"],
    ] {
        team.run(&[&["golden", "sign", "--repo", "repo", "--no-sign"], arguments].concat()).expect(2);
        assert_eq!((list(), team.index()), before, "{arguments:?}");
    }
    let shown = team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    assert!(shown.stdout.contains("(signs the index)") && team.index() == before.1, "{shown:?}");
    // Carol comes, Bob goes: all three sign, so that readers of both lists go on.
    let (gone, by) = (fingerprint(&team.bob), key(&team.alice));
    let change = ["sign", "--repo", "repo", "--add", "carol.pub", "--remove", &gone, "--key", &by];
    let changed = team.run(&[&["golden"], &change[..]].concat()).expect(0);
    assert!(changed.stdout.contains("+ carol@team") && changed.stdout.contains("- bob@team"), "{changed:?}");
    team.sign(&carol).expect(0);
    assert_eq!(team.reader(&["golden", "verify", "--json"]).expect(1).codes(), ["golden-threshold"]);
    let open = team.run(&["golden", "check", "--repo", "repo"]).expect(1).stderr;
    assert!(open.contains("`signers/1.toml` has 1 of 2 signatures by the signers before it"), "{open}");
    team.sign(&team.bob).expect(0);
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    let followed = team.reader(&["golden", "verify", "--json"]).expect(0);
    assert_eq!(followed.codes(), ["golden-signers-changed"]);
    assert!(team.reader(&["golden", "verify", "--json"]).expect(0).codes().is_empty(), "they are pinned now");
    let taken = team.run(&["golden", "trust", "--repo", &team.url]).expect(0);
    assert!(taken.stdout.contains("2 of 2 keys must sign"), "{taken:?}");
    // From now on the two are enough, and Bob counts no more.
    team.run(&["golden", "sign", "--renew", "--repo", "repo", "--key", &key(&team.alice)]).expect(0);
    team.sign(&team.bob).expect(1);
    assert_eq!(team.reader(&["golden", "verify", "--json"]).expect(1).codes(), ["golden-threshold"]);
    team.sign(&carol).expect(0);
    team.reader(&["golden", "verify"]).expect(0);
    // Who has slept through that asks the keepers, and pins by hand.
    let mut late = Test::new();
    late.environment.insert("COLAB_BOOT_CONFIG_DIR".into(), team.day.test.path("late").display().to_string());
    late.run(&["golden", "trust", "--repo", &team.url, "--key", &fingerprint(&team.bob), "--threshold", "1"]).expect(1);
    let keys = [fingerprint(&team.alice), fingerprint(&carol)];
    late.run(&["golden", "trust", "--repo", &team.url, "--key", &keys[0], "--key", &keys[1]]).expect(0);
}

#[test]
fn fewer_pinned_keys_than_there_are_get_a_warning() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    let carol = Key::new(&team.day.test.path(""), "carol");
    let alice = team.alice.path.display().to_string();
    team.run(&["golden", "sign", "--repo", "repo", "--add", "carol.pub", "--key", &alice]).expect(0);
    team.sign(&team.bob).expect(0);
    let keys = [&team.alice, &team.bob, &carol].map(fingerprint);
    let two =
        team.run(&["golden", "trust", "--repo", &team.url, "--key", &keys[0], "--key", &keys[1], "--json"]).expect(0);
    assert_eq!(two.codes(), ["golden-keys-unpinned"]);
    let help = two.json()["findings"][0]["help"][0].as_str().expect("a help").to_owned();
    assert!(keys.iter().all(|key| help.contains(key.as_str())), "{help}");
    let flags: Vec<&str> = keys.iter().flat_map(|key| ["--key", key.as_str()]).collect();
    let all = team.run(&[&["golden", "trust", "--repo", &team.url, "--json"], flags.as_slice()].concat()).expect(0);
    assert!(all.codes().is_empty(), "{all:?}");
}

/// All bytes of the files below `folder`.
fn everything(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let of = |path: PathBuf| {
        if path.is_dir() && !path.is_symlink() {
            return everything(&path);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        vec![(path, String::from_utf8_lossy(&bytes).into_owned())]
    };
    entries.flat_map(of).collect()
}

#[test]
fn a_token_goes_into_one_header() {
    let mut team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml", "--at", &team.url.clone()]);
    // Behind a token; large files lie at another place, which is none of its business.
    let canary = "ghp_Zq3vT9xKc7RbN2mWd8LpYs4HfJ6gUa1Qe5Xo";
    let basic = format!("Basic {}", data_encoding::BASE64.encode(format!("x-access-token:{canary}").as_bytes()));
    let (repo, seen) = (team.day.test.path("repo"), Arc::new(Mutex::new(Vec::new())));
    let (elsewhere, log) = (repo.clone(), Arc::clone(&seen));
    let store = serve(Duration::ZERO, move |asked| {
        log.lock().expect("a list").push(asked.header("authorization").map(str::to_owned));
        Reply::new("text/plain", std::fs::read(elsewhere.join(asked.path.trim_start_matches('/'))).unwrap_or_default())
    });
    let private = serve(Duration::ZERO, move |asked| match asked.header("authorization") {
        Some(given) if given == basic && asked.path.ends_with(".lock") => {
            Reply::status(302).with("Location", format!("{store}{}", asked.path))
        }
        Some(given) if given == basic => {
            Reply::new("text/plain", std::fs::read(repo.join(asked.path.trim_start_matches('/'))).unwrap_or_default())
        }
        _ => Reply::status(401),
    });
    let add = ["golden", "add", "data", "--repo", &private];
    let refused = team.reader(&add);
    assert!(refused.code != 0 && refused.stderr.contains("401"), "{refused:?}");
    team.day.test.environment.insert("COLAB_BOOT_GOLDEN_TOKEN".into(), canary.into());
    let mut said = vec![team.reader(&add).expect(0), team.reader(&["golden", "verify", "--json"]).expect(0)];
    said.push(team.reader(&["golden", "list", "--repo", &private, "-v"]).expect(0));
    assert_eq!(*seen.lock().expect("a list"), [None]);
    // Nor by netrc: the same, and no more.
    team.day.test.environment.remove("COLAB_BOOT_GOLDEN_TOKEN");
    std::fs::create_dir_all(team.day.test.path("home")).expect("a home");
    let netrc = team.day.test.path("home/.netrc");
    std::fs::write(&netrc, format!("machine 127.0.0.1 login x-access-token password {canary}\n")).expect("a netrc");
    said.push(team.reader(&["golden", "verify"]).expect(0));
    std::fs::remove_file(netrc).expect("a netrc");
    for outcome in said {
        assert!(!outcome.stdout.contains(canary) && !outcome.stderr.contains(canary), "{outcome:?}");
    }
    let found: Vec<PathBuf> = everything(&team.day.test.path(""))
        .into_iter()
        .filter(|(_, text)| text.contains(canary))
        .map(|one| one.0)
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

/// A keeper who has gone bad, or whose tool has.
#[test]
fn nothing_of_an_index_leads_out_of_its_folders() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    team.trust();
    let index = String::from_utf8(team.index()).expect("an index");
    let text = index.split("# -----BEGIN").next().expect("a text").replacen("seq = 2", "seq = 9", 1);
    let names = |name: &str| text.replace("name = \"data.lock\"", &format!("name = \"{name}\""));
    let release = |name: &str| text.replace("name = \"data\"", &format!("name = \"{name}\""));
    let hostile = [
        names("../data.lock"),
        names("/etc/passwd"),
        names("data.toml/../../x.lock"),
        names("data.sh"),
        names("verified-../../x.json"),
        names("verified-a/b.json"),
        names("data.lock\\u0000"),
        names("d\u{430}ta.lock"),
        release("../x"),
        release("d\u{430}ta"),
        release(""),
        release("data\\u001b[2J"),
        text.replace("version = \"1.0.0\"", "version = \"1.0.0/../..\""),
        text.replace("version = \"1.0.0\"", "version = \"../1.0.0\""),
    ];
    let before = everything(&team.day.test.path("reader")).len();
    for (at, text) in hostile.iter().enumerate() {
        let blocks = [&team.alice, &team.bob].map(|key| key.sign(text, "colab-boot-golden@v1", &[]));
        let forged = colab_boot::golden::signed_text::join(text, &blocks);
        team.lies(move |path, bytes| {
            Reply::new("text/plain", if path == "golden.toml" { forged.clone().into_bytes() } else { bytes })
        });
        let said = team.reader(&["golden", "add", "data", "--repo", &team.url, "--into", "other", "--json"]);
        assert_eq!((said.code, said.codes()), (1, vec!["golden-unreadable".to_owned()]), "{at}: {said:?}");
        assert_eq!(everything(&team.day.test.path("reader")).len(), before, "{at}");
    }
}
