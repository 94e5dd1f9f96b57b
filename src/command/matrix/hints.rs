//! `matrix hints`: what saves `lock` from waiting, gathered from the index.

use serde_json::json;

use crate::cli::HintsOptions;
use crate::diag::Failure;
use crate::output::Report;
use crate::session::Session;
use crate::upkeep::{Gathering, online, write_hints};

pub(super) fn run(options: &HintsOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let (client, index) = online(session, &options.index)?;
    let Gathering { packages, tails, seeds } = write_hints(&options.into, session, (&client, &index))?;
    let traffic = client.traffic();
    let data = json!({
        "packages": packages,
        "tails": tails,
        "seeds": seeds,
        "requests": traffic.requests,
        "bytes": traffic.bytes,
    });
    let text = format!("{packages} packages, {tails} long tails, METADATA of {seeds} packages\n");
    let mut report = Report::new(data, text);
    report.talk.push(format!("{} requests", traffic.requests));
    Ok(report)
}
