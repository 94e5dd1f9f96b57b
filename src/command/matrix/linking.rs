//! `matrix linking`: reads what wheels are linked against, and writes the rows.

use serde::Serialize;

use crate::cli::LinkingOptions;
use crate::diag::Failure;
use crate::index::Traffic;
use crate::session::Session;
use crate::upkeep::{Releases, link, online, read_symbols};
use crate::verdict::Report;

#[derive(Serialize)]
struct LinkingReport<'a> {
    lines: &'a [String],
    #[serde(flatten)]
    traffic: Traffic,
}

pub(super) fn run(options: &LinkingOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let (client, index) = online(session, &options.index.settings())?;
    let releases = Releases { session, client: &client, index };
    let (lines, findings) = if options.symbols {
        (read_symbols(&options.into, session, &releases)?, Vec::new())
    } else {
        link(options, session, &releases)?
    };
    let traffic = client.traffic();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut report = Report::new(LinkingReport { lines: &lines, traffic }, text).with_findings(findings);
    report.talk.push(format!("{} requests", traffic.requests));
    Ok(report)
}
