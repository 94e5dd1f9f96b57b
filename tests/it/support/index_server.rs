//! A package index on loopback: pages and metadata from a table, wheels from memory, and a count of what was asked.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use colab_boot::core::model::Sha256;
use data_encoding::HEXLOWER;
use md5::{Digest, Md5};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::http::{Asked, Reply, serve};
use crate::support::wheel::{files, metadata, wheel};

/// One release of the table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Release {
    pub requires: Vec<String>,
    pub extras: Vec<String>,
    pub python: Option<String>,
    pub yanked: Option<String>,
    /// `py3-none-any` unless said otherwise; several make several wheels; none makes an sdist.
    pub tags: Option<Vec<String>>,
    /// There is an sdist beside the wheels.
    pub sdist: bool,
    /// The name that its files have, where it is not the normalised one.
    pub named: Option<String>,
    pub uploaded: Option<String>,
    /// Lines of METADATA that are there as they stand.
    pub lines: Vec<String>,
    /// What the wheel of one tag asks for in place of `requires`.
    pub wheels: BTreeMap<String, Vec<String>>,
    /// `Requires-Python` of the wheel of one tag in place of `python`.
    pub pythons: BTreeMap<String, String>,
    /// Files of its wheels besides METADATA, with their text.
    pub files: BTreeMap<String, String>,
    /// Architectures that a library of its wheels has code for: `sm_75`, `compute_90`; `broken` for a library that is
    /// cut off.
    pub code: Vec<String>,
    /// Shared objects by path, as `support::object` describes them.
    pub objects: BTreeMap<String, String>,
}

pub type Table = BTreeMap<String, BTreeMap<String, Release>>;

/// How an index presents what it has.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Looks {
    /// JSON where it is asked for; HTML otherwise.
    pub json: bool,
    pub sidecar: Advertised,
    pub digests: Digests,
    /// A `<base>` that the links are relative to; JSON has absolute paths then.
    pub base: bool,
    /// HTML that is added to the page of a package.
    pub html: BTreeMap<String, String>,
    /// Files that come last on every page, first otherwise: the order says nothing.
    pub backwards: bool,
    /// `name:password` that every request must bring.
    pub login: Option<String>,
    /// Pages have an `ETag`, and are not sent to who has them.
    pub validator: bool,
    pub latency_ms: u64,
    /// Nothing answers a request for a range.
    pub no_ranges: bool,
    /// Wheels come sixteen bytes at a time, with this between them.
    pub drip_ms: u64,
}

/// How METADATA beside a wheel is advertised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advertised {
    #[default]
    There,
    Hashed,
    /// With the digest of another text.
    Wrong,
    /// With the key that came before PEP 714.
    Old,
    /// But it is not there.
    Missing,
    Absent,
    /// Without what the wheel requires.
    Hiding,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Digests {
    #[default]
    Sha256,
    /// The MD5 of the wheels as they are, and nothing else.
    Md5,
    /// An MD5 of other files.
    OtherMd5,
    /// A SHA-512 of other files.
    OtherSha512,
    None,
    /// Those of the wheels as they are, for installing.
    True,
}

/// The running index.
pub struct IndexServer {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// How the index misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Good,
    /// Every reply is a 503.
    Unavailable,
    /// Pages are a login form.
    LoginPage,
    /// Metadata is advertised but not there.
    NoSidecar,
    /// Neither is any wheel.
    NoWheels,
    /// Every reply is this text.
    Document(&'static str),
}

struct Index {
    table: Table,
    manner: Manner,
    looks: Looks,
}

impl IndexServer {
    /// Starts it; it ends with the test process.
    pub fn start(table: Table, manner: Manner) -> Self {
        Self::with(table, manner, Looks::default())
    }

    pub fn with(table: Table, manner: Manner, looks: Looks) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let latency = Duration::from_millis(looks.latency_ms);
        let index = Index { table, manner, looks };
        let address = serve(latency, move |asked| {
            seen.lock().expect("a lock").push(asked.clone());
            index.answer(asked)
        });
        Self { url: format!("{address}/simple"), asked }
    }

    /// The paths that were asked for.
    pub fn asked(&self) -> Vec<String> {
        self.requests().into_iter().map(|asked| asked.path).collect()
    }

    /// The requests, with their headers.
    pub fn requests(&self) -> Vec<Asked> {
        self.asked.lock().expect("a lock").clone()
    }
}

impl Index {
    fn answer(&self, asked: &Asked) -> Reply {
        match self.manner {
            Manner::Unavailable => return Reply::status(503),
            Manner::Document(text) => return Reply::new("text/plain", text),
            Manner::LoginPage => return Reply::new("text/plain", "please log in"),
            _ => {}
        }
        if let Some(login) = &self.looks.login {
            let expected = format!("Basic {}", data_encoding::BASE64.encode(login.as_bytes()));
            if asked.header("authorization") != Some(&expected) {
                return Reply::status(401);
            }
        }
        let parts: Vec<&str> = asked.path.trim_matches('/').split('/').collect();
        match parts.as_slice() {
            ["simple", name] => {
                self.table.get(*name).map_or(Reply::status(404), |releases| self.page(name, releases, asked))
            }
            ["simple" | "files", name, file] => self.file(name, &file.replace("%2B", "+"), asked),
            _ => Reply::status(404),
        }
    }

    fn file(&self, name: &str, file: &str, asked: &Asked) -> Reply {
        let Some(releases) = self.table.get(name) else {
            return Reply::status(404);
        };
        if let Some(wheel) = file.strip_suffix(".metadata") {
            let hidden =
                self.manner != Manner::Good || matches!(self.looks.sidecar, Advertised::Missing | Advertised::Absent);
            let mut text = metadata(name, wheel, releases).filter(|_| !hidden);
            if self.looks.sidecar == Advertised::Hiding {
                let shown = |text: String| {
                    text.lines()
                        .filter(|line| !line.starts_with("Requires-Dist"))
                        .map(|line| format!("{line}\n"))
                        .collect()
                };
                text = text.map(shown);
            }
            return text.map_or(Reply::status(404), |text| Reply::new("text/plain", text));
        }
        let Some(bytes) = wheel(name, file, releases).filter(|_| self.manner != Manner::NoWheels) else {
            return Reply::status(404);
        };
        let total = bytes.len() as u64;
        let drip = Some(Duration::from_millis(self.looks.drip_ms)).filter(|drip| !drip.is_zero());
        let whole = Reply { drip, ..Reply::new("application/octet-stream", bytes) };
        if self.looks.no_ranges { whole } else { whole.part_of(asked, 0, total) }
    }

    fn page(&self, name: &str, releases: &BTreeMap<String, Release>, asked: &Asked) -> Reply {
        let mut listed: Vec<Value> = Vec::new();
        for (version, release) in releases {
            for file in files(name, version, release) {
                listed.push(self.entry(name, &file, (releases, release)));
            }
        }
        if self.looks.backwards {
            listed.reverse();
        }
        let accepts = asked.header("accept").is_some_and(|accept| accept.contains("v1+json"));
        let reply = if self.looks.json && accepts {
            let page = json!({ "meta": { "api-version": "1.1" }, "name": name, "files": listed, "versions": [] });
            Reply::new("application/vnd.pypi.simple.v1+json", page.to_string())
        } else {
            let extra = self.looks.html.get(name).map(String::as_str).unwrap_or_default();
            Reply::new("text/html; charset=utf-8", self.html(name, &listed) + extra)
        };
        if !self.looks.validator {
            return reply;
        }
        let tag = format!("\"{}\"", Sha256::of(&reply.body).short());
        let known = asked.header("if-none-match") == Some(&tag);
        let reply = if known { Reply::status(304) } else { reply };
        reply.with("ETag", tag).with("Cache-Control", "max-age=0")
    }

    /// One file as JSON has it.
    fn entry(&self, name: &str, file: &str, (releases, release): (&BTreeMap<String, Release>, &Release)) -> Value {
        let tag = file.splitn(3, '-').nth(2).unwrap_or_default().trim_end_matches(".whl");
        let mut entry = json!({ "filename": file, "url": file.replace('+', "%2B"), "hashes": {} });
        if self.looks.base {
            entry["url"] = json!(format!("/files/{name}/{}", file.replace('+', "%2B")));
        }
        match self.looks.digests {
            Digests::Sha256 => entry["hashes"] = json!({ "sha256": Sha256::of(file.as_bytes()) }),
            Digests::True => {
                let bytes = wheel(name, file, releases).unwrap_or_default();
                entry["hashes"] = json!({ "sha256": Sha256::of(&bytes) });
                entry["size"] = json!(bytes.len());
            }
            Digests::Md5 => {
                let bytes = wheel(name, file, releases).unwrap_or_default();
                entry["hashes"] = json!({ "md5": HEXLOWER.encode(&Md5::digest(&bytes)) });
            }
            Digests::OtherMd5 => entry["hashes"] = json!({ "md5": "d41d8cd98f00b204e9800998ecf8427e" }),
            Digests::OtherSha512 => entry["hashes"] = json!({ "sha512": "ab".repeat(64) }),
            Digests::None => {}
        }
        if let Some(python) = release.pythons.get(tag).or(release.python.as_ref()) {
            entry["requires-python"] = json!(python);
        }
        if let Some(yanked) = &release.yanked {
            entry["yanked"] = if yanked.is_empty() { json!(true) } else { json!(yanked) };
        }
        if let Some(uploaded) = &release.uploaded {
            entry["upload-time"] = json!(uploaded);
        }
        let text = metadata(name, file, releases).filter(|_| file.ends_with(".whl"));
        let Some(text) = text else { return entry };
        match self.looks.sidecar {
            Advertised::There | Advertised::Missing | Advertised::Hiding => entry["core-metadata"] = json!(true),
            Advertised::Hashed => entry["core-metadata"] = json!({ "sha256": Sha256::of(text.as_bytes()) }),
            Advertised::Wrong => entry["core-metadata"] = json!({ "sha256": Sha256::of(b"another") }),
            Advertised::Old => entry["dist-info-metadata"] = json!({ "sha256": Sha256::of(text.as_bytes()) }),
            Advertised::Absent => {}
        }
        entry
    }

    /// The same files as links.
    fn html(&self, name: &str, listed: &[Value]) -> String {
        let mut text =
            String::from("<!DOCTYPE html><html><head><meta name=\"pypi:repository-version\" content=\"1.1\">");
        if self.looks.base {
            let _ = write!(text, "<base href=\"/files/{name}/\">");
        }
        text.push_str("</head><body>\n");
        for entry in listed {
            let value = |key: &str| entry[key].as_str().map(|text| text.replace('>', "&gt;").replace('<', "&lt;"));
            let (kind, digest) = match (&entry["hashes"]["sha256"], &entry["hashes"]["md5"]) {
                (Value::String(digest), _) => ("#sha256=", digest.as_str()),
                (_, Value::String(digest)) => ("#md5=", digest.as_str()),
                _ => ("", ""),
            };
            let file = value("filename").unwrap_or_default();
            let _ = write!(text, "<a href=\"{}{kind}{digest}\"", file.replace('+', "%2B"));
            for (key, name) in [
                ("requires-python", "data-requires-python"),
                ("upload-time", "data-upload-time"),
                ("yanked", "data-yanked"),
            ] {
                if let Some(value) = value(key) {
                    let _ = write!(text, " {name}=\"{value}\"");
                }
            }
            if entry["yanked"] == json!(true) {
                text.push_str(" data-yanked");
            }
            for (key, name) in
                [("core-metadata", "data-core-metadata"), ("dist-info-metadata", "data-dist-info-metadata")]
            {
                match &entry[key]["sha256"] {
                    Value::String(digest) => drop(write!(text, " {name}=\"sha256={digest}\"")),
                    _ if entry[key] == json!(true) => drop(write!(text, " {name}=\"true\"")),
                    _ => {}
                }
            }
            let _ = writeln!(text, " data-gpg-sig=\"true\">{file}</a>");
        }
        text + "</body></html>"
    }
}
