//! A lock is a function of its inputs, one of which is the lock of before.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use crate::support::http::Asked;
use crate::support::index_server::{Digests, IndexServer, Looks, Manner, Release, Table};
use crate::support::python::wheel;
use crate::support::said::Said as _;
use crate::support::test::{Test, observed};

pub(super) const PROFILE: &str = "[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\na = '*'\nb = '*'\n";

fn needs(requires: &[&str]) -> Release {
    Release { requires: requires.iter().map(|one| (*one).to_owned()).collect(), ..Release::default() }
}

pub(super) fn table(rows: &[(&str, &str, &[&str])]) -> Table {
    let mut table = Table::new();
    for (name, version, requires) in rows {
        table.entry((*name).to_owned()).or_default().insert((*version).to_owned(), needs(requires));
    }
    table
}

pub(super) fn lock(test: &Test, server: &IndexServer, more: &[&str]) -> crate::support::test::Outcome {
    let machine = observed("laptop");
    test.run(
        &[&["lock", "p.toml", "--json", "-", "--index-url", &server.url, "--machine", &machine, "--refresh"], more]
            .concat(),
    )
}

fn versions(test: &Test) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    let lock: toml::Table = toml::from_str(&text).expect("TOML");
    let packages = lock["target"][0]["package"].as_array().expect("packages").clone();
    let text = |value: &toml::Value| value.as_str().expect("a text").to_owned();
    packages.iter().map(|one| (text(&one["name"]), text(&one["version"]))).collect()
}

fn pairs(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    all.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
}

#[test]
fn versions_of_the_earlier_lock_stay_until_they_must_move() {
    let old = IndexServer::start(table(&[("a", "1.0", &["c"]), ("b", "1.0", &[]), ("c", "1.0", &[])]), Manner::Good);
    let rows: &[(&str, &str, &[&str])] = &[
        ("a", "1.0", &["c"]),
        ("a", "2.0", &["c>=2"]),
        ("b", "1.0", &[]),
        ("b", "2.0", &[]),
        ("c", "1.0", &[]),
        ("c", "2.0", &[]),
        ("c", "3.0", &[]),
    ];
    let new = IndexServer::start(table(rows), Manner::Good);
    let test = Test::new().file("p.toml", PROFILE);
    lock(&test, &old, &[]).expect(0);
    let first = pairs(&[("a", "1.0"), ("b", "1.0"), ("c", "1.0")]);
    assert_eq!(versions(&test), first);
    lock(&test, &new, &[]).expect(0);
    assert_eq!(versions(&test), first, "nothing has to move");
    lock(&test, &new, &["--check"]).expect(0);

    // One package moves, and with it what it needs; b does not.
    let outcome = lock(&test, &new, &["--upgrade-package", "a"]).expect(0);
    assert_eq!(versions(&test), pairs(&[("a", "2.0"), ("b", "1.0"), ("c", "3.0")]));
    assert!(outcome.stderr.contains("a moves from 1.0 to 2.0 (for profile)"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("c moves from 1.0 to 3.0 (for a)"), "{}", outcome.stderr);

    lock(&test, &new, &["--upgrade"]).expect(0);
    assert_eq!(versions(&test), pairs(&[("a", "2.0"), ("b", "2.0"), ("c", "3.0")]));
}

#[test]
fn check_says_what_is_stale_and_why_and_writes_nothing() {
    let server = IndexServer::start(
        table(&[("a", "1.0", &[]), ("b", "1.0", &[]), ("b", "2.0", &["d"]), ("d", "1.0", &[])]),
        Manner::Good,
    );
    let test = Test::new().file("p.toml", &PROFILE.replace("b = '*'", "b = '<2'"));
    let missing = lock(&test, &server, &["--check"]).expect(1);
    assert_eq!(missing.codes(), ["lock-missing"]);
    lock(&test, &server, &[]).expect(0);
    let before = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    let test = test.file("p.toml", &PROFILE.replace("b = '*'", "b = '>=2'"));
    let stale = lock(&test, &server, &["--check"]).expect(1);
    assert_eq!(stale.codes(), ["lock-stale"]);
    for words in
        ["the profile was edited after it was locked", "b moves from 1.0 to 2.0 (for profile)", "d 1.0 is new (for b)"]
    {
        assert!(stale.stderr.contains(words), "{words}: {}", stale.stderr);
    }
    assert_eq!(std::fs::read_to_string(test.path("p.lock")).expect("a lock"), before);
    std::fs::write(test.path("p.lock"), before.replace("why = [\"profile\"]", "why = [\"me\"]")).expect("an edit");
    lock(&test, &server, &["--check"]).expect(1);
}

#[test]
fn order_of_the_page_state_of_the_cache_and_connections_change_nothing() {
    let mut rows = Table::new();
    for (name, needed) in [("a", Some("c")), ("b", Some("d")), ("c", Some("d<3")), ("d", None)] {
        for version in 1..6 {
            let requires: Vec<String> = needed.iter().map(|needed| (*needed).to_owned()).collect();
            let tags = Some(vec!["py3-none-any".to_owned(), "1-py3-none-any".to_owned()]);
            let release = Release { requires, tags, ..Release::default() };
            rows.entry(name.to_owned()).or_default().insert(format!("{version}.0"), release);
        }
    }
    let made = |looks: Looks, more: &[&str], twice: bool| {
        let server = IndexServer::with(rows.clone(), Manner::Good, looks);
        let test = Test::new().file("p.toml", PROFILE);
        lock(&test, &server, more).expect(0);
        if twice {
            std::fs::remove_file(test.path("p.lock")).expect("a lock");
            lock(&test, &server, more).expect(0);
        }
        std::fs::read(test.path("p.lock")).expect("a lock")
    };
    let first = made(Looks::default(), &[], false);
    assert_eq!(made(Looks { backwards: true, ..Looks::default() }, &[], false), first, "another order");
    assert_eq!(made(Looks { json: true, ..Looks::default() }, &[], false), first, "the other form");
    assert_eq!(made(Looks::default(), &[], true), first, "a warm cache");
    assert_eq!(
        made(Looks { latency_ms: 3, ..Looks::default() }, &["--connections", "1"], false),
        first,
        "one connection"
    );
    assert_eq!(made(Looks { latency_ms: 3, ..Looks::default() }, &["--connections", "16"], false), first, "sixteen");
}

#[test]
fn a_page_that_has_not_changed_is_not_sent_again() {
    let looks = Looks { validator: true, ..Looks::default() };
    let server = IndexServer::with(table(&[("a", "1.0", &[]), ("b", "1.0", &[])]), Manner::Good, looks);
    let test = Test::new().file("p.toml", PROFILE);
    lock(&test, &server, &[]).expect(0);
    let asked = server.asked().len();
    lock(&test, &server, &[]).expect(0);
    // What was read of the wheels is read anew.
    let is_page = |one: &Asked| one.path.ends_with('/');
    let again: Vec<_> = server.requests().split_off(asked).into_iter().filter(is_page).collect();
    assert_eq!(again.len(), 2, "{again:?}");
    assert!(again.iter().all(|one| one.header("if-none-match").is_some()), "{again:?}");
}

#[test]
fn a_lock_with_an_epoch_is_read_back() {
    let server = IndexServer::start(table(&[("a", "1!2.0", &[]), ("b", "1.0", &[])]), Manner::Good);
    let test = Test::new().file("p.toml", PROFILE);
    lock(&test, &server, &[]).expect(0);
    lock(&test, &server, &["--check"]).expect(0);
}

#[test]
fn a_prerelease_does_not_outlive_the_policy_that_let_it_in() {
    let server = IndexServer::start(table(&[("a", "1.0", &[]), ("a", "2.0rc1", &[]), ("b", "1.0", &[])]), Manner::Good);
    let policy = |text: &str| format!("{PROFILE}[policy]\nprereleases = '{text}'\n");
    let test = Test::new().file("p.toml", &policy("allow"));
    lock(&test, &server, &[]).expect(0);
    assert_eq!(versions(&test)["a"], "2.0rc1");
    let test = test.file("p.toml", &policy("explicit"));
    lock(&test, &server, &[]).expect(0);
    assert_eq!(versions(&test)["a"], "1.0");
}

#[test]
fn facts_of_a_wheel_hold_for_its_server_alone() {
    // Both announce the same digest for the file, and give it other requirements.
    let evil =
        IndexServer::start(table(&[("a", "1.0", &["evil"]), ("b", "1.0", &[]), ("evil", "1.0", &[])]), Manner::Good);
    let honest = IndexServer::start(table(&[("a", "1.0", &["c"]), ("b", "1.0", &[]), ("c", "1.0", &[])]), Manner::Good);
    let test = Test::new().file("p.toml", PROFILE);
    lock(&test, &evil, &[]).expect(0);
    lock(&test, &honest, &[]).expect(0);
    assert_eq!(versions(&test), pairs(&[("a", "1.0"), ("b", "1.0"), ("c", "1.0")]));
}

/// The laptop's record with these installed.
fn with_installed(test: &Test, installed: &[(&str, &str)]) -> String {
    let text = std::fs::read_to_string(observed("laptop")).expect("a record");
    let mut record: serde_json::Value = serde_json::from_str(&text).expect("a record");
    let one = |(name, version): &(&str, &str)| serde_json::json!({ "name": name, "version": version, "folder": format!("/site/{name}-{version}.dist-info") });
    record["distributions"] = installed.iter().map(one).collect();
    let path = test.path("machine.json");
    std::fs::write(&path, record.to_string()).expect("a record");
    path.display().to_string()
}

#[test]
fn a_cache_in_which_others_have_a_say_is_not_read() {
    let server = IndexServer::start(table(&[("a", "1.0", &[]), ("b", "1.0", &[])]), Manner::Good);
    let test = Test::new().file("p.toml", PROFILE);
    let machine = observed("laptop");
    let lock = || {
        let _ = std::fs::remove_file(test.path("p.lock"));
        let outcome = test.run(&["lock", "p.toml", "--index-url", &server.url, "--machine", &machine]).expect(0);
        (outcome.reports("warning[cache-unusable]"), server.asked().len())
    };
    let (_, first) = lock();
    assert_eq!(lock(), (false, first), "the cache answers");
    let mode =
        |mode| std::fs::set_permissions(test.path("cache"), std::fs::Permissions::from_mode(mode)).expect("a mode");
    mode(0o777);
    let (is_said, second) = lock();
    assert!(is_said && second > first, "{second} after {first}");
    // The one that is used instead is kept; and the old one counts again when it is private.
    assert_eq!(lock(), (true, second));
    mode(0o700);
    assert_eq!(lock(), (false, second));
}

#[test]
fn what_is_installed_from_the_folder_that_the_profile_names_is_its_wheel() {
    let profile = "[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\ninhouse = '*'\n";
    let index = "[[index]]\nname = 'mine'\npath = 'wheels'\npackages = ['inhouse']\n";
    let test = Test::new().file("wheels/empty", "").file("p.toml", &format!("{profile}{index}"));
    let sha256 = wheel(&test.path("wheels"), ("inhouse", "1.0"), "x");
    let machine = with_installed(&test, &[("inhouse", "1.0")]);
    for direct in ["false", "true"] {
        // By pip's `direct_url.json` it came from an address, and the profile says who serves it.
        let record = std::fs::read_to_string(&machine).expect("a record");
        let record = record.replace("\"folder\":\"/site", &format!("\"direct\":{direct},\"folder\":\"/site"));
        std::fs::write(test.path("direct.json"), record).expect("a record");
        test.run(&["lock", "p.toml", "--machine", "direct.json"]).expect(0);
        let lock = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
        assert!(lock.contains(&sha256) && !lock.contains("image-only"), "{lock}");
        std::fs::remove_file(test.path("p.lock")).expect("gone");
    }
}

#[test]
fn digests_of_other_kinds_are_compared_too() {
    for json in [true, false] {
        for (digests, is_it, says) in [
            (Digests::Md5, true, "note[lock-weak]: the index has only a md5 digest of `a` 1.0"),
            (Digests::OtherMd5, false, "expected md5 d41d8cd98f00b204e9800998ecf8427e, got "),
            (Digests::OtherSha512, false, "expected sha512 abab"),
        ] {
            if !json && digests == Digests::OtherSha512 {
                continue;
            }
            let looks = Looks { json, digests, ..Looks::default() };
            let server = IndexServer::with(table(&[("a", "1.0", &[]), ("b", "1.0", &[])]), Manner::Good, looks);
            let test = Test::new().file("p.toml", PROFILE);
            let machine = with_installed(&test, &[]);
            let arguments = ["lock", "p.toml", "--index-url", &server.url, "--machine", &machine];
            let outcome = test.run(&arguments).expect(0);
            assert!(outcome.stderr.contains(says), "{digests:?}: {outcome:?}");
            let lock = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
            let is_hashed = lock.lines().filter(|line| line.starts_with("wheel")).all(|line| line.contains("sha256"));
            assert_eq!(is_hashed, is_it, "{digests:?}: {lock}");
            assert_eq!(outcome.stderr.contains("lock-unhashed"), !is_it, "{outcome:?}");
        }
    }
}

#[test]
fn a_lock_names_the_wheel_of_what_is_installed_and_the_image_of_what_no_index_has() {
    let rows: &[(&str, &str, &[&str])] =
        &[("a", "1.0", &["c"]), ("a", "2.0", &["c"]), ("b", "1.0", &[]), ("c", "1.0", &[])];
    let looks = Looks { digests: Digests::True, json: true, ..Looks::default() };
    let server = IndexServer::with(table(rows), Manner::Good, looks);
    let test = Test::new().file("p.toml", PROFILE);
    let machine = with_installed(&test, &[("a", "1.0"), ("b", "1.0+image")]);
    let lock = |more: &[&str]| {
        test.run(&[&["lock", "p.toml", "--index-url", &server.url, "--machine", &machine], more].concat())
    };
    let outcome = lock(&[]).expect(0);
    assert!(
        outcome
            .stderr
            .contains("machine: no index has a digest, so they are available only from this machine: b 1.0+image"),
        "{outcome:?}"
    );
    let text = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    assert!(text.contains("a-1.0-py3-none-any.whl") && text.contains("image-only = \"machine\""), "{text}");
    // A digest comes from the listing: of what is there already nothing else is asked.
    let asked = server.asked();
    assert!(!asked.iter().any(|path| path.contains("a-1.0")), "{asked:?}");

    // Elsewhere it says what is missing; an image that has it takes the lock as it is.
    let bare = with_installed(&test, &[]);
    let elsewhere = test.run(&["plan", "p.toml", "--locked", "--machine", &bare]).expect(1);
    assert!(
        elsewhere.stderr.contains("b 1.0+image is only part of `machine`: no index has a digest of it"),
        "{elsewhere:?}"
    );
    let fetched = test.run(&["fetch", "p.lock", "--into", "wheels", "--index-url", &server.url]).expect(0);
    assert!(fetched.stdout.contains("fetched: 1 wheel,") && fetched.stderr.contains("b 1.0+image"), "{fetched:?}");

    // An upgrade is held neither by what the image has nor by an unknown name.
    let machine = with_installed(&test, &[("a", "1.0"), ("b", "1.0")]);
    let outcome = lock(&["--upgrade-package", "aa"]).expect(2);
    assert!(outcome.stderr.contains("`aa` is not in the lock"), "{outcome:?}");
    let outcome = test
        .run(&["lock", "p.toml", "--index-url", &server.url, "--machine", &machine, "--upgrade-package", "a"])
        .expect(0);
    assert!(outcome.stderr.contains("a moves from 1.0 to 2.0"), "{outcome:?}");
}

#[test]
fn a_lock_of_the_first_format_is_no_lock() {
    let server = IndexServer::start(table(&[("a", "1.0", &[]), ("b", "1.0", &[])]), Manner::Good);
    let test = Test::new().file("p.toml", PROFILE);
    lock(&test, &server, &[]).expect(0);
    let text = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    let old = text.replace("version = 2\n", "version = 1\n");
    let old: String = old.lines().filter(|line| !line.contains("a-1.0-py3")).map(|line| format!("{line}\n")).collect();
    std::fs::write(test.path("p.lock"), &old).expect("a write");
    let outcome = test.run(&["plan", "p.toml", "--locked", "--machine", &observed("laptop")]).expect(1);
    assert!(outcome.stderr.contains("it has format 1, this colab-boot reads 2"), "{outcome:?}");
    std::fs::write(test.path("p.lock"), old.replace("version = 1\n", "version = 2\n")).expect("a write");
    let outcome = test.run(&["plan", "p.toml", "--locked", "--machine", &observed("laptop")]).expect(1);
    assert!(outcome.stderr.contains("a 1.0 has neither a wheel nor an image"), "{outcome:?}");
}

#[test]
fn a_bare_target_has_nothing_installed_and_fits_machines_that_are_no_image() {
    let rows: &[(&str, &str, &[&str])] = &[("a", "1.0", &[]), ("b", "1.0", &[])];
    let server = IndexServer::start(table(rows), Manner::Good);
    let test =
        Test::new().file("p.toml", &format!("{PROFILE}[target]\nruntimes = ['colab-2026.07-cpu', 'bare-3.12']\n"));
    test.run(&["lock", "p.toml", "--index-url", &server.url]).expect(0);
    let text = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    assert!(text.contains("name = \"bare-3.12\"") && text.contains("manylinux_2_28_x86_64"), "{text}");
    let outcome = test.run(&["plan", "p.toml", "--locked", "--machine", &observed("laptop")]).expect(0);
    assert!(outcome.stdout.contains("target bare-3.12"), "{outcome:?}");
    assert!(test.run(&["plan", "p.toml", "--runtime", "bare-2.7"]).expect(2).stderr.contains("bare-3.12"));
}

/// What `apply` would refuse on the image that a lock is for is said when it is written, and with the cells.
#[test]
fn a_lock_that_its_image_would_not_take_is_a_warning() {
    let table = Table::from([("numpy".to_owned(), [("1.26.4".to_owned(), Release::default())].into())]);
    let server = IndexServer::start(table, Manner::Good);
    let profile = "[target]\nruntimes = ['colab-2026.07']\n[packages]\nnumpy = '<2'\n";
    let test = Test::new().set("COLAB_BOOT_INDEX_URL", server.url.clone()).file("p.toml", profile);
    let export = ["export", "notebook", "p.toml"];
    for verb in [&["lock", "p.toml"][..], &["lock", "p.toml"], &export] {
        let said = test.run(verb).expect(0);
        for words in
            ["warning[plan-breakage]", "refuses this lock on colab-2026.07-gpu", "jax 0.7.2 requires numpy>=2.0"]
        {
            assert!(said.stderr.contains(words), "{verb:?}: {words}: {said:?}");
        }
    }
    let test = test.file("p.toml", &format!("{profile}[policy]\nbreakage = 'warn'\n"));
    assert!(!test.run(&["lock", "p.toml"]).expect(0).stderr.contains("refuses"));
}
