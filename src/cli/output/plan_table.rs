//! A plan as text for people.

use std::fmt::Write;

use crate::boot::lock::{LockedPackage, LockedTarget};
use crate::boot::machine::Machine;
use crate::boot::plan::{Change, Kind, Plan, Restart};
use crate::boot::verdict::Compared;
use crate::core::diag::{bytes, counted, few};

/// The plan as a table; its last line is [`plan_line`], or a refusal, for notebooks cut long outputs from the top.
/// What is kept is a number in that line; with `all`, a list.
pub fn render_plan(
    (title, all): (&str, bool),
    plan: &Plan,
    machine: &Machine,
    restart: &Restart,
    verdicts: &[String],
) -> String {
    let mut text = format!("{title} on {}\n\n", described(plan, machine).join(", "));
    for step in &plan.apt {
        let version = step.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        row(&mut text, "apt", &format!("{}{version}", step.name), "");
    }
    for change in &plan.changes {
        let size = change.package.as_ref().and_then(|package| package.wheel()?.size).map(bytes);
        let caveat = [size, change.reason.clone()].into_iter().flatten().collect::<Vec<_>>().join("  ");
        row(&mut text, verb(change.kind), &moved(change), &caveat);
    }
    let kept: Vec<String> = plan.kept.iter().map(|kept| format!("{} {}", kept.name, kept.version)).collect();
    if all && !kept.is_empty() {
        row(&mut text, "keep", &wrap(&kept), "");
    }
    for change in &plan.variables {
        let (verb, what) = match &change.to {
            Some(value) => ("set", format!("{}={value}", change.name)),
            None => ("unset", change.name.clone()),
        };
        let was = change.from.as_ref().map(|value| format!("was {value}")).unwrap_or_default();
        row(&mut text, verb, &what, &was);
    }
    for breakage in &plan.breakages {
        let becomes = breakage.to.as_ref().map_or_else(|| "removed".to_owned(), ToString::to_string);
        row(
            &mut text,
            "breaks",
            &format!("{} requires {}", breakage.package, breakage.requires),
            &format!("becomes {becomes}"),
        );
    }
    for verdict in verdicts {
        row(&mut text, "runs", verdict, "");
    }
    for reason in &restart.because {
        row(&mut text, "restart", reason, "");
    }
    text.push('\n');
    text
}

/// The machine that the plan is for, in facts of a few words.
pub(super) fn described(plan: &Plan, machine: &Machine) -> Vec<String> {
    let mut parts = vec![machine.runtime.clone().unwrap_or_else(|| machine.host.name.clone())];
    parts.extend(machine.hardware.gpus.iter().map(|gpu| gpu.name.clone()));
    match &machine.hardware.driver {
        Some(driver) => parts.push(format!("driver {driver}")),
        None => parts.push("no NVIDIA driver".to_owned()),
    }
    parts.extend(machine.python.as_ref().map(|python| format!("{}, {}", python.describe(), python.facts.libc)));
    if machine.runtime.as_ref() != Some(&plan.target) && plan.target != "machine" {
        parts.push(format!("target {}", plan.target));
    }
    parts
}

fn row(text: &mut String, verb: &str, what: &str, caveat: &str) {
    let line =
        if caveat.is_empty() { format!("  {verb:<10}{what}") } else { format!("  {verb:<10}{what:<52}  {caveat}") };
    let _ = writeln!(text, "{}", line.trim_end());
}

pub(super) fn verb(kind: Kind) -> &'static str {
    match kind {
        Kind::Remove => "remove",
        Kind::Install => "install",
        Kind::Upgrade => "upgrade",
        Kind::Downgrade => "downgrade",
        Kind::Replace => "replace",
    }
}

fn moved(change: &Change) -> String {
    match (&change.from, &change.to) {
        (Some(from), Some(to)) => format!("{} {from} -> {to}", change.name),
        (Some(version), None) | (None, Some(version)) => format!("{} {version}", change.name),
        (None, None) => change.name.to_string(),
    }
}

/// Items in lines of about 90 columns, indented under the verb.
fn wrap(items: &[String]) -> String {
    let mut lines = vec![String::new()];
    for (at, item) in items.iter().enumerate() {
        let item = if at + 1 < items.len() { format!("{item}, ") } else { item.clone() };
        if lines.last().is_some_and(|line| !line.is_empty() && line.len() + item.len() > 86) {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(&item);
        }
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n            ")
}

/// The plan in one line; `kernel` is what is known of one that runs.
pub fn plan_line(plan: &Plan, restart: &Restart, kernel: &Compared) -> String {
    let count = |kind: Kind, word: &str| match plan.of_kind(kind).count() {
        0 => None,
        count => Some(format!("{count} {word}")),
    };
    let mut parts: Vec<String> = [
        count(Kind::Install, "to install"),
        count(Kind::Upgrade, "to upgrade"),
        count(Kind::Downgrade, "to downgrade"),
        count(Kind::Replace, "to replace"),
        count(Kind::Remove, "to remove"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !plan.apt.is_empty() {
        parts.insert(0, format!("{} from apt first", plan.apt.len()));
    }
    match plan.variables.len() {
        0 => {}
        count => parts.push(format!("{} to change", counted(count, "variable"))),
    }
    if parts.is_empty() {
        parts.push("nothing to do".to_owned());
    }
    parts.push(format!("{} kept", plan.kept.len()));
    if plan.download_bytes > 0 {
        let unknown =
            if plan.unknown_sizes > 0 { format!(" and {} of unknown size", plan.unknown_sizes) } else { String::new() };
        parts.push(format!("{} to download{unknown}", bytes(plan.download_bytes)));
    }
    parts.push(match kernel {
        _ if restart.needed => "restart needed".to_owned(),
        Compared::Differs(_) => "a running kernel has old code: restart needed".to_owned(),
        Compared::Not(why) => format!("kernel not compared: {why}"),
        _ => "no restart".to_owned(),
    });
    format!("plan: {}", parts.join(", "))
}

/// A line for each image that the target can't do without.
pub fn needed_images(target: &LockedTarget) -> Vec<String> {
    let named = |packages: &[&LockedPackage]| -> String {
        let all: Vec<String> = packages.iter().map(|package| format!("{} {}", package.name, package.version)).collect();
        few(&all).join(", ")
    };
    target
        .image_only()
        .into_iter()
        .map(|(image, packages)| {
            let whose =
                target.runtime.as_ref().map_or_else(|| "this machine".to_owned(), |_| format!("the image `{image}`"));
            format!(
                "{}: no index has a digest, so they are available only from {whose}: {}",
                target.name,
                named(&packages)
            )
        })
        .collect()
}
