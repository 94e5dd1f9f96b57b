//! A record of a verification beside the release that it is about, with the signature of the person who ran it.

use std::path::{Path, PathBuf};

use crate::boot::session::Session;
use crate::core::diag::{Failure, without_secrets};
use crate::core::host::files;
use crate::core::model::Sha256;
use crate::golden::attestation::Record;
use crate::golden::calendar::Day;
use crate::golden::entry::ReleaseFile;
use crate::golden::repository::Kept;

/// What became of a record, for people.
pub enum Attached {
    New(String),
    Known(String),
}

/// Puts the record at `path` into the folder of its release and into the index, which is not written yet. A signature
/// beside it, as `ssh-keygen -Y sign -n colab-boot-evidence@v1` writes one, goes with it.
pub fn attach_record(kept: &mut Kept, path: &Path, session: &Session<'_>) -> Result<Attached, Failure> {
    let bad = |why: String| {
        Failure::answer(format!("`{}` is not a verification record of this release", path.display())).cause(why)
    };
    let signers = kept.signers()?;
    let text = files::read_text(path, "record")?;
    let record = Record::parse(&text).map_err(bad)?;
    let today = Day::at(session.now);
    let folder = kept.folder.clone();
    let release = kept.release(&format!("{}@{}", record.profile, record.version), today)?;
    let mut row = record.row(&text, release, today).map_err(bad)?;
    if without_secrets(&text) != text {
        return Err(bad("it contains a password or a token".to_owned()));
    }
    if release.files.iter().any(|file| file.name == row.file) {
        return Ok(Attached::Known(format!("{} has `{}` already", release.title(), row.file)));
    }
    let mut written = vec![(row.file.clone(), text.clone())];
    if let Some(signature) = files::read_optional(&beside(path))? {
        row.by = Some(signers.witness(&text, &signature).map_err(bad)?);
        written.push((format!("{}.sig", row.file), signature));
    }
    let by = row.by.as_ref().map(|by| format!(", signed by {by}")).unwrap_or_default();
    let said = format!("{}: verified with GPU {} on {}{by}", release.title(), row.gpu, row.on);
    release.verified.push(row);
    for (name, text) in written {
        files::write_whole(&folder.join(release.folder()).join(&name), text.as_bytes())?;
        release.files.push(ReleaseFile { name, size: text.len() as u64, sha256: Sha256::of(text.as_bytes()) });
    }
    release.files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Attached::New(said))
}

/// Where `ssh-keygen -Y sign` puts the signature of a file.
fn beside(record: &Path) -> PathBuf {
    let mut name = record.as_os_str().to_owned();
    name.push(".sig");
    name.into()
}
