//! What a finding is about, as values: programs decide by these, never by the text of a message.

use std::fmt::{Display, Formatter, Result as FmtResult};
use std::path::Path;

use pep440_rs::Version;
use pep508_rs::PackageName;
use serde::Serialize;

use crate::core::diag::presentable;

/// One thing that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Subject {
    Package {
        name: PackageName,
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// A Python module, `google.protobuf`.
    Module {
        name: String,
    },
    /// A file or folder.
    File {
        path: String,
    },
    Mount {
        path: String,
    },
    /// An environment variable.
    Variable {
        name: String,
    },
}

impl Subject {
    pub fn package(name: &PackageName) -> Self {
        Self::Package { name: name.clone(), version: None }
    }

    pub fn release(name: &PackageName, version: &Version) -> Self {
        Self::Package { name: name.clone(), version: Some(version.to_string()) }
    }

    pub fn module(name: &str) -> Self {
        Self::Module { name: name.to_owned() }
    }

    pub fn file(path: &Path) -> Self {
        Self::File { path: path.display().to_string() }
    }

    pub fn mount(path: &Path) -> Self {
        Self::Mount { path: path.display().to_string() }
    }

    pub fn variable(name: &str) -> Self {
        Self::Variable { name: name.to_owned() }
    }

    /// Whether it is this package, in any version.
    pub fn is_package(&self, package: &PackageName) -> bool {
        matches!(self, Self::Package { name, .. } if name == package)
    }

    /// What a message calls it: its name or path.
    pub fn name(&self) -> &str {
        match self {
            Self::Package { name, .. } => name.as_ref(),
            Self::Module { name } | Self::Variable { name } => name,
            Self::File { path } | Self::Mount { path } => path,
        }
    }

    /// The same as people and files may see it.
    pub(super) fn presentable(&mut self) {
        match self {
            Self::Package { .. } => {}
            Self::Module { name } | Self::Variable { name } => *name = presentable(name),
            Self::File { path } | Self::Mount { path } => *path = presentable(path),
        }
    }
}

impl Display for Subject {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        match self {
            Self::Package { name, version: Some(version) } => write!(f, "{name} {version}"),
            Self::Package { name, version: None } => write!(f, "{name}"),
            Self::Module { name } | Self::Variable { name } => write!(f, "`{name}`"),
            Self::File { path } | Self::Mount { path } => write!(f, "`{path}`"),
        }
    }
}
