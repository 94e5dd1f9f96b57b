//! Locks as the verbs read and make them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use crate::boot::lock::{
    FORMAT, Fit, Lock, LockedApt, LockedFrom, LockedPackage, LockedProfile, LockedTarget, LockedWheel, REQUIRES,
    Unreadable, has_conflict, read_lock, stale, target_for,
};
use crate::boot::profile::Profile;
use crate::boot::resolve::{Pick, PickSource, Resolution, Target};
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::host::{Invocation, files};
use crate::core::model::CudaVersion;

impl Session<'_> {
    /// The lock of `path`, if there is one that can be read.
    pub fn read_lock(&self, path: &Path) -> Result<Option<Lock>, Failure> {
        let again = "name a lock that `colab-boot lock` wrote; if it is damaged, remove it and run `colab-boot lock`";
        let Some(text) = files::read_optional(path).map_err(|failure| failure.help(again))? else {
            return Ok(None);
        };
        read_lock(&text).map(Some).map_err(|unreadable| {
            let shown = path.display();
            let finding = match unreadable {
                Unreadable::Future { version, requires } => {
                    let own = env!("CARGO_PKG_VERSION");
                    let asks = requires.map(|text| format!("; it needs colab-boot {text}")).unwrap_or_default();
                    let reads = if version > FORMAT {
                        format!("this colab-boot reads {FORMAT}")
                    } else {
                        format!("this is colab-boot {own}")
                    };
                    let message = format!("`{shown}` is a lock of format {version}, {reads}{asks}");
                    Finding::error(Code::LockFuture, message)
                        .with_help("install a newer colab-boot, or run `colab-boot lock` with this one")
                }
                Unreadable::Malformed(why) => {
                    let help = if Profile::is_one(&text) {
                        format!("it is a profile; its lock is `{}`", path.with_extension("lock").display())
                    } else if has_conflict(&text) {
                        format!(
                            "take one side, for example with `git checkout --ours {shown}`, then run `colab-boot lock`"
                        )
                    } else {
                        again.to_owned()
                    };
                    Finding::error(Code::LockMalformed, format!("`{shown}` is not a lock: {why}")).with_help(help)
                }
            };
            Failure::from_findings(Kind::Answer, vec![finding])
        })
    }

    /// The lock of `path`; an error where there is none. `profile` is the one it would be made from.
    pub fn existing_lock(&self, path: &Path, profile: impl Display) -> Result<Lock, Failure> {
        let missing = || Failure::from_findings(Kind::Answer, vec![missing_lock(path, profile)]);
        self.read_lock(path)?.ok_or_else(missing)
    }

    /// A profile with its lock, which must be fresh and hold all that the profile asks for.
    pub fn with_fresh_lock(&self, profile: &Path, lock: &Path) -> Result<(Profile, Lock), Failure> {
        let shown = profile.display().to_string();
        let profile = self.profile(profile)?;
        let read = self.existing_lock(lock, &shown)?;
        let why = match stale(&read, &profile.digest, &self.matrix.version) {
            Some(why) => Some(why),
            None => self.unanswered(&profile, &read, read.targets.iter())?,
        };
        let finding = why.map(|why| stale_lock(lock, Some(&why), &shown));
        finding.map_or(Ok((profile, read)), |finding| Err(Failure::from_findings(Kind::Answer, vec![finding])))
    }

    /// The target of `lock` for the machine that was seen, or why there is none.
    pub fn fitting<'l>(&self, lock: &'l Lock, seen: &Seen) -> Result<&'l LockedTarget, Vec<String>> {
        let machine = &seen.machine;
        let Some(python) = &machine.python else {
            return Err(vec!["no usable Python was found".to_owned()]);
        };
        let installed = machine.installed.iter().map(|(name, one)| (name.clone(), one.version.clone())).collect();
        let fit = Fit {
            runtime: machine.runtime.as_deref(),
            python: &python.facts,
            hardware: &machine.hardware,
            installed: &installed,
        };
        target_for(lock, fit)
    }

    /// A solved target as a lock writes it.
    pub fn locked_target(
        &self,
        profile: &Profile,
        target: &Target,
        seen: &Seen,
        resolution: &Resolution,
    ) -> LockedTarget {
        let cuda = self.cuda_of(&resolution.picks);
        let image = seen.image();
        let mut gpus: Vec<_> = target.hardware.gpus.iter().map(|gpu| gpu.capability).collect();
        gpus.sort();
        gpus.dedup();
        // A snapshot decides which versions there are.
        let today = profile.apt_snapshot.is_none();
        let versions = if today { self.apt_versions(&profile.apt, seen) } else { BTreeMap::new() };
        LockedTarget {
            name: target.name.clone(),
            runtime: target.runtime.clone(),
            python: target.python.version.clone(),
            platform: target.python.platform_tag(),
            cuda,
            driver_floor: cuda.and_then(|cuda| self.matrix.driver_floor(cuda).cloned()),
            gpus,
            apt: profile
                .apt
                .iter()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .map(|name| LockedApt { name: name.clone(), version: versions.get(name).cloned() })
                .collect(),
            accept: profile.accepted.clone(),
            packages: resolution.picks.iter().map(|pick| locked_package(pick, profile, &image)).collect(),
        }
    }

    /// The newest CUDA that a runtime library or a labelled build of the set belongs to.
    fn cuda_of(&self, picks: &[Pick]) -> Option<CudaVersion> {
        picks
            .iter()
            .filter_map(|pick| {
                let library = self.matrix.library_cuda(&pick.name, &pick.version).and_then(|library| library.exact);
                let build = self.matrix.build(&pick.name, &pick.version).filter(|build| build.local.is_some());
                library.or_else(|| build.and_then(|build| build.cuda))
            })
            .max()
    }

    /// Versions that apt would install, or has; a machine that is only described has no apt to ask.
    fn apt_versions(&self, names: &[String], seen: &Seen) -> BTreeMap<String, String> {
        if !seen.is_here() || !seen.machine.has_apt || names.is_empty() {
            return BTreeMap::new();
        }
        let arguments: Vec<&str> = ["policy", "--"].into_iter().chain(names.iter().map(String::as_str)).collect();
        let mut environment = self.environment.clone();
        environment.insert("LC_ALL".to_owned(), "C.UTF-8".to_owned());
        let finished = Invocation::new("apt-cache", &arguments, &environment).output(Duration::from_secs(30));
        let mut versions = candidates(&finished.map(|finished| finished.stdout).unwrap_or_default());
        for name in names {
            if let Some(version) = seen.machine.debian.packages().get(name) {
                versions.insert(name.clone(), version.clone());
            }
        }
        versions
    }

    /// A new lock around `targets`.
    pub fn lock_of(&self, profile: &Profile, targets: Vec<LockedTarget>) -> Lock {
        Lock {
            version: FORMAT,
            requires: REQUIRES.to_owned(),
            matrix: self.matrix.version.clone(),
            profile: LockedProfile {
                name: profile.name.clone(),
                version: profile.version.clone(),
                sha256: profile.digest,
            },
            targets,
        }
    }
}

/// `apt-cache policy`: `name:` at the margin, `  Candidate: 1.2-3` below it.
fn candidates(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut name = None;
    for line in text.lines() {
        if let Some(head) = line.strip_suffix(':').filter(|head| !head.starts_with(' ')) {
            name = Some(head.to_owned());
        } else if let (Some(version), Some(name)) = (line.trim().strip_prefix("Candidate: "), &name)
            && version != "(none)"
        {
            found.insert(name.clone(), version.to_owned());
        }
    }
    found
}

fn locked_package(pick: &Pick, profile: &Profile, image: &str) -> LockedPackage {
    let wanted = || profile.wanted.iter().find(|one| one.name == pick.name);
    let from = match &pick.source {
        PickSource::ImageOnly => LockedFrom::ImageOnly(image.to_owned()),
        PickSource::Wheel { candidate, index, sha256, size, metadata } => LockedFrom::Wheel(LockedWheel {
            file: candidate.file.clone(),
            sha256: *sha256,
            size: *size,
            index: index.clone(),
            metadata: metadata.clone(),
            from: wanted().and_then(|one| Some(one.origin.as_ref()?.written.clone())),
            commit: wanted().and_then(|one| one.direct.as_ref()?.commit.clone()),
        }),
    };
    let profile = pick.in_profile.then(|| "profile".to_owned());
    let why = profile.into_iter().chain(pick.needed_by.iter().map(ToString::to_string)).collect();
    LockedPackage { name: pick.name.clone(), version: pick.version.clone(), from, why }
}

/// That there is no lock at `path`, as every verb says it; `profile` is the file to make it from.
pub fn missing_lock(path: &Path, profile: impl Display) -> Finding {
    Finding::error(Code::LockMissing, format!("there is no lock at `{}`", path.display())).with_help(relock(profile))
}

/// That the lock at `path` no longer answers, and why, as every verb says it.
pub fn stale_lock(path: &Path, why: Option<&str>, profile: impl Display) -> Finding {
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    Finding::error(Code::LockStale, format!("`{}` is stale{why}", path.display())).with_help(relock(profile))
}

/// The command that makes the lock of `profile` anew.
pub(super) fn relock(profile: impl Display) -> String {
    format!("run `colab-boot lock {profile}`")
}

/// Fails where `lock`, in a file that the user has named, is that of another profile.
pub fn must_be_of(lock: &Lock, profile: &Profile, path: &Path) -> Result<(), Failure> {
    let other = &lock.profile.name;
    if *other == profile.name {
        return Ok(());
    }
    let message = format!("`{}` is the lock of the profile `{other}`, not of `{}`", path.display(), profile.name);
    Err(Failure::input(message).help("choose another file with --lock, or remove this one"))
}
