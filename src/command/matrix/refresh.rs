//! `matrix refresh`: reads the wheels of releases that have no row, and writes their rows.

use serde::Serialize;

use crate::cli::RefreshOptions;
use crate::diag::{Code, Failure, Finding};
use crate::index::Traffic;
use crate::session::Session;
use crate::upkeep::{Releases, online, refresh, watched};
use crate::verdict::Report;

#[derive(Serialize)]
struct RefreshReport<'a> {
    new: &'a [String],
    #[serde(flatten)]
    traffic: Traffic,
}

pub(super) fn run(options: &RefreshOptions, session: &Session<'_>) -> Result<Report, Failure> {
    watched(session, &options.package)?;
    let client = online(session, &options.index.settings())?;
    let releases = Releases { session, client: &client.0, index: client.1.clone() };
    let (lines, mut findings) = refresh(options, session, releases)?;
    if options.check && !lines.is_empty() {
        let message = format!("{} releases have no row", lines.len());
        findings.push(Finding::error(Code::MatrixBehind, message).with_help("run `colab-boot matrix refresh`"));
    }
    let traffic = client.0.traffic();
    let data = RefreshReport { new: &lines, traffic };
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut report = Report::new(data, text).with_findings(findings);
    let what = if options.check { "releases without a row" } else { "new rows" };
    report.talk.push(format!("{} {what}, {} requests", lines.len(), traffic.requests));
    Ok(report)
}
