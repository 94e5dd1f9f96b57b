//! Golden cells: a profile and its lock as a notebook cell that anybody can run. Text in, text out.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};

use crate::boot::lock::read_lock;
use crate::boot::notebook::PARTS;
use crate::boot::plan::variables_for;
use crate::boot::profile::Profile;
use crate::core::diag::shell_word;
use crate::core::model::Sha256;
use crate::core::model::ipynb::Ipynb;
use crate::core::model::json_text::strict;

const CELL: &str = include_str!("cell.py");
const SHORT_CELL: &str = include_str!("short_cell.py");
const FORM_CELL: &str = include_str!("form_cell.py");
pub const VERIFY: &str = include_str!("verify_cell.py");

/// Where the cell gets colab-boot when it is not on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    pub url: String,
    pub sha256: Sha256,
}

/// What a cell is made from.
#[derive(Clone, Copy, Debug)]
pub struct Golden<'a> {
    pub profile: &'a Profile,
    /// The text of the lock.
    pub lock: &'a str,
    pub binary: Option<&'a Binary>,
    /// The repository that it is published in.
    pub home: Option<&'a Home>,
    /// Its cell has profile and lock with it, though they could be fetched.
    pub offline: bool,
}

impl<'a> Golden<'a> {
    /// The wheel and the repository, where the cell can fetch all from there.
    fn fetched(&self) -> Option<(&'a Binary, &'a Home)> {
        let is_wheel = |binary: &&Binary| binary.url.starts_with("http") && binary.url.ends_with(".whl");
        self.binary.filter(is_wheel).zip(self.home).filter(|_| !self.offline)
    }
}

/// Where a release is published, and who may say that it was withdrawn: literals of the cell, nothing of it is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    pub url: String,
    /// Public keys, `ssh-ed25519 AAAA… NAME`.
    pub keys: Vec<String>,
    pub threshold: usize,
    /// No index with a lower number is believed.
    pub min_seq: u64,
}

/// The first cell of a notebook: it fetches all by digest where that is published, else it has all with it.
pub fn render_boot_cell(golden: Golden<'_>) -> String {
    let Some((binary, home)) = golden.fetched() else { return render_cell(golden) };
    let Home { url, keys, threshold, min_seq } = home;
    let keys: String = keys.iter().map(|key| format!(" --trusted-key {}", shell_word(Path::new(key)))).collect();
    let values = [
        ("@BINARY_URL@", binary.url.clone()),
        ("@BINARY_SHA256@", binary.sha256.to_string()),
        ("@LOCK_SHA256@", Sha256::of(golden.lock.as_bytes()).to_string()),
        ("@HOME@", format!("{url} --threshold {threshold} --min-seq {min_seq}{keys}")),
        ("@RELEASE@", format!("{}@{}", golden.profile.name, golden.profile.version)),
        ("@NAME@", golden.profile.name.to_string()),
        ("@VERSION@", golden.profile.version.to_string()),
    ];
    values.iter().fold(SHORT_CELL.to_owned(), |cell, (name, value)| cell.replace(name, value))
}

/// The Python of the first cell of a script, with all that it needs.
fn render_cell(golden: Golden<'_>) -> String {
    let text = |value: &str| Value::from(value).to_string();
    let (url, sha256) = match golden.binary {
        Some(binary) => (text(&binary.url), text(&binary.sha256.to_string())),
        None => ("None".to_owned(), "None".to_owned()),
    };
    let lock = Sha256::of(golden.lock.as_bytes()).to_string();
    // What a preset and a seed set depends on the target.
    let targets = read_lock(golden.lock).map(|lock| lock.targets).unwrap_or_default();
    let own = golden.profile.environment.keys().cloned();
    let variables: BTreeSet<String> =
        own.chain(targets.iter().flat_map(|target| variables_for(golden.profile, target).all.into_keys())).collect();
    let values = [
        ("@NAME@", golden.profile.name.to_string()),
        ("@VERSION@", golden.profile.version.to_string()),
        ("@TOOL@", env!("CARGO_PKG_VERSION").to_owned()),
        ("\"@PROFILE@\"", packed(&golden.profile.source.text)),
        ("\"@LOCK@\"", packed(golden.lock)),
        ("\"@PROFILE_SHA256@\"", text(&golden.profile.digest.to_string())),
        ("\"@LOCK_SHA256@\"", text(&lock)),
        ("\"@BINARY_URL@\"", url),
        ("\"@BINARY_SHA256@\"", sha256),
        ("\"@VARIABLES@\"", json!(variables).to_string()),
        ("\"@GOLDEN@\"", home(golden)),
    ];
    let cell = PARTS.iter().fold(CELL.to_owned(), |cell, (name, module)| cell.replace(name, body(module)));
    values.iter().fold(cell, |cell, (name, value)| cell.replace(name, value))
}

/// A module without its first paragraphs, which say what it imports: the cell has done so.
fn body(module: &str) -> &str {
    module.split_once("\n\n\n").map_or(module, |(_, body)| body.trim_end())
}

/// The literal that says where the release is published.
fn home(golden: Golden<'_>) -> String {
    let Some(Home { url, keys, threshold, min_seq }) = golden.home else { return "None".to_owned() };
    let release = format!("{}@{}", golden.profile.name, golden.profile.version);
    json!({ "at": url, "release": release, "keys": keys, "threshold": threshold, "min-seq": min_seq }).to_string()
}

/// The cells as one script, `# %%` between them.
pub fn render_script(golden: Golden<'_>) -> String {
    let text = format!("# %%\n{}\n# %%\n{VERIFY}", render_cell(golden));
    format!("{text}{STAMP}{}\n", Sha256::of(text.as_bytes()))
}

/// What the last line of a script begins with: the digest of all before it tells whether somebody has edited it.
const STAMP: &str = "# Built as sha256:";

/// The digest of the cells of a notebook: of which kind each is, and what it says.
fn digest_of<'c>(cells: impl Iterator<Item = (&'c str, &'c str)>) -> Sha256 {
    let text = |(kind, source): (&str, &str)| format!("{kind} {}\n{source}\n", source.len());
    let all: String = cells.map(|(kind, source)| text((kind, source.trim_end()))).collect();
    Sha256::of(all.as_bytes())
}

/// A cell of nbformat 4.5 without outputs; `kind` is `code` or `markdown`.
fn notebook_cell(kind: &str, id: &str, source: &str) -> Value {
    let lines: Vec<&str> = source.trim_end().split_inclusive('\n').collect();
    let mut cell = json!({ "cell_type": kind, "id": id, "metadata": {}, "source": lines });
    if kind == "code" {
        cell["execution_count"] = Value::Null;
        cell["outputs"] = json!([]);
    }
    cell
}

/// The cells as a notebook (nbformat 4.5) without outputs.
pub fn render_notebook(golden: Golden<'_>) -> String {
    let Golden { profile, .. } = golden;
    let title = format!("# {} {}\n\n{}", profile.name, profile.version, profile.description);
    let boot = render_boot_cell(golden);
    notebook_of([("markdown", "about", &title), ("code", "boot", &boot), ("code", "verify", VERIFY)])
}

const ABOUT_FORM: &str = "# A notebook on a GPU\n\nFill in the form, then press \"Run all\". The first cell installs what you chose, \
                          pinned and checked for the driver and the GPU of this machine. If it restarts the kernel, \
                          press \"Run all\" again.";

/// A notebook for people who write no profile: its first cell is a form, and the extension makes a profile of it.
pub fn render_form_notebook() -> String {
    notebook_of([("markdown", "about", ABOUT_FORM), ("code", "boot", FORM_CELL), ("code", "verify", "%boot verify")])
}

/// The notebook of these cells (nbformat 4.5), each with its kind, its name and what it says; and with their digest.
fn notebook_of(cells: [(&str, &str, &str); 3]) -> String {
    let built = digest_of(cells.iter().map(|(kind, _, source)| (*kind, *source)));
    let cells = cells.map(|(kind, id, source)| notebook_cell(kind, id, source));
    let notebook = json!({
        "cells": cells,
        "metadata": {
            "accelerator": "GPU",
            "colab": { "provenance": [] },
            "colab_boot": { "built": built.to_string() },
            "kernelspec": { "display_name": "Python 3", "language": "python", "name": "python3" },
            "language_info": { "name": "python" },
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    });
    format!("{notebook:#}\n")
}

/// Whether a script or notebook is as colab-boot has written it: what somebody has added or edited would be lost.
/// Outputs do not count.
pub fn is_built(text: &str) -> bool {
    let Ok(notebook) = Ipynb::parse(text) else {
        let Some((script, digest)) = text.rsplit_once(STAMP) else { return false };
        return Sha256::of(script.as_bytes()).to_string() == digest.trim_end();
    };
    let whole: Value = serde_json::from_str(&strict(text)).unwrap_or_default();
    let cells = notebook.cells.iter();
    let cells = cells.map(|cell| (cell.value["cell_type"].as_str().unwrap_or_default(), cell.source.as_str()));
    whole["metadata"]["colab_boot"]["built"] == digest_of(cells).to_string()
}

/// zlib and base64, as lines of a Python literal in parentheses.
fn packed(text: &str) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    // Writing to a Vec cannot fail.
    let _ = encoder.write_all(text.as_bytes());
    let bytes = encoder.finish().unwrap_or_default();
    let encoded = BASE64.encode(&bytes);
    let lines: Vec<String> =
        encoded.as_bytes().chunks(108).map(|chunk| format!("    \"{}\"", String::from_utf8_lossy(chunk))).collect();
    format!("(\n{}\n)", lines.join("\n"))
}
