//! Files with several names (hard links): what is replaced under one of them stays under the others.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::core::diag::{Code, Finding};
use crate::core::host::files::open;
use crate::core::host::mounts::Look;

/// A file with several names that is about to be replaced under one of them.
#[derive(Debug)]
pub struct Shared {
    file: File,
    inode: u64,
    /// The top of the file system that its names are in.
    top: PathBuf,
}

impl Shared {
    /// The file at `path`; `None` where that is its only name, or it can't be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        let data = path.look().ok().filter(|data| data.nlink() > 1)?;
        let real = path.real().ok()?;
        let own = device(real.parent()?);
        let top = real.ancestors().skip(1).take_while(|folder| device(folder) == own).last()?.to_owned();
        Some(Self { file: open(path).ok()?, inode: data.ino(), top })
    }

    /// Names still lead to what was in the file that was replaced as `name`; `None` where those were replaced, too.
    pub fn to_finding(&self, name: &str) -> Option<Finding> {
        let left = match self.file.metadata().map_or(1, |data| data.nlink()) {
            0 => return None,
            1 => "1 more hard link, which keeps".to_owned(),
            count => format!("{count} more hard links, which keep"),
        };
        let message = format!("{name}: the file has {left} the secret");
        let help = format!("find them with `find {} -xdev -inum {}` and delete them", self.top.display(), self.inode);
        Some(Finding::error(Code::ScrubUnread, message).with_help(help))
    }
}

fn device(folder: &Path) -> Option<u64> {
    folder.look().map(|data| data.dev()).ok()
}
