//! The picture of the README: a notebook that a real kernel has run with the real index, as a real browser shows it.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::live::world;
use crate::stories::notebook::STACKS;
use crate::stories::page::looked_at;
use crate::support::python::kept;
use crate::support::test::Outcome;

const CELLS: [&str; 3] = [
    "%load_ext colab_boot",
    "%%boot plan\n[frameworks]\ntorch = \"2.15.*\"\n\n[packages]\ntransformers = \"*\"",
    "%%boot plan\n[frameworks]\ntorch = \"2.11.*\"\n\n[packages]\nbitsandbytes = \"*\"",
];

/// With `SNAPSHOTS=overwrite` the picture becomes that of the README.
#[test]
#[ignore = "whole"]
fn it_is_what_a_notebook_shows_and_everybody_can_read_it() {
    let Some(test) = world() else { return };
    if Command::new("chromium").arg("--version").output().is_err() {
        eprintln!("skipped: there is no chromium on this machine");
        return;
    }
    let Some(venv) = kept(STACKS[1]) else { return };
    let cell = |text: &str| json!({ "cell_type": "code", "execution_count": null, "metadata": { "tags": ["raises-exception"] }, "outputs": [], "source": text });
    let kernel = json!({ "name": "python3", "display_name": "Python 3", "language": "python" });
    let cells: Vec<_> = CELLS.iter().map(|text| cell(text)).collect();
    let notebook = json!({ "cells": cells, "metadata": { "kernelspec": kernel }, "nbformat": 4, "nbformat_minor": 4 });
    let test = test.file("first.ipynb", &notebook.to_string());
    let mut nbconvert = Command::new(&venv.python);
    nbconvert.args(["-m", "nbconvert", "--to", "html", "--execute", "first.ipynb"]);
    // Nothing is fetched for the page.
    nbconvert.args(["--HTMLExporter.mathjax_url=", "--HTMLExporter.require_js_url=", "--HTMLExporter.mermaid_js_url="]);
    nbconvert.current_dir(test.path("")).env_clear().envs(&test.environment);
    nbconvert.env("COLAB_BOOT_BINARY", env!("CARGO_BIN_EXE_colab-boot"));
    nbconvert.env("PYTHONPATH", Path::new(env!("CARGO_MANIFEST_DIR")).join("src/python"));
    for (name, value) in [("RUNTIME", "colab-2026.07"), ("GPU", "T4"), ("DRIVER", "550.54.15")] {
        nbconvert.env(format!("COLAB_BOOT_{name}"), value);
    }
    Outcome::of(nbconvert).expect(0);
    let page = std::fs::read_to_string(test.path("first.html")).expect("a page");
    for word in
        ["driver-too-old", "torch 2.15.0 is built for CUDA 13", "<code>bitsandbytes</code>", "Tesla T4", "plan: "]
    {
        assert!(page.contains(word), "{word}: {page}");
    }
    let Some(seen) = looked_at(&test.path("first.html")) else { return };
    for look in seen["looks"].as_array().expect("a list") {
        assert_eq!(look["violations"], json!([]), "{look:#}");
        assert!(look["too-wide"].as_i64().expect("pixels") <= 0, "{look:#}");
    }
    let mut chromium = Command::new("chromium");
    chromium.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]);
    chromium.args(["--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=980,770", "--virtual-time-budget=2000"]);
    chromium.arg(format!("--user-data-dir={}", test.path("browser").display()));
    chromium.arg(format!("--screenshot={}", test.path("first.png").display()));
    chromium.arg(format!("file://{}", test.path("first.html").display())).env("HOME", test.path("home"));
    Outcome::of(chromium).expect(0);
    let picture = std::fs::read(test.path("first.png")).expect("a picture");
    assert!(picture.starts_with(b"\x89PNG") && (10 << 10..1 << 20).contains(&picture.len()), "{}", picture.len());
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/first-cell.png");
    if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        std::fs::write(&committed, picture).expect("a picture");
    }
    assert!(committed.exists());
}
