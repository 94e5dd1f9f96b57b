//! All that a bug report wants, in one file that can be shown to anybody: no secret, no folder of a person, no address.

use serde_json::{Value, json};

use crate::diag::{Failure, without_secrets};
use crate::doctor::Vitals;
use crate::machine::{Neutral, Observed};
use crate::scrub::scrubbed;

/// Texts of the vitals that name other machines, or hold what people wrote.
const LEFT_OUT: &[&str] =
    &["/var/log/apt/history.log", "drive/timeouts.txt", "drive/drive_fs.txt", "/var/log/colab-jupyter.log"];

/// The bundle. `observed` makes it a file for `--machine` and `diff` as well; `checks` and `findings` are as the JSON report has them.
pub(super) fn bundled(
    observed: Option<Observed>,
    vitals: &Vitals,
    checks: &Value,
    findings: &Value,
) -> Result<Value, Failure> {
    let mut vitals = vitals.clone();
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
    let mut shared = json!({ "checks": checks, "findings": findings, "vitals": vitals });
    cover(&mut shared, &mut Neutral::default())?;
    let version = env!("CARGO_PKG_VERSION");
    let [checks, findings, vitals] = ["checks", "findings", "vitals"].map(|key| shared[key].take());
    Ok(json!({
        "schema": 1,
        "command": "doctor",
        "version": version,
        "report": { "observed": observed, "checks": checks, "vitals": vitals },
        "findings": findings,
    }))
}

/// Secrets by their formats, then folders. Keys are ours, but for those that are paths.
fn cover(value: &mut Value, neutral: &mut Neutral) -> Result<(), Failure> {
    match value {
        Value::String(text) => {
            let clean = scrubbed("bundle", text)?.1.unwrap_or_else(|| text.clone());
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
