//! A plan as a page: what changes first, what is kept as a number.

use crate::boot::machine::Machine;
use crate::boot::plan::{Change, Kind, Plan, Restart};
use crate::cli::output::plan_table::{described, verb};
use crate::core::diag::{bytes, counted};
use crate::core::page::{Page, Section, TableCell, Tone};

/// The page of `plan` for `machine`; `verdicts` say how its builds run.
pub fn plan_page(plan: &Plan, machine: &Machine, restart: &Restart, verdicts: &[String]) -> Page {
    let texts = |title: &str, lines: &[String]| Section {
        title: title.to_owned(),
        sum: counted(lines.len(), "reason"),
        lines: lines.to_vec(),
        ..Section::default()
    };
    let runs = Section { title: "How builds run".to_owned(), lines: verdicts.to_vec(), ..Section::default() };
    let sections = [changes(plan), variables(plan), texts("Restart", &restart.because), runs, kept(plan)];
    let sections = sections.into_iter().filter(|section| !section.rows.is_empty() || !section.lines.is_empty());
    Page { badges: described(plan, machine), sections: sections.collect(), shows_findings: false }
}

fn changes(plan: &Plan) -> Section {
    let size = |change: &Change| change.package.as_ref().and_then(|package| package.wheel()?.size).unwrap_or_default();
    let most = plan.changes.iter().map(size).max().unwrap_or_default();
    let apt = plan.apt.iter().map(|step| {
        let version = step.version.clone().unwrap_or_default();
        vec![
            TableCell::mark("apt", Tone::Plain),
            TableCell::code(&step.name),
            TableCell::text(""),
            TableCell::code(version),
            TableCell::text(""),
            TableCell::text(""),
        ]
    });
    let rows = plan.changes.iter().map(|change| {
        let version = |version: &Option<_>| version.as_ref().map(ToString::to_string).unwrap_or_default();
        let bar = match size(change) {
            0 => TableCell::text(""),
            value => TableCell::Bar { text: bytes(value), value, most },
        };
        vec![
            TableCell::mark(verb(change.kind), tone(change.kind)),
            TableCell::code(&change.name),
            TableCell::code(version(&change.from)),
            TableCell::code(version(&change.to)),
            bar,
            TableCell::text(change.reason.clone().unwrap_or_default()),
        ]
    });
    let mut rows: Vec<Vec<TableCell>> = apt.chain(rows).collect();
    let mut head = vec!["change", "package", "now", "then", "size", "because"];
    if plan.changes.iter().all(|change| change.reason.is_none()) {
        head.pop();
        for row in &mut rows {
            row.truncate(head.len());
        }
    }
    let download = match plan.download_bytes {
        0 => String::new(),
        sum => format!(", {} to download", bytes(sum)),
    };
    Section {
        title: "Changes".to_owned(),
        sum: format!("{}{download}", counted(rows.len(), "package")),
        open: true,
        head,
        rows,
        ..Section::default()
    }
}

const fn tone(kind: Kind) -> Tone {
    match kind {
        Kind::Install | Kind::Upgrade => Tone::Good,
        Kind::Downgrade | Kind::Remove => Tone::Warning,
        Kind::Replace => Tone::Note,
    }
}

fn variables(plan: &Plan) -> Section {
    let value = |value: &Option<String>| value.as_ref().map_or_else(|| TableCell::text("not set"), TableCell::code);
    let rows =
        plan.variables.iter().map(|change| vec![TableCell::code(&change.name), value(&change.from), value(&change.to)]);
    Section {
        title: "Variables".to_owned(),
        sum: counted(plan.variables.len(), "change"),
        open: true,
        head: vec!["variable", "now", "then"],
        rows: rows.collect(),
        ..Section::default()
    }
}

fn kept(plan: &Plan) -> Section {
    let all: Vec<String> = plan.kept.iter().map(|kept| format!("{} {}", kept.name, kept.version)).collect();
    Section {
        title: "Kept".to_owned(),
        sum: counted(all.len(), "package"),
        lines: if all.is_empty() { Vec::new() } else { vec![all.join(", ")] },
        ..Section::default()
    }
}
