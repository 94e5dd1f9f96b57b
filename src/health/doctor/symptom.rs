//! From an error text to its cause: the lines that a row of `matrix/symptoms.toml` knows, newest first; what is near
//! where none is known.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use crate::boot::verdict::Report;
use crate::core::diag::{Code, Failure, bytes};
use crate::core::host::files;
use crate::core::host::mounts::must_be_there;
use crate::core::matrix::{Symptom, symptoms};

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
    pub means: &'static str,
    pub ask: &'static str,
    pub fix: &'static str,
    pub source: &'static str,
    /// The row was not met word for word.
    pub near: bool,
}

/// What the lines of `text` mean. Of two rows the one that knows more of a line counts; a row is named once, with its
/// newest line.
pub(super) fn explain_text(text: &str) -> Result<Vec<Explained>, Failure> {
    let rows = symptoms().map_err(Failure::bug)?;
    let mut found: Vec<Explained> = Vec::new();
    let mut known: BTreeSet<usize> = BTreeSet::new();
    let lines = distinct(text);
    for (at, line) in lines.iter().rev() {
        let lower = line.to_lowercase();
        let best = rows
            .iter()
            .enumerate()
            .filter_map(|(row, one)| Some((one.says.iter().filter_map(|phrase| phrase.weight(&lower)).max()?, row)))
            .max();
        if let Some((_, row)) = best.filter(|(_, row)| known.insert(*row)) {
            found.push(explained(&rows[row], *at, line, false));
        }
        if found.len() == MOST {
            break;
        }
    }
    Ok(if found.is_empty() { nearest(rows, &lines[lines.len().saturating_sub(NEWEST)..]) } else { found })
}

/// So many of the newest lines are looked at for words that come near to a rule's.
const NEWEST: usize = 500;

/// Lines with their numbers, in their order. Of lines that are the same but for their numbers, as those of a training
/// are, the newest.
fn distinct(text: &str) -> Vec<(usize, &str)> {
    let mut seen = BTreeSet::new();
    let all: Vec<(usize, &str)> = text.lines().enumerate().collect();
    let mut kept: Vec<(usize, &str)> = all
        .into_iter()
        .rev()
        .filter(|(_, line)| seen.insert(line.chars().filter(|c| !c.is_ascii_digit()).collect::<String>()))
        .collect();
    kept.reverse();
    kept
}

fn explained(row: &'static Symptom, at: usize, line: &str, near: bool) -> Explained {
    Explained {
        line: at + 1,
        text: line.trim().chars().take(200).collect(),
        code: row.code,
        means: &row.means,
        ask: &row.ask,
        fix: &row.fix,
        source: &row.source,
        near,
    }
}

/// The row whose words a line has most of: at least three, and four of five.
fn nearest(rows: &'static [Symptom], lines: &[(usize, &str)]) -> Vec<Explained> {
    let mut best: Option<(usize, Explained)> = None;
    for (at, line) in lines.iter().rev() {
        let lower = line.to_lowercase();
        let words: BTreeSet<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for row in rows {
            for phrase in &row.says {
                let wanted: BTreeSet<&str> = phrase.words().collect();
                let there = wanted.iter().filter(|word| words.contains(*word)).count();
                let is_near = there >= 3 && there * 5 >= wanted.len() * 4;
                if is_near && best.as_ref().is_none_or(|(most, _)| there > *most) {
                    best = Some((there, explained(row, *at, line, true)));
                }
            }
        }
    }
    best.into_iter().map(|(_, one)| one).collect()
}

/// The same for people.
pub(super) fn rendered(explained: &[Explained]) -> String {
    explained
        .iter()
        .map(|found| {
            let code = found.code.map(|code| format!("{code}: ")).unwrap_or_default();
            let near = if found.near { "no rule matches; the nearest one is:\n  " } else { "" };
            let mut text = format!("line {}: {}\n  {near}{code}{}\n", found.line, found.text, found.means);
            let asks = found.ask.split(';').map(str::trim).filter(|ask| !ask.is_empty());
            text.extend(asks.map(|ask| format!("  run now:    {ask}\n")));
            format!("{text}  what helps: {}\n  from:       {}\n", found.fix, found.source)
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// What an error text means; "no" where no rule knows it.
pub fn explained_text(text: &str) -> Result<Report, Failure> {
    let found = explain_text(text)?;
    if found.is_empty() {
        return Err(Failure::answer("no known error found in this text")
            .help("`colab-boot doctor` checks the machine; `colab-boot audit` checks the installed packages"));
    }
    let text = rendered(&found);
    Ok(Report::new(found, text))
}

/// The same of a log, `-` for standard input.
pub fn explained_log(log: &Path) -> Result<Report, Failure> {
    let (text, part) = text_of(log)?;
    match explained_text(&text) {
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

    #[test]
    fn there_are_many_rows_and_each_phrase_means_its_own() {
        let rows = symptoms().expect("symptoms.toml");
        assert!(rows.len() >= 120, "{}", rows.len());
        for row in rows {
            assert!(!row.source.is_empty() && !row.fix.is_empty() && !row.says.is_empty(), "{}", row.means);
            for ask in row.ask.split(';').map(str::trim).filter(|ask| !ask.is_empty()) {
                assert!(ask.starts_with("colab-boot "), "{ask}");
            }
            for phrase in &row.says {
                let line = format!("RuntimeError: {}!", phrase.text.replace('*', " x1 "));
                let found = explain_text(&line).expect("an answer");
                assert_eq!(found.first().map(|one| one.means), Some(row.means.as_str()), "{line}");
            }
        }
    }

    #[test]
    fn what_people_paste_leads_to_the_cause() {
        let texts = include_str!("../../../tests/doctor/errors.txt");
        for block in texts.split("\n=== ").filter(|block| !block.trim().is_empty()) {
            let (head, text) = block.split_once('\n').expect("a head and a text");
            let wanted = head.trim_start_matches("=== ").trim();
            let found = explain_text(text).expect("an answer");
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
        let codes: Vec<_> =
            explain_text(text).expect("an answer").into_iter().map(|one| (one.line, one.code)).collect();
        assert_eq!(codes, [(4, Some(Code::DiskLow)), (2, Some(Code::NofileLow))]);
        for nothing in
            ["", "all is well\n", "ValueError: not enough values to unpack (expected 2, got 1)", "\u{0}\u{1b}[31m***"]
        {
            assert_eq!(explain_text(nothing).expect("an answer"), [], "{nothing}");
        }
    }
}
