//! `golden publish`: releases from profiles and their locks. A version that was published once stays as it is.

use std::fmt::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::PublishOptions;
use crate::cli::output::{needed_images, shown};
use crate::cli::verbs::golden::{folder_of, signed, store, today, written};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::golden::entry::{Release, Status};
use crate::golden::repository::{
    Attached, Kept, Made, attach_record, carry, home, last_address, make_release, missing_again, must_be_free,
    named_binary, no_binary, refresh_page, republished,
};
use crate::golden::signers::{INDEX, vouching};

#[derive(Serialize)]
struct PublishReport {
    seq: u64,
    releases: Vec<Release>,
}

pub(super) fn run(options: &PublishOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open_alone(&folder_of(options.kept.repo.as_ref()), session)?;
    let place = options.colab.as_deref();
    if options.profiles.is_empty() && options.verified.is_empty() {
        let said = refresh_page(&kept, place, session);
        return Ok(Report::new((), said.map_or_else(|| "wrote the page\n".to_owned(), |said| format!("{said}\n"))));
    }
    let earlier = last_address(&kept).filter(|_| options.at.is_none() && !options.profiles.is_empty());
    let at = options.at.as_ref().or(earlier.as_ref().map(|(_, url)| url));
    let binary = match &options.binary {
        Some(path) => Some(carry(&kept, path, at)?),
        None => named_binary(options.elsewhere.binary_url.as_ref(), options.elsewhere.binary_sha256.as_ref())?,
    };
    let policy = kept.catalogue.policy.clone();
    let home = home(&kept, at)?;
    let made =
        |profile: &PathBuf| make_release(session, profile, (binary.as_ref(), home.as_ref(), options.offline), &policy);
    let made = options.profiles.iter().map(made).collect::<Result<Vec<Made>, Failure>>()?;
    let mut report = Report::new((), String::new());
    report.talk.extend(earlier.map(|(title, url)| {
        format!("the cells ask {url} whether they were withdrawn, as those of {title} do; --at names another address")
    }));
    if binary.is_none() && !options.profiles.is_empty() {
        report.findings.push(no_binary("the cells that are published"));
    }
    let (mut new, mut changed) = (Vec::new(), false);
    for one in made {
        let title = one.release.title();
        match kept.catalogue.releases.iter().find(|known| known.title() == title) {
            // Cells name the number of the index that they were published with.
            Some(known) if ["toml", "lock"].iter().all(|end| known.file(end) == one.release.file(end)) => {
                report.talk.push(format!("{title} is already published with the same content"));
                report.talk.extend(missing_again(&kept.folder, known, &one.files)?);
                if let Some(version) = &options.replaces {
                    changed |= replace(&mut kept, &one.release, version, session)?;
                }
            }
            Some(_) => return Err(republished(&title)),
            None if new.iter().any(|other: &Made| other.release == one.release) => {}
            None if new.iter().any(|other: &Made| other.release.title() == title) => return Err(republished(&title)),
            None => new.push(one),
        }
    }
    add_all(&mut kept, &new, options, session, &mut report)?;
    changed |= attach(&mut kept, options, session, &mut report)?;
    if new.is_empty() && !changed {
        // A run that was ended before it had signed leaves the index unsigned.
        let signers = kept.signers()?;
        let wanted = kept.catalogue.threshold();
        if vouching(&signers.check(&kept.text, &kept.blocks, INDEX, session.now)).len() < wanted {
            signed(&mut kept, &signers, None, &options.kept, session)?;
            report.talk.extend(written(&kept, &signers, place, session)?);
        } else {
            report.talk.extend(refresh_page(&kept, place, session));
        }
        return Ok(report);
    }
    report.talk.extend(store(&mut kept, &options.kept, place, session)?);
    let releases = new.into_iter().map(|one| one.release).collect();
    report.data = serde_json::to_value(PublishReport { seq: kept.catalogue.seq, releases }).unwrap_or_default();
    Ok(report)
}

/// Writes the files of `new` releases, none of which may be in the way of others, and their rows.
fn add_all(
    kept: &mut Kept,
    new: &[Made],
    options: &PublishOptions,
    session: &Session<'_>,
    report: &mut Report,
) -> Result<(), Failure> {
    for one in new {
        must_be_free(&kept.folder, &one.release, &one.files)?;
    }
    for one in new {
        report.talk.extend(one.lock.targets.iter().flat_map(needed_images));
        for (name, bytes) in &one.files {
            files::write_whole(&kept.folder.join(one.release.folder()).join(name), bytes)?;
        }
        let release = &one.release;
        let _ = writeln!(report.text, "{}: {}", release.title(), shown(release));
        if let Some(version) = &options.replaces {
            replace(kept, release, version, session)?;
        }
        kept.catalogue.releases.push(release.clone());
    }
    Ok(())
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

/// Deprecates the release that `new` takes the place of; `true` where that was not known.
fn replace(kept: &mut Kept, new: &Release, version: &semver::Version, session: &Session<'_>) -> Result<bool, Failure> {
    if *version == new.version {
        return Err(Failure::input(format!("--replaces: {} can't replace itself", new.title())));
    }
    let today = today(session);
    let old = kept.release(&format!("{}@{version}", new.name), today)?;
    if old.status == Status::Current {
        old.status = Status::Deprecated;
        old.because = Some("a newer release replaces it".to_owned());
    }
    let before = old.replaced_by.replace(new.title());
    Ok(before != old.replaced_by)
}
