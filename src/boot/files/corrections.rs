//! What goes with a distribution whose RECORD is wrong: it may list a file of the user's, or leave out its own.

use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::boot::files::expected::{lexical, place, unlisted};
use crate::boot::machine::{Layout, record_in};
use crate::core::diag::Failure;
use crate::core::host::digests::has_digest;
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

/// How what a distribution owns differs from what its RECORD lists. Places are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corrections {
    /// Its files that the RECORD leaves out.
    pub left_out: Vec<PathBuf>,
    /// What the RECORD lists and it does not own.
    pub strange: Vec<PathBuf>,
}

/// How the RECORD in the dist-info folder `info` differs from what is known: what the wheel has and the RECORD leaves
/// out, where it is there; and what leads out of the environment or is not in the wheel. Fails where it can't be read.
pub fn corrections(info: &Path, known: &KnownFiles<'_>) -> Result<Corrections, Failure> {
    let layout = known.layout;
    let site = info.parent().unwrap_or(&layout.purelib);
    // What is no file is no list: the metadata goes as a whole.
    if info.join("RECORD").look_at_entry().is_ok_and(|data| !data.is_file()) {
        return Ok(Corrections::default());
    }
    let own = parse_record(&record_in(info)?.unwrap_or_default());
    let wheel = known.wheel.as_deref().unwrap_or_default();
    let mut left_out: Vec<PathBuf> = unlisted(wheel, &own, site, layout).map(|(_, place)| place).collect();
    if !left_out.is_empty() {
        let listed: HashSet<PathBuf> = own.iter().map(|entry| lexical(&entry.path, site)).collect();
        let scripts = known.scripts.iter().map(|script| layout.scripts.join(script));
        left_out.extend(scripts.filter(|place| !listed.contains(place)));
        left_out.retain(|place| place.look_at_entry().is_ok());
    }
    Ok(Corrections { left_out, strange: strange(&own, info, known).into_iter().collect() })
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

    use super::{Corrections, KnownFiles, corrections, relative};
    use crate::boot::machine::Layout;
    use crate::core::host::files::write_whole;
    use crate::core::inspect::parse_record;

    #[test]
    fn what_a_record_leaves_out_and_what_is_strange_in_it_is_found() {
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
        let compare = |record: &str, wheel: bool| {
            write_whole(&info.join("RECORD"), record.as_bytes()).expect("a RECORD");
            let wheel = wheel.then(|| parse_record(&kept.concat()));
            let known = KnownFiles { wheel, scripts: vec!["tool".to_owned()], layout: &layout };
            let mut found = corrections(&info, &known).expect("a RECORD");
            found.left_out.sort();
            found
        };
        let (inner, data, tool) =
            (site.join("a/c,d.py"), folder.path().join("share/e"), folder.path().join("bin/tool"));
        let cut = compare("a/b.py,,\na/c", true);
        assert_eq!(cut, Corrections { left_out: vec![tool, inner, data], strange: Vec::new() });
        // Somebody has added files that the wheel does not have, and one outside of the environment.
        let outside = tempfile::NamedTempFile::new().expect("a file");
        write_whole(&site.join("a/notes"), b"").expect("notes");
        let right = "../bin/tool,,\na/b.py,,\n\"a/c,d.py\",,\na-1.dist-info/RECORD,,\n../share/e,,\n";
        assert_eq!(compare(right, true), Corrections::default());
        let added = format!("{right}a/notes,,\n{},,\na/__pycache__/b.cpython-312.pyc,,\n", outside.path().display());
        let mut strange = vec![outside.path().to_owned(), site.join("a/notes")];
        strange.sort();
        assert_eq!(compare(&added, true), Corrections { left_out: Vec::new(), strange });
        let strange = vec![outside.path().to_owned()];
        assert_eq!(compare(&added, false), Corrections { left_out: Vec::new(), strange });
    }

    #[test]
    fn places_are_named_from_site_packages() {
        let site = Path::new("/env/lib/python3.12/site-packages");
        assert_eq!(relative(Path::new("/env/bin/tool"), site), "../../../bin/tool");
        assert_eq!(relative(&site.join("a/b.py"), site), "a/b.py");
    }
}
