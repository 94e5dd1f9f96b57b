//! `matrix inspect`: what wheels were built for, read from their own bytes.

use serde::Serialize;

use crate::boot::reading::{BuildReport, Spec, WheelReader, render_reading, wheel_target};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::InspectOptions;
use crate::core::diag::Failure;

#[derive(Serialize)]
struct InspectReport {
    builds: Vec<BuildReport>,
}

pub(super) fn run(options: &InspectOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let specs = options.specs.iter().map(|text| Spec::parse(text)).collect::<Result<Vec<_>, _>>()?;
    if options.index.offline && !specs.iter().all(|spec| matches!(spec, Spec::File(_))) {
        return Err(Failure::input("--offline: only wheel files can be read").help("name the path of a .whl file"));
    }
    let settings = options.index.settings();
    let (index, python) = wheel_target(session, &settings, &options.wheel.request())?;
    let client = session.client(std::slice::from_ref(&index), settings.limits)?;
    let reader = WheelReader::new(session, &client, index, python, options.thorough)?;
    let mut builds = Vec::new();
    let mut texts = Vec::new();
    let mut findings = Vec::new();
    for spec in &specs {
        let reading = reader.read(spec)?;
        texts.push(render_reading(&reading, session.matrix));
        findings.extend(reading.unreadable());
        builds.push(BuildReport::of(reading, session.matrix));
    }
    Ok(Report::new(InspectReport { builds }, texts.join("\n")).with_findings(findings))
}
