//! A package index on loopback: pages and metadata from a table, wheels from memory, and a count of what was asked.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Cursor, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use colab_boot::model::{Architecture, Sha256};
use serde::Deserialize;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

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
    /// Files of its wheels besides METADATA, with their text.
    pub files: BTreeMap<String, String>,
    /// Architectures that a library of its wheels has code for: `sm_75`, `compute_90`; `broken` for a library that is cut off.
    pub code: Vec<String>,
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
    /// Neither is any wheel.
    NoWheels,
    /// Every reply is this text.
    Document(&'static str),
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
        let mut range = None;
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|count| count > 0) {
            let text = line.trim_end().to_owned();
            line.clear();
            if text.is_empty() {
                break;
            }
            path = path.or_else(|| text.split(' ').nth(1).map(str::to_owned));
            range = range.or_else(|| text.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
        }
        let Some(path) = path else {
            return;
        };
        asked.lock().expect("a lock").push(path.clone());
        let (mut status, kind, mut body) = answer(&path, table, manner);
        let mut more = String::new();
        if let Some(range) = range.filter(|_| status.starts_with("200")) {
            let total = body.len();
            let (start, end) = match range.split_once('-').expect("a range") {
                ("", last) => (total.saturating_sub(last.parse().expect("a length")), total),
                (start, end) => {
                    (start.parse().expect("a start"), end.parse::<usize>().map_or(total, |end| total.min(end + 1)))
                }
            };
            body = body[start..end].to_vec();
            status = "206 Partial Content";
            more = format!("Content-Range: bytes {start}-{}/{total}\r\n", end - 1);
        }
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {length}\r\n\r\n");
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).is_err() {
            return;
        }
    }
}

fn answer(path: &str, table: &Table, manner: Manner) -> (&'static str, &'static str, Vec<u8>) {
    let missing = ("404 Not Found", "text/plain", Vec::new());
    match manner {
        Manner::Unavailable => return ("503 Service Unavailable", "text/plain", Vec::new()),
        Manner::Document(text) => return ("200 OK", "text/plain", text.as_bytes().to_vec()),
        Manner::LoginPage => return ("200 OK", "text/plain", b"please log in".to_vec()),
        _ => {}
    }
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    match parts.as_slice() {
        ["simple", name] => {
            table.get(*name).map_or(missing, |releases| ("200 OK", "text/html", page(name, releases).into_bytes()))
        }
        ["simple", name, file] => {
            let sidecar = file.strip_suffix(".metadata").filter(|_| manner == Manner::Good);
            let text = sidecar.and_then(|wheel| metadata(name, wheel, table.get(*name)?)).map(String::into_bytes);
            let whole = || wheel(name, file, table.get(*name)?).filter(|_| manner != Manner::NoWheels);
            text.or_else(whole).map_or(missing, |body| ("200 OK", "text/plain", body))
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

/// The wheel itself.
fn wheel(name: &str, file: &str, releases: &BTreeMap<String, Release>) -> Option<Vec<u8>> {
    let text = metadata(name, file, releases)?;
    let decoded = file.replace("%2B", "+");
    let (version, release) =
        releases.iter().find(|(version, release)| files(name, version, release).contains(&decoded))?;
    let stem = name.replace('-', "_");
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |path: &str, bytes: &[u8]| {
        writer.start_file(path, SimpleFileOptions::default()).expect("a member");
        writer.write_all(bytes).expect("its bytes");
    };
    for (path, text) in &release.files {
        add(path, text.as_bytes());
    }
    if !release.code.is_empty() {
        add(&format!("{stem}/_cuda.so"), &library(&release.code));
    }
    add(&format!("{stem}-{version}.dist-info/METADATA"), text.as_bytes());
    Some(writer.finish().expect("an archive").into_inner())
}

/// An ELF file with one fat binary; its PTX is of ISA 8.0, CUDA 12.0.
fn library(code: &[String]) -> Vec<u8> {
    let mut entries = Vec::new();
    for name in code.iter().filter(|name| *name != "broken") {
        let architecture: Architecture = name.parse().expect("an architecture");
        let kind: u16 = if architecture.ptx { 1 } else { 2 };
        let number = architecture.capability.major * 10 + architecture.capability.minor;
        let flags: u64 = match architecture.suffix {
            Some('a') => 0x10_0011,
            Some(_) => 0x20_0011,
            None => 0x11,
        };
        entries.extend([kind.to_le_bytes(), 0x101_u16.to_le_bytes()].concat());
        entries.extend(64_u32.to_le_bytes());
        entries.extend(8_u64.to_le_bytes());
        entries.extend([0; 8]);
        entries.extend([0_u16.to_le_bytes(), 8_u16.to_le_bytes()].concat());
        entries.extend(number.to_le_bytes());
        entries.extend([0; 8]);
        entries.extend(flags.to_le_bytes());
        entries.extend([0; 24]);
    }
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(18, 0);
    bytes.extend([62, 0]);
    bytes.resize(4096, 0);
    bytes.extend([0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0]);
    let beyond = if code.iter().any(|name| name == "broken") { 1 << 20 } else { 0 };
    bytes.extend((entries.len() as u64 + beyond).to_le_bytes());
    bytes.extend(entries);
    bytes
}
