//! `explain PACKAGE`.

use crate::support::index_server::{IndexServer, Manner};
use crate::support::test::{Test, observed};
use crate::verbs::lock::{PROFILE, lock, table};

/// What the profile's own constraints hold back, nothing else is said to hold back.
#[test]
fn a_constraint_is_the_wish_of_its_profile() {
    let rows: &[(&str, &str, &[&str])] = &[("c", "1.0", &[]), ("c", "2.0", &[])];
    let server = IndexServer::start(table(rows), Manner::Good);
    let profile = "[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\nc = '*'\n[constraints]\nc = '<2'\n";
    let test = Test::new().file("p.toml", profile);
    let said = lock(&test, &server, &[]).expect(0);
    assert!(!said.stderr.contains("held back"), "{said:?}");
    let machine = observed("laptop");
    let said = test.run(&["why", "c", "p.toml", "--index-url", &server.url, "--machine", &machine]).expect(0);
    assert!(!said.stdout.contains("no release on it"), "{said:?}");
    said.says("your profile's [constraints] allow only <2");
}

#[test]
fn explain_names_the_path_the_cap_and_what_a_newer_release_needs() {
    let rows: &[(&str, &str, &[&str])] =
        &[("a", "1.0", &["c<2"]), ("b", "1.0", &["c"]), ("c", "1.0", &[]), ("c", "2.0", &[])];
    let server = IndexServer::start(table(rows), Manner::Good);
    let test = Test::new().file("p.toml", PROFILE);
    lock(&test, &server, &[]).expect(0);
    let machine = observed("laptop");
    let explain =
        |name: &str| test.run(&["explain", name, "p.toml", "--index-url", &server.url, "--machine", &machine]);
    let said = explain("c").expect(0).stdout;
    for words in [
        "c 1.0\n",
        "why       your profile -> a 1.0 -> c 1.0",
        "asked     a 1.0 needs c <2: this holds it back",
        "asked     b 1.0 needs c any version",
        "newest    no: 2.0 is available",
        "with it   there is no solution",
        "a 1.0 needs c <2",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(explain("a").expect(0).stdout.contains("newest    yes"));
    let missing = explain("cc").expect(1);
    assert!(
        missing.stderr.contains("`cc` is not in the lock") && missing.stderr.contains("did you mean `c`?"),
        "{}",
        missing.stderr
    );
    // The only profile here with a lock need not be named.
    assert!(
        test.run(&["explain", "c", "--index-url", &server.url, "--machine", &machine])
            .expect(0)
            .stdout
            .contains("a 1.0 -> c 1.0")
    );
    let outcome = Test::new().run(&["explain", "no-such-code"]).expect(2);
    assert!(
        outcome.stderr.contains("there is no code") && outcome.stderr.contains("name the profile"),
        "{}",
        outcome.stderr
    );
}
