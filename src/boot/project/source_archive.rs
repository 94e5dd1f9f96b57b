//! A project as a source distribution: the same bytes for the same files, wherever and whenever it is made.

use std::io::{Error, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::core::diag::{Failure, bytes};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::{PackageName, Version};

/// The largest project.
const LIMIT: u64 = 512 << 20;

/// The time of every file, in seconds since 1970: a zip file, which a wheel is, has none before 1980.
const TIME: u64 = 1_577_836_800;

/// The bytes of a block of gzip that is stored as it is (RFC 1951, 3.2.4).
const BLOCK: usize = 65_535;

/// What an archive is named, without its ending.
pub(super) fn stem(name: &PackageName, version: &Version) -> String {
    format!("{}-{version}", name.as_ref().replace('-', "_"))
}

/// The files at `paths` in `folder` as a `.tar.gz` with everything in one folder called `stem`. `info` is its PKG-INFO;
/// by default it says what version this is, for those that would ask a repository.
pub(super) fn pack(folder: &Path, paths: &[String], stem: &str, info: Option<&str>) -> Result<Vec<u8>, Failure> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut total = 0;
    for path in paths {
        let place = folder.join(path);
        let failed = |error: &Error| Failure::world(format!("could not read `{}`", place.display())).because(error);
        let name = format!("{stem}/{path}");
        if let Some(target) = files::link_of(&place) {
            // One that leads elsewhere means nothing to a build on another machine.
            let is_within = target.is_relative() && !target.starts_with("..");
            let mut header = header(0, 0o777);
            header.set_entry_type(tar::EntryType::Symlink);
            if is_within {
                archive.append_link(&mut header, &name, &target).map_err(|error| failed(&error))?;
            }
            continue;
        }
        let data = place.look().map_err(|error| failed(&error))?;
        total += data.len();
        if total > LIMIT {
            return Err(Failure::input(format!(
                "the project in `{}` is larger than {}",
                folder.display(),
                bytes(LIMIT)
            ))
            .help(format!("`{path}` has {}; list what no build needs in .gitignore", bytes(data.len()))));
        }
        let is_program = data.permissions().mode() & 0o100 != 0;
        let content = files::read_bytes(&place, LIMIT).map_err(|error| failed(&error))?;
        let mut header = header(content.len() as u64, if is_program { 0o755 } else { 0o644 });
        archive.append_data(&mut header, &name, content.as_slice()).map_err(|error| failed(&error))?;
    }
    let broken = |error: Error| Failure::bug("an archive could not be made").because(&error);
    if !paths.iter().any(|path| path == "PKG-INFO") {
        let (name, version) = stem.split_once('-').unwrap_or((stem, ""));
        let own = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
        let text = info.unwrap_or(&own);
        archive
            .append_data(&mut header(text.len() as u64, 0o644), format!("{stem}/PKG-INFO"), text.as_bytes())
            .map_err(broken)?;
    }
    archive.into_inner().and_then(|tar| stored_gzip(&tar)).map_err(broken)
}

fn header(size: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(TIME);
    header
}

/// `content` as gzip (RFC 1952) without compression: no release of a library changes its bytes.
fn stored_gzip(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let blocks = content.len().div_ceil(BLOCK).max(1);
    for at in 0..blocks {
        let block = &content[at * BLOCK..content.len().min((at + 1) * BLOCK)];
        let length = u16::try_from(block.len()).map_err(Error::other)?;
        packed.push(u8::from(at + 1 == blocks));
        packed.write_all(&length.to_le_bytes())?;
        packed.write_all(&(!length).to_le_bytes())?;
        packed.write_all(block)?;
    }
    packed.write_all(&crc32fast::hash(content).to_le_bytes())?;
    let size = u32::try_from(content.len() & 0xffff_ffff).map_err(Error::other)?;
    packed.write_all(&size.to_le_bytes())?;
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::core::model::Sha256;

    #[test]
    fn the_same_files_are_the_same_archive() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, content: &[u8]| files::write_whole(&folder.path().join(path), content).expect(path);
        std::fs::create_dir(folder.path().join("src")).expect("a folder");
        write("pyproject.toml", b"[project]\n");
        let large: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        write("src/a.py", &large);
        let paths = ["pyproject.toml".to_owned(), "src/a.py".to_owned()];
        let packed = pack(folder.path(), &paths, "a_b-1.0", None).expect("an archive");
        write("src/a.py", &large);
        assert_eq!(pack(folder.path(), &paths, "a_b-1.0", None).expect("an archive"), packed);
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
        let mut read = Vec::new();
        for entry in archive.entries().expect("entries") {
            let mut entry = entry.expect("an entry");
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("content");
            read.push((entry.path().expect("a path").display().to_string(), Sha256::of(&content)));
        }
        assert_eq!(read[1], ("a_b-1.0/src/a.py".to_owned(), Sha256::of(&large)));
        assert_eq!(read[2].1, Sha256::of(b"Metadata-Version: 2.1\nName: a_b\nVersion: 1.0\n"));
    }
}
