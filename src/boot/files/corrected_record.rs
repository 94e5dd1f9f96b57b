//! Corrects a RECORD before an installer uninstalls by it: the installer removes every file that RECORD lists, also one
//! of the user, and leaves every file that RECORD leaves out.

use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};

use crate::boot::files::expected::{lexical, place, unlisted};
use crate::boot::machine::{Layout, record_in};
use crate::core::diag::Failure;
use crate::core::host::digests::has_digest;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::inspect::{Entry, parse_record};

/// What is known of a distribution besides its own RECORD.
pub struct KnownFiles<'a> {
    /// The RECORD of its wheel, where colab-boot has installed it.
    pub wheel: Option<Vec<Entry>>,
    /// The names of the scripts that installers make for it.
    pub scripts: Vec<String>,
    pub layout: &'a Layout,
}

/// Makes the RECORD in the dist-info folder `info` list what is the distribution's, and nothing else: what its wheel
/// has and the RECORD leaves out is added where it is there, what leads out of the environment or is not in the wheel
/// goes from the list. Returns the places of the latter. A RECORD that is right stays as it is. Fails where it can't be
/// read or written.
pub fn put_record_right(info: &Path, known: &KnownFiles<'_>) -> Result<Vec<PathBuf>, Failure> {
    let record = info.join("RECORD");
    let layout = known.layout;
    let site = info.parent().unwrap_or(&layout.purelib);
    // What is no file is no list: the metadata goes aside as a whole.
    if record.look_at_entry().is_ok_and(|data| !data.is_file()) {
        return Ok(Vec::new());
    }
    let text = record_in(info)?.unwrap_or_default();
    let own = parse_record(&text);
    let wheel = known.wheel.as_deref().unwrap_or_default();
    let mut left_out: Vec<PathBuf> = unlisted(wheel, &own, site, layout).map(|(_, place)| place).collect();
    let strange = strange(&own, info, known);
    if left_out.is_empty() && strange.is_empty() {
        return Ok(Vec::new());
    }
    let listed: HashSet<PathBuf> = own.iter().map(|entry| lexical(&entry.path, site)).collect();
    if !left_out.is_empty() {
        // What installers have put beside the wheel's own metadata is theirs to remove, too.
        left_out.extend(
            files::names_in(info)?
                .into_iter()
                .filter(|name| is_of_installers(name))
                .map(|name| info.join(name))
                .filter(|place| place.is_file_there()),
        );
        left_out.push(record.clone());
        left_out.extend(known.scripts.iter().map(|script| layout.scripts.join(script)));
    }
    left_out.retain(|place| !listed.contains(place) && (place.look_at_entry().is_ok() || *place == record));
    left_out.sort();
    left_out.dedup();
    let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let rows = reader
        .into_records()
        .filter_map(Result::ok)
        .filter(|row| row.len() > 1 && row.get(0).is_some_and(|path| !strange.contains(&lexical(path, site))));
    let added = left_out.iter().map(|place| csv::StringRecord::from(vec![relative(place, site).as_str(), "", ""]));
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for row in rows.chain(added) {
        writer.write_record(&row).map_err(|error| broken(&error))?;
    }
    files::write_whole(&record, &writer.into_inner().map_err(|error| broken(&error))?)?;
    Ok(strange.into_iter().filter(|place| place.look_at_entry().is_ok()).collect())
}

fn broken(error: &dyn std::fmt::Display) -> Failure {
    Failure::bug(format!("a RECORD could not be written as text: {error}"))
}

/// Whether a file of metadata with this path is one that installers and builds write.
pub fn is_of_installers(path: &str) -> bool {
    const NAMES: [&str; 19] = [
        "METADATA",
        "RECORD",
        "WHEEL",
        "INSTALLER",
        "REQUESTED",
        "direct_url.json",
        "entry_points.txt",
        "top_level.txt",
        "namespace_packages.txt",
        "zip-safe",
        "not-zip-safe",
        "PKG-INFO",
        "SOURCES.txt",
        "requires.txt",
        "dependency_links.txt",
        "installed-files.txt",
        "uv_cache.json",
        "uv_build.json",
        "RECORD.jws",
    ];
    let starts = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "licenses/", "license_files/", "sboms/"];
    NAMES.contains(&path) || starts.iter().any(|start| path.starts_with(start))
}

/// Places that the RECORD of a distribution lists and that are not its own: all outside of the environment, and where
/// its wheel is known, what neither that has nor an installer makes of it, unless it has the content that is listed.
fn strange(own: &[Entry], info: &Path, known: &KnownFiles<'_>) -> BTreeSet<PathBuf> {
    let layout = known.layout;
    let site = info.parent().unwrap_or(&layout.purelib);
    let wheel: Option<HashSet<PathBuf>> = known.wheel.as_ref().map(|entries| {
        entries.iter().filter_map(|entry| place(&entry.path, site, layout)).map(|(place, _)| place).collect()
    });
    let is_inside = |place: &Path| {
        layout.folders().into_iter().chain([&layout.data, &layout.scripts]).any(|folder| place.starts_with(folder))
    };
    // Another build of the same version, which somebody has put in its place, has files of its own; a copy is kept.
    let is_as_listed = |place: &Path, entry: &Entry| entry.sha256.is_some_and(|sha256| has_digest(place, sha256));
    let places = own.iter().map(|entry| (lexical(&entry.path, site), entry));
    let strange = places.filter(|(place, entry)| {
        !is_inside(place)
            || wheel.as_ref().is_some_and(|wheel| {
                !wheel.contains(place) && !known.is_made(place, info) && !is_as_listed(place, entry)
            })
    });
    strange.map(|(place, _)| place).collect()
}

impl KnownFiles<'_> {
    /// Whether an installer makes `place` of a wheel with the metadata `info`, beside the files in it.
    fn is_made(&self, place: &Path, info: &Path) -> bool {
        let script = place.strip_prefix(&self.layout.scripts).ok().and_then(Path::to_str);
        place.starts_with(info)
            || place.parent().is_some_and(|folder| folder.ends_with("__pycache__"))
            || place.starts_with(self.layout.data.join("include"))
            || script.is_some_and(|script| self.scripts.iter().any(|own| own == script))
    }
}

/// `place` as RECORD names it, seen from `site`.
pub fn relative(place: &Path, site: &Path) -> String {
    let shared = place.components().zip(site.components()).take_while(|(a, b)| a == b).count();
    let up = site.components().skip(shared).map(|_| Path::new("..").as_os_str());
    let down = place.components().skip(shared).map(Component::as_os_str);
    up.chain(down).collect::<PathBuf>().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{KnownFiles, put_record_right, relative};
    use crate::boot::machine::Layout;
    use crate::core::host::files::{read_optional, write_whole};
    use crate::core::inspect::parse_record;

    #[test]
    fn what_a_record_leaves_out_is_added_where_it_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let site = folder.path().join("lib");
        let layout = Layout::of_tests(folder.path());
        for path in ["lib/a/b.py", "lib/a/c,d.py", "share/e", "bin/tool", "lib/a-1.dist-info/RECORD"] {
            write_whole(&folder.path().join(path), b"").expect(path);
        }
        let digest = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n";
        let kept =
            ["a/b.py", "\"a/c,d.py\"", "a/gone.py", "a-1.data/data/share/e"].map(|path| format!("{path},{digest}"));
        let info = site.join("a-1.dist-info");
        write_whole(&info.join("RECORD"), b"a/b.py,,\na/c").expect("a RECORD");
        let known = |wheel: bool| KnownFiles {
            wheel: wheel.then(|| parse_record(&kept.concat())),
            scripts: vec!["tool".to_owned()],
            layout: &layout,
        };
        let complete = || put_record_right(&info, &known(true)).expect("a RECORD");
        assert!(complete().is_empty());
        let text = || read_optional(&info.join("RECORD")).expect("a RECORD").unwrap_or_default();
        assert_eq!(text(), "a/b.py,,\n../bin/tool,,\n\"a/c,d.py\",,\na-1.dist-info/RECORD,,\n../share/e,,\n");
        std::fs::remove_file(info.join("RECORD")).expect("a removal");
        assert!(complete().is_empty());
        assert_eq!(text(), "../bin/tool,,\na/b.py,,\n\"a/c,d.py\",,\na-1.dist-info/RECORD,,\n../share/e,,\n");

        // Somebody has added files that the wheel does not have, and one outside of the environment.
        let outside = tempfile::NamedTempFile::new().expect("a file");
        write_whole(&site.join("a/notes"), b"").expect("notes");
        let right = text();
        let added = format!("{right}a/notes,,\n{},,\na/__pycache__/b.cpython-312.pyc,,\n", outside.path().display());
        for (wheel, strange) in
            [(true, vec![site.join("a/notes"), outside.path().to_owned()]), (false, vec![outside.path().to_owned()])]
        {
            write_whole(&info.join("RECORD"), added.as_bytes()).expect("a RECORD");
            let mut found = put_record_right(&info, &known(wheel)).expect("a RECORD");
            found.sort();
            assert_eq!(found.len(), strange.len(), "{found:?}");
            assert!(strange.iter().all(|one| found.contains(one)), "{found:?}");
            assert!(text().starts_with(&right) && text().ends_with(".pyc,,\n"));
        }
    }

    #[test]
    fn places_are_named_from_site_packages() {
        let site = Path::new("/env/lib/python3.12/site-packages");
        assert_eq!(relative(Path::new("/env/bin/tool"), site), "../../../bin/tool");
        assert_eq!(relative(&site.join("a/b.py"), site), "a/b.py");
    }
}
