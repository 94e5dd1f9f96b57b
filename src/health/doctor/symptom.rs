//! From an error text to its cause: the lines that a row of `matrix/symptoms.toml` knows, newest first; what is near
//! where none is known.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use crate::boot::verdict::Report;
use crate::core::diag::{Code, Failure, bytes};
use crate::core::host::files;
use crate::core::host::mounts::must_be_there;
use crate::core::matrix::{Matrix, Met, Symptom, Symptoms};
use crate::core::model::PackageName;
use crate::health::doctor::error_lines::{LineWeight, LogLine, log_lines, without_colors};
use crate::health::doctor::name_lookup::{Knowledge, facts, filled, versions};

/// So much of the beginning and of the end of a log is looked at.
const LOG: u64 = 8 << 20;

/// As many causes are named.
const MOST: usize = 5;

/// A line with what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Explained {
    /// From 1.
    pub line: usize,
    pub text: String,
    pub code: Option<Code>,
    pub means: String,
    /// What the matrix knows of the names in the line.
    pub facts: Vec<String>,
    /// The versions of the packages that matter, where they are known.
    pub versions: BTreeMap<PackageName, String>,
    pub ask: &'static str,
    pub fix: String,
    pub source: &'static str,
    /// The row was not met word for word.
    pub near: bool,
}

/// What `lines` mean. Of two rows the one that knows more of a line counts; a row is named once, with its
/// newest line. First what ended the program, last what it warned of; of two lines that both may have, first the one
/// that says more.
fn explain_lines(lines: &[LogLine<'_>], knowledge: &Knowledge<'_>) -> Result<Vec<Explained>, Failure> {
    let symptoms = Symptoms::bundled().map_err(Failure::bug)?;
    let mut found: Vec<(&Symptom, LogLine<'_>, Met)> = Vec::new();
    let mut known: BTreeSet<usize> = BTreeSet::new();
    for line in lines.iter().rev() {
        let Some((row, met)) = symptoms.best(line.text, knowledge.matrix) else { continue };
        if known.insert(row) {
            found.push((&symptoms.rows[row], *line, met));
        }
    }
    found.sort_by_key(|(row, line, met)| {
        let known = if row.general { met.weight } else { 0 };
        (row.harmless, line.weight == LineWeight::Warning, row.general, Reverse(known), line.weight)
    });
    if found.is_empty() {
        let near = nearest(&symptoms.rows, &lines[lines.len().saturating_sub(NEWEST)..]);
        return Ok(near
            .map(|(row, line)| explained((row, line, &Met::default()), true, knowledge))
            .into_iter()
            .collect());
    }
    Ok(found.iter().take(MOST).map(|(row, line, met)| explained((row, *line, met), false, knowledge)).collect())
}

/// So many of the newest lines are looked at for words that come near to a rule's.
const NEWEST: usize = 500;

fn explained(
    (row, line, met): (&'static Symptom, LogLine<'_>, &Met),
    near: bool,
    knowledge: &Knowledge<'_>,
) -> Explained {
    Explained {
        line: line.number,
        text: line.text.trim().chars().take(200).collect(),
        code: row.code,
        means: filled(&row.means, met),
        facts: facts(line.text, knowledge),
        versions: versions(row, met, knowledge),
        ask: &row.ask,
        fix: filled(&row.fix, met),
        source: &row.source,
        near,
    }
}

/// The row whose words a line has most of: at least three, and four of five.
fn nearest<'t>(rows: &'static [Symptom], lines: &[LogLine<'t>]) -> Option<(&'static Symptom, LogLine<'t>)> {
    let mut best: Option<(usize, (&Symptom, LogLine<'t>))> = None;
    for line in lines.iter().rev() {
        let lower = line.text.to_lowercase();
        let words: BTreeSet<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        // Without the words of the line, a sentence about them says nothing.
        for row in rows.iter().filter(|row| !row.means.contains('{') && !row.fix.contains('{')) {
            for phrase in &row.says {
                let wanted: BTreeSet<&str> = phrase.words().collect();
                let there = wanted.iter().filter(|word| words.contains(*word)).count();
                let is_near = there >= 3 && there * 5 >= wanted.len() * 4;
                if is_near && best.as_ref().is_none_or(|(most, _)| there > *most) {
                    best = Some((there, (row, *line)));
                }
            }
        }
    }
    best.map(|(_, found)| found)
}

/// The same for people.
fn rendered(explained: &[Explained]) -> String {
    explained.iter().map(Explained::render).collect::<Vec<_>>().join("\n")
}

impl Explained {
    fn render(&self) -> String {
        let code = self.code.map(|code| format!("{code}: ")).unwrap_or_default();
        let near = if self.near { "no rule matches; the nearest one is:\n  " } else { "" };
        let mut lines = vec![format!("line {}: {}", self.line, self.text), format!("  {near}{code}{}", self.means)];
        lines.extend(self.facts.iter().map(|fact| format!("  known:      {fact}")));
        let versions: Vec<String> = self.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        if !versions.is_empty() {
            lines.push(format!("  here:       {}", versions.join(", ")));
        }
        let asks = self.ask.split(';').map(str::trim).filter(|ask| !ask.is_empty());
        lines.extend(asks.map(|ask| format!("  run now:    `{ask}`")));
        lines.push(format!("  what helps: {}", self.fix));
        lines.push(format!("  from:       {}\n", self.source));
        lines.join("\n")
    }
}

/// Whether a rule knows a word of `text`.
pub fn is_known_error(text: &str, matrix: &Matrix) -> bool {
    Symptoms::bundled().is_ok_and(|symptoms| symptoms.best(text, matrix).is_some())
}

/// What an error text means; "no" where no rule knows it.
pub fn explained_text(text: &str, knowledge: &Knowledge<'_>) -> Result<Report, Failure> {
    let text = without_colors(text);
    let lines = log_lines(&text);
    let found = explain_lines(&lines, knowledge)?;
    if found.is_empty() {
        return Err(Failure::answer("no known error found in this text")
            .help("`colab-boot doctor` checks the machine; `colab-boot audit` checks the installed packages"));
    }
    let end = lines.iter().rfind(|line| line.is_end());
    let unknown = end.filter(|end| !found.iter().any(|one| one.line == end.number));
    let mut report = Report::new(&found, rendered(&found));
    report.talk.extend(unknown.map(|end| {
        let shown: String = end.text.trim().chars().take(200).collect();
        format!("no rule knows line {}, which ended the program: {shown}", end.number)
    }));
    Ok(report)
}

/// The same of a log, `-` for standard input.
pub fn explained_log(log: &Path, knowledge: &Knowledge<'_>) -> Result<Report, Failure> {
    let (text, part) = text_of(log)?;
    match explained_text(&text, knowledge) {
        Ok(mut report) => {
            report.talk.extend(part);
            Ok(report)
        }
        Err(failure) => Err(part.into_iter().fold(failure, Failure::cause)),
    }
}

/// The text of a log; of a large one its beginning and its end, and a sentence that says so.
fn text_of(log: &Path) -> Result<(String, Option<String>), Failure> {
    if log == Path::new("-") {
        let read = files::read_input(2 * LOG);
        return read
            .map(|text| (text, None))
            .map_err(|error| Failure::world("could not read standard input").because(&error));
    }
    let data = must_be_there(log, "there is no file")?;
    if data.is_dir() {
        return Err(Failure::input(format!("`{}` is a folder, but must be a log file", log.display())));
    }
    if data.len() <= 2 * LOG {
        return Ok((
            String::from_utf8_lossy(
                &files::read_bytes(log, 2 * LOG)
                    .map_err(|error| Failure::world(format!("could not read `{}`", log.display())).because(&error))?,
            )
            .into_owned(),
            None,
        ));
    }
    let start = files::read_start(log, LOG).unwrap_or_default();
    let part = format!("only the first and last {} of {} were read", bytes(LOG), bytes(data.len()));
    Ok((format!("{}\n{}", String::from_utf8_lossy(&start), files::read_end(log, LOG)), Some(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained_here(text: &str) -> Vec<Explained> {
        let matrix = Matrix::bundled().expect("the matrix");
        let version_of =
            |name: &PackageName| (name.as_ref() == "torch").then(|| "2.11.0+cu128".parse().expect("a version"));
        explain_lines(&log_lines(text), &Knowledge { matrix: &matrix, version_of: &version_of }).expect("an answer")
    }

    /// `phrase` with a word of each kind.
    fn sample(phrase: &str) -> String {
        let mut text = phrase.replace('*', " x1 ").replace("{{", "{");
        for (slot, word) in [
            ("cuda-library", "libcublas.so.12"),
            ("system-library", "libX11.so.6"),
            ("torch-library", "libtorch_cpu.so"),
            ("library", "libx.so.1"),
            ("torch-symbol", "_ZN3c105ErrorC2"),
            ("tensorflow-symbol", "_ZN4absl12lts_20250127x"),
            ("python-symbol", "PyUnicode_AsX"),
            ("symbol", "some_name"),
            ("submodule", "alpha.beta"),
            ("module", "alpha"),
            ("name", "beta"),
            ("package", "alpha"),
            ("version", "1.2"),
            ("number", "12"),
        ] {
            text = text.replace(&format!("{{{slot}}}"), word);
        }
        text
    }

    #[test]
    fn each_phrase_means_its_own() {
        let symptoms = Symptoms::bundled().expect("symptoms.toml");
        let rows = &symptoms.rows;
        let matrix = Matrix::bundled().expect("the matrix");
        let mut wrong = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            assert!(!row.source.is_empty() && !row.fix.is_empty() && !row.says.is_empty(), "{}", row.means);
            assert!(row.packages.iter().all(|name| name.parse::<PackageName>().is_ok()), "{:?}", row.packages);
            for ask in row.ask.split(';').map(str::trim).filter(|ask| !ask.is_empty()) {
                assert!(ask.starts_with("colab-boot "), "{ask}");
            }
            for phrase in &row.says {
                let line = format!("RuntimeError: {}", sample(&phrase.text));
                match symptoms.best(&line, &matrix) {
                    None => wrong.push(format!("no row knows {line}")),
                    Some((best, _)) if best != at => wrong.push(format!("{line}\n  is of {}", rows[best].means)),
                    Some((_, met)) if (filled(&row.means, &met) + &filled(&row.fix, &met)).contains(['{', '}']) => {
                        wrong.push(format!("{} leaves words open", phrase.text));
                    }
                    Some(_) => {}
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn what_people_paste_leads_to_the_cause() {
        let texts = include_str!("../../../tests/doctor/errors.txt");
        for block in texts.split("\n=== ").filter(|block| !block.trim().is_empty()) {
            let (head, text) = block.split_once('\n').expect("a head and a text");
            let wanted = head.trim_start_matches("=== ").trim();
            let found = explained_here(text);
            let first = found.first().map_or("nothing".to_owned(), |one| {
                let near = if one.near { "near " } else { "" };
                format!("{near}{}", one.code.map_or("no code".to_owned(), |code| code.to_string()))
            });
            assert_eq!(first, wanted, "{text}\n{found:#?}");
        }
    }

    #[test]
    fn the_newest_comes_first_and_nothing_is_made_up() {
        let text = "epoch 1\nRuntimeError: Too many open files\nepoch 2\nOSError: [Errno 28] No space left on device\n";
        let codes: Vec<_> = explained_here(text).into_iter().map(|one| (one.line, one.code)).collect();
        assert_eq!(codes, [(4, Some(Code::DiskLow)), (2, Some(Code::NofileLow))]);
        for nothing in
            ["", "all is well\n", "ValueError: not enough values to unpack (expected 2, got 1)", "\u{0}\u{1b}[31m***"]
        {
            assert_eq!(explained_here(nothing), [], "{nothing}");
        }
    }

    #[test]
    fn an_end_that_no_rule_knows_is_said_and_colors_are_not_read() {
        let matrix = Matrix::bundled().expect("the matrix");
        let knowledge = Knowledge { matrix: &matrix, version_of: &|_| None };
        let text = "Traceback (most recent call last):\n\u{1b}[31mModuleNotFoundError\u{1b}[0m: No module named 'x'\n\n\
                    During handling of the above exception, another exception occurred:\n\n\
                    Traceback (most recent call last):\nValueError: my config is bad\n";
        let report = explained_text(text, &knowledge).expect("an answer");
        assert_eq!(report.talk, ["no rule knows line 7, which ended the program: ValueError: my config is bad"]);
        assert!(report.text.contains("line 2: ModuleNotFoundError: No module named 'x'"), "{}", report.text);
    }

    #[test]
    fn names_in_the_line_are_looked_up() {
        let facts = |text: &str| explained_here(text).remove(0);
        let of_library = facts("OSError: libcublas.so.12: cannot open shared object file: No such file or directory");
        assert_eq!(of_library.facts, ["the package `nvidia-cublas-cu12` contains libcublas.so.12: CUDA 12"]);
        let of_system = facts("ImportError: libGL.so.1: cannot open shared object file: No such file or directory");
        assert_eq!(of_system.facts, ["the Debian and Ubuntu package `libgl1` contains libGL.so.1"]);
        let of_module = facts("ModuleNotFoundError: No module named 'sklearn.svm'");
        assert!(of_module.facts[0].contains("`scikit-learn`"), "{of_module:?}");
        let of_symbol = facts("ImportError: x.so: undefined symbol: _ZN3c105ErrorC2");
        assert_eq!(of_symbol.versions.into_values().collect::<Vec<_>>(), ["2.11.0+cu128"]);
    }
}
