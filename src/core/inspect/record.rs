//! RECORD, the list of a distribution's files with digests
//! (<https://packaging.python.org/specifications/recording-installed-packages/>).

use std::collections::BTreeSet;

use crate::core::model::Sha256;
use crate::core::model::contents::{Files, Member};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: String,
    /// `None` for RECORD itself, for files that an installer makes, and where there are several.
    pub sha256: Option<Sha256>,
    /// Several digests, of which the file has one: several packages have it, and what is kept of their wheels' RECORDs
    /// says so. No RECORD of an installer does.
    pub either: Vec<Sha256>,
    /// Bytes; 0 where it does not say.
    pub size: u64,
}

/// The entries of a RECORD. A row that makes no sense is passed over.
pub fn parse_record(text: &str) -> Vec<Entry> {
    // Without quotes a line is what it looks like; nearly all are so, and one apply reads a hundred thousand.
    if memchr::memchr2(b'"', b'\r', text.as_bytes()).is_none() {
        return text.split('\n').filter_map(|line| entry(line.split(','))).collect();
    }
    let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    reader.into_records().filter_map(|row| entry(row.ok()?.iter())).collect()
}

/// The files with a digest that a RECORD names.
pub fn files_of_record(text: &str) -> Files {
    files_of(parse_record(text).iter())
}

/// Those with a digest among `entries`.
pub fn files_of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Files {
    Files { members: entries.filter_map(|entry| Some(Member::of_record(entry.path.clone(), &entry.sha256?))).collect() }
}

fn entry<'a>(mut columns: impl Iterator<Item = &'a str>) -> Option<Entry> {
    let path = columns.next().filter(|path| !path.is_empty())?;
    let digest = columns.next()?;
    let size = columns.next().and_then(|size| size.parse().ok()).unwrap_or_default();
    let (sha256, either) =
        if digest.contains(' ') { (None, digests(digest)) } else { (one_digest(digest), Vec::new()) };
    Some(Entry { path: path.to_owned(), sha256, either, size })
}

/// `sha256=DIGEST`.
fn one_digest(text: &str) -> Option<Sha256> {
    text.strip_prefix("sha256=").and_then(Sha256::from_record)
}

/// Several of them with blanks between; none where one can't be read.
fn digests(column: &str) -> Vec<Sha256> {
    column.split(' ').map(one_digest).collect::<Option<_>>().unwrap_or_default()
}

/// The line of a RECORD for a file that has one of several `digests`.
pub fn shared_line(path: &str, digests: &BTreeSet<Sha256>) -> String {
    let digests: Vec<String> = digests.iter().map(column).collect();
    line([path, &digests.join(" "), "1"])
}

/// The line of a RECORD for a file with its digest and its size in bytes, where those are known.
pub fn record_line(path: &str, contents: Option<(&Sha256, u64)>) -> String {
    let (digest, size) = contents.map(|(sha256, size)| (column(sha256), size.to_string())).unwrap_or_default();
    line([path, &digest, &size])
}

fn column(sha256: &Sha256) -> String {
    format!("sha256={}", sha256.to_record())
}

fn line(columns: [&str; 3]) -> String {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    let _ = writer.write_record(columns);
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::parse_record;

    #[test]
    fn lines_are_read_with_and_without_quotes() {
        let digest = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";
        let text = format!("a/b.py,sha256={digest},12\n\"a/x,y.py\",sha256={digest},0\na-1.0.dist-info/RECORD,,\n");
        let entries = parse_record(&text);
        let paths: Vec<_> = entries.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, ["a/b.py", "a/x,y.py", "a-1.0.dist-info/RECORD"]);
        assert_eq!(entries[0].sha256, Some(crate::core::model::Sha256::of(b"")));
        assert_eq!(entries[2].sha256, None);
        assert_eq!(entries.iter().map(|entry| entry.size).collect::<Vec<_>>(), [12, 0, 0]);
        let odd = parse_record("\"a\nb.py\",,\n\"c\"\"d.py\",sha256=no,x\n\nno comma\nlast.py,,");
        let paths: Vec<_> = odd.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, ["a\nb.py", "c\"d.py", "last.py"]);
    }
}
