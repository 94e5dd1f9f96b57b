//! `matrix hints`: what saves `lock` from waiting, gathered from the index.

use serde::Serialize;

use crate::cli::HintsOptions;
use crate::diag::Failure;
use crate::index::Traffic;
use crate::session::Session;
use crate::upkeep::{Gathering, online, write_hints};
use crate::verdict::Report;

#[derive(Serialize)]
struct HintsReport {
    packages: usize,
    tails: usize,
    seeds: usize,
    #[serde(flatten)]
    traffic: Traffic,
}

pub(super) fn run(options: &HintsOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let (client, index) = online(session, &options.index.settings())?;
    let Gathering { packages, tails, seeds } = write_hints(&options.into, session, &client, &index)?;
    let traffic = client.traffic();
    let data = HintsReport { packages, tails, seeds, traffic };
    let text = format!("{packages} packages, {tails} long tails, METADATA of {seeds} packages\n");
    let mut report = Report::new(data, text);
    report.talk.push(format!("{} requests", traffic.requests));
    Ok(report)
}
