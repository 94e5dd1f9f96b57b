//! `scrub`: secrets in notebooks, profiles, cells and logs: found, and on request taken out.

use std::path::Path;

use serde::Serialize;

use crate::cli::ScrubOptions;
use crate::diag::{Code, Failure, Finding};
use crate::host::destination::{is_stdout, write_output};
use crate::host::files;
use crate::host::texts::{AnyText, files_below, read_any};
use crate::output::Report;
use crate::scrub::{Accepted, Baseline, Sighting, sarif, scrubbed};
use crate::session::Session;

/// Folders that are not looked into.
const ASIDE: &[&str] = &[".git", ".hg", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache"];

#[derive(Serialize)]
struct ScrubReport {
    files: usize,
    written: Vec<String>,
    secrets: Vec<FileReport>,
}

#[derive(Serialize)]
struct FileReport {
    file: String,
    secrets: Vec<Sighting>,
}

pub(super) fn run(options: &ScrubOptions, _: &Session<'_>) -> Result<Report, Failure> {
    let baseline = baseline(options.baseline.as_deref(), options.update_baseline)?;
    let mut all = Vec::new();
    for path in &options.paths {
        if !path.exists() {
            return Err(Failure::input(format!("there is no file or folder `{}`", path.display())));
        }
        files_below(path, true, &is_aside, &mut all);
    }
    all.sort();
    all.dedup();
    let (mut found, mut written, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    for path in &all {
        let name = path.display().to_string();
        let (text, is_utf8) = match read_any(path) {
            AnyText::Utf8(text) => (text, true),
            AnyText::Other(text) => (text, false),
            AnyText::Binary if !options.paths.contains(path) => continue,
            AnyText::Binary => {
                unread.push(unread_file(&name, "it is no text"));
                continue;
            }
            AnyText::Unread(why) => {
                unread.push(unread_file(&name, &why));
                continue;
            }
        };
        let (mut sightings, clean) = scrubbed(&name, &text)?;
        sightings
            .retain(|one| !baseline.known.iter().any(|known| known.rule == one.rule && known.sha256 == one.sha256));
        if sightings.is_empty() {
            continue;
        }
        match clean.filter(|_| options.write) {
            Some(_) if !is_utf8 => unread.push(unread_file(&name, "it is not UTF-8, and was left as it is")),
            Some(clean) => match write_output(path, clean.as_bytes()) {
                Ok(()) => written.push(name.clone()),
                Err(failure) => unread.push(unread_file(&name, &failure.message)),
            },
            None => {}
        }
        found.push((name, sightings));
    }
    let log = options.sarif.as_ref().map(|path| (path, format!("{:#}\n", sarif(&found))));
    if let Some((path, text)) = log.as_ref().filter(|(path, _)| !is_stdout(path)) {
        write_output(path, text.as_bytes())?;
    }
    if options.update_baseline {
        return accept(options, baseline, &found);
    }
    let mut report = report(options, all.len(), found, written);
    report.findings.extend(unread);
    Ok(report.printing(log.filter(|(path, _)| is_stdout(path)).map(|(_, text)| text)))
}

fn report(options: &ScrubOptions, files: usize, found: Vec<(String, Vec<Sighting>)>, written: Vec<String>) -> Report {
    let count: usize = found.iter().map(|(_, sightings)| sightings.len()).sum();
    let what = if options.write { "removed from" } else { "in" };
    let text = format!("{count} secrets {what} {} of {files} files\n", found.len());
    let finding = |file: &str, one: &Sighting| {
        let message = format!("{file}: {}: {} ({})", one.place, one.rule, one.shown);
        let kind = if options.write { Finding::warning } else { Finding::error };
        kind(Code::SecretFound, message).with_help(if options.write {
            "it stands in the history still, and wherever the file was before: revoke it"
        } else {
            "`--write` takes it out; revoke what others may have seen; `# colab-boot: allow` in its line, or --baseline, accepts it"
        })
    };
    let findings = found.iter().flat_map(|(file, sightings)| sightings.iter().map(move |one| finding(file, one)));
    let findings = findings.collect();
    let secrets = found.into_iter().map(|(file, secrets)| FileReport { file, secrets }).collect();
    Report::new(ScrubReport { files, written, secrets }, text).with_findings(findings)
}

/// Adds what was found to the baseline.
fn accept(
    options: &ScrubOptions,
    mut baseline: Baseline,
    found: &[(String, Vec<Sighting>)],
) -> Result<Report, Failure> {
    let path = options.baseline.as_deref().unwrap_or(Path::new(".colab-boot-scrub.json"));
    for (file, sightings) in found {
        baseline.known.extend(sightings.iter().map(|one| Accepted {
            rule: one.rule.to_owned(),
            sha256: one.sha256.clone(),
            file: file.clone(),
        }));
    }
    baseline.version = 1;
    baseline.known.sort();
    baseline.known.dedup();
    let text = serde_json::to_string_pretty(&baseline).map_err(|error| Failure::bug(error.to_string()))?;
    write_output(path, format!("{text}\n").as_bytes())?;
    let said = format!("{}: {} are accepted\n", path.display(), baseline.known.len());
    Ok(Report::new(baseline, said))
}

fn baseline(path: Option<&Path>, may_be_new: bool) -> Result<Baseline, Failure> {
    let Some(path) = path else { return Ok(Baseline::default()) };
    let Some(text) = files::read_optional(path)? else {
        let none =
            || Failure::input(format!("there is no baseline `{}`", path.display())).help("--update-baseline writes it");
        return if may_be_new { Ok(Baseline::default()) } else { Err(none()) };
    };
    let bad = |why: String| Failure::input(format!("`{}` is no baseline", path.display())).cause(why);
    let read: Baseline = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    if read.version == 1 { Ok(read) } else { Err(bad(format!("it has format {}, and 1 is read", read.version))) }
}

/// Folders of tools, and environments.
fn is_aside(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| ASIDE.iter().any(|aside| name == *aside))
        || folder.join("pyvenv.cfg").is_file()
}

fn unread_file(name: &str, why: &str) -> Finding {
    let help = "what it holds is not known: make it readable, save it as UTF-8, or leave it out";
    Finding::error(Code::ScrubUnread, format!("{name}: {why}")).with_help(help)
}
