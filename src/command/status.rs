//! `status`: the markers of this machine.

use std::fmt::Write;

use serde_json::json;

use crate::cli::MachineOptions;
use crate::command::state::State;
use crate::command::{Report, Session};
use crate::diag::{Code, Failure, Finding};
use crate::marker::standing;

pub(super) fn run(options: &MachineOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let seen = session.machine(options)?;
    let mut text = String::new();
    let mut markers = Vec::new();
    for state in State::all(&session.paths.state)? {
        let Some(marker) = state.marker()? else {
            continue;
        };
        let stands =
            standing(Some(&marker), &State::now(marker.profile.clone(), marker.lock, &seen.machine, Some(&marker))?);
        let _ = writeln!(text, "{}  lock {}  {}", marker.profile, marker.lock.short(), stands.as_str());
        for reason in marker.because() {
            let _ = writeln!(text, "  {reason}");
        }
        markers.push(json!({ "marker": marker, "standing": stands }));
    }
    let none = markers
        .is_empty()
        .then(|| Finding::note(Code::NothingApplied, "colab-boot has applied nothing on this machine"));
    Ok(Report::new(json!({ "markers": markers }), text).with_findings(none.into_iter().collect()))
}
