//! Serves a recorded index on loopback, for benches: `cargo run --release --example index-server -- FOLDER
//! [LATENCY_MS]`. Prints its address. `benches/record.py` makes the folder: `pages/NAME.json`,
//! `metadata/WHEEL.metadata`, `tails/WHEEL` with the last bytes of a wheel behind eight bytes of its length.

#![expect(unreachable_pub, clippy::expect_used, clippy::print_stdout, reason = "a program for benches")]

#[path = "../tests/it/support/http.rs"]
mod http;

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use http::{Asked, Reply, serve};

struct Recorded {
    pages: HashMap<String, Vec<u8>>,
    metadata: HashMap<String, Vec<u8>>,
    /// Length of the wheel, and its last bytes.
    tails: HashMap<String, (u64, Vec<u8>)>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a recorded folder");
    let latency = arguments.next().map_or(0, |text| text.parse().expect("milliseconds"));
    let recorded = Recorded::read(Path::new(&folder));
    println!("{}/simple", serve(Duration::from_millis(latency), move |asked| recorded.answer(asked)));
    loop {
        std::thread::park();
    }
}

/// The files of a folder by name, all in memory: a disk is not what is measured.
fn files(folder: &Path) -> HashMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let read = |path: &Path| std::fs::read(path).expect("a file");
    entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), read(&entry.path()))).collect()
}

impl Recorded {
    fn read(folder: &Path) -> Self {
        let tail = |bytes: Vec<u8>| (u64::from_le_bytes(bytes[..8].try_into().expect("a length")), bytes[8..].to_vec());
        let tails = files(&folder.join("tails")).into_iter().map(|(name, bytes)| (name, tail(bytes)));
        Self { pages: files(&folder.join("pages")), metadata: files(&folder.join("metadata")), tails: tails.collect() }
    }

    fn answer(&self, asked: &Asked) -> Reply {
        let parts: Vec<&str> = asked.path.trim_matches('/').split('/').collect();
        match parts.as_slice() {
            ["simple", name] => {
                let page = self.pages.get(&format!("{name}.json"));
                page.map_or(Reply::status(404), |body| Reply::new("application/vnd.pypi.simple.v1+json", body.clone()))
            }
            ["files", file] => {
                let file = file.replace("%2B", "+");
                if let Some(body) = self.metadata.get(&file) {
                    return Reply::new("text/plain", body.clone());
                }
                match self.tails.get(&file) {
                    Some((total, tail)) => {
                        let start = total - tail.len() as u64;
                        Reply::new("application/octet-stream", tail.clone()).part_of(asked, start, *total)
                    }
                    None => Reply::status(404),
                }
            }
            _ => Reply::status(404),
        }
    }
}
