//! `doctor`: what of this machine will end, slow down or spoil the work.

use serde::Serialize;

use crate::boot::machine::Observed;
use crate::boot::notebook::facts_of;
use crate::boot::profile::Fitness;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::boot::state::State as Applied;
use crate::boot::verdict::Report;
use crate::cli::arguments::DoctorOptions;
use crate::core::diag::{Failure, Finding, Severity};
use crate::core::host::mounts::{Look, must_be_there, place_of, reach};
use crate::core::matrix::Check;
use crate::core::model::PackageName;
use crate::health::doctor::{
    Asked, Examination, Knowledge, Outcome, Place, Plans, Sight, State, Vitals, conditions, examine, explained_log,
    foreign_checks, foreign_names, known, listed, observe_vitals, outcome_page, shown, smi_hangs, unbundled, unread,
};

#[derive(Serialize)]
struct DoctorReport {
    checks: Vec<CheckReport>,
    vitals: Vitals,
}

#[derive(Serialize)]
struct CheckReport {
    check: String,
    group: String,
    state: State,
    said: String,
}

fn is_meant(options: &DoctorOptions, row: &Check) -> bool {
    let named = options.only.iter().any(|one| *one == row.group || *one == row.id.as_str());
    match (options.after_crash, row.group.as_str()) {
        (true, group) => group == "crash" || group == "memory",
        (false, "crash") => named || options.list && options.only.is_empty(),
        _ => named || options.only.is_empty(),
    }
}

pub(super) fn run(options: &DoctorOptions, session: &Session<'_>) -> Result<Report, Failure> {
    if let Some(log) = &options.log {
        let versions = session.installed_versions(&options.machine.request())?;
        let version_of = |name: &PackageName| versions.get(name).cloned();
        return explained_log(log, &Knowledge { matrix: session.matrix, version_of: &version_of });
    }
    let profile = options.profile.as_deref().map(|path| session.profile(path)).transpose()?;
    let wish = profile.map(|profile| profile.fitness).unwrap_or_default();
    known(&options.only, &foreign_names(&wish, &options.only)?)?;
    let is_meant = |row: &Check| is_meant(options, row);
    if options.list {
        let lines = listed(&is_meant)?;
        return Ok(Report::new(&lines, lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()));
    }
    asked(options, session, &wish, &is_meant)
}

fn asked(
    options: &DoctorOptions,
    session: &Session<'_>,
    wish: &Fitness,
    is_meant: &dyn Fn(&Check) -> bool,
) -> Result<Report, Failure> {
    let seen = session.machine(&options.machine.request())?;
    // One on a mount that does not answer is a finding.
    for path in options.data.iter().filter(|path| seen.is_here() && reach(path).is_ok()) {
        must_be_there(path, "--data: there is no")?;
    }
    let there = wish.data.iter().filter(|path| !seen.is_here() || path.is_there());
    let place = Place::of(&seen.machine, options.data.iter().chain(there))?;
    let mut facts = options.machine.kernel_modules.as_deref().map(facts_of).transpose()?;
    let kernel = seen.machine.kernel.as_ref().map(|kernel| kernel.pid);
    if let Some(pid) = options.machine.kernel_pid.filter(|pid| seen.is_here() && kernel != Some(*pid)) {
        return Err(Failure::input(format!("--kernel-pid: there is no process {pid}")));
    }
    let smi_hangs = smi_hangs(seen.observed());
    let sight = Sight { smi_hangs, notebook: options.kernel.as_deref(), ..Sight::now(session, kernel, &place) };
    // Of another machine there is what its bundle has seen; this one has nothing to do with it.
    let vitals = if seen.is_here() {
        observe_vitals(&sight)
    } else {
        let (vitals, kernel) = unbundled(options.machine.machine.as_deref())?;
        facts = facts.or(kernel);
        vitals
    };
    vitals.must_mean_one()?;
    let plans = plans(options, wish, &place, session, &seen);
    let (machine, matrix) = (&seen.machine, session.matrix);
    let described = !seen.is_here() && vitals == Vitals::default();
    let (facts, plans) = (facts.as_ref(), &plans);
    let all = Examination { vitals: &vitals, machine, facts, plans, matrix, wish, described };
    let mut outcomes = examine(&all, is_meant)?;
    if !options.after_crash {
        let asked = Asked { only: &options.only, plugins: options.plugins, elsewhere: !seen.is_here() };
        outcomes.extend(foreign_checks(wish, options.profile.as_deref(), asked, machine, session)?);
    }
    let text = shown(&outcomes, options.all)?;
    for finding in outcomes.iter_mut().flat_map(|outcome| &mut outcome.findings) {
        if options.strict && finding.severity == Severity::Warning {
            finding.severity = Severity::Error;
        }
    }
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(Outcome::presentable).collect();
    let outputs = options.outputs();
    let conditions = seen.is_here().then(|| conditions(&vitals, &sight, &|name: &str| matrix.read_of(name).is_some()));
    let observed = seen.observed().cloned();
    let observed = observed.map(|one| Observed { conditions: conditions.or(one.conditions.clone()), ..one });
    let page = outcome_page(&outcomes)?;
    let printed = outputs.write(&outcomes, observed, &vitals, facts)?;
    let findings: Vec<Finding> = outcomes.iter().flat_map(|outcome| outcome.findings.clone()).collect();
    let checks =
        outcomes.into_iter().map(|Outcome { check, group, state, said, .. }| CheckReport { check, group, state, said });
    let report = DoctorReport { checks: checks.collect(), vitals: vitals.in_report() };
    let mut report = Report::new(report, text).with_findings(findings).printing(printed);
    report.page = Some(page);
    Ok(report)
}

fn plans(options: &DoctorOptions, wish: &Fitness, place: &Place, session: &Session<'_>, seen: &Seen) -> Plans {
    let state = &session.paths.state;
    // The mount that it is on is a finding.
    let layout = seen.layout().filter(|_| reach(state).is_ok());
    let marker = layout.and_then(|layout| Applied::of(state, layout).marker().ok().flatten());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, not negative")]
    let batch = options.batch_bytes.map(|bytes| bytes as u64);
    Plans {
        long: options.long.or(wish.long),
        workers: options.workers,
        batch,
        precision: options.precision.clone(),
        // A link may lead to another mount.
        data: place
            .data
            .iter()
            .map(|path| if seen.is_here() { place_of(path) } else { path.clone() }.display().to_string())
            .collect(),
        unread: place.data.iter().filter(|_| seen.is_here()).filter_map(|path| unread(path)).collect(),
        missing: seen.is_here().then(|| {
            let missing = wish.data.iter().filter(|path| path.is_missing());
            missing.map(|path| path.display().to_string()).collect()
        }),
        needs: wish.needs.clone(),
        after_crash: options.after_crash,
        applied_on: marker.map(|marker| marker.boot_id),
    }
}
