//! `golden list`: the releases of a repository, one of them, or how two differ.

use std::fmt::Write;

use serde::Serialize;

use crate::boot::machine::resolve_gpus;
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::ListOptions;
use crate::cli::output::{Row, difference, one_release, shown};
use crate::cli::verbs::golden::{pins_here, read_believed, today, with_findings};
use crate::core::diag::{Failure, counted, nearest};
use crate::golden::catalogue::Catalogue;
use crate::golden::entry::{Release, Standing};
use crate::golden::repository::TO_READ;

#[derive(Serialize)]
struct ListReport<'a> {
    name: String,
    seq: u64,
    signed_by: &'a [String],
    releases: Vec<Row<'a>>,
}

pub(super) fn run(options: &ListOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let found = read_believed(&options.source.to_look(), &pins_here(), TO_READ, session)?;
    let today = today(session);
    if let Some(title) = &options.show {
        return one_release(&found, title, today);
    }
    if let [old, new] = options.diff.as_slice() {
        return difference(&found, (old, new), today);
    }
    let gpus = resolve_gpus(options.gpu.as_slice(), session.matrix)?;
    let gpu = gpus.first().map(|gpu| gpu.capability.to_string());
    let word = options.word.as_ref().map(|word| word.to_lowercase());
    let catalogue = &found.vouched.catalogue;
    let mut releases: Vec<&Release> = catalogue
        .releases
        .iter()
        .filter(|release| {
            let standing = release.standing(today);
            let alive = options.all || standing <= Standing::Deprecated;
            let runs = gpu.as_ref().is_none_or(|gpu| release.runs_on(gpu));
            let image = options.runtime.as_ref();
            let image = image.is_none_or(|name| release.runtimes.iter().any(|one| one.starts_with(name.as_str())));
            let framework = options.framework.as_ref().is_none_or(|name| release.frameworks.contains_key(name));
            alive && runs && image && framework && word.as_ref().is_none_or(|word| speaks_of(release, word))
        })
        .collect();
    releases.sort_by(|a, b| (&a.name, &b.version).cmp(&(&b.name, &a.version)));
    let mut text = String::new();
    let width = releases.iter().map(|release| release.title().len()).max().unwrap_or_default();
    for release in &releases {
        let standing = release.standing(today).as_str();
        let _ = writeln!(text, "{:<width$}  {standing:<10}  {}", release.title(), shown(release));
        let why = release.because.as_ref().filter(|_| standing != "current");
        if let Some(why) = why {
            let use_ = release.replaced_by.as_ref().map(|other| format!("; use {other}")).unwrap_or_default();
            let _ = writeln!(text, "{:<width$}  {why}{use_}", "");
        }
    }
    let _ = writeln!(
        text,
        "{}: {} of {}, index {}",
        catalogue.name,
        releases.len(),
        counted(catalogue.releases.len(), "release"),
        catalogue.seq
    );
    let near = word.as_ref().filter(|_| releases.is_empty()).and_then(|word| suggested(catalogue, word));
    text.extend(near.map(|name| format!("did you mean `{name}`?\n")));
    let report = ListReport {
        name: catalogue.name.to_string(),
        seq: catalogue.seq,
        signed_by: &found.vouched.by,
        releases: releases.iter().map(|release| Row::of(release, release.standing(today))).collect(),
    };
    Ok(with_findings(Report::new(report, text), &found.vouched, Vec::new()))
}

/// The name of a release or framework that is most like `word`, where nothing has it.
fn suggested<'a>(catalogue: &'a Catalogue, word: &str) -> Option<&'a str> {
    let frameworks = |release: &'a Release| release.frameworks.keys().map(AsRef::as_ref);
    let names = |release: &'a Release| [release.name.as_ref()].into_iter().chain(frameworks(release));
    nearest(catalogue.releases.iter().flat_map(names), word)
}

fn speaks_of(release: &Release, word: &str) -> bool {
    let names = release.frameworks.keys().map(ToString::to_string);
    let texts = [release.title(), release.description.to_lowercase(), release.runtimes.join(" ")];
    texts.into_iter().chain(names).any(|text| text.contains(word))
}
