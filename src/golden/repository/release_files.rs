//! The files of a release in the folder of its repository: what lies there already is the keeper's, and stays.

use std::path::{Path, PathBuf};

use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::host::digests::digest;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::Sha256;
use crate::golden::entry::Release;

/// An error where something else lies in the place of a new release: a file that is not the one to be written, or a
/// link on the way, which would lead out of the repository.
pub fn must_be_free(root: &Path, release: &Release, made: &[(String, Vec<u8>)]) -> Result<(), Failure> {
    let folder = root.join(release.folder());
    let files = made.iter().map(|(name, _)| folder.join(name)).collect::<Vec<PathBuf>>();
    let on_the_way = folder.ancestors().take_while(|path| *path != root).chain(files.iter().map(PathBuf::as_path));
    if let Some(link) = on_the_way.into_iter().find(|path| path.look_at_entry().is_ok_and(|data| data.is_symlink())) {
        return Err(Failure::input(format!(
            "`{}` is a link, but releases must be folders of the repository",
            link.display()
        ))
        .help("remove the link; nothing was changed"));
    }
    for (path, (_, bytes)) in files.iter().zip(made) {
        if digest_of(path)?.is_some_and(|here| here != Sha256::of(bytes)) {
            let message = format!("`{}` exists, but belongs to no release of the index", path.display());
            return Err(Failure::input(message)
                .help("move it away, or remove it if an interrupted publish left it; nothing was changed"));
        }
    }
    Ok(())
}

/// Writes the files of the published `release` that are missing, as far as `made` has the same bytes. What was written;
/// an error where a file differs from what was published, or only its release had it.
pub fn missing_again(root: &Path, release: &Release, made: &[(String, Vec<u8>)]) -> Result<Vec<String>, Failure> {
    let mut written = Vec::new();
    for row in &release.files {
        let path = root.join(release.folder()).join(&row.name);
        let here = digest_of(&path)?;
        if here == Some(row.sha256) {
            continue;
        }
        let same = made.iter().find(|(name, bytes)| *name == row.name && Sha256::of(bytes) == row.sha256);
        match same.filter(|_| here.is_none()) {
            Some((_, bytes)) => {
                files::write_whole(&path, bytes)?;
                written.push(format!("`{}` was missing and is restored", path.display()));
            }
            None => {
                let what = if here.is_some() { "is not the file that was published" } else { "is missing" };
                let finding = Finding::error(Code::GoldenFileDiffers, format!("`{}` {what}", path.display()));
                let finding = finding.with_help("restore it from version control");
                return Err(Failure::from_findings(Kind::Answer, vec![finding]));
            }
        }
    }
    Ok(written)
}

/// An error for a version that was published with other content.
pub fn republished(title: &str) -> Failure {
    let finding = Finding::error(
        Code::GoldenRepublished,
        format!("{title} is already published with different content"),
    )
    .with_help(
        "change the version of the profile; if the published one is wrong, withdraw it with `colab-boot golden withdraw --yank`",
    );
    Failure::from_findings(Kind::Answer, vec![finding])
}

fn digest_of(path: &Path) -> Result<Option<Sha256>, Failure> {
    if !files::is_file(path)? {
        return Ok(None);
    }
    digest(path)
        .map(|(sha256, _)| Some(sha256))
        .map_err(|error| Failure::world(format!("could not read `{}`", path.display())).because(&error))
}
