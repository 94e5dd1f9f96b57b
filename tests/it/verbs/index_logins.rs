//! Logins of the indexes that a profile names, by variables.

use crate::support::index_server::{IndexServer, Manner};
use crate::support::test::{Test, observed};
use crate::verbs::credentials::{PROFILE, SECRET, guarded, locks, table};

#[test]
fn variables_have_the_login_of_an_explicit_index() {
    let server = guarded();
    let public = IndexServer::start(table(), Manner::Good);
    let profile = format!("{PROFILE}[[index]]\nname = 'our-index'\nurl = '{}'\npackages = ['a']\n", server.url);
    for prefix in ["COLAB_BOOT_INDEX_OUR_INDEX", "UV_INDEX_OUR_INDEX"] {
        let test = Test::new().file("p.toml", &profile).set(&format!("{prefix}_USERNAME"), "me");
        let test = test.set(&format!("{prefix}_PASSWORD"), SECRET);
        locks(&test, &["--index-url", &public.url]);
        // The script is for everybody.
        let script = test.run(&[
            "plan",
            "p.toml",
            "--script",
            "-",
            "--machine",
            &observed("laptop"),
            "--index-url",
            &public.url,
        ]);
        assert!(!script.stdout.contains(SECRET) && !script.stderr.contains(SECRET), "{script:?}");
    }
    let test = Test::new().file("p.toml", &profile);
    let said = test.run(&["lock", "p.toml", "--index-url", &public.url, "--machine", &observed("laptop")]).expect(3);
    assert!(said.stderr.contains("401") && said.stderr.contains("COLAB_BOOT_INDEX_OUR_INDEX_USERNAME"), "{said:?}");
}
