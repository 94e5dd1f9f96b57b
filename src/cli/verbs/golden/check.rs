//! `golden check`: what of a repository needs work, for its CI.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::GoldenCheckOptions;
use crate::cli::verbs::golden::{folder_of, today};
use crate::core::diag::{Code, Failure, Finding, counted};
use crate::core::model::Sha256;
use crate::golden::calendar::Day;
use crate::golden::due_work::{Due, standings};
use crate::golden::repository::{
    Kept, OTHER_LIST, Repository, SIGNERS_FILE, TO_READ, believed, beside, cell_findings, change_findings,
    confirmation, lacks_binary, outdated_page, repo_option, strangers, trust_of, with_way_back, witnesses,
};
use crate::golden::signers::{INDEX, Outcome, Signers, vouching};

#[derive(Serialize)]
struct RepositoryCheckReport {
    name: String,
    seq: u64,
    signed_by: Vec<String>,
    fresh_until: Day,
    releases: usize,
    files: usize,
    /// By profile, how many releases have each standing.
    profiles: BTreeMap<String, BTreeMap<&'static str, usize>>,
    signers: Vec<String>,
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
        findings.extend(with_way_back(failure, &repository).findings);
    }
    findings.extend(change_findings(&kept, &repository));
    // Cells that only wait for a signature need no new release.
    if !findings.iter().any(Finding::is_error) {
        findings.extend(cell_findings(&kept, &repository, today(session), session));
    }
    let (mut count, mut without_download) = (0, BTreeSet::new());
    for release in &kept.catalogue.releases {
        for file in &release.files {
            count += 1;
            match repository.file(release, file) {
                Ok(bytes) if lacks_binary(&file.name, &bytes) => drop(without_download.insert(release.title())),
                Ok(_) => {}
                Err(failure) => findings.extend(failure.findings),
            }
        }
        findings.extend(strangers(&folder, release));
        findings.extend(witnesses(&repository, release, &signers));
    }
    findings.extend(beside(&kept));
    findings.extend(outdated_page(&kept, session));
    let (confirmed, unconfirmed) = confirmation(&kept, &signers, session.now);
    findings.extend(unconfirmed);
    let runtimes = session.runtimes()?.names();
    let (catalogue, today) = (&kept.catalogue, today(session));
    let due = Due { catalogue, runtimes: &runtimes, without_download: &without_download, confirmed, today };
    findings.extend(due.findings());
    let counts = standings(catalogue, today).into_iter().map(|(name, counts)| {
        (name.to_string(), counts.into_iter().map(|(standing, count)| (standing.as_str(), count)).collect())
    });
    let report = RepositoryCheckReport {
        name: catalogue.name.to_string(),
        seq: catalogue.seq,
        signed_by: by,
        fresh_until: catalogue.fresh_until,
        releases: catalogue.releases.len(),
        files: count,
        profiles: counts.collect(),
        signers: signers.described(session.now),
    };
    let text = report.to_text();
    Ok(Report::new(report, text).with_findings(findings))
}

impl RepositoryCheckReport {
    fn to_text(&self) -> String {
        let by = if self.signed_by.is_empty() { "nobody".to_owned() } else { self.signed_by.join(", ") };
        let Self { name, seq, fresh_until, .. } = self;
        let mut text = format!("{name}: index {seq}, fresh until {fresh_until}, signed by {by}\n");
        text.extend(self.signers.iter().map(|signer| format!("  {signer}\n")));
        for (profile, counts) in &self.profiles {
            let counts: Vec<String> = counts.iter().map(|(standing, count)| format!("{count} {standing}")).collect();
            let _ = writeln!(text, "{profile}: {}", counts.join(", "));
        }
        let _ = writeln!(text, "checked {} of {}", counted(self.files, "file"), counted(self.releases, "release"));
        text
    }
}

/// Who has signed, by the repository's own list; a finding where they are too few, or the list is not the one that the
/// index names.
fn signed(kept: &Kept, session: &Session<'_>, findings: &mut Vec<Finding>) -> Result<(Signers, Vec<String>), Failure> {
    let text = kept.list_text()?;
    let row = kept.catalogue.signers.as_ref();
    if row.is_some_and(|row| row.sha256 != Sha256::of(text.as_bytes())) {
        let message = format!("`{SIGNERS_FILE}` does not match the index");
        findings.push(Finding::error(Code::GoldenFileDiffers, message).with_help(OTHER_LIST));
    }
    let signers = kept.signers_in(&text)?;
    let outcomes = signers.check(&kept.text, &kept.blocks, INDEX, session.now);
    let by = vouching(&outcomes);
    let wanted = kept.catalogue.threshold();
    if outcomes.iter().any(|outcome| matches!(outcome, Outcome::Wrong(_))) {
        let finding = Finding::error(Code::GoldenThreshold, "the index was changed after it was signed");
        findings.push(finding.with_help("restore it from version control; change it only with colab-boot"));
    } else if by.len() < wanted {
        let message = format!("the index has {} of {wanted} required signatures", by.len());
        findings.push(
            Finding::error(Code::GoldenThreshold, message)
                .with_help(format!("add signatures with `colab-boot golden sign{}`", repo_option(&kept.folder))),
        );
    }
    Ok((signers, by))
}
