//! All that a bug report wants, in one file that can be shown to anybody: no secret, no folder of a person, no address.

use std::path::Path;

use serde_json::{Value, json};

use crate::boot::machine::{Neutral, Observed};
use crate::boot::notebook::Facts;
use crate::core::diag::{Failure, without_secrets};
use crate::core::host::files;
use crate::core::secrets::{Baseline, scrubbed};
use crate::health::doctor::Vitals;
use crate::health::doctor::variables_seen::value_in_report;

/// The format of [`Vitals`] that is written, and the newest that is read.
pub(super) const SCHEMA: u32 = 1;

/// Texts of the vitals that name other machines, or hold what people wrote.
const LEFT_OUT: &[&str] =
    &["/var/log/apt/history.log", "drive/timeouts.txt", "drive/drive_fs.txt", "/var/log/colab-jupyter.log"];

/// The bundle. `observed` makes it a file for `--machine` and `diff` as well; `checks` and `findings` are as the JSON
/// report has them.
pub(super) fn bundled(
    observed: Option<Observed>,
    vitals: &Vitals,
    facts: Option<&Facts>,
    checks: &Value,
    findings: &Value,
) -> Result<Value, Failure> {
    let mut vitals = vitals.clone().in_report();
    vitals.texts.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
    if let Some(text) = vitals.texts.get_mut("/proc/self/mountinfo") {
        // Behind the kind of a file system stand servers and options.
        let kind = |line: &str| match line.split_once(" - ") {
            Some((before, after)) => format!("{before} - {}\n", after.split(' ').next().unwrap_or_default()),
            None => String::new(),
        };
        *text = text.lines().map(kind).collect();
    }
    let observed = observed.map(Observed::neutral);
    let facts = facts.cloned().map(|mut facts| {
        for (name, value) in &mut facts.environment {
            *value = value.take().map(|value| value_in_report(name, &value));
        }
        facts
    });
    let mut shared = json!({ "checks": checks, "findings": findings, "vitals": vitals, "facts": facts });
    cover(&mut shared, &mut Neutral::default())?;
    let version = env!("CARGO_PKG_VERSION");
    let [checks, findings, vitals, facts] = ["checks", "findings", "vitals", "facts"].map(|key| shared[key].take());
    Ok(json!({
        "schema": 1,
        "command": "doctor",
        "version": version,
        "report": { "observed": observed, "checks": checks, "vitals": vitals, "facts": facts },
        "findings": findings,
    }))
}

/// Secrets by their formats, then folders. Keys are ours, but for those that are paths.
fn cover(value: &mut Value, neutral: &mut Neutral) -> Result<(), Failure> {
    match value {
        Value::String(text) => {
            let clean = scrubbed("bundle", text, &Baseline::default())?.1.unwrap_or_else(|| text.clone());
            *text = neutral.text(&without_secrets(&clean));
        }
        Value::Array(values) => values.iter_mut().try_for_each(|value| cover(value, neutral))?,
        Value::Object(values) => {
            for (key, mut value) in std::mem::take(values) {
                cover(&mut value, neutral)?;
                values.insert(neutral.text(&key), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

/// What a bundle has seen of its machine, and of the kernel there; nothing for a fingerprint alone, or where there is
/// no file.
pub fn unbundled(path: Option<&Path>) -> Result<(Vitals, Option<Facts>), Failure> {
    let Some(path) = path else { return Ok(<_>::default()) };
    let text = files::read_text(path, "machine record")?;
    let mut value: Value = serde_json::from_str(&text).unwrap_or_default();
    let vitals = value.pointer_mut("/report/vitals").map(Value::take);
    let facts = value.pointer_mut("/report/facts").map(Value::take);
    let unreadable = |what: &str, error: serde_json::Error| {
        Failure::input(format!("`{}` is a damaged bundle: `report.{what}` can't be read", path.display()))
            .because(&error)
    };
    let vitals: Vitals = match vitals {
        Some(vitals) => serde_json::from_value(vitals).map_err(|error| unreadable("vitals", error))?,
        None => Vitals::default(),
    };
    if vitals.schema > SCHEMA {
        let newer = format!("`{}` was written by a newer colab-boot (format {})", path.display(), vitals.schema);
        return Err(Failure::input(newer).help("read it with that version"));
    }
    let facts = facts.filter(|facts| !facts.is_null()).map(serde_json::from_value);
    Ok((vitals, facts.transpose().map_err(|error| unreadable("facts", error))?))
}
