//! `fingerprint`: the machine as it was seen, and what was made of it. The JSON form can be fed back with `--machine`.

use std::fmt::Write;

use serde::Serialize;

use crate::cli::{IndexOptions, MachineOptions};
use crate::diag::Failure;
use crate::index::redact;
use crate::machine::Observed;
use crate::output::Report;
use crate::session::Session;

#[derive(Serialize)]
struct FingerprintReport<'a> {
    /// What `--machine` takes.
    observed: Option<&'a Observed>,
    /// Without credentials.
    index: Option<&'a str>,
}

pub(super) fn run(options: &MachineOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let seen = session.machine(options)?;
    let index =
        session.default_index(&IndexOptions::default(), seen.machine.python.as_ref()).ok().map(|url| redact(&url));
    let machine = &seen.machine;
    let origin = |fact: &str| machine.origins.get(fact).map(|origin| format!("  ({origin})")).unwrap_or_default();
    let mut text = String::new();
    let mut row = |key: &str, value: String, fact: &str| {
        let _ = writeln!(text, "{key:<11}{value}{}", origin(fact));
    };
    row("host", machine.host.name.clone(), "");
    row("os", machine.os.clone(), "");
    let driver = machine.hardware.driver.as_ref();
    row("driver", driver.map_or_else(|| "none".to_owned(), ToString::to_string), "driver");
    for gpu in &machine.hardware.gpus {
        row("gpu", format!("{}, compute capability {}", gpu.name, gpu.capability), "gpus");
    }
    if let Some(python) = &machine.python {
        let found = python.path.as_ref().map(|_| format!(", {}", python.origin.as_str())).unwrap_or_default();
        row("python", format!("{} on {}{found}", python.facts.version, python.facts.platform_tag()), "python");
    }
    if let Some(index) = &index {
        row("index", index.clone(), "");
    }
    row("packages", machine.installed.len().to_string(), "");
    row("root", if machine.is_root { "yes" } else { "no" }.to_owned(), "");
    row("apt", if machine.has_apt { "yes" } else { "no" }.to_owned(), "");
    if let Some(kernel) = &machine.kernel {
        row("kernel", format!("pid {}", kernel.pid), "");
    }
    Ok(Report::new(FingerprintReport { observed: seen.observed.as_ref(), index: index.as_deref() }, text)
        .with_findings(seen.findings))
}
