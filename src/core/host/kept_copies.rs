//! Files of a user that are kept elsewhere: copied or moved so that their content is whole in one of the places at any
//! moment.

use std::fs::FileTimes;
use std::path::{Path, PathBuf};

use crate::core::diag::Failure;
use crate::core::host::destination::keep_owner;
use crate::core::host::files;
use crate::core::host::mounts::Look;

/// `path`, or the first name like it that is free.
pub fn free(path: PathBuf) -> PathBuf {
    let found = names(&path).find(|name| name.look_at_entry().is_err());
    found.unwrap_or(path)
}

/// `path`, and names like it.
pub fn names(path: &Path) -> impl Iterator<Item = PathBuf> + use<'_> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let others = (1..).map(move |count| path.with_file_name(format!("{name}.{count}")));
    std::iter::once(path.to_owned()).chain(others)
}

/// A copy of the file at `from`. A second name would change with the file, which an editor or `cp` may write in place.
pub fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    files::create_private_folder(to.parent().unwrap_or(to))?;
    if let Some(target) = files::link_of(from) {
        return std::os::unix::fs::symlink(target, to).map_err(|error| not_moved(from, &error));
    }
    copy_whole(from, to).map_err(|error| not_moved(from, &error))
}

/// Moves the file at `from` to `place`, over what is there.
pub fn replace_with(from: &Path, place: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(not_moved(place, &error)),
        _ => move_file(from, place),
    }
}

/// Moves a file, or a link, also to another file system. Its content is whole in one of the places at any moment.
pub fn move_file(from: &Path, to: &Path) -> Result<(), Failure> {
    files::create_folder(to.parent().unwrap_or(to))?;
    if to.look_at_entry().is_ok() {
        return Err(not_moved(from, &std::io::ErrorKind::AlreadyExists.into()));
    }
    if std::fs::rename(from, to).is_ok() {
        return Ok(());
    }
    let moved = match files::link_of(from) {
        Some(target) => std::os::unix::fs::symlink(target, to),
        None => copy_whole(from, to),
    };
    moved.and_then(|()| std::fs::remove_file(from)).map_err(|error| not_moved(from, &error))
}

fn copy_whole(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut source = files::open(from)?;
    let mut file = tempfile::NamedTempFile::new_in(to.parent().unwrap_or(to))?;
    std::io::copy(&mut source, &mut file)?;
    let data = source.metadata()?;
    keep_owner(file.as_file(), &data);
    file.as_file().set_permissions(data.permissions())?;
    let _ = file.as_file().set_times(FileTimes::new().set_modified(data.modified()?));
    file.as_file().sync_all()?;
    file.persist_noclobber(to).map(drop).map_err(|error| error.error)
}

fn not_moved(from: &Path, error: &std::io::Error) -> Failure {
    Failure::world(format!("could not keep a copy of `{}`", from.display())).because(error)
}
