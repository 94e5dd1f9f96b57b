//! The sentences of the program in one place, where wording is reviewed: `tests/snapshots/wording.txt`. `help.txt` has
//! those of verbs and options.

use crate::house::paths::{code_of, inline_modules, literals};
use crate::house::{files, read, root};
use crate::support::test::snapshot;

/// The sentences of a source file: strings of three words or more, without those of its tests and of attributes.
fn sentences(text: &str) -> Vec<String> {
    let code = code_of(text);
    let is_test = |from: usize| code[..from].trim_end().ends_with("#[cfg(test)]");
    let end = inline_modules(&code).into_iter().map(|(from, ..)| from).find(|from| is_test(*from));
    let end = end.map_or(usize::MAX, |from| code[..from].chars().count());
    let kept: String = text.chars().take(end).collect();
    let lines: Vec<&str> = kept.lines().collect();
    let is_said = |(line, text): &(usize, String)| {
        let source = lines.get(line - 1).copied().unwrap_or_default();
        let words = text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
        words >= 3 && !source.contains("reason = ")
    };
    literals(&kept).into_iter().filter(is_said).map(|(_, text)| joined(&text)).collect()
}

/// Without the backslashes that carry a string on in the next line.
fn joined(text: &str) -> String {
    let mut parts = text.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start())
}

#[test]
fn every_sentence_is_in_the_list() {
    let mut all = String::new();
    for path in files(&root().join("src"), ".rs").into_iter().filter(|path| !path.ends_with("tests.rs")) {
        let name = path.strip_prefix(root()).expect("inside").display().to_string();
        let found = sentences(&read(&path));
        if !found.is_empty() {
            let lines: String = found.iter().map(|one| format!("  {one}\n")).collect();
            all.extend(["\n", &name, "\n", &lines]);
        }
    }
    snapshot("wording.txt", all.trim_start());
    assert_eq!(
        sentences("say(\"one two three\"); // \"no one here\"\n#[cfg(test)]\nmod tests { \"one two three\" }"),
        ["one two three"]
    );
    assert_eq!(sentences("say(\"one two \\\n    three\"); \"x y\""), ["one two three"]);
}
