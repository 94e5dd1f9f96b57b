//! A RECORD that was cut short, completed: installers remove what it lists, and leave the rest where Python finds it.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use crate::diag::Failure;
use crate::host::files;
use crate::host::mounts::Look;
use crate::inspect::{Entry, parse_record};
use crate::installed::expected::{lexical, unlisted};
use crate::machine::Layout;

/// Adds to the RECORD in the dist-info folder `info` what its wheel has by `kept` and what it made of `scripts`, where it is there. A RECORD that
/// lists everything stays as it is.
pub fn complete_record(info: &Path, kept: &[Entry], scripts: &[String], layout: &Layout) -> Result<(), Failure> {
    let record = info.join("RECORD");
    let site = info.parent().unwrap_or(&layout.purelib);
    let text = files::read_optional(&record)?.unwrap_or_default();
    let own = parse_record(&text);
    let mut left_out: Vec<PathBuf> = unlisted(kept, &own, site, layout).map(|(_, place)| place).collect();
    if left_out.is_empty() {
        return Ok(());
    }
    let listed: HashSet<PathBuf> = own.iter().map(|entry| lexical(&entry.path, site)).collect();
    // What installers have put beside the wheel's own metadata is theirs to remove, too.
    left_out
        .extend(files::names_in(info)?.into_iter().map(|name| info.join(name)).filter(|place| place.is_file_there()));
    left_out.push(record.clone());
    left_out.extend(scripts.iter().map(|script| layout.scripts.join(script)));
    left_out.retain(|place| !listed.contains(place) && (place.look_at_entry().is_ok() || *place == record));
    left_out.sort();
    left_out.dedup();
    // A line that was cut is no entry.
    let mut text: String = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
    for place in left_out {
        let path = relative(&place, site);
        let quoted = if path.contains([',', '"', '\n']) { format!("\"{}\"", path.replace('"', "\"\"")) } else { path };
        text.push_str(&quoted);
        text.push_str(",,\n");
    }
    files::write_whole(&record, text.as_bytes())
}

/// `place` as RECORD names it, seen from `site`.
fn relative(place: &Path, site: &Path) -> String {
    let shared = place.components().zip(site.components()).take_while(|(a, b)| a == b).count();
    let up = site.components().skip(shared).map(|_| Path::new("..").as_os_str());
    let down = place.components().skip(shared).map(Component::as_os_str);
    up.chain(down).collect::<PathBuf>().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{complete_record, relative};
    use crate::host::files::{read_optional, write_whole};
    use crate::inspect::parse_record;
    use crate::machine::Layout;

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
        let complete = || complete_record(&info, &parse_record(&kept.concat()), &["tool".to_owned()], &layout);
        complete().expect("a RECORD");
        let text = || read_optional(&info.join("RECORD")).expect("a RECORD").unwrap_or_default();
        assert_eq!(text(), "a/b.py,,\n../bin/tool,,\n\"a/c,d.py\",,\na-1.dist-info/RECORD,,\n../share/e,,\n");
        std::fs::remove_file(info.join("RECORD")).expect("a removal");
        complete().expect("a RECORD");
        assert_eq!(text(), "../bin/tool,,\na/b.py,,\n\"a/c,d.py\",,\na-1.dist-info/RECORD,,\n../share/e,,\n");
    }

    #[test]
    fn places_are_named_from_site_packages() {
        let site = Path::new("/env/lib/python3.12/site-packages");
        assert_eq!(relative(Path::new("/env/bin/tool"), site), "../../../bin/tool");
        assert_eq!(relative(&site.join("a/b.py"), site), "a/b.py");
    }
}
