//! `diff`: two machines, or one on two days.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use crate::boot::machine::{Conditions, MachineRequest};
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::DiffMachinesOptions;
use crate::cli::verbs::fingerprint::conditions_of;
use crate::core::diag::{Failure, Finding, Severity, counted};
use crate::core::host::mounts::{Look, must_be_there};
use crate::health::difference::{Row, Side, compare};

#[derive(Serialize)]
struct DiffReport {
    rows: Vec<Row>,
}

pub(super) fn run(options: &DiffMachinesOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let a = Looked::of(Some(&options.a), options, session)?;
    let b = Looked::of(options.b.as_ref(), options, session)?;
    let rows = compare(a.side(), b.side(), session.matrix);
    let findings = rows
        .iter()
        .filter_map(|row| {
            let code = row.code.filter(|_| options.strict && row.severity != Severity::Note)?;
            let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
            let what = format!("{} {}", row.class, row.name);
            Some(Finding::error(code, format!("{}: {} and {}", what.trim_end(), shown(&row.a), shown(&row.b))))
        })
        .collect();
    let text = shown(&rows);
    Ok(Report::new(DiffReport { rows }, text).with_findings(findings))
}

/// One of the two.
struct Looked {
    seen: Seen,
    conditions: Option<Conditions>,
    image: Option<String>,
}

impl Looked {
    /// A file, the name of a bundled image, or this machine.
    fn of(named: Option<&String>, options: &DiffMachinesOptions, session: &Session<'_>) -> Result<Self, Failure> {
        let machine = match named {
            Some(name) if Path::new(name).is_there() || name.contains('/') || name.ends_with(".json") => {
                must_be_there(Path::new(name), "there is no file")?;
                MachineRequest { record: Some(name.into()), ..MachineRequest::default() }
            }
            Some(name) => MachineRequest::runtime(name),
            None => MachineRequest { python: options.python.clone(), ..MachineRequest::default() },
        };
        let seen = session.machine(&machine).map_err(|failure| match machine.runtime {
            Some(_) => failure.help("or name a file written by `fingerprint --json=FILE`"),
            None => failure,
        })?;
        let conditions = conditions_of(&seen, session)?;
        let image = seen.image();
        Ok(Self { seen, conditions, image: Some(image).filter(|image| image != "machine") })
    }

    fn side(&self) -> Side<'_> {
        Side { machine: &self.seen.machine, conditions: self.conditions.as_ref(), image: self.image.as_deref() }
    }
}

fn shown(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let mark = match row.severity {
            Severity::Error => "!!",
            Severity::Warning => "! ",
            Severity::Note => "  ",
        };
        let change = match (&row.a, &row.b) {
            (None, Some(b)) => format!("+ {b}"),
            (Some(a), None) => format!("- {a}"),
            (a, b) => format!("{} -> {}", a.as_deref().unwrap_or("?"), b.as_deref().unwrap_or("?")),
        };
        let what = format!("{} {}", row.class, row.name);
        let code = row.code.map(|code| format!("  [{code}]")).unwrap_or_default();
        let _ = writeln!(text, "{mark} {:<34} {change}{code}", what.trim_end());
    }
    let heavy = rows.iter().filter(|row| row.severity != Severity::Note).count();
    let sum = match rows.len() {
        0 => "nothing differs".to_owned(),
        count => format!("{}, {heavy} of which can cause failures", counted(count, "difference")),
    };
    let _ = writeln!(text, "diff: {sum}");
    text
}
