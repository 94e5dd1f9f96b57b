//! A real HTTP server on loopback, in as few lines as will do: what is asked goes to a function, its answer back, after
//! a while if one is wanted. Used by the tests and by the server of the benches.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub path: String,
    /// By lower-case name.
    pub headers: BTreeMap<String, String>,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// A reply.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// After so many bytes of the body the connection ends.
    pub cut: Option<usize>,
    /// The body comes sixteen bytes at a time, with this between them.
    pub drip: Option<Duration>,
}

impl Reply {
    pub fn new(kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, headers: vec![("Content-Type", kind.to_owned())], body: body.into(), cut: None, drip: None }
    }

    pub fn status(status: u16) -> Self {
        Self { status, ..Self::new("text/plain", "") }
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The part that the request asks for, of a body whose first bytes would be at `start` of `total`.
    pub fn part_of(self, asked: &Asked, start: u64, total: u64) -> Self {
        let Some(range) =
            asked.header("range").and_then(|range| range.strip_prefix("bytes=")).filter(|_| self.status == 200)
        else {
            return if start == 0 { self } else { Self::status(404) };
        };
        let (from, to) = match range.split_once('-').expect("a range") {
            ("", last) => (total.saturating_sub(last.parse().expect("a length")), total),
            (from, to) => (from.parse().expect("a start"), to.parse::<u64>().map_or(total, |to| total.min(to + 1))),
        };
        if from >= total {
            return Self::status(416);
        }
        let from = from.max(start);
        let at = |place: u64| usize::try_from(place - start).expect("a place");
        let body = self.body[at(from)..at(to.max(from))].to_vec();
        let range = format!("bytes {from}-{}/{total}", from + body.len() as u64 - 1);
        Self { status: 206, body, ..self }.with("Content-Range", range)
    }
}

/// Serves on a free port of loopback until the process ends; returns the address, `http://127.0.0.1:PORT`.
pub fn serve(latency: Duration, handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let handler = Arc::new(handler);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handler = Arc::clone(&handler);
            std::thread::spawn(move || talk(&stream, latency, &*handler));
        }
    });
    address
}

fn talk(stream: &TcpStream, latency: Duration, handler: &dyn Fn(&Asked) -> Reply) {
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    while let Some((method, asked)) = read(&mut reader) {
        std::thread::sleep(latency);
        let reply = handler(&asked);
        let mut text = format!("HTTP/1.1 {} -\r\nContent-Length: {}\r\n", reply.status, reply.body.len());
        for (name, value) in &reply.headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        let body = if method == "HEAD" { &[] } else { &reply.body[..] };
        let body = &body[..reply.cut.unwrap_or(body.len()).min(body.len())];
        let at_once = if reply.drip.is_some() { 0 } else { body.len() };
        bytes.extend(&body[..at_once]);
        if writer.write_all(&bytes).is_err() || reply.cut.is_some() {
            return;
        }
        for piece in body[at_once..].chunks(16) {
            std::thread::sleep(reply.drip.unwrap_or_default());
            if writer.write_all(piece).is_err() {
                return;
            }
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<(String, Asked)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut asked = Asked { path, ..Asked::default() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return Some((method, asked));
        };
        asked.headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
}
