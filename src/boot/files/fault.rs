//! How installed files differ from their RECORD. After a full disk or a killed installer, exit codes and metadata look
//! right while files are missing or cut short.

use crate::core::diag::{Code, Finding, Subject};
use crate::core::model::{PackageName, Version};

/// What is wrong with a distribution on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileFault {
    /// No dist-info of it.
    NotInstalled,
    /// The one of another version.
    OtherVersion(String),
    /// Several dist-info folders for one name.
    Duplicates(Vec<String>),
    /// Its RECORD, the list of its files, is not there.
    NoRecord,
    /// Its RECORD leaves out a file that its wheel has.
    Unlisted(String),
    Missing(String),
    Changed(String),
    Unreadable(String, String),
    /// A script that a shell can't start.
    NotExecutable(String),
    /// A cache that Python runs without comparing it with the source beside it.
    Unchecked(String),
}

impl FileFault {
    /// The file that is at fault, as the RECORD names it; `None` where it is the distribution.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Missing(path)
            | Self::Changed(path)
            | Self::Unreadable(path, _)
            | Self::NotExecutable(path)
            | Self::Unchecked(path) => Some(path),
            Self::NotInstalled | Self::OtherVersion(_) | Self::Duplicates(_) | Self::NoRecord | Self::Unlisted(_) => {
                None
            }
        }
    }
}

impl std::fmt::Display for FileFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotInstalled => f.write_str("is not installed"),
            Self::OtherVersion(version) => write!(f, "{version} is installed"),
            Self::Duplicates(names) => write!(f, "is installed more than once: {}", names.join(", ")),
            Self::NoRecord => f.write_str("has no RECORD: an installer was interrupted, or another tool created it"),
            Self::Unlisted(path) => write!(f, "its RECORD does not list `{path}`, which the wheel contains"),
            Self::Missing(path) => write!(f, "`{path}` is missing"),
            Self::Changed(path) => write!(f, "`{path}` differs from the wheel"),
            Self::Unreadable(path, why) => write!(f, "`{path}` can't be read: {why}"),
            Self::NotExecutable(path) => write!(f, "`{path}` is not executable"),
            Self::Unchecked(path) => {
                write!(f, "`{path}` is used, but was compiled from a different version of its source")
            }
        }
    }
}

/// What `read` gives; tried once more where something could not be read: to install a package again for one bad moment
/// of a disk would restart kernels.
pub(super) fn tried_twice<T>(read: impl Fn() -> Result<T, FileFault>) -> Result<T, FileFault> {
    match read() {
        Err(FileFault::Unreadable(..)) => read(),
        done => done,
    }
}

/// One finding for the faults of a distribution.
pub fn finding_of(name: &PackageName, version: &Version, faults: &[FileFault]) -> Option<Finding> {
    let (first, rest) = faults.split_first()?;
    let finding = Finding::error(Code::VerifyFiles, format!("{name} {version}: {first}"));
    let mut finding = finding.about(Subject::release(name, version));
    for fault in rest {
        finding = finding.with_note(fault.to_string());
    }
    Some(finding.with_help("`colab-boot apply` installs it again"))
}
