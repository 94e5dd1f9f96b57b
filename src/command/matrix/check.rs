//! `matrix check`: holds rows against the wheels that they were made from, and tells each difference.

use serde::Serialize;

use crate::cli::CheckOptions;
use crate::diag::{Code, Failure, Finding};
use crate::index::Traffic;
use crate::matrix::Build;
use crate::model::Version;
use crate::session::Session;
use crate::upkeep::{Releases, online, watched};
use crate::verdict::Report;

#[derive(Serialize)]
struct CheckReport<'a> {
    /// How many rows agree with their wheels.
    agree: usize,
    differences: &'a [String],
    #[serde(flatten)]
    traffic: Traffic,
}

pub(super) fn run(options: &CheckOptions, session: &Session<'_>) -> Result<Report, Failure> {
    watched(session, &options.package)?;
    let (client, index) = online(session, &options.index.settings())?;
    let releases = Releases { session, client: &client, index };
    let mut agree = 0;
    let mut lines = Vec::new();
    for watch in &session.matrix.watches {
        for package in watch.packages.keys() {
            let rows = session.matrix.builds_of(package).iter().filter(|row| row.wheel.is_some());
            let rows: Vec<&Build> = rows.collect();
            if rows.is_empty() || (!options.package.is_empty() && !options.package.contains(package)) {
                continue;
            }
            let published = releases.of(package, &Version::new([0]))?;
            for row in rows {
                let differences = match published.get(&row.version) {
                    Some((candidate, python)) => {
                        session.say(&format!("checking {package} {}", row.version));
                        match releases.row(candidate, *python, watch.thorough)? {
                            Ok(read) => row.differences(&read),
                            Err(finding) => finding.notes,
                        }
                    }
                    None => vec!["the index has no such release any more".to_owned()],
                };
                agree += usize::from(differences.is_empty());
                lines.extend(differences.into_iter().map(|what| format!("{package} {}: {what}", row.version)));
            }
        }
    }
    let traffic = client.traffic();
    let data = CheckReport { agree, differences: &lines, traffic };
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut report = Report::new(data, format!("{text}{agree} rows agree with their wheels\n"));
    if !lines.is_empty() {
        let message = format!("{} fields differ from the wheels", lines.len());
        let finding = Finding::error(Code::MatrixWrong, message).with_help("run `colab-boot matrix refresh --again`");
        report = report.with_findings(vec![finding]);
    }
    Ok(report)
}
