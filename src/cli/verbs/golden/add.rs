//! `golden add`: a release into a folder or a notebook, with what pins it.

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::{AddOptions, pinned};
use crate::cli::verbs::golden::{read_believed, today, with_findings};
use crate::core::diag::{Code, Failure, Finding, Kind, shell_word};
use crate::golden::entry::{Release, Standing};
use crate::golden::pin::Pin;
use crate::golden::repository::{Holder, TO_READ};
use crate::golden::repository::{find_release, standing_findings};

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
    let holder = Holder::at(&options.into);
    let pins = holder.pins()?;
    // Without a name: what is pinned here, anew.
    let pinned_here = match pins.all.as_slice() {
        [pin] => Some(format!("{}@{}#sha256={}", pin.name, pin.version, pin.sha256)),
        _ => None,
    };
    let asked = options.release.as_ref().or(pinned_here.as_ref());
    let asked =
        asked.ok_or_else(|| Failure::input("no release is named").help("list them with `colab-boot golden list`"))?;
    let (title, digest) = pinned(asked).map_err(|why| Failure::input(format!("`{asked}`")).cause(why))?;
    let found = read_believed(&options.source.to_take(options.allow_stale), &pins, TO_READ, session)?;
    let today = today(session);
    let release = find_release(&found, title, today)?;
    let lock = release.file("lock").ok_or_else(|| Failure::answer(format!("{} has no lock", release.title())))?;
    if let Some(digest) = digest.filter(|digest| *digest != lock.sha256) {
        let message = format!("the lock of {} has sha256 {}, not {digest}", release.title(), lock.sha256);
        return Err(Failure::from_findings(Kind::Answer, vec![Finding::error(Code::GoldenFileDiffers, message)]));
    }
    let findings = standing_findings(release, today, options.allow_yanked);
    // What is pinned here already may be brought back.
    if release.standing(today) != Standing::Expired
        || !pins
            .all
            .iter()
            .any(|pin| (&pin.name, &pin.version, pin.sha256) == (&release.name, &release.version, lock.sha256))
    {
        must_be_had(release, release.standing(today), options, findings.clone())?;
    }
    let allow_yanked = options.allow_yanked && release.standing(today) == Standing::Yanked;
    let pin = Pin { allow_yanked, ..found.pin(release, asked)? };
    let files = holder.take(&found, release, pins.of(&release.name), pin)?;
    let report = AddReport {
        name: release.name.to_string(),
        version: release.version.to_string(),
        sha256: lock.sha256.to_string(),
        seq: found.vouched.catalogue.seq,
        signed_by: &found.vouched.by,
        files: files.clone(),
    };
    let text = format!("added {}: {}\n", release.title(), files.join(", "));
    let mut report = Report::new(report, text);
    report.talk.push(match holder {
        Holder::Folder(folder) => {
            let profile = folder.join(format!("{}.toml", release.name));
            format!("next: `colab-boot apply {}`", shell_word(profile.strip_prefix(".").unwrap_or(&profile)))
        }
        Holder::Notebook(_) if allow_yanked => {
            "next: set COLAB_BOOT_ALLOW_YANKED=1 for its kernel, open it and run all cells".to_owned()
        }
        Holder::Notebook(_) => "next: open it and run all cells".to_owned(),
    });
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
        finding.severity = crate::core::diag::Severity::Error;
    }
    let help = match standing {
        Standing::Yanked => "`--allow-yanked` adds it anyway",
        _ => "choose another release; this one is no longer maintained",
    };
    let findings = findings.into_iter().map(|finding| finding.with_help(help.to_owned())).collect();
    let mut failure = Failure::from_findings(Kind::Answer, findings);
    failure.message = format!("{} can't be added", release.title());
    Err(failure)
}
