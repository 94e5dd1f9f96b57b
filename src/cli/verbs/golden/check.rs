//! `golden check`: what of a repository needs work, for its CI.

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::GoldenCheckOptions;
use crate::cli::verbs::golden::{folder_of, today};
use crate::core::diag::{Code, Failure, Finding, counted};
use crate::core::host::files;
use crate::core::model::Sha256;
use crate::golden::due_work::cadence;
use crate::golden::repository::{
    Kept, OTHER_LIST, Repository, SIGNERS_FILE, TO_READ, believed, beside, change_findings, freshness, lacks_binary,
    no_binary, repo_option, strangers, trust_of, witnesses,
};
use crate::golden::signers::{INDEX, Signers, vouching};

#[derive(Serialize)]
struct RepositoryCheckReport {
    name: String,
    seq: u64,
    signed_by: Vec<String>,
    releases: usize,
    files: usize,
}

pub(super) fn run(options: &GoldenCheckOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let folder = folder_of(options.repo.as_ref());
    let kept = Kept::open(&folder, session)?;
    let repository = Repository::open(&folder.display().to_string(), TO_READ, session)?;
    let mut findings = Vec::new();
    let (signers, by) = signed(&kept, session, &mut findings)?;
    // Readers of this machine have pinned who may sign.
    let trust = trust_of(&session.paths, &kept.catalogue.name)?;
    if trust.threshold > 0
        && findings.is_empty()
        && let Err(failure) = believed(&repository, trust, false, session)
    {
        findings.extend(failure.findings);
    }
    findings.extend(change_findings(&kept, &repository));
    let mut count = 0;
    for release in &kept.catalogue.releases {
        for file in &release.files {
            count += 1;
            match repository.file(release, file) {
                Ok(bytes) if lacks_binary(&file.name, &bytes) => {
                    findings.push(no_binary(&format!("the cells of {}", release.title())));
                }
                Ok(_) => {}
                Err(failure) => findings.extend(failure.findings),
            }
        }
        findings.extend(strangers(&folder, release));
        findings.extend(witnesses(&repository, release, &signers));
    }
    findings.extend(beside(&kept));
    findings.extend(freshness(&kept, &signers, session.now));
    let runtimes = session.runtimes()?.names();
    findings.extend(cadence(&kept.catalogue, &runtimes, today(session)));
    let report = RepositoryCheckReport {
        name: kept.catalogue.name.to_string(),
        seq: kept.catalogue.seq,
        signed_by: by.clone(),
        releases: kept.catalogue.releases.len(),
        files: count,
    };
    let by = if by.is_empty() { "nobody".to_owned() } else { by.join(", ") };
    let text = format!(
        "{}: {}, {}, index {} signed by {by}\n",
        kept.catalogue.name,
        counted(kept.catalogue.releases.len(), "release"),
        counted(count, "file"),
        kept.catalogue.seq
    );
    Ok(Report::new(report, text).with_findings(findings))
}

/// Who has signed, by the repository's own list; a finding where they are too few, or the list is not the one that the
/// index names.
fn signed(kept: &Kept, session: &Session<'_>, findings: &mut Vec<Finding>) -> Result<(Signers, Vec<String>), Failure> {
    let text = files::read_text(&kept.folder.join(SIGNERS_FILE), "list of signers")?;
    let row = kept.catalogue.signers.as_ref();
    if row.is_some_and(|row| row.sha256 != Sha256::of(text.as_bytes())) {
        let message = format!("`{SIGNERS_FILE}` does not match the index");
        findings.push(Finding::error(Code::GoldenFileDiffers, message).with_help(OTHER_LIST));
    }
    let signers = Signers::parse(&text).map_err(|why| Failure::answer(format!("`{SIGNERS_FILE}`")).cause(why))?;
    let by = vouching(&signers.check(&kept.text, &kept.blocks, INDEX, session.now));
    let wanted = row.map_or(1, |row| row.threshold);
    if by.len() < wanted {
        let message = format!("the index has {} of {wanted} required signatures", by.len());
        findings.push(
            Finding::error(Code::GoldenThreshold, message)
                .with_help(format!("add signatures with `colab-boot golden sign{}`", repo_option(&kept.folder))),
        );
    }
    Ok((signers, by))
}
