//! Releases for people: in one line, in full, and how two differ.

use std::fmt::Write;

use serde::Serialize;

use crate::boot::verdict::Report;
use crate::core::diag::{Failure, bytes};
use crate::golden::calendar::Day;
use crate::golden::entry::{Release, Standing};
use crate::golden::repository::{Read, between, find_release, standing_findings};

/// A release, and what it is today.
#[derive(Serialize)]
pub struct Row<'a> {
    standing: Standing,
    #[serde(flatten)]
    release: &'a Release,
}

impl<'a> Row<'a> {
    pub fn of(release: &'a Release, standing: Standing) -> Self {
        Self { standing, release }
    }
}

/// All that the index has on the release that `title` means.
pub fn one_release(found: &Read, title: &str, today: Day) -> Result<Report, Failure> {
    let release = find_release(found, title, today)?;
    let standing = release.standing(today);
    let mut text = format!("{}  {}\n", release.title(), standing.as_str());
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(text, "  {name:<12}{value}");
        }
    };
    let pairs = |map: Vec<(String, String)>| map.iter().map(|(a, b)| format!("{a} {b}")).collect::<Vec<_>>().join(", ");
    let frameworks = release.frameworks.iter().map(|(name, version)| (name.to_string(), version.to_string()));
    line("about", release.description.clone());
    line("frameworks", pairs(frameworks.collect()));
    line("Python", release.python.join(", "));
    line("CUDA", release.cuda.map(|cuda| cuda.to_string()).unwrap_or_default());
    line("hardware", release.hardware());
    line("made for", release.runtimes.join(", "));
    line("GPUs", pairs(release.gpus.clone().into_iter().collect()));
    line("packages", format!("{}, {}", release.packages, largest_download(release)));
    for (name, size) in &release.fetch {
        line("downloads", format!("{} on {name}", bytes(*size)));
    }
    line("published", release.published.to_string());
    let ahead = release.deprecate_on.filter(|_| standing == Standing::Current);
    line("deprecated", ahead.map(|day| format!("on {day}")).unwrap_or_default());
    line("expires", release.expires.map(|day| day.to_string()).unwrap_or_default());
    line("because", release.because.clone().unwrap_or_default());
    line("replaced by", release.replaced_by.clone().unwrap_or_default());
    if release.verified.is_empty() {
        line("verified", "never".to_owned());
    }
    for evidence in &release.verified {
        let by = evidence.by.as_ref().map(|by| format!(", signed by {by}")).unwrap_or_default();
        line("verified", format!("on {} with GPU {}, {}{by}", evidence.on, evidence.gpu, evidence.runtime));
    }
    for file in &release.files {
        line("file", format!("{}  {}  sha256 {}", file.name, bytes(file.size), file.sha256));
    }
    let findings = standing_findings(release, today, false);
    let all = found.vouched.findings.iter().cloned().chain(findings).collect();
    Ok(Report::new(Row::of(release, standing), text).with_findings(all))
}

#[derive(Serialize)]
struct ReleaseDiffReport {
    old: String,
    new: String,
    differences: Vec<String>,
}

/// How the locks of the releases that these titles mean differ.
pub fn difference(found: &Read, (old, new): (&str, &str), today: Day) -> Result<Report, Failure> {
    let (old, new) = (find_release(found, old, today)?, find_release(found, new, today)?);
    let differences = between(found, old, new)?;
    let lines: String = differences.iter().map(|line| format!("  {line}\n")).collect();
    let text = format!("{} -> {}\n{lines}", old.title(), new.title());
    let report = ReleaseDiffReport { old: old.title(), new: new.title(), differences };
    Ok(Report::new(report, text).with_findings(found.vouched.findings.clone()))
}

/// What an environment with nothing installed downloads: what is there already is kept.
fn largest_download(release: &Release) -> String {
    format!("up to {} to download", bytes(release.download))
}

/// What a release is for, in one line.
pub fn shown(release: &Release) -> String {
    let frameworks = release.frameworks.iter().map(|(name, version)| format!("{name} {version}"));
    let cuda = release.cuda.map(|cuda| format!("CUDA {cuda}")).into_iter();
    let rest = [release.runtimes.join(" "), release.hardware(), largest_download(release)];
    frameworks.chain(cuda).chain(rest).collect::<Vec<_>>().join(", ")
}
