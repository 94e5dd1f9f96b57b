//! What a package consists of, by the RECORD that its installer wrote.

use crate::boot::machine::{Layout, find_info, record_in};
use crate::core::diag::Failure;
use crate::core::inspect::parse_record;
use crate::core::model::{PackageName, Sha256};

/// A digest of what the wheel of `name` brought, as it is installed in `layout` now; `None` where no RECORD
/// says. All installers of one wheel leave the same.
pub fn installed_contents(layout: &Layout, name: &PackageName) -> Result<Option<Sha256>, Failure> {
    for folder in layout.folders() {
        if let Some(info) = find_info(folder, name)? {
            return Ok(record_in(&info)?.as_deref().map(contents_of));
        }
    }
    Ok(None)
}

/// A digest of what the wheel brought, by a RECORD: without what installers write themselves.
pub fn contents_of(record: &str) -> Sha256 {
    let entries = parse_record(record).into_iter().filter(|entry| !is_installers(&entry.path));
    let mut lines: Vec<String> =
        entries.filter_map(|entry| Some(format!("{} {}\n", entry.path, entry.sha256?))).collect();
    lines.sort();
    Sha256::of(lines.concat().as_bytes())
}

fn is_installers(path: &str) -> bool {
    let is_metadata = ["INSTALLER", "REQUESTED", "direct_url.json", "RECORD", "uv_cache.json", "uv_build.json"];
    let is_one = path.rsplit_once(".dist-info/").is_some_and(|(_, file)| is_metadata.contains(&file));
    is_one || path.ends_with(".pyc") || path.starts_with("../")
}

#[cfg(test)]
mod tests {
    use super::contents_of;

    #[test]
    fn what_installers_write_does_not_count() {
        let digest = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";
        let by_pip = format!(
            "../../../bin/a,sha256={digest},200\na.py,sha256={digest},0\n\
             a-1.dist-info/INSTALLER,sha256={digest},4\na-1.dist-info/RECORD,,\n"
        );
        let by_uv = format!("a.py,sha256={digest},0\n__pycache__/a.cpython-312.pyc,,\n");
        assert_eq!(contents_of(&by_pip), contents_of(&by_uv));
        assert_ne!(contents_of(&by_uv), contents_of(&by_uv.replace("a.py", "b.py")));
    }
}
