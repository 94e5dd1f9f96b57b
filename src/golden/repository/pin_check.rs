//! What `golden.lock` pins beside a profile, before an apply: the files by their digests, the release by what its
//! repository says today.

use std::path::{Path, PathBuf};

use crate::boot::lock::{lock_path, read_lock};
use crate::boot::session::Session;
use crate::boot::verdict::Compared;
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::{PackageName, Sha256};
use crate::golden::calendar::Day;
use crate::golden::pin::{PIN_FILE, Pin, Pins};
use crate::golden::repository::pin_holder::{Holder, into_option};
use crate::golden::repository::repository_address::TO_ASK;
use crate::golden::repository::source_request::SourceRequest;
use crate::golden::repository::status_text::pin_findings;
use crate::golden::repository::trusted::trust_of;
use crate::golden::repository::trusted_read::read_believed;
use crate::golden::repository::withdrawn::withdrawn;

/// What was found.
#[derive(Debug, Default)]
pub struct Pinned {
    pub findings: Vec<Finding>,
    pub release: Compared,
}

/// The pins of the folder of `profile`, else of the one that it is a link into, and the one that is the profile's; with
/// that folder.
fn pin_of(profile: &Path) -> Result<(Pins, Option<Pin>, PathBuf), Failure> {
    let found = pin_in(profile)?;
    match profile.real() {
        Ok(real) if found.1.is_none() => pin_in(&real),
        _ => Ok(found),
    }
}

fn pin_in(profile: &Path) -> Result<(Pins, Option<Pin>, PathBuf), Failure> {
    let folder = match profile.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let pins = Holder::at(folder).pins()?;
    let file = profile.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = if pins.all.is_empty() { None } else { own_name(profile) };
    // The file's name counts before what the profile calls itself: both may be pinned, and then they are two releases.
    let by_file = pins.all.iter().find(|pin| file == format!("{}.toml", pin.name));
    let pin = by_file.or_else(|| pins.all.iter().find(|pin| name.as_ref() == Some(&pin.name))).cloned();
    Ok((pins, pin, folder.to_owned()))
}

/// What a profile calls itself, whatever its file is called; `None` where it can't be read: that is said elsewhere.
fn own_name(profile: &Path) -> Option<PackageName> {
    let text = files::read_optional(profile).ok()??;
    let profile: toml::Value = toml::from_str(&text).ok()?;
    profile.get("profile")?.get("name")?.as_str()?.parse().ok()
}

/// Compares a profile and its lock with the pin of their folder, without asking the repository; nothing where it pins
/// none.
pub fn check_pinned_files(profile: &Path, lock: Option<&PathBuf>, session: &Session<'_>) -> Result<Pinned, Failure> {
    let (_, pin, folder) = pin_of(profile)?;
    let Some(pin) = pin else { return Ok(Pinned::default()) };
    let release = Compared::Not(format!("verify does not contact the repository of {}@{}", pin.name, pin.version));
    let withdrawn = withdrawn(&session.paths, &pin, pin.allow_yanked)?;
    let findings = edited(&pin, (profile, lock), &folder)?.into_iter().chain(withdrawn).collect();
    Ok(Pinned { findings, release })
}

/// Compares `profile` and its lock with the pin of their folder, and the release with its repository; nothing where it
/// pins none.
pub fn check_pin(
    (profile, lock): (&Path, Option<&PathBuf>),
    offline: bool,
    session: &Session<'_>,
) -> Result<Pinned, Failure> {
    let (pins, pin, folder) = pin_of(profile)?;
    let Some(pin) = pin else { return Ok(Pinned::default()) };
    let edited = edited(&pin, (profile, lock), &folder)?;
    if !edited.is_empty() {
        return Ok(Pinned { findings: edited, release: Compared::Nothing });
    }
    let title = format!("{}@{}", pin.name, pin.version);
    let withdrawn = withdrawn(&session.paths, &pin, pin.allow_yanked)?;
    if offline {
        return Ok(Pinned {
            findings: withdrawn.into_iter().collect(),
            release: Compared::Not(format!("{title} unchecked, --offline")),
        });
    }
    let pin = Pin { from: place(&pin.from, &folder), ..pin };
    // As the options of the other commands read it.
    let is_no = |value: &str| matches!(value, "" | "0" | "n" | "no" | "f" | "false" | "off");
    let value = session.environment.get("COLAB_BOOT_ALLOW_STALE");
    let is_set = value.is_some_and(|value| !is_no(&value.to_ascii_lowercase()));
    let source = SourceRequest { allow_stale: is_set, ..SourceRequest::default() };
    // Keys that are pinned and can't be read are no repository that can't be reached.
    trust_of(&session.paths, &pin.repository)?;
    let found = match read_believed(&source, &Pins { all: vec![pin.clone()], ..pins }, TO_ASK, session) {
        Ok(found) => found,
        // What is pinned is as good as before; whether it was withdrawn is not known.
        Err(failure) if failure.kind == Kind::World => {
            let message = format!("it is unknown whether {title} was withdrawn: {failure}");
            let finding = Finding::note(Code::GoldenUnchecked, message);
            let release = Compared::Not(format!("{title} unchecked, its repository gives no index"));
            return Ok(Pinned { findings: withdrawn.into_iter().chain([finding]).collect(), release });
        }
        Err(failure) => return Err(failure),
    };
    let findings = pin_findings((&pin, &into_option(&folder)), &found, Day::at(session.now), pin.allow_yanked);
    Ok(Pinned { findings: found.vouched.findings.into_iter().chain(findings).collect(), release: Compared::Same(1) })
}

/// Where a repository is that `golden.lock` names: a relative folder is seen from that file, else from here.
fn place(from: &str, folder: &Path) -> String {
    let beside = folder.join(from);
    let is_relative = !from.contains("://") && PathBuf::from(from).is_relative();
    if is_relative && !Path::new(from).is_there() && beside.is_there() {
        beside.display().to_string()
    } else {
        from.to_owned()
    }
}

/// The files that are not those of the pinned release.
fn edited(pin: &Pin, (profile, lock): (&Path, Option<&PathBuf>), folder: &Path) -> Result<Vec<Finding>, Failure> {
    let path = lock_path(profile, lock);
    let Some(text) = files::read_optional(&path)? else {
        return Ok(vec![not_as_pinned(pin, folder, &path, "is missing: the lock")]);
    };
    if Sha256::of(text.as_bytes()) != pin.sha256 {
        return Ok(vec![not_as_pinned(pin, folder, &path, "is not the lock")]);
    }
    let own = files::read_text(profile, "profile")?;
    let of_lock = read_lock(&text).ok().map(|lock| lock.profile.sha256);
    let is_same = of_lock == Some(Sha256::of(own.as_bytes()));
    Ok(if is_same { Vec::new() } else { vec![not_as_pinned(pin, folder, profile, "is not the profile")] })
}

/// `path` in `folder` `what` of the release that `pin` names.
fn not_as_pinned(pin: &Pin, folder: &Path, path: &Path, what: &str) -> Finding {
    let title = format!("{}@{}", pin.name, pin.version);
    let message = format!("`{}` {what} of {title}, which `{PIN_FILE}` pins", path.display());
    Finding::error(Code::GoldenFileDiffers, message).with_help(format!(
        "remove the file and run `colab-boot golden add {title}{}`; or keep your version and remove the entry of `{}` \
         from `{PIN_FILE}`",
        into_option(folder),
        pin.name
    ))
}
