//! `golden update`: the newest current release in place of the one that is pinned.

use std::fmt::Write;

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::UpdateOptions;
use crate::cli::verbs::golden::{read_believed, today, with_findings};
use crate::core::diag::Failure;
use crate::golden::entry::Standing;
use crate::golden::pin::Pin;
use crate::golden::repository::{Holder, TO_READ};
use crate::golden::repository::{between, standing_findings};

#[derive(Serialize)]
struct Change {
    name: String,
    from: String,
    to: String,
    differences: Vec<String>,
}

pub(super) fn run(options: &UpdateOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let holder = Holder::at(&options.into);
    let pins = holder.pins()?;
    let meant: Vec<Pin> =
        pins.all.iter().filter(|pin| options.name.as_ref().is_none_or(|name| *name == pin.name)).cloned().collect();
    if meant.is_empty() {
        let what = options.name.as_ref().map_or_else(|| "nothing".to_owned(), |name| format!("no `{name}`"));
        return Err(Failure::input(format!("`{}` pins {what}", holder.name()))
            .help("add a release with `colab-boot golden add NAME --repo REPOSITORY`"));
    }
    let today = today(session);
    let found = read_believed(&holder.source(&options.source.to_take(options.allow_stale))?, &pins, TO_READ, session)?;
    let (mut changes, mut findings, mut text) = (Vec::new(), Vec::new(), String::new());
    for old in meant {
        let newest = found.vouched.catalogue.find(old.name.as_ref(), today);
        let before = found.vouched.catalogue.find(&format!("{}@{}", old.name, old.version), today);
        let gone = before.is_some_and(|release| release.standing(today) >= Standing::Expired);
        let Some(new) = newest.filter(|new| new.version > old.version || gone && new.version != old.version) else {
            let fault = holder.fault(&old, Some(&found))?;
            if fault.is_none() {
                let state = if gone { "has no current release to replace it" } else { "is up to date" };
                let _ = writeln!(text, "{}@{} {state}", old.name, old.version);
            }
            findings.extend(fault);
            findings.extend(before.iter().flat_map(|release| standing_findings(release, today, old.allow_yanked)));
            continue;
        };
        let differences = before.map(|before| between(&found, before, new)).transpose()?.unwrap_or_default();
        let _ = writeln!(text, "{}@{} -> {}", old.name, old.version, new.title());
        for line in &differences {
            let _ = writeln!(text, "  {line}");
        }
        let pin = found.pin(new, old.name.as_ref())?;
        if options.dry_run {
            holder.taking(&found, new, Some(&old), pin)?;
        } else {
            holder.take(&found, new, Some(&old), pin)?;
        }
        let (from, to) = (old.version.to_string(), new.version.to_string());
        changes.push(Change { name: old.name.to_string(), from, to, differences });
    }
    Ok(with_findings(Report::new(changes, text), &found.vouched, findings))
}
