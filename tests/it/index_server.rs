//! A package index on loopback: pages and metadata from a table, wheels from memory, and a count of what was asked.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use colab_boot::model::Sha256;
use serde::Deserialize;

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
    pub uploaded: Option<String>,
}

pub type Table = BTreeMap<String, BTreeMap<String, Release>>;

/// The running index.
pub struct IndexServer {
    pub url: String,
    asked: Arc<Mutex<Vec<String>>>,
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
}

impl IndexServer {
    /// Starts it; it ends with the test process.
    pub fn start(table: Table, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/simple", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let table = Arc::new(table);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (table, seen) = (Arc::clone(&table), Arc::clone(&seen));
                std::thread::spawn(move || serve(stream, &table, manner, &seen));
            }
        });
        Self { url, asked }
    }

    /// The paths that were asked for.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("a lock").clone()
    }
}

fn serve(stream: TcpStream, table: &Table, manner: Manner, asked: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut stream = stream;
    loop {
        let mut path = None;
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|count| count > 0) {
            let text = line.trim_end().to_owned();
            line.clear();
            if text.is_empty() {
                break;
            }
            path = path.or_else(|| text.split(' ').nth(1).map(str::to_owned));
        }
        let Some(path) = path else {
            return;
        };
        asked.lock().expect("a lock").push(path.clone());
        let (status, kind, body) = answer(&path, table, manner);
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).is_err() {
            return;
        }
    }
}

fn answer(path: &str, table: &Table, manner: Manner) -> (&'static str, &'static str, String) {
    let missing = ("404 Not Found", "text/plain", String::new());
    match manner {
        Manner::Unavailable => return ("503 Service Unavailable", "text/plain", String::new()),
        Manner::LoginPage => return ("200 OK", "text/plain", "please log in".to_owned()),
        _ => {}
    }
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    match parts.as_slice() {
        ["simple", name] => table.get(*name).map_or(missing, |releases| ("200 OK", "text/html", page(name, releases))),
        ["simple", name, file] => {
            let wheel = file.strip_suffix(".metadata").filter(|_| manner != Manner::NoSidecar);
            let text = wheel.and_then(|wheel| metadata(name, wheel, table.get(*name)?));
            text.map_or(missing, |text| ("200 OK", "text/plain", text))
        }
        _ => missing,
    }
}

fn files(name: &str, version: &str, release: &Release) -> Vec<String> {
    let stem = name.replace('-', "_");
    match &release.tags {
        None => vec![format!("{stem}-{version}-py3-none-any.whl")],
        Some(tags) if tags.is_empty() => vec![format!("{stem}-{version}.tar.gz")],
        Some(tags) => tags.iter().map(|tag| format!("{stem}-{version}-{tag}.whl")).collect(),
    }
}

fn page(name: &str, releases: &BTreeMap<String, Release>) -> String {
    let mut text = String::from("<!DOCTYPE html><html><body>\n");
    for (version, release) in releases {
        for file in files(name, version, release) {
            let digest = Sha256::of(file.as_bytes());
            let python = release
                .python
                .as_ref()
                .map(|text| format!(" data-requires-python=\"{}\"", text.replace('>', "&gt;").replace('<', "&lt;")));
            let yanked = release.yanked.as_ref().map(|text| format!(" data-yanked=\"{text}\""));
            let uploaded = release.uploaded.as_ref().map(|text| format!(" data-upload-time=\"{text}\""));
            let extra: String = [python, yanked, uploaded].into_iter().flatten().collect();
            let _ = writeln!(
                text,
                "<a href=\"{}#sha256={digest}\" data-core-metadata=\"true\"{extra}>x</a>",
                file.replace('+', "%2B")
            );
        }
    }
    text + "</body></html>"
}

fn metadata(name: &str, wheel: &str, releases: &BTreeMap<String, Release>) -> Option<String> {
    let wheel = wheel.replace("%2B", "+");
    let (version, release) =
        releases.iter().find(|(version, release)| files(name, version, release).contains(&wheel))?;
    let mut text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
    for requirement in &release.requires {
        let _ = writeln!(text, "Requires-Dist: {requirement}");
    }
    for extra in &release.extras {
        let _ = writeln!(text, "Provides-Extra: {extra}");
    }
    Some(text)
}
