//! `golden verify`: what is pinned here, held against its repository.

use std::fmt::Write;

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::{AddOptions, pinned};
use crate::cli::verbs::golden::{read_believed, today, with_findings};
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::model::{PackageName, Sha256};
use crate::golden::pin::{Pin, Pins};
use crate::golden::repository::pin_findings;
use crate::golden::repository::{Holder, Read, TO_ASK, into_option, withdrawn};

#[derive(Serialize)]
struct ReleaseVerifyReport {
    seq: u64,
    signed_by: Vec<String>,
    releases: Vec<String>,
}

pub(super) fn run(options: &AddOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let holder = Holder::at(&options.into);
    let all = holder.pins()?;
    let (named, digest) = match options.release.as_deref().map(pinned).transpose() {
        Ok(named) => named.unzip(),
        Err(why) => return Err(Failure::input("the release").cause(why)),
    };
    let is_meant = |pin: &&Pin| {
        named.is_none_or(|title| pin.name.as_ref() == title || format!("{}@{}", pin.name, pin.version) == title)
    };
    let pins: Vec<Pin> = match named.zip(digest.flatten()) {
        // A cell has its lock with it, and knows its digest.
        Some((title, digest)) => vec![pin_of(title, digest)?],
        None => all.all.iter().filter(is_meant).cloned().collect(),
    };
    if pins.is_empty() {
        return Err(without_pin(options, (!all.all.is_empty()).then(|| holder.name()), named));
    }
    let mut findings = Vec::new();
    let here = |found: Option<&Read>| {
        let held = pins.iter().filter(|_| digest.flatten().is_none());
        let faults = held.map(|pin| holder.fault(pin, found)).collect::<Result<Vec<_>, Failure>>();
        faults.map(|faults| faults.into_iter().flatten().collect::<Vec<Finding>>())
    };
    let found = match read_believed(
        &holder.source(&options.source.to_take(options.allow_stale))?,
        &Pins { all: pins.clone(), ..all.clone() },
        TO_ASK,
        session,
    ) {
        Ok(found) => found,
        // What is pinned is as good as before; whether it was withdrawn is not known.
        Err(failure) if failure.kind == Kind::World => {
            let message = format!("it is unknown whether anything pinned was withdrawn: {failure}");
            let finding = Finding::note(Code::GoldenUnchecked, message);
            findings.extend(here(None)?);
            findings.extend(withdrawn_before(&pins, options, session)?);
            findings.extend(holder.cell_findings()?);
            findings.push(finding);
            return Ok(Report::new((), "unchecked\n".to_owned()).with_findings(findings));
        }
        Err(failure) => return Err(failure),
    };
    findings.extend(here(Some(&found))?);
    findings.extend(holder.cell_findings()?);
    let today = today(session);
    let mut text = String::new();
    for pin in &pins {
        let allowed = options.allow_yanked || pin.allow_yanked;
        let own = pin_findings((pin, &into_option(&options.into)), &found, today, allowed);
        let seq = found.vouched.catalogue.seq;
        let word = if own.is_empty() { ": current" } else { "" };
        let _ = writeln!(text, "{}@{} of {}, index {seq}{word}", pin.name, pin.version, found.vouched.catalogue.name);
        findings.extend(own);
    }
    let report = ReleaseVerifyReport {
        seq: found.vouched.catalogue.seq,
        signed_by: found.vouched.by.clone(),
        releases: pins.iter().map(|pin| format!("{}@{}", pin.name, pin.version)).collect(),
    };
    Ok(with_findings(Report::new(report, text), &found.vouched, findings))
}

/// Those of `pins` that their repository has withdrawn when it was last reached.
fn withdrawn_before(pins: &[Pin], options: &AddOptions, session: &Session<'_>) -> Result<Vec<Finding>, Failure> {
    let findings: Vec<Option<Finding>> = pins
        .iter()
        .map(|pin| withdrawn(&session.paths, pin, options.allow_yanked || pin.allow_yanked))
        .collect::<Result<_, Failure>>()?;
    Ok(findings.into_iter().flatten().collect())
}

/// What is pinned by `NAME@VERSION` and a digest alone.
fn pin_of(title: &str, sha256: Sha256) -> Result<Pin, Failure> {
    let bad = || Failure::input(format!("`{title}` is not a release")).help("write it as `NAME@VERSION#sha256=HEX`");
    let (name, version) = title.split_once('@').ok_or_else(bad)?;
    let name: PackageName = name.parse().map_err(|_| bad())?;
    Ok(Pin {
        repository: name.clone(),
        name,
        original: title.to_owned(),
        version: version.parse().map_err(|_| bad())?,
        sha256,
        from: String::new(),
        seq: 0,
        signers: Vec::new(),
        allow_yanked: false,
    })
}

/// Why nothing is verified: `holder` pins other releases than the one that is `named`, or there is none.
fn without_pin(options: &AddOptions, holder: Option<String>, named: Option<&str>) -> Failure {
    let what = if holder.is_some() { "pins no such release" } else { "pins no release" };
    let place = holder.unwrap_or_else(|| options.into.display().to_string());
    let failure = Failure::input(format!("`{place}` {what}"));
    match named {
        Some(title) => failure
            .help(format!("`colab-boot golden list --show {title} --repo REPOSITORY` shows a release without a pin")),
        None => failure.help("add a release with `colab-boot golden add NAME --repo REPOSITORY`"),
    }
}
