//! Files as texts, in whatever encoding they are; and all files below a folder.

use std::cell::RefCell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;

/// A larger file is no text that people write.
const LARGEST: u64 = 256 << 20;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnyText {
    Utf8(String),
    /// UTF-16 with its mark, or bytes taken for Latin-1: to be read, and not to be written again.
    Other(String),
    /// It is no text.
    Binary,
    /// Why it can't be read.
    Unread(String),
}

/// Reads `path`.
pub fn read_any(path: &Path) -> AnyText {
    if path.look().is_ok_and(|data| data.len() > LARGEST) {
        return AnyText::Unread(format!("it is larger than {} MB", LARGEST >> 20));
    }
    let bytes = match files::read_bytes(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) => return AnyText::Unread(error.to_string()),
    };
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return files::decode(bytes).map_or(AnyText::Binary, AnyText::Other);
    }
    if bytes.iter().take(8192).any(|byte| *byte == 0) {
        return of_holes(bytes);
    }
    String::from_utf8(bytes).map_or_else(
        |error| AnyText::Other(error.as_bytes().iter().map(|byte| char::from(*byte)).collect()),
        AnyText::Utf8,
    )
}

/// A text with zeros in it, as logs have whose beginning was cut off while somebody wrote; other bytes with zeros are
/// no text.
fn of_holes(bytes: Vec<u8>) -> AnyText {
    let bytes: Vec<u8> = bytes.into_iter().map(|byte| if byte == 0 { b' ' } else { byte }).collect();
    let start = &bytes[..bytes.len().min(1 << 20)];
    let strange =
        start.iter().filter(|byte| **byte < b' ' && !b"\t\n\r\x0c\x1b".contains(byte) || **byte == 0x7f).count();
    let is_text = strange * 100 < start.len() && start.iter().any(|byte| *byte > b' ');
    match String::from_utf8(bytes) {
        Ok(text) if is_text => AnyText::Other(text),
        _ => AnyText::Binary,
    }
}

/// Folders that are not looked into.
const ASIDE: &[&str] = &[".git", ".hg", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache"];

/// Folders of tools, and environments.
pub fn is_aside(folder: &Path) -> bool {
    folder.is_symlink()
        || folder.file_name().is_some_and(|name| ASIDE.iter().any(|aside| name == *aside))
        || folder.join("pyvenv.cfg").is_file_there()
}

/// What paths of a user's name.
#[derive(Debug)]
pub struct FilesBelow {
    /// Sorted.
    pub files: Vec<PathBuf>,
    /// Folders of tools, and links, that were not looked into.
    pub aside: Vec<PathBuf>,
}

/// The files that `paths` name, and those below the folders that they name. A path that is neither is an error.
pub fn named_files(paths: &[PathBuf]) -> Result<FilesBelow, Failure> {
    let (mut all, aside) = (Vec::new(), RefCell::new(Vec::new()));
    let passes = |path: &Path| {
        let passes = is_aside(path);
        aside.borrow_mut().extend(passes.then(|| path.to_owned()));
        passes
    };
    for path in paths {
        let data = path.look();
        if path.is_missing() || data.is_ok_and(|data| !data.is_file() && !data.is_dir()) {
            let what = if path.look_at_entry().is_ok() { "is neither a file nor a folder" } else { "is not there" };
            return Err(Failure::input(format!("`{}` {what}", path.display())));
        }
        files_below(path, true, &passes, &mut all);
    }
    all.sort();
    all.dedup();
    Ok(FilesBelow { files: all, aside: aside.into_inner() })
}

/// What a file is called in a report: no two have one name, though a name need not be a text.
pub fn name_of(path: &Path) -> String {
    path.to_str().map_or_else(|| path.as_os_str().as_encoded_bytes().escape_ascii().to_string(), ToOwned::to_owned)
}

/// The files below `path`, or `path` itself, into `all`. Links are not followed but where they are `named`; folders
/// that `is_aside` says are passed over. Links are asked for, too.
pub fn files_below(path: &Path, named: bool, is_aside: &dyn Fn(&Path) -> bool, all: &mut Vec<PathBuf>) {
    let data = match path.look_at_entry() {
        Ok(data) => data,
        Err(error) if error.kind() == ErrorKind::NotFound => return,
        Err(_) => return all.push(path.to_owned()),
    };
    if data.is_symlink() && !named {
        is_aside(path);
    } else if data.is_file() || named && path.is_file_there() {
        all.push(path.to_owned());
    } else if (data.is_dir() || named && path.is_folder_there()) && (named || !is_aside(path)) {
        // Not by `files::names_if_any`: a name that is no text counts as well, and a folder that can't be read is one
        // to be named.
        let Ok(entries) = std::fs::read_dir(path) else { return all.push(path.to_owned()) };
        let mut below: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        below.sort();
        for path in below {
            files_below(&path, false, is_aside, all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_in_whatever_encoding() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |bytes: &[u8]| {
            let path = folder.path().join("file");
            files::write_whole(&path, bytes).expect("a file");
            read_any(&path)
        };
        assert_eq!(read("café".as_bytes()), AnyText::Utf8("café".to_owned()));
        assert_eq!(read(b"caf\xe9 a"), AnyText::Other("café a".to_owned()));
        assert_eq!(read(b"\xff\xfea\0b\0"), AnyText::Other("ab".to_owned()));
        assert_eq!(read(b"PK\x03\x04\0\0"), AnyText::Binary);
        assert!(matches!(read_any(&folder.path().join("none")), AnyText::Unread(_)));
    }
}
