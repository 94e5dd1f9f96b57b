//! `stage`: data brought to a disk of this machine, checkpoints brought back.

use std::fmt::Write;
use std::time::Instant;

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::StageOptions;
use crate::core::diag::{Code, Failure, Finding, bytes, counted, few};
use crate::core::host::files;
use crate::core::log::{Style, bar};
use crate::health::stage::{Staged, Staging, stage};

/// So many of what went wrong are named.
const NAMED: usize = 8;

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
    let staged = stage(&staging, session.environment, &|total| bar(total, style))?;
    let seconds = begun.elapsed().as_secs_f64();
    let text = said(&staged, &staging, seconds);
    let mut findings: Vec<Finding> = incomplete(&staged, shards.is_some()).into_iter().collect();
    if !staged.skipped.is_empty() {
        let message = format!("{} links, devices or names of colab-boot's own were left out", staged.skipped.len());
        findings.push(Finding::note(Code::StageSkipped, message).with_note(few(&staged.skipped).join(", ")));
    }
    let Staged { files, bytes, there, skipped, failed, verified, shards, continued } = staged;
    let failed = failed.into_iter().map(|(path, why)| FailedReport { path, why }).collect();
    let report = StageReport { files, bytes, there, shards, verified, continued, seconds, skipped, failed };
    Ok(Report::new(report, text).with_findings(findings))
}

fn incomplete(staged: &Staged, packs: bool) -> Option<Finding> {
    let message = format!("{} could not be brought", counted(staged.failed.len(), "file"));
    let help = if packs {
        "the tar files of before stay until all of the new ones are whole; the same command goes on"
    } else {
        "the same command tries them again; --overwrite replaces files of others; a name that is no text has to be changed where it comes from"
    };
    let mut finding = Finding::error(Code::StageIncomplete, message).with_help(help);
    finding.notes = staged.failed.iter().take(NAMED).map(|(path, why)| format!("{path}: {why}")).collect();
    let more = staged.failed.len().saturating_sub(NAMED);
    finding.notes.extend((more > 0).then(|| format!("and {more} more")));
    (!staged.failed.is_empty()).then_some(finding)
}

fn said(staged: &Staged, staging: &Staging, seconds: f64) -> String {
    let to = staging.to.display();
    let mut text = match staged.files {
        0 => format!("nothing new for {to}"),
        count => {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a rate"
            )]
            let rate = (staged.bytes as f64 / seconds.max(1e-3)) as u64;
            let shards = if staged.shards > 0 { format!(" as {} tar files", staged.shards) } else { String::new() };
            format!("{count} files{shards}, {}, in {to}: {seconds:.1} s, {}/s", bytes(staged.bytes), bytes(rate))
        }
    };
    let more = [(staged.there, "were there"), (staged.verified, "were read again")];
    for (count, what) in more.into_iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, "; {count} {what}");
    }
    if staged.continued > 0 {
        let _ = write!(text, "; {} had come before", bytes(staged.continued));
    }
    text.push('\n');
    text
}
