//! A lock in the formats of other tools. Pure, but for the addresses that a caller has looked up.

mod container;
mod pins;
mod pylock;
mod requirements;

use std::collections::BTreeMap;

use url::Url;

use crate::boot::lock::{Lock, LockedPackage, LockedTarget};
use crate::boot::profile::Profile;
use crate::core::diag::{Code, Failure, Finding, Kind, Subject};

pub use container::{Base, devcontainer, dockerfile};
pub use pins::{image_constraints, lock_constraints, script_block};
pub use pylock::pylock;
pub use requirements::requirements;

/// What the first line of each exported file begins with.
const MADE: &str = "# Made by `colab-boot export";

/// One target of a lock, to be exported.
#[derive(Clone, Copy)]
pub struct LockView<'a> {
    pub profile: &'a Profile,
    pub lock: &'a Lock,
    pub target: &'a LockedTarget,
    /// Addresses of files, by their name, where the format has to have them.
    pub addresses: &'a BTreeMap<String, Url>,
}

impl LockView<'_> {
    /// `==3.12.*`.
    fn requires_python(&self) -> String {
        let (major, minor) = self.minor();
        format!("=={major}.{minor}.*")
    }

    fn minor(&self) -> (u64, u64) {
        minor_of(self.target)
    }

    /// The requirement for `package` with the operator `is`; its address where it is not from the default index.
    fn asked(&self, package: &LockedPackage, is: &str) -> String {
        let elsewhere = package.wheel().filter(|wheel| wheel.index != "default");
        match elsewhere.and_then(|wheel| self.addresses.get(&wheel.file)) {
            Some(url) => format!("{} @ {url}", package.name),
            None => format!("{}{is}{}", package.name, package.version),
        }
    }

    /// The lines that each file begins with: what it was made of, and what it is for. `format` is the verb's word.
    fn heading(&self, format: &str) -> String {
        let Self { profile, lock, target, .. } = self;
        let gpus: Vec<String> =
            target.gpus.iter().map(|gpu| format!("sm_{}", gpu.to_string().replace('.', ""))).collect();
        let driver = target.driver_floor.as_ref().map(|driver| format!(", NVIDIA driver {driver} or newer"));
        let gpus = if gpus.is_empty() { String::new() } else { format!(", {}", gpus.join(" ")) };
        let (major, minor) = self.minor();
        format!(
            "{MADE} {format}` from {}, target {}, lock sha256:{}. Do not edit.\n# For Python {major}.{minor}, {}{}{gpus}.\n",
            profile.title(),
            target.name,
            lock.digest().short(),
            target.platform,
            driver.unwrap_or_default()
        )
    }
}

/// Whether `text` was exported, so that it may be replaced.
pub fn is_exported(text: &str) -> bool {
    text.starts_with(MADE)
        || text.starts_with(&MADE.replacen("# ", "// ", 1))
        || text.starts_with("# /// script\n# # Made")
}

/// The target that is named, else the only one.
pub fn target_of<'l>(lock: &'l Lock, named: Option<&str>) -> Result<&'l LockedTarget, Failure> {
    let names = || lock.targets.iter().map(|target| format!("`{}`", target.name)).collect::<Vec<_>>().join(", ");
    match (named, lock.targets.as_slice()) {
        (None, [only]) => Ok(only),
        (None, _) => {
            Err(Failure::input("the lock has several targets")
                .help(format!("name one of them with --target: {}", names())))
        }
        (Some(name), all) => all.iter().find(|target| target.name == name).ok_or_else(|| {
            Failure::input(format!("the lock has no target `{name}`")).help(format!("it has {}", names()))
        }),
    }
}

/// Fails where a package comes from a notebook image alone: other tools can't have it.
pub fn must_be_on_indexes(target: &LockedTarget) -> Result<(), Failure> {
    if let Some((package, from)) = target.packages.iter().find_map(|package| Some((package, package.own_place()?))) {
        let message = format!("{} {} comes from `{from}`, not from an index", package.name, package.version);
        let finding =
            Finding::error(Code::ExportOwnSource, message).about(Subject::release(&package.name, &package.version));
        let help = "build a wheel of it, and name that with `url` and `sha256`, or serve it from an index";
        return Err(Failure::from_findings(Kind::Answer, vec![finding.with_help(help)]));
    }
    let missing: Vec<&LockedPackage> = target.packages.iter().filter(|package| package.wheel().is_none()).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let image = first.image_only().unwrap_or_default();
    let message = format!("{} {} is available only from the image `{image}`", first.name, first.version);
    let names = missing.iter().map(|package| Subject::release(&package.name, &package.version));
    let (major, minor) = minor_of(target);
    let mut finding = Finding::error(Code::ExportImageOnly, message).with_help(format!(
        "lock for a target without packages: set `runtimes = [\"bare-{major}.{minor}\"]` in `[target]`, then lock again"
    ));
    finding.about = names.collect();
    Err(Failure::from_findings(Kind::Answer, vec![finding]))
}

/// `(3, 12)`.
fn minor_of(target: &LockedTarget) -> (u64, u64) {
    match target.python.release() {
        [major, minor, ..] => (*major, *minor),
        _ => (3, 0),
    }
}
