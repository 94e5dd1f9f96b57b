//! The reader: the version first, then the rest.

use std::collections::BTreeSet;

use semver::{Version as SemanticVersion, VersionReq};
use serde::Deserialize;

use crate::boot::lock::{FORMAT, Lock, LockedPackage, LockedTarget};
use crate::boot::profile::debian_name;
use crate::core::model::WheelName;
use crate::core::model::wheel_names::sdist_version;

/// Bytes; the lock of a whole Colab image has a quarter of a megabyte for each target. TOML takes fifty times its size
/// to read.
const SIZE_LIMIT: usize = 4 << 20;
const MOST_PACKAGES: usize = 20_000;

/// Why a text is no lock we can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// A newer format, or one that asks for a newer program; the text says for which.
    Future { version: u64, requires: Option<String> },
    /// What is wrong, in one line.
    Malformed(String),
}

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Deserialize)]
struct LockHead {
    version: u64,
    requires: Option<String>,
}

/// Whether a merge has left both sides in `text`.
pub fn has_conflict(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("<<<<<<< "))
}

/// Reads a lock. Keys that this version does not know are passed over: they are for later ones.
pub fn read_lock(text: &str) -> Result<Lock, Unreadable> {
    let malformed = |error: toml::de::Error| {
        let place = error.span().map(|span| format!("line {}: ", text[..span.start].matches('\n').count() + 1));
        Unreadable::Malformed(format!("{}{}", place.unwrap_or_default(), error.message()))
    };
    if has_conflict(text) {
        return Err(Unreadable::Malformed("it has merge conflict markers".to_owned()));
    }
    if text.len() > SIZE_LIMIT {
        return Err(Unreadable::Malformed(format!("it is larger than {} MB", SIZE_LIMIT >> 20)));
    }
    let head: LockHead = toml::from_str(text).map_err(malformed)?;
    let asks_for = head.requires.as_ref().and_then(|text| VersionReq::parse(text).ok());
    if head.version > FORMAT
        || asks_for.is_some_and(|wanted| !VERSION.parse::<SemanticVersion>().is_ok_and(|own| wanted.matches(&own)))
    {
        return Err(Unreadable::Future { version: head.version, requires: head.requires });
    }
    if head.version < FORMAT {
        return Err(Unreadable::Malformed(format!("it has format {}, this colab-boot reads {FORMAT}", head.version)));
    }
    let lock: Lock = toml::from_str(text).map_err(malformed)?;
    check(&lock).map_err(Unreadable::Malformed)?;
    Ok(lock)
}

/// A merge of two locks can leave a package twice, or lose one that another was there for.
fn consistent(target: &LockedTarget) -> Result<(), String> {
    let mut names = BTreeSet::new();
    if let Some(twice) = target.packages.iter().find(|package| !names.insert(package.name.as_ref())) {
        return Err(format!("target `{}` has `{}` twice", target.name, twice.name));
    }
    for package in &target.packages {
        if let Some(lost) = package.why.iter().find(|why| *why != "profile" && !names.contains(why.as_str())) {
            return Err(format!(
                "target `{}` has `{}` because of `{lost}`, which the target does not contain",
                target.name, package.name
            ));
        }
    }
    Ok(())
}

/// What stands in a lock ends up in a script: only names that the writer can have written are let in.
fn check(lock: &Lock) -> Result<(), String> {
    if lock.targets.iter().map(|target| target.packages.len()).sum::<usize>() > MOST_PACKAGES {
        return Err(format!("it has more than {MOST_PACKAGES} packages"));
    }
    for target in &lock.targets {
        consistent(target)?;
        if let Some(one) = target.apt.iter().find(|one| debian_name(&one.name).is_err()) {
            return Err(format!("`{}` is not a supported Debian package", one.name.escape_debug()));
        }
        let names = target.apt.iter().filter_map(|one| one.version.as_deref());
        let wheels = target.packages.iter().filter_map(LockedPackage::wheel);
        let indexes = wheels.clone().map(|wheel| wheel.index.as_str());
        let images = target.packages.iter().filter_map(LockedPackage::image_only);
        let mut texts = std::iter::once(target.name.as_str()).chain(names).chain(indexes).chain(images);
        if let Some(text) = wheels
            .filter_map(|wheel| wheel.metadata.as_ref())
            .find(|digest| !(digest.len() == 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit())))
        {
            return Err(format!("`{}` is not a digest of METADATA", text.escape_debug()));
        }
        if let Some(text) = texts.find(|text| !plain(text)) {
            return Err(format!("`{}` is not a package name", text.escape_debug()));
        }
        for package in &target.packages {
            let Some(wheel) = package.wheel() else { continue };
            let version = match wheel.file.parse::<WheelName>() {
                Ok(name) => Some(name).filter(|name| name.name == package.name).map(|name| name.version),
                Err(_) => sdist_version(&wheel.file, &package.name),
            };
            // An epoch has a `!`.
            if !plain(&wheel.file.replace('!', "_")) || version.as_ref() != Some(&package.version) {
                return Err(format!(
                    "`{}` is not a file of {} {}",
                    wheel.file.escape_debug(),
                    package.name,
                    package.version
                ));
            }
        }
    }
    Ok(())
}

fn plain(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | ':' | '~'))
        && !text.starts_with(['-', '.'])
}
