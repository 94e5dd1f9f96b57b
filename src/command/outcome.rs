//! How an apply ends: ready, a restart, or a person who must look.

use std::time::UNIX_EPOCH;

use serde_json::json;

use crate::command::Report;
use crate::command::plan::Planned;
use crate::command::state::State;
use crate::diag::{Code, Failure, Finding, Kind};
use crate::host::files;
use crate::machine::find_info;
use crate::marker::{Event, Marker, Now, Standing, Verdict, standing};
use crate::plan::Change;

/// What is true now.
pub(super) fn now<'a>(planned: &'a Planned, marker: Option<&Marker>) -> Result<Now<'a>, Failure> {
    State::now(planned.profile.title(), planned.lock.digest(), &planned.seen.machine, marker)
}

/// Nothing to change: what is left is to say where the kernel stands.
pub(super) fn settle(planned: &Planned, state: &State, marker: Option<&Marker>) -> Result<Report, Failure> {
    let now = now(planned, marker)?;
    let mut after = marker.cloned();
    let verdict = state.step(&mut after, Event::Look, &now)?;
    let count = planned.plan.kept.len();
    let ready = |stands: Standing| {
        let text = match standing(marker, &now) {
            Standing::Restarted => "in a kernel that has started since",
            Standing::Ready => "no restart needed",
            _ => "nothing had to be changed",
        };
        let data = json!({ "standing": stands, "plan": planned.plan });
        Report::new(data, format!("ready: {count} packages as locked, {text}\n"))
            .with_findings(planned.findings.clone())
    };
    outcome(planned, (verdict, after.as_ref()), Vec::new(), ready)
}

/// What a verdict means for the user.
pub(super) fn outcome(
    planned: &Planned,
    (verdict, marker): (Verdict, Option<&Marker>),
    drift: Vec<String>,
    ready: impl FnOnce(Standing) -> Report,
) -> Result<Report, Failure> {
    let by_hand = "restart it by hand: Runtime, then Restart session; then run the cell again";
    match verdict {
        Verdict::Ready(stands) => Ok(ready(stands)),
        Verdict::Restart => Ok(restart_report(planned, &marker.map(Marker::because).unwrap_or_default())),
        Verdict::RestartByHand => {
            Err(Failure::world("the kernel has been asked to restart several times and is still the same process")
                .help(by_hand))
        }
        Verdict::Drifted => Err(drifted(drift, by_hand)),
        Verdict::Change | Verdict::Stop => Err(Failure::bug("an apply that ended without a verdict")),
    }
}

/// Packages have changed since the one restart of this lock. They are as locked again; what put them back is for a person to find.
fn drifted(drift: Vec<String>, by_hand: &str) -> Failure {
    let message = "packages were changed after the kernel had restarted for this lock; they are as locked again, \
                   and a second restart is not asked for";
    let help = format!(
        "find what installs them, such as another profile, a later cell or a start-up script, and leave it out; {by_hand}"
    );
    let finding = drift.into_iter().fold(Finding::error(Code::RestartAgain, message), Finding::with_note);
    Failure::from_findings(Kind::World, vec![finding.with_help(help)])
}

/// What is there instead of the locked versions; by whom, and since when. `now` is in seconds since 1970.
pub(super) fn drift(planned: &Planned, now: u64) -> Vec<String> {
    let there = |change: &Change| {
        let from = change.from.as_ref()?;
        let folder = planned.seen.machine.installed.get(&change.name)?.location.as_ref()?;
        let info = find_info(folder, &change.name).ok()??;
        let by = files::read_optional(&info.join("INSTALLER")).ok().flatten().unwrap_or_default();
        let by = by.split_whitespace().next().map(|by| format!(" by {by}")).unwrap_or_default();
        let written = info.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_secs();
        let minutes = now.saturating_sub(written) / 60;
        let locked = change.to.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
        Some(format!("{} {from} was installed{by} {minutes} minutes ago; locked is {locked}", change.name))
    };
    planned.plan.changes.iter().filter_map(there).collect()
}

fn restart_report(planned: &Planned, because: &[String]) -> Report {
    let data = json!({ "standing": Standing::RestartPending, "plan": planned.plan, "because": because });
    let mut text: String = because.iter().map(|reason| format!("  restart   {reason}\n")).collect();
    text.push_str("applied: restart the kernel once, then run this again\n");
    let mut report = Report::new(data, text).with_findings(planned.findings.clone());
    let message = "packages that the kernel has loaded were replaced: it must restart once";
    report.findings.push(Finding::note(Code::RestartPending, message));
    report.restart = true;
    report
}
