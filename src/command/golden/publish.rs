//! `golden publish`: releases from profiles and their locks. A version that was published once stays as it is.

use std::fmt::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::cli::PublishOptions;
use crate::command::golden::build::binary;
use crate::command::golden::{folder_of, store, today};
use crate::diag::{Code, Failure, Finding, Kind, without_secrets};
use crate::golden::entry::{Release, ReleaseFile, Status};
use crate::golden::evidence::Record;
use crate::host::files;
use crate::model::Sha256;
use crate::output::{Report, bytes, needed_images};
use crate::repository::{Kept, Made, carry, home, make_release};
use crate::session::Session;

#[derive(Serialize)]
struct PublishReport {
    seq: u64,
    releases: Vec<Release>,
}

pub(super) fn run(options: &PublishOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open(&folder_of(options.kept.repo.as_ref()), session)?;
    let binary = match &options.binary {
        Some(path) => Some(carry(&kept, path, options.at.as_ref())?),
        None => binary(&options.elsewhere)?,
    };
    let policy = kept.catalogue.policy.clone();
    let home = home(&kept, options.at.as_ref())?;
    let made = |profile: &PathBuf| make_release(session, profile, (binary.as_ref(), home.as_ref()), &policy);
    let made = options.profiles.iter().map(made).collect::<Result<Vec<Made>, Failure>>()?;
    let mut report = Report::new((), String::new());
    let mut new = Vec::new();
    for one in made {
        let title = one.release.title();
        let is_it = |known: &&Release| known.title() == title;
        match kept.catalogue.releases.iter().find(is_it) {
            // Cells name the number of the index that they were published with.
            Some(known) if ["toml", "lock"].iter().all(|end| known.file(end) == one.release.file(end)) => {
                report.talk.push(format!("{title} is published already, with these bytes"));
            }
            Some(_) => return Err(republished(&title)),
            None => new.push(one),
        }
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
        let bad = |why: String| Failure::answer(format!("`{}` is no evidence here", path.display())).cause(why);
        let text = files::read_text(path, "record")?;
        let record = Record::parse(&text).map_err(bad)?;
        let release = kept.release(&format!("{}@{}", record.profile, record.version), today(session))?;
        let row = record.row(release, today(session)).map_err(bad)?;
        if without_secrets(&text) != text {
            return Err(bad("it has a password or a token in it".to_owned()));
        }
        if release.files.iter().any(|file| file.name == row.file) {
            report.talk.push(format!("{} has `{}` already", release.title(), row.file));
            continue;
        }
        let file = ReleaseFile { name: row.file.clone(), size: text.len() as u64, sha256: Sha256::of(text.as_bytes()) };
        let _ = writeln!(report.text, "{}: verified with GPU {} on {}", release.title(), row.gpu, row.on);
        let path = release.folder();
        release.files.push(file);
        release.files.sort_by(|a, b| a.name.cmp(&b.name));
        let name = row.file.clone();
        release.verified.push(row);
        files::write_whole(&kept.folder.join(path).join(name), text.as_bytes())?;
        attached = true;
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
    let finding = Finding::error(Code::GoldenRepublished, format!("{title} was published with another content"))
        .with_help(
            "give the profile a new version; if the old one is wrong, withdraw it with `colab-boot golden yank`",
        );
    Failure::from_findings(Kind::Answer, vec![finding])
}

/// What a release is for, in one line.
pub(super) fn shown(release: &Release) -> String {
    let frameworks = release.frameworks.iter().map(|(name, version)| format!("{name} {version}"));
    let cuda = release.cuda.map(|cuda| format!("CUDA {cuda}")).into_iter();
    let rest = [release.runtimes.join(" "), format!("{} to fetch", bytes(release.download))];
    frameworks.chain(cuda).chain(rest).collect::<Vec<_>>().join(", ")
}
