//! Rows of releases that have none, read from their wheels. Done package by package, so that a run that is cut off goes
//! on where it was.

use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::arguments::RefreshOptions;
use crate::releases::{Releases, must_be_watched};
use colab_boot::boot::session::Session;
use colab_boot::core::diag::{Code, Failure, Finding, Kind};
use colab_boot::core::host::files;
use colab_boot::core::host::mounts::Look;
use colab_boot::core::matrix::{Build, Builds, Watch, read_builds, write_builds};
use colab_boot::core::model::Version;
use colab_boot::core::model::day::day_of;

/// Reads the wheels of releases without a row and writes their rows; with `--check` only lists them.
pub(crate) fn run(
    options: &RefreshOptions,
    session: &Session<'_>,
    releases: &Releases<'_>,
) -> Result<Outcome, Failure> {
    must_be_watched(session, &options.package)?;
    let place = Place::of(options)?;
    let mut run = Run { options, session, place, releases, lines: Vec::new(), findings: Vec::new(), written: false };
    for watch in &session.matrix.watches {
        run.file(watch)?;
    }
    let (lines, findings) = (run.lines, run.findings);
    Ok(Outcome { is_no: options.check && !lines.is_empty(), lines, findings })
}

/// One refresh under way.
struct Run<'a> {
    options: &'a RefreshOptions,
    session: &'a Session<'a>,
    place: Place,
    releases: &'a Releases<'a>,
    lines: Vec<String>,
    findings: Vec<Finding>,
    /// Whether the matrix is a new one already.
    written: bool,
}

impl Run<'_> {
    /// The packages of one file of rows.
    fn file(&mut self, watch: &Watch) -> Result<(), Failure> {
        let options = self.options;
        let mut file = self.place.read(self.session, watch)?;
        for (package, since) in &watch.packages {
            if !options.package.is_empty() && !options.package.contains(package) {
                continue;
            }
            if options.again {
                file.rows.retain(|row| row.package != *package || row.wheel.is_none());
            }
            let bundled = file.bundled.filter(|_| !options.again).map(|rows| rows.of(package)).unwrap_or_default();
            let known = |version: &Version| {
                let mut rows = file.rows.iter().chain(bundled);
                rows.any(|row| row.package == *package && row.version == *version && row.local.is_none())
            };
            let published = match self.releases.of(package, since) {
                Ok(published) => published,
                // One package that the index does not have is no reason to leave the others.
                Err(failure) if failure.kind == Kind::Answer => {
                    self.findings.push(Finding::warning(Code::AuditUnread, failure.message));
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            let missing: Vec<_> = published.into_iter().filter(|(version, _)| !known(version)).collect();
            if options.check {
                self.lines.extend(missing.iter().map(|(version, _)| format!("{package} {version}")));
                continue;
            }
            let before = file.rows.len();
            for (version, (candidate, python)) in missing {
                self.session.say(&format!("reading {package} {version}"));
                match self.releases.row(&candidate, python, watch.thorough)? {
                    Ok(row) => {
                        self.lines.push(format!("{package} {version}"));
                        file.rows.push(row);
                    }
                    Err(finding) => self.findings.push(finding),
                }
            }
            if file.rows.len() > before {
                self.place.date(self.session, self.written)?;
                self.written = true;
                file.write()?;
            }
        }
        Ok(())
    }
}

/// Where rows are kept: the files of a checkout, or one overlay.
enum Place {
    Folder(PathBuf),
    Overlay(PathBuf),
}

/// One file of rows.
struct RowFile<'a> {
    path: PathBuf,
    head: String,
    rows: Vec<Build>,
    /// Rows that are elsewhere, and need not be written.
    bundled: Option<&'a Builds>,
}

impl Place {
    fn of(options: &RefreshOptions) -> Result<Self, Failure> {
        if let Some(path) = &options.overlay {
            return Ok(Self::Overlay(path.clone()));
        }
        if options.into.join("watch.toml").is_there() {
            return Ok(Self::Folder(options.into.clone()));
        }
        Err(Failure::input(format!("`{}` is not the matrix of a checkout", options.into.display()))
            .help("run it in a checkout of colab-boot, or write new rows to a file of your own with --overlay FILE"))
    }

    fn read<'a>(&self, session: &'a Session<'_>, watch: &Watch) -> Result<RowFile<'a>, Failure> {
        let (path, bundled, head): (PathBuf, Option<&Builds>, &str) = match self {
            Self::Folder(folder) => (folder.join(&watch.file), None, "# Written by `upkeep refresh`.\n"),
            Self::Overlay(path) => (path.clone(), Some(&session.matrix.builds), OVERLAY_HEAD),
        };
        let Some(text) = files::read_optional(&path)? else {
            return Ok(RowFile { path, head: head.to_owned(), rows: Vec::new(), bundled });
        };
        let (head, rows) = read_builds(&text)
            .map_err(|error| Failure::input(format!("`{}` can't be read", path.display())).cause(error))?;
        Ok(RowFile { path, head, rows, bundled })
    }

    /// A matrix with new rows is a new matrix: it gets its version before the first of them, once a run.
    fn date(&self, session: &Session<'_>, done: bool) -> Result<(), Failure> {
        let Self::Folder(folder) = self else {
            return Ok(());
        };
        if done {
            return Ok(());
        }
        let path = folder.join("matrix.toml");
        let text = files::read_text(&path, "matrix version")?;
        let day = day_of(session.now).to_string().replace('-', ".");
        let lines = text.lines().map(|line| match line.strip_prefix("version = ") {
            Some(current) => format!("version = \"{}\"\n", next_version(current.trim_matches('"'), &day)),
            None => format!("{line}\n"),
        });
        files::write_whole(&path, lines.collect::<String>().as_bytes())
    }
}

/// The day, and a number behind it from the second version of a day on.
fn next_version(current: &str, day: &str) -> String {
    match current.strip_prefix(day) {
        None => day.to_owned(),
        Some(rest) => format!("{day}.{}", rest.trim_start_matches('.').parse::<u32>().unwrap_or(0) + 1),
    }
}

const OVERLAY_HEAD: &str =
    "# Rows for colab-boot's matrix, read from wheels by `upkeep refresh --overlay`.\n# Use them with --matrix.\n";

impl RowFile<'_> {
    fn write(&self) -> Result<(), Failure> {
        files::write_whole(Path::new(&self.path), write_builds(&self.head, &self.rows).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::next_version;

    #[test]
    fn versions_of_one_day_are_counted() {
        assert_eq!(next_version("2026.11.20", "2026.11.21"), "2026.11.21");
        assert_eq!(next_version("2026.11.21", "2026.11.21"), "2026.11.21.1");
        assert_eq!(next_version("2026.11.21.9", "2026.11.21"), "2026.11.21.10");
    }
}
