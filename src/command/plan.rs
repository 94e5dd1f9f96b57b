//! `plan`: what `apply` would do here, or on a described machine. Changes nothing.

use serde_json::json;

use crate::cli::PlanOptions;
use crate::command::lock::describe;
use crate::diag::Failure;
use crate::host::files;
use crate::lock::Lock;
use crate::output::{Report, render_plan};
use crate::script::Part;
use crate::session::{Planned, Session, describe_python, make, script_of, verdicts};

pub(super) fn run(options: &PlanOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let planned = make(options, session)?;
    let Planned { seen, target, lock, decision, traffic, .. } = &planned;
    let (plan, restart) = (&decision.plan, &decision.restart);
    let verdicts = verdicts(session, seen, target);
    let text = render_plan(&planned.wish.title, plan, &seen.machine, restart, &verdicts);
    let mut talk = Vec::new();
    if let Some(path) = &options.script {
        files::write_whole(path, script_of(&planned, (plan, Part::Whole)).as_bytes())?;
        talk.push(format!("script written to {}", path.display()));
    }
    let profile = planned.profile.as_ref();
    let profile = profile.map(|one| json!({ "name": one.name, "version": one.version, "sha256": one.digest }));
    let data = json!({
        "profile": profile,
        "python": describe_python(seen),
        "lock": lock.digest(),
        "targets": describe(&Lock { targets: vec![target.clone()], ..lock.clone() }),
        "plan": plan,
        "restart": restart,
        "verdicts": verdicts,
        "traffic": traffic,
    });
    let mut report = Report::new(data, text).with_findings(planned.findings);
    report.talk = talk;
    Ok(report)
}
