//! `scrub`: secrets in notebooks, profiles, cells and logs: found, and on request taken out.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::ScrubOptions;
use crate::core::diag::{Failure, Finding, listed};
use crate::core::host::destination::{is_stdout, write_output, write_report};
use crate::core::host::files;
use crate::core::host::hard_links::Shared;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;
use crate::core::host::texts::{AnyText, FilesBelow, name_of, named_files, read_any};
use crate::core::host::writers::{Writers, replace_alone};
use crate::core::secrets::{Baseline, Fate, Sighting, said, sarif, scrubbed, summary, unread_file, unwritten_file};

/// The baseline that is read and written where none is named.
const BASELINE: &str = ".colab-boot-scrub.json";

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct ScrubReport {
    /// That were searched.
    files: usize,
    /// Below the named folders, that are no text.
    not_searched: usize,
    /// Folders of tools and environments, and links.
    aside: Vec<String>,
    written: Vec<String>,
    secrets: Vec<FileReport>,
}

#[derive(Serialize)]
struct FileReport {
    file: String,
    secrets: Vec<Sighting>,
}

pub(super) fn run(options: &ScrubOptions, _: &Session<'_>) -> Result<Report, Failure> {
    let usual = Path::new(BASELINE);
    let named = options.baseline.as_deref().or_else(|| usual.is_there().then_some(usual));
    let baseline = named.map_or(Ok(Baseline::default()), |path| {
        Baseline::parse(path, files::read_optional(path)?.as_deref(), options.update_baseline)
    })?;
    let FilesBelow { files: all, aside } = named_files(&options.paths)?;
    let (mut found, mut written, mut unread, mut binary) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let mut replaced = Vec::new();
    let writers = if options.write { Writers::now() } else { Writers::default() };
    for path in &all {
        let name = name_of(path);
        let seen = Stamp::of(path);
        let (text, is_utf8) = match read_any(path) {
            AnyText::Utf8(text) => (text, true),
            AnyText::Other(text) => (text, false),
            AnyText::Binary if !options.paths.contains(path) => {
                binary += 1;
                continue;
            }
            AnyText::Binary => {
                unread.push(unread_file(&name, "it is not text"));
                continue;
            }
            AnyText::Unread(why) => {
                unread.push(unread_file(&name, &why));
                continue;
            }
        };
        let (sightings, clean) = scrubbed(&name, &text, &baseline)?;
        if sightings.is_empty() {
            continue;
        }
        if options.write {
            match cleaned((path, &name, seen), clean.as_deref(), is_utf8, &writers) {
                Ok(shared) => {
                    written.push(name.clone());
                    replaced.extend(shared.map(|shared| (name.clone(), shared)));
                }
                Err(left) => unread.push(left),
            }
        }
        found.push((name, sightings));
    }
    unread.extend(replaced.iter().filter_map(|(name, shared)| shared.to_finding(name)));
    let log = options.sarif.as_ref().map(|path| (path, format!("{:#}\n", sarif(&found))));
    if let Some((path, text)) = log.as_ref().filter(|(path, _)| !is_stdout(path)) {
        write_report(path, text.as_bytes())?;
    }
    let mut report = if options.update_baseline {
        accept(options, baseline, &found)?
    } else {
        report(options, (all.len() - binary, binary), (found, aside), written)
    };
    report.findings.extend(unread);
    Ok(report.printing(log.filter(|(path, _)| is_stdout(path)).map(|(_, text)| text)))
}

/// Writes a file without its secrets; its other names, else why it was left as it was.
fn cleaned(
    (path, name, seen): (&Path, &str, Stamp),
    clean: Option<&str>,
    is_utf8: bool,
    writers: &Writers,
) -> Result<Option<Shared>, Finding> {
    let no_json = "it has a JSON file name, but is not a valid object or list: it was not changed";
    let clean = clean.ok_or_else(|| unread_file(name, no_json))?;
    if !is_utf8 {
        return Err(unread_file(name, "it is not UTF-8, or contains NUL bytes: it was not changed"));
    }
    replace_alone((path, seen), clean.as_bytes(), writers).map_err(|failure| unwritten_file(name, &failure))
}

fn report(
    options: &ScrubOptions,
    (files, not_searched): (usize, usize),
    (found, aside): (Vec<(String, Vec<Sighting>)>, Vec<PathBuf>),
    written: Vec<String>,
) -> Report {
    let is_gone = |file: &String| written.contains(file);
    let count = |gone: bool| {
        let files = found.iter().filter(|(file, _)| is_gone(file) == gone);
        files.fold((0, 0), |(secrets, files), (_, sightings)| (secrets + sightings.len(), files + 1))
    };
    let ((gone, of_gone), (left, of_left)) = (count(true), count(false));
    let removed = options.write.then_some((gone, of_gone));
    let text = summary(removed, (left, of_left), (files, not_searched));
    let aside: Vec<String> = aside.iter().map(|path| path.display().to_string()).collect();
    let passed = if aside.is_empty() { String::new() } else { format!("; not searched: {}", listed(&aside)) };
    let fate_of = |file: &String| Fate::of(options.write, is_gone(file));
    let findings = found.iter().flat_map(|(file, secrets)| said(file, secrets, fate_of(file))).collect();
    let secrets = found.into_iter().map(|(file, secrets)| FileReport { file, secrets }).collect();
    Report::new(ScrubReport { files, not_searched, aside, written, secrets }, format!("{text}{passed}\n"))
        .with_findings(findings)
}

/// Adds what was found to the baseline.
fn accept(
    options: &ScrubOptions,
    mut baseline: Baseline,
    found: &[(String, Vec<Sighting>)],
) -> Result<Report, Failure> {
    let path = options.baseline.as_deref().unwrap_or(Path::new(BASELINE));
    baseline.accept(found);
    let text = serde_json::to_string_pretty(&baseline).map_err(|error| Failure::bug(error.to_string()))?;
    write_output(path, format!("{text}\n").as_bytes())?;
    let said = format!("{}: {} are accepted\n", path.display(), baseline.known.len());
    Ok(Report::new(baseline, said))
}
