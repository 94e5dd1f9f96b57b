//! Why a file could not be brought, and what helps.

use std::fmt::{Display, Formatter, Result as FmtResult};
use std::io::ErrorKind;

/// Why a file is not at the destination.
#[derive(Debug)]
pub enum NotCopied {
    /// Its name can't be kept.
    NotUtf8,
    /// The source can't be read, and this is what was said.
    Unread(String),
    /// The source is another one than was listed.
    Changed,
    /// This process is writing to it.
    Busy(u32),
    /// The archive that is unpacked has its name.
    Archive,
    /// A file that is not ours has its name, or that of its folder.
    Taken,
    /// A folder has its name.
    Folder,
    /// One of its folders is a link.
    Link,
    Reading(std::io::Error),
    Writing(std::io::Error),
}

impl NotCopied {
    /// Whether the next file will meet the same.
    pub(super) fn is_final(&self) -> bool {
        const FINAL: [ErrorKind; 3] = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::ReadOnlyFilesystem];
        matches!(self, Self::Writing(error) if FINAL.contains(&error.kind()))
    }

    /// What the user can do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotUtf8 => "rename files whose names are not UTF-8 in the source",
            Self::Changed | Self::Unread(_) | Self::Reading(_) => "run the same command to retry",
            Self::Taken => "to replace files that were not copied from here, add --overwrite",
            Self::Busy(_) => "run the same command again when the file is complete; the earlier copy is kept",
            Self::Archive => "unpack it to another folder",
            Self::Folder => "move the folder at the destination away: the source now has a file there",
            Self::Link => "replace the link with a folder, or copy to where it leads",
            Self::Writing(_) if self.is_final() => "free some disk space and run the same command to continue",
            Self::Writing(_) => "check that you may write to the destination, then run the same command",
        }
    }
}

impl Display for NotCopied {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        match self {
            Self::NotUtf8 => f.write_str("its name is not valid UTF-8"),
            Self::Unread(why) => f.write_str(why),
            Self::Changed => f.write_str("it changed while being read"),
            Self::Taken => {
                f.write_str("a file with its name exists; it was not copied from here, or was changed since")
            }
            Self::Busy(pid) => write!(f, "process {pid} is writing to it"),
            Self::Archive => f.write_str("it has the same name as the archive"),
            Self::Folder => f.write_str("a folder with its name exists; folders are not removed"),
            Self::Link => f.write_str("its folder is a link at the destination; links are not followed"),
            Self::Reading(error) => write!(f, "could not be read: {error}"),
            Self::Writing(error) => write!(f, "could not be written: {error}"),
        }
    }
}
