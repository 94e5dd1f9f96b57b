//! Files of an installed distribution that somebody has changed since.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::boot::files::Held;
use crate::boot::files::claims::unlisted_modules;
use crate::boot::files::expected::{Expected, Infos, Located};
use crate::core::host::digests::digest;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::texts::files_below;

/// A file whose size and mtime are as an installer leaves them is read where it is no larger: an editor may set the
/// time back.
const SMALL: u64 = 1 << 20;

/// So long, in seconds, an installer writes files before their list; who edits one at once leaves no later time.
const BEFORE: i64 = 2;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// As RECORD names it.
    pub path: String,
    pub place: PathBuf,
}

/// The changed files of `held`, as far as its RECORD tells; `is_known` says of a file that it looks as it did when it
/// was right. What was cut to nothing has nothing that could be kept.
pub fn edits(held: Held<'_>, is_known: &dyn Fn(&Path) -> bool) -> Vec<Edit> {
    let Ok(located) = Located::of(held, &mut Infos::default()) else { return Vec::new() };
    let others = located.of_other_build();
    let listed = located.expected().map(|(expected, _)| expected);
    let record = located.info.join("RECORD").look();
    // Where its own list was damaged or deleted, that of its wheel tells what it had, and nothing tells since when.
    let installed = match (&listed, record) {
        (Ok(_), Ok(record)) => (record.mtime(), record.ctime()),
        _ => (i64::MIN, i64::MIN + BEFORE),
    };
    let mut expected = listed.unwrap_or_else(|_| located.of_wheel());
    if expected.is_empty() {
        return written_later(&located, is_known);
    }
    expected.extend(located.outside(&expected));
    let mut found = Vec::new();
    for one in expected.into_iter().filter(|one| !is_known(&one.place)) {
        if one.place.look_at_entry().is_ok_and(|data| data.is_dir()) {
            inside(&one.path, &one.place, &mut found);
        } else if is_changed(&one, installed) {
            found.push(Edit { path: one.path, place: one.place });
        }
    }
    for one in others.into_iter().filter(|one| one.place.look_at_entry().is_ok_and(|data| data.is_file())) {
        if !found.iter().any(|edit| edit.place == one.place) {
            found.push(Edit { path: one.path, place: one.place });
        }
    }
    found
}

/// Without any list of its files: what lies where its modules do and was written later than all of its metadata.
fn written_later(located: &Located<'_>, is_known: &dyn Fn(&Path) -> bool) -> Vec<Edit> {
    // Not RECORD, which somebody has written anew.
    let metadata = ["METADATA", "WHEEL", "INSTALLER"].map(|file| located.info.join(file));
    let times = metadata.iter().filter_map(|file| Some(file.look_at_entry().ok()?.mtime()));
    let (site, Some(installed)) = (located.site(), times.max()) else { return Vec::new() };
    let mut there = Vec::new();
    for module in unlisted_modules(&located.info, located.held.name) {
        files_below(&module, false, &|folder| folder.ends_with("__pycache__"), &mut there);
        files_below(&module.with_added_extension("py"), false, &|_| false, &mut there);
    }
    there.sort();
    there.dedup();
    let is_later = |place: &PathBuf| {
        let data = place.look_at_entry().ok().filter(|data| data.size() > 0);
        data.is_some_and(|data| data.mtime() > installed + BEFORE) && !is_known(place)
    };
    let named = there.into_iter().filter(is_later).filter_map(|place| {
        let path = place.strip_prefix(site).ok()?.to_str()?.to_owned();
        Some(Edit { path, place })
    });
    named.collect()
}

/// Everything in a folder that somebody has made in the place of a file: who deletes the package deletes all of it.
fn inside(path: &str, folder: &Path, found: &mut Vec<Edit>) {
    for name in files::names_if_any(folder) {
        let (path, place) = (format!("{path}/{name}"), folder.join(&name));
        if place.look_at_entry().is_ok_and(|data| data.is_dir()) {
            inside(&path, &place, found);
        } else {
            found.push(Edit { path, place });
        }
    }
}

/// Whether a file has other bytes than it was installed with, at the time (`mtime` and `ctime` of RECORD, seconds) that
/// was written down last.
fn is_changed(one: &Expected, (modified, changed): (i64, i64)) -> bool {
    let Some((sha256, data)) = one.sha256.zip(one.place.look_at_entry().ok()) else { return false };
    // In the place of a file, a link to another one; installers make links to their cache.
    if data.is_symlink() {
        return digest(&one.place).is_ok_and(|(own, _)| own != sha256);
    }
    if !data.is_file() {
        return false;
    }
    if data.size() != one.size || data.size() == 0 {
        return data.size() > 0;
    }
    let may_be = data.mtime() >= modified || data.ctime() >= changed - BEFORE && data.size() <= SMALL;
    may_be && digest(&one.place).is_ok_and(|(own, _)| own != sha256)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::edits;
    use crate::boot::files::Held;
    use crate::boot::machine::Layout;
    use crate::core::host::files::write_whole;
    use crate::core::model::Sha256;

    #[test]
    fn what_was_edited_is_found_and_what_was_cut_to_nothing_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let layout = Layout::of_tests(folder.path());
        let site = folder.path().join("lib");
        let names = ["same.py", "longer.py", "as_long.py", "dated_back.py", "empty.py", "gone.py"];
        let digest = data_encoding::HEXLOWER.decode(Sha256::of(b"x = 1\n").to_string().as_bytes()).expect("hex");
        let digest = data_encoding::BASE64URL_NOPAD.encode(&digest);
        for name in names {
            write_whole(&site.join(name), b"x = 1\n").expect(name);
        }
        let record: String = names.iter().map(|name| format!("{name},sha256={digest},6\n")).collect();
        write_whole(&site.join("demo-1.0.dist-info/RECORD"), record.as_bytes()).expect("a RECORD");
        let (name, version) = ("demo".parse().expect("a name"), "1.0".parse().expect("a version"));
        let found = |known: &str| -> Vec<String> {
            edits(Held { layout: &layout, name: &name, version: &version, wheel: None }, &|place| {
                place.ends_with(known)
            })
            .into_iter()
            .map(|edit| edit.path)
            .collect()
        };
        assert_eq!(found("none"), Vec::<String>::new());
        // In the second of the install, and as long as before.
        write_whole(&site.join("same.py"), b"x = 9\n").expect("a file");
        assert_eq!(found("none"), ["same.py"]);
        write_whole(&site.join("same.py"), b"x = 1\n").expect("a file");
        std::thread::sleep(Duration::from_millis(1100));
        for (name, text) in
            [("longer.py", "x = 11\n"), ("as_long.py", "x = 2\n"), ("dated_back.py", "x = 3\n"), ("empty.py", "")]
        {
            write_whole(&site.join(name), text.as_bytes()).expect(name);
        }
        let open = std::fs::File::options().write(true).open(site.join("dated_back.py")).expect("a file");
        open.set_modified(std::time::UNIX_EPOCH).expect("a time");
        std::fs::remove_file(site.join("gone.py")).expect("a removal");
        assert_eq!(found("none"), ["longer.py", "as_long.py", "dated_back.py"]);
        assert_eq!(found("longer.py"), ["as_long.py", "dated_back.py"]);
    }
}
