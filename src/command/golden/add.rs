//! `golden add`: a release into a folder, with what pins it.

use std::path::Path;

use serde::Serialize;

use crate::cli::{AddOptions, pinned};
use crate::command::golden::show::{find, standing_findings};
use crate::command::golden::{Read, pins_of, read, today, with_findings};
use crate::diag::{Code, Failure, Finding, Kind};
use crate::golden::entry::{Release, Standing};
use crate::golden::pin::{PIN_FILE, Pin, Pins};
use crate::host::files;
use crate::model::Sha256;
use crate::output::Report;
use crate::session::Session;

#[derive(Serialize)]
struct AddReport<'a> {
    name: String,
    version: String,
    sha256: String,
    seq: u64,
    signed_by: &'a [String],
    files: Vec<String>,
}

pub(super) fn run(options: &AddOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let asked = options
        .release
        .as_ref()
        .ok_or_else(|| Failure::input("no release is named").help("`colab-boot golden list` says which there are"))?;
    let (title, digest) = pinned(asked).map_err(|why| Failure::input(format!("`{asked}`")).cause(why))?;
    let mut pins = pins_of(&options.into)?;
    let found = read(&options.source, &pins, session)?;
    let today = today(session);
    let release = find(&found, title, today)?;
    let lock = release.file("lock").ok_or_else(|| Failure::answer(format!("{} has no lock", release.title())))?;
    if let Some(digest) = digest.filter(|digest| *digest != lock.sha256) {
        let message = format!("the lock of {} has sha256 {}, and {digest} was asked for", release.title(), lock.sha256);
        return Err(Failure::from_findings(Kind::Answer, vec![Finding::error(Code::GoldenFileDiffers, message)]));
    }
    let findings = standing_findings(release, today, options.allow_yanked);
    must_be_had(release, release.standing(today), options, findings.clone())?;
    let files = take(&found, release, pins.of(&release.name), &options.into)?;
    let report = AddReport {
        name: release.name.to_string(),
        version: release.version.to_string(),
        sha256: lock.sha256.to_string(),
        seq: found.vouched.catalogue.seq,
        signed_by: &found.vouched.by,
        files: files.clone(),
    };
    pins.put(pin(&found, release, asked)?);
    write_pins(&pins, &options.into)?;
    let text = format!("{} is here: {}\n", release.title(), files.join(", "));
    let mut report = Report::new(report, text);
    report.talk.push(format!("next: `colab-boot apply {}.toml`", release.name));
    Ok(with_findings(report, &found.vouched, findings))
}

/// An error for a release that nobody should begin with.
fn must_be_had(
    release: &Release,
    standing: Standing,
    options: &AddOptions,
    findings: Vec<Finding>,
) -> Result<(), Failure> {
    let refused = match standing {
        Standing::Current | Standing::Deprecated => false,
        Standing::Expired => true,
        Standing::Yanked => !options.allow_yanked,
    };
    if !refused {
        return Ok(());
    }
    let mut findings = findings;
    for finding in &mut findings {
        finding.severity = crate::diag::Severity::Error;
    }
    let help = match standing {
        Standing::Yanked => "`--allow-yanked` takes it all the same",
        _ => "take another one; nobody looks after this one any more",
    };
    let findings = findings.into_iter().map(|finding| finding.with_help(help.to_owned())).collect();
    let mut failure = Failure::from_findings(Kind::Answer, findings);
    failure.message = format!("{} is not given out", release.title());
    Err(failure)
}

/// Writes the profile and the lock of `release` into `folder`, both or neither. Their names. What somebody else has written there, or changed since
/// the release `before` was taken, is not written over.
pub(super) fn take(
    found: &Read,
    release: &Release,
    before: Option<&Pin>,
    folder: &Path,
) -> Result<Vec<String>, Failure> {
    let read = |suffix: &str| {
        let none = || Failure::answer(format!("{} has no `{}.{suffix}`", release.title(), release.name));
        let file = release.file(suffix).ok_or_else(none)?;
        Ok((file.name.clone(), found.repository.file(release, file)?))
    };
    let both: Vec<(String, Vec<u8>)> = ["toml", "lock"].into_iter().map(read).collect::<Result<_, Failure>>()?;
    let title = before.map(|pin| format!("{}@{}", pin.name, pin.version)).unwrap_or_default();
    let old = found.vouched.catalogue.releases.iter().find(|release| release.title() == title);
    for (name, bytes) in &both {
        let path = folder.join(name);
        let here = files::read_optional(&path)?.map(|text| Sha256::of(text.as_bytes()));
        let was = old.and_then(|old| old.files.iter().find(|file| file.name == *name)).map(|file| file.sha256);
        if here.is_some_and(|here| here != Sha256::of(bytes) && Some(here) != was) {
            return Err(Failure::input(format!("`{}` is there, and is not what `golden add` wrote", path.display()))
                .help("move it away, or name another folder with --into; nothing was changed"));
        }
    }
    for (name, bytes) in &both {
        files::write_whole(&folder.join(name), bytes)?;
    }
    Ok(both.into_iter().map(|(name, _)| name).collect())
}

/// What pins `release`.
pub(super) fn pin(found: &Read, release: &Release, asked: &str) -> Result<Pin, Failure> {
    let lock = release.file("lock").ok_or_else(|| Failure::answer(format!("{} has no lock", release.title())))?;
    Ok(Pin {
        name: release.name.clone(),
        original: asked.split('#').next().unwrap_or(asked).to_owned(),
        version: release.version.clone(),
        sha256: lock.sha256,
        from: found.repository.name(),
        repository: found.vouched.catalogue.name.clone(),
        seq: found.vouched.catalogue.seq,
        signers: found.vouched.by.clone(),
    })
}

pub(super) fn write_pins(pins: &Pins, folder: &Path) -> Result<(), Failure> {
    let text = pins.to_text().map_err(Failure::bug)?;
    files::write_whole(&folder.join(PIN_FILE), text.as_bytes())
}
