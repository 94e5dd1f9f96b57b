//! `golden publish`: releases from profiles and their locks. A version that was published once stays as it is.

use std::fmt::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::PublishOptions;
use crate::cli::output::needed_images;
use crate::cli::verbs::golden::build::binary;
use crate::cli::verbs::golden::{folder_of, signed, store, today, written};
use crate::core::diag::{Code, Failure, Finding, Kind, bytes};
use crate::core::host::files;
use crate::golden::entry::{Release, Status};
use crate::golden::repository::{
    Attached, Kept, Made, attach_record, carry, home, make_release, missing_again, must_be_free, no_binary,
};
use crate::golden::signers::{INDEX, vouching};

#[derive(Serialize)]
struct PublishReport {
    seq: u64,
    releases: Vec<Release>,
}

pub(super) fn run(options: &PublishOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open_alone(&folder_of(options.kept.repo.as_ref()), session)?;
    let binary = match &options.binary {
        Some(path) => Some(carry(&kept, path, options.at.as_ref())?),
        None => binary(&options.elsewhere)?,
    };
    let policy = kept.catalogue.policy.clone();
    let home = home(&kept, options.at.as_ref())?;
    let made = |profile: &PathBuf| make_release(session, profile, (binary.as_ref(), home.as_ref()), &policy);
    let made = options.profiles.iter().map(made).collect::<Result<Vec<Made>, Failure>>()?;
    let mut report = Report::new((), String::new());
    if binary.is_none() && !options.profiles.is_empty() {
        report.findings.push(no_binary("the cells that are published"));
    }
    let mut new = Vec::new();
    for one in made {
        let title = one.release.title();
        match kept.catalogue.releases.iter().find(|known| known.title() == title) {
            // Cells name the number of the index that they were published with.
            Some(known) if ["toml", "lock"].iter().all(|end| known.file(end) == one.release.file(end)) => {
                report.talk.push(format!("{title} is already published with the same content"));
                report.talk.extend(missing_again(&kept.folder, known, &one.files)?);
            }
            Some(_) => return Err(republished(&title)),
            None if new.iter().any(|other: &Made| other.release == one.release) => {}
            None if new.iter().any(|other: &Made| other.release.title() == title) => return Err(republished(&title)),
            None => new.push(one),
        }
    }
    for one in &new {
        must_be_free(&kept.folder, &one.release, &one.files)?;
    }
    for one in &new {
        report.talk.extend(one.lock.targets.iter().flat_map(needed_images));
        for (name, bytes) in &one.files {
            files::write_whole(&kept.folder.join(one.release.folder()).join(name), bytes)?;
        }
        let release = &one.release;
        let _ = writeln!(report.text, "{}: {}", release.title(), shown(release));
        if let Some(version) = &options.replaces {
            replace(&mut kept, release, version, session)?;
        }
        kept.catalogue.releases.push(release.clone());
    }
    let attached = attach(&mut kept, options, session, &mut report)?;
    if new.is_empty() && !attached {
        // A run that was ended before it had signed leaves the index unsigned.
        let signers = kept.signers()?;
        let wanted = kept.catalogue.signers.as_ref().map_or(1, |row| row.threshold);
        if vouching(&signers.check(&kept.text, &kept.blocks, INDEX, session.now)).len() < wanted {
            signed(&mut kept, &signers, None, &options.kept, session)?;
            report.talk.extend(written(&kept, &signers, session)?);
        }
        return Ok(report);
    }
    report.talk.extend(store(&mut kept, &options.kept, session)?);
    let releases = new.into_iter().map(|one| one.release).collect();
    report.data = serde_json::to_value(PublishReport { seq: kept.catalogue.seq, releases }).unwrap_or_default();
    Ok(report)
}

/// Puts records of verifications beside the releases that they are about; `true` where there was one that is new.
fn attach(
    kept: &mut Kept,
    options: &PublishOptions,
    session: &Session<'_>,
    report: &mut Report,
) -> Result<bool, Failure> {
    let mut attached = false;
    for path in &options.verified {
        match attach_record(kept, path, session)? {
            Attached::New(said) => {
                let _ = writeln!(report.text, "{said}");
                attached = true;
            }
            Attached::Known(said) => report.talk.push(said),
        }
    }
    Ok(attached)
}

/// Deprecates the release that `new` takes the place of.
fn replace(kept: &mut Kept, new: &Release, version: &semver::Version, session: &Session<'_>) -> Result<(), Failure> {
    let today = today(session);
    let old = kept.release(&format!("{}@{version}", new.name), today)?;
    if old.status == Status::Current {
        old.status = Status::Deprecated;
        old.because = Some("a newer release replaces it".to_owned());
    }
    old.replaced_by = Some(new.title());
    Ok(())
}

fn republished(title: &str) -> Failure {
    let finding = Finding::error(
        Code::GoldenRepublished,
        format!("{title} is already published with different content"),
    )
    .with_help(
        "change the version of the profile; if the published one is wrong, withdraw it with `colab-boot golden yank`",
    );
    Failure::from_findings(Kind::Answer, vec![finding])
}

/// What an environment with nothing installed downloads: what is there already is kept.
pub(super) fn largest_download(release: &Release) -> String {
    format!("up to {} to download", bytes(release.download))
}

/// What a release is for, in one line.
pub(super) fn shown(release: &Release) -> String {
    let frameworks = release.frameworks.iter().map(|(name, version)| format!("{name} {version}"));
    let cuda = release.cuda.map(|cuda| format!("CUDA {cuda}")).into_iter();
    let rest = [release.runtimes.join(" "), release.hardware(), largest_download(release)];
    frameworks.chain(cuda).chain(rest).collect::<Vec<_>>().join(", ")
}
