//! Source distributions, for the packages that a profile lets be built: their metadata. It is read where the archive
//! promises that a build would give the same (PEP 643); otherwise pip on the target's Python is asked, which runs the
//! project's own build code.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::core::diag::Failure;
use crate::core::host::{Invocation, files};
use crate::core::inspect::Archive;
use crate::core::model::Sha256;
use crate::core::model::catalog::Candidate;

/// The largest source distribution, and the largest PKG-INFO.
pub(super) const LIMIT: u64 = 512 << 20;
const TEXT_LIMIT: u64 = 16 << 20;

/// How long preparing the metadata may take; it may install a compiler's worth of build requirements first.
const AT_MOST: Duration = Duration::from_mins(10);

/// The Python that can prepare metadata.
#[derive(Clone, Debug)]
pub struct Builder {
    pub python: PathBuf,
    /// What its processes see.
    pub environment: BTreeMap<String, String>,
}

/// The metadata of the source distribution `bytes` as headers. `folder` is where it may be put for pip.
pub(super) fn headers(
    candidate: &Candidate,
    bytes: &[u8],
    builder: Option<&Builder>,
    folder: &Path,
) -> Result<String, Failure> {
    let failed = |why: String, help: &str| {
        Failure::world(format!("could not read the requirements of `{}`", candidate.file)).cause(why).help(help)
    };
    if candidate.sha256.is_some_and(|digest| Sha256::of(bytes) != digest) {
        return Err(failed("the file differs from the one that the index lists".to_owned(), "run the command again"));
    }
    if let Some(text) = package_info(&candidate.file, bytes).filter(|text| is_static(text)) {
        return Ok(text);
    }
    let Some(builder) = builder else {
        let why = "its metadata must be built with the target's Python, which is not on this machine";
        return Err(failed(
            why.to_owned(),
            "run `colab-boot lock` on the target, or name a wheel with `url` and `sha256`",
        ));
    };
    let path = folder.join(candidate.identity().to_string()).join(&candidate.file);
    files::write_whole_fast(&path, bytes).map_err(|error| failed(error.to_string(), "free some disk space"))?;
    let file = path.display().to_string();
    let arguments = [
        "-I",
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--no-deps",
        "--ignore-installed",
        "--no-input",
        "--quiet",
        "--disable-pip-version-check",
        "--report",
        "-",
        &file,
    ];
    let finished = Invocation::new(&builder.python, &arguments, &builder.environment).must_succeed(AT_MOST);
    let _ = std::fs::remove_dir_all(path.parent().unwrap_or(&path));
    let finished = finished.map_err(|failure| {
        let why = [vec![failure.message], failure.causes].concat().join(": ");
        failed(why, "install what its build needs, such as an apt package, or name a wheel with `url` and `sha256`")
    })?;
    let report: PipReport = serde_json::from_str(&finished.stdout)
        .map_err(|error| failed(format!("pip's report can't be read: {error}"), "pip 22.2 or newer is needed"))?;
    let metadata = report.install.into_iter().next().map(|one| one.metadata).unwrap_or_default();
    Ok(metadata.headers())
}

#[derive(Deserialize)]
struct PipReport {
    install: Vec<PipInstalled>,
}

#[derive(Deserialize)]
struct PipInstalled {
    metadata: Metadata,
}

/// As `packaging` writes METADATA in JSON (PEP 566).
#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    requires_dist: Vec<String>,
    provides_extra: Vec<String>,
    requires_python: Option<String>,
}

impl Metadata {
    fn headers(&self) -> String {
        let python: Vec<String> = self.requires_python.iter().cloned().collect();
        [
            lines("Requires-Python", &python),
            lines("Requires-Dist", &self.requires_dist),
            lines("Provides-Extra", &self.provides_extra),
        ]
        .concat()
    }
}

fn lines(name: &str, values: &[String]) -> String {
    values.iter().map(|value| format!("{name}: {}\n", value.replace('\n', " "))).collect()
}

/// PKG-INFO at the top of the archive.
fn package_info(file: &str, bytes: &[u8]) -> Option<String> {
    let text = if file.ends_with(".zip") {
        let mut archive = Archive::open(std::io::Cursor::new(bytes)).ok()?;
        let member = archive.files().members.iter().find(|member| at_top(&member.path)).cloned()?;
        archive.text(&member, TEXT_LIMIT).ok()?
    } else {
        let mut archive = tar::Archive::new(GzDecoder::new(bytes));
        let mut entries = archive.entries().ok()?.filter_map(Result::ok);
        let entry = entries.find(|entry| entry.path().is_ok_and(|path| at_top(&path.to_string_lossy())))?;
        let mut text = String::new();
        entry.take(TEXT_LIMIT).read_to_string(&mut text).ok()?;
        text
    };
    let text = text.replace('\r', "");
    Some(text.split("\n\n").next().unwrap_or_default().to_owned())
}

fn at_top(path: &str) -> bool {
    path.split_once('/').is_some_and(|(_, rest)| rest == "PKG-INFO")
}

/// Whether a build would give the same requirements: Metadata-Version 2.2 or later, and these fields not among the
/// dynamic ones.
fn is_static(headers: &str) -> bool {
    let version = values(headers, "Metadata-Version").next().and_then(|version| {
        let (major, minor) = version.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    let open = ["requires-dist", "provides-extra", "requires-python"];
    version.is_some_and(|version| version >= (2, 2))
        && !values(headers, "Dynamic").any(|field| open.contains(&field.to_ascii_lowercase().as_str()))
}

/// The values of the field `wanted`, in their order.
fn values<'h>(headers: &'h str, wanted: &'static str) -> impl Iterator<Item = &'h str> {
    headers.lines().filter_map(move |line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(wanted).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::is_static;

    #[test]
    fn only_immutable_replies_are_kept_without_asking() {
        assert!(is_static("Metadata-Version: 2.2\nName: a"));
        assert!(is_static("Metadata-Version: 2.4\nName: a\nDynamic: License"));
        assert!(!is_static("Metadata-Version: 2.1\nName: a"));
        assert!(!is_static("Metadata-Version: 2.3\nName: a\nDynamic: Requires-Dist"));
        assert!(!is_static("Name: a"));
    }
}
