//! What is known of an apply before its first change.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use crate::boot::files::Downloaded;
use crate::boot::install::Staged;
use crate::core::diag::Finding;
use crate::core::log::Style;
use crate::core::model::{PackageName, Sha256};

/// How an apply is done.
#[derive(Clone, Copy, Debug)]
pub struct ApplyManner {
    pub installer: Installer,
    /// How progress is shown.
    pub style: Style,
}

/// What installs wheels. Sources are built by pip or uv.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installer {
    /// colab-boot itself.
    Own,
    Uv,
    Pip,
}

impl Installer {
    /// As the script names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "colab-boot",
            Self::Uv => "uv",
            Self::Pip => "pip",
        }
    }
}

/// The files that installed packages lose or get anew, with those whose wheels write there.
pub(super) type TouchedFiles = HashMap<PathBuf, BTreeSet<PackageName>>;

/// Wheels that were opened.
pub(super) type Wheels = BTreeMap<PackageName, Arc<Downloaded>>;

/// The wheels of what changes, before the first change.
pub(super) struct Brought {
    pub wheels: Wheels,
    /// What no package owns, where they write.
    pub in_the_way: Vec<InTheWay>,
    pub touched: TouchedFiles,
    pub records: WheelRecords,
    /// What is staged, where colab-boot installs it itself.
    pub staged: Option<Staged>,
    pub said: Vec<Finding>,
}

/// What the RECORDs of wheels say.
pub(super) struct WheelRecords {
    /// Files that several distributions claim.
    pub clashes: Vec<Finding>,
    /// The modules that the new wheels bring.
    pub modules: BTreeMap<PackageName, BTreeSet<String>>,
    /// Those to be kept, by the digests of their wheels.
    pub texts: Vec<(Sha256, String)>,
    /// The wheels of which RECORD leaves out members, or digests.
    pub incomplete: BTreeSet<Sha256>,
}

/// Something that no package owns, where a wheel would write.
#[derive(Clone, Debug)]
pub(super) struct InTheWay {
    /// Whose wheel would write there.
    pub name: PackageName,
    pub place: PathBuf,
    pub what: What,
}

/// What lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A file, or a link, with other content than the wheel's.
    File,
    /// A file with the content of the wheel's.
    Same(Sha256),
    Folder,
}
