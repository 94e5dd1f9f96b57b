//! `stage`: data brought to a disk of this machine, checkpoints brought back.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Instant;

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::StageOptions;
use crate::core::diag::{Code, Failure, Finding, bytes, counted, few};
use crate::core::host::files;
use crate::core::log::{Style, progress_of};
use crate::health::stage::{Staged, Staging, stage};

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct StageReport {
    files: u64,
    bytes: u64,
    there: u64,
    shards: u64,
    verified: u64,
    /// Bytes that a run had brought which was cut off.
    continued: u64,
    seconds: f64,
    skipped: Vec<String>,
    failed: Vec<FailedReport>,
}

#[derive(Serialize)]
struct FailedReport {
    path: String,
    why: String,
}

pub(super) fn run(options: &StageOptions, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    let begun = Instant::now();
    let boot = files::read_optional(&session.paths.under_root("/proc/sys/kernel/random/boot_id")).ok().flatten();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, not negative")]
    let shards = options.shards.map(|size| size as u64);
    let staging = Staging {
        // However it is spelled, `set` and `set/` are one source.
        from: files::absolute(&options.from)?.components().collect(),
        to: files::absolute(&options.to)?.components().collect(),
        jobs: options.jobs,
        durable: options.back,
        shards,
        unpack: options.unpack,
        verify: options.verify,
        overwrite: options.overwrite,
        boot: boot.unwrap_or_default(),
    };
    let staged = stage(&staging, session.environment, &|total| progress_of(total, 0, style))?;
    let seconds = begun.elapsed().as_secs_f64();
    let text = said(&staged, &staging, seconds);
    let mut findings: Vec<Finding> = incomplete(&staged, shards.is_some()).into_iter().collect();
    if staged.is_nothing() {
        let message = format!("`{}` has no files: nothing was copied", staging.from.display());
        findings.push(Finding::warning(Code::StageEmpty, message).with_help("check that the source is mounted"));
    }
    if !staged.skipped.is_empty() {
        let message =
            format!("{} skipped: links, devices or colab-boot's own files", counted(staged.skipped.len(), "name"));
        findings.push(Finding::note(Code::StageSkipped, message).with_note(few(&staged.skipped).join(", ")));
    }
    let Staged { files, bytes, there, skipped, failed, verified, shards, continued } = staged;
    let failed = failed.into_iter().map(|(path, why)| FailedReport { path, why: why.to_string() }).collect();
    let report = StageReport { files, bytes, there, shards, verified, continued, seconds, skipped, failed };
    Ok(Report::new(report, text).with_findings(findings))
}

fn incomplete(staged: &Staged, packs: bool) -> Option<Finding> {
    let message = format!("{} could not be copied", counted(staged.failed.len(), "file"));
    let help = if packs {
        "the earlier tar files are kept until all new ones are complete; run the same command to continue".to_owned()
    } else {
        let helps: BTreeSet<&str> = staged.failed.iter().map(|(_, why)| why.help()).collect();
        helps.into_iter().collect::<Vec<_>>().join("; ")
    };
    let mut finding = Finding::error(Code::StageIncomplete, message).with_help(help);
    let failed: Vec<String> = staged.failed.iter().map(|(path, why)| format!("{path}: {why}")).collect();
    finding.notes = few(&failed);
    (!staged.failed.is_empty()).then_some(finding)
}

fn said(staged: &Staged, staging: &Staging, seconds: f64) -> String {
    let to = staging.to.display();
    let mut text = match staged.files {
        0 if staged.failed.is_empty() => format!("{to} is up to date"),
        0 => format!("no file was copied to {to}"),
        count => {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a rate"
            )]
            let rate = (staged.bytes as f64 / seconds.max(1e-3)) as u64;
            let shards =
                if staged.shards > 0 { format!(" as {}", counted(staged.shards, "tar file")) } else { String::new() };
            format!(
                "{}{shards}, {}, in {to}: {seconds:.1} s, {}/s",
                counted(count, "file"),
                bytes(staged.bytes),
                bytes(rate)
            )
        }
    };
    let more = [(staged.there, "copied before"), (staged.verified, "compared")];
    for (count, what) in more.into_iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, "; {count} {what}");
    }
    if staged.continued > 0 {
        let _ = write!(text, "; {} of an interrupted copy were kept", bytes(staged.continued));
    }
    text.push('\n');
    text
}
