//! The extension in `JupyterLab`, in a real browser: what a user sees and presses.

use std::process::Command;

use serde_json::json;

use crate::stories::notebook::{TOKEN, give_lab, serve, write_notebook};
use crate::stories::page::seen_by;
use crate::stories::{Day, release, table};
use crate::support::index_server::{Digests, IndexServer, Looks, Manner};

const ROWS: &[(&str, &str, &[&str])] =
    &[("app", "1.0", &["lib<2"]), ("app", "2.0", &["lib>=2"]), ("lib", "1.0", &[]), ("lib", "2.0", &[])];

const CELLS: [&str; 4] =
    ["import lib; print('lib is', lib.word)", "%load_ext colab_boot", "%%boot\napp>=2", "import app; print('behind')"];

/// With `PICTURES=FOLDER`, pictures of the plan go there.
#[test]
fn a_notebook_is_booted_restarted_and_run_again_by_its_buttons() {
    if Command::new("chromium").arg("--version").output().is_err() {
        eprintln!("skipped: there is no chromium on this machine");
        return;
    }
    let mut rows = table(ROWS);
    let text: String =
        (0..2000_u64).map(|number| format!("{:x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    rows.insert(
        "large".to_owned(),
        [("1.0".to_owned(), release(&[("large.py", &format!("word = '{text}'\n"))]))].into(),
    );
    let mut day = Day::of_table(rows.clone());
    day.server = IndexServer::with(
        rows,
        Manner::Good,
        Looks { digests: Digests::True, json: true, drip_ms: 4, ..Looks::default() },
    );
    day.test =
        day.test.set("COLAB_BOOT_INDEX_URL", day.server.url.clone()).set("PIP_INDEX_URL", day.server.url.clone());
    day.test = day.test.set("COLAB_BOOT_RESTART", "run-all");
    day.profile("first", &["lib <2"], "");
    day.run(&["apply", "first.toml"]).expect(0);
    let Some(lab) = give_lab(&day) else { return };
    write_notebook(&day.test.path("first.ipynb"), &CELLS);
    let (_server, url) = serve(&day.test, &lab.python, &["jupyterlab", "--LabApp.expose_app_in_browser=True"]);
    let Some(seen) = seen_by("lab.py", &format!("{url}lab/tree/first.ipynb?token={TOKEN}")) else { return };
    let says = |what: &str, text: &str| assert!(seen[what].to_string().contains(text), "{what}: {text}: {seen:#}");
    says("dialog", "Restart");
    assert_eq!(seen["first"][0], "lib is 1.0\n", "{seen:#}");
    assert_eq!((&seen["first"][3], &seen["second"][0]), (&json!(""), &json!("lib is 2.0\n")), "{seen:#}");
    says("second", "ready: 2 packages");
    says("conflict", "there is no app >=3");
    says("error", "colab-boot knows this error");
    says("explained", "gpu-not-covered");
    says("foreign", "lib is 1.0, locked is 2.0");
    says("plan", "large");
    says("stopped", "stopping after the current step");
    says("again", "large");
    for look in seen["looks"].as_array().expect("a list") {
        assert_eq!((&look["violations"], &look["too-wide"]), (&json!([]), &json!(0)), "{look:#}");
    }
    assert_eq!(seen["looks"].as_array().map(Vec::len), Some(6));
}
