//! `golden policy`: what a repository promises, and what fails its check.

use std::collections::BTreeMap;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::{GoldenCheckOptions, PolicySetOptions};
use crate::cli::verbs::golden::{folder_of, store};
use crate::core::diag::Failure;
use crate::golden::policy::Policy;
use crate::golden::repository::Kept;

pub(super) fn show(options: &GoldenCheckOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let kept = Kept::open(&folder_of(options.repo.as_ref()), session)?;
    Ok(report(&kept.catalogue.policy))
}

pub(super) fn set(options: &PolicySetOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open_alone(&folder_of(options.kept.repo.as_ref()), session)?;
    let before = kept.catalogue.policy.clone();
    for change in &options.changes {
        kept.catalogue.policy.set(change).map_err(|why| {
            Failure::input(why).help("list the keys and their values with `colab-boot golden policy show`")
        })?;
    }
    let mut report = report(&kept.catalogue.policy);
    if kept.catalogue.policy == before {
        return Ok(report);
    }
    if !kept.catalogue.policy.check.is_empty() {
        // Versions before this one refuse a table that they don't know.
        kept.catalogue.tool = format!(">={}", env!("CARGO_PKG_VERSION"));
    }
    report.talk = store(&mut kept, &options.kept, None, session)?;
    Ok(report)
}

fn report(policy: &Policy) -> Report {
    let rows = policy.rows();
    let text = rows.iter().map(|(key, value, meaning)| format!("{key:<14} {value:<8} {meaning}\n")).collect();
    let data: BTreeMap<&str, &String> = rows.iter().map(|(key, value, _)| (*key, value)).collect();
    Report::new(data, text)
}
