//! What was compared, and what was not.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::boot::verdict::counted;
use crate::core::model::PackageName;

/// What became of one comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// There is nothing of it here.
    #[default]
    Nothing,
    /// So many things were compared, and are as they should be.
    Same(usize),
    /// What is not.
    Differs(Vec<String>),
    /// It was not compared; the reason.
    Not(String),
}

impl Compared {
    pub const fn was_compared(&self) -> bool {
        !matches!(self, Self::Not(_))
    }
}

/// How the files of the locked packages were compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Files {
    /// Packages, by the RECORD of their wheel.
    pub against_wheel: usize,
    /// Packages that were there before the apply, by what their installer wrote down.
    #[serde(rename = "against-own-record")]
    pub against_own: usize,
    /// Packages of which the version alone is known.
    pub by_version: usize,
    /// Files that were looked at, and those of them that were read, for they did not look as they did when they were
    /// last read.
    pub files: usize,
    pub read: usize,
    /// Files of which the size alone was compared.
    pub by_size: usize,
    /// Packages with files that are not as they should be.
    pub faulty: Vec<PackageName>,
    /// Files that are not as their wheels have them, because Python's start rewrites them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub rewritten: BTreeSet<PathBuf>,
}

/// All that a verdict is built from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Evidence {
    pub files: Files,
    /// What the kernel has loaded, with what is installed.
    pub kernel: Compared,
    /// The profile's variables, with those of the kernel.
    pub variables: Compared,
    /// The files of a golden release, with their pinned digests, and the release with its repository.
    pub release: Compared,
    /// How many frameworks have passed a smoke test.
    #[serde(skip_serializing_if = "is_zero")]
    pub tested: usize,
    /// Files that no package owns, with those from before the first apply.
    pub unowned: Compared,
    /// Why this machine has another answer than the lock that was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_target: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Evidence {
    /// Whether there are packages, and nothing of them but their versions was compared or tried.
    pub(super) const fn has_versions_alone(&self) -> bool {
        let Files { against_wheel, against_own, by_version, .. } = self.files;
        by_version > 0 && against_wheel + against_own + self.tested == 0
    }

    /// What is known to be otherwise than a verdict would say.
    pub(super) fn contradictions(&self) -> Vec<String> {
        let names: Vec<&str> = self.files.faulty.iter().map(AsRef::as_ref).collect();
        let files = (!names.is_empty()).then(|| format!("files of {}", names.join(", ")));
        let others = [&self.kernel, &self.variables, &self.release].into_iter().flat_map(|compared| match compared {
            Compared::Differs(what) => what.as_slice(),
            _ => &[],
        });
        files.into_iter().chain(others.cloned()).collect()
    }

    /// What was not compared, each with the reason.
    pub(super) fn not_compared(&self) -> Vec<String> {
        let Files { against_own, by_version, by_size, .. } = self.files;
        let mut all = Vec::new();
        let rewritten = self.files.rewritten.len();
        all.extend(
            (rewritten > 0).then(|| format!("except {} that Python rewrites at startup", counted(rewritten, "file"))),
        );
        all.extend(self.other_target.clone());
        let own =
            || format!("{} compared with the installed RECORD, not the locked wheel", counted(against_own, "package"));
        all.extend((against_own > 0).then(own));
        all.extend((by_version > 0).then(|| format!("{} compared by version alone", counted(by_version, "package"))));
        all.extend((by_size > 0).then(|| format!("{} compared by size alone", counted(by_size, "file"))));
        let Self { kernel, variables, release, unowned, .. } = self;
        let named = [
            ("kernel", kernel),
            ("variables", variables),
            ("release", release),
            ("files that no package owns", unowned),
        ];
        for (what, compared) in named {
            if let Compared::Not(why) = compared {
                all.push(format!("{what} not compared: {why}"));
            }
        }
        all
    }
}
