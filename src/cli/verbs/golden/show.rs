//! `golden show`: one release.

use std::fmt::Write;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::ReleaseOptions;
use crate::cli::verbs::golden::list::Row;
use crate::cli::verbs::golden::publish::largest_download;
use crate::cli::verbs::golden::{pins_here, read_believed, today, with_findings};
use crate::core::diag::{Failure, bytes};
use crate::golden::calendar::Day;
use crate::golden::entry::{Release, Standing};
use crate::golden::repository::{Read, TO_READ, standing_findings};

pub(super) fn run(options: &ReleaseOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let found = read_believed(&options.source.to_look(), &pins_here(), TO_READ, session)?;
    let today = today(session);
    let release = find(&found, &options.release, today)?;
    let standing = release.standing(today);
    let mut text = format!("{}  {}\n", release.title(), standing.as_str());
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(text, "  {name:<12}{value}");
        }
    };
    let pairs = |map: Vec<(String, String)>| map.iter().map(|(a, b)| format!("{a} {b}")).collect::<Vec<_>>().join(", ");
    let frameworks = release.frameworks.iter().map(|(name, version)| (name.to_string(), version.to_string()));
    line("about", release.description.clone());
    line("frameworks", pairs(frameworks.collect()));
    line("Python", release.python.join(", "));
    line("CUDA", release.cuda.map(|cuda| cuda.to_string()).unwrap_or_default());
    line("hardware", release.hardware());
    line("made for", release.runtimes.join(", "));
    line("GPUs", pairs(release.gpus.clone().into_iter().collect()));
    line("packages", format!("{}, {}", release.packages, largest_download(release)));
    line("published", release.published.to_string());
    let ahead = release.deprecate_on.filter(|_| standing == Standing::Current);
    line("deprecated", ahead.map(|day| format!("on {day}")).unwrap_or_default());
    line("expires", release.expires.map(|day| day.to_string()).unwrap_or_default());
    line("because", release.because.clone().unwrap_or_default());
    line("replaced by", release.replaced_by.clone().unwrap_or_default());
    for evidence in &release.verified {
        let by = evidence.by.as_ref().map(|by| format!(", signed by {by}")).unwrap_or_default();
        line("verified", format!("on {} with GPU {}, {}{by}", evidence.on, evidence.gpu, evidence.runtime));
    }
    for file in &release.files {
        line("file", format!("{}  {}  sha256 {}", file.name, bytes(file.size), file.sha256));
    }
    let findings = standing_findings(release, today, false);
    Ok(with_findings(Report::new(Row::of(release, standing), text), &found.vouched, findings))
}

/// The release that `title` means, or what there is.
pub(super) fn find<'a>(found: &'a Read, title: &str, today: Day) -> Result<&'a Release, Failure> {
    let catalogue = &found.vouched.catalogue;
    catalogue.find(title, today).ok_or_else(|| {
        let known: Vec<String> = catalogue.releases.iter().map(Release::title).collect();
        let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        Failure::answer(format!("`{}` has no current release `{title}`", found.repository.name()))
            .help(format!("it has {known}; name an older release with its version"))
    })
}
