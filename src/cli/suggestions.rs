//! What somebody meant who has mistyped a command or an option, or who knows it from another tool.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory, Error};

use crate::cli::arguments::{Arguments, RENAMED};
use crate::core::diag::misspelt;

/// Commands of other tools, with what does it here.
const ELSEWHERE: [(&str, &str); 13] = [
    ("install", "colab-boot apply"),
    ("sync", "colab-boot apply"),
    ("update", "colab-boot upgrade"),
    ("uninstall", "colab-boot remove"),
    ("compile", "colab-boot lock"),
    ("resolve", "colab-boot lock"),
    ("download", "colab-boot fetch"),
    ("check", "colab-boot verify"),
    ("new", "colab-boot init"),
    ("create", "colab-boot init"),
    ("show", "colab-boot explain"),
    ("undo", "colab-boot restore"),
    ("info", "colab-boot fingerprint"),
];

/// `error` with what was meant, where `words`, the command line, show it.
pub(super) fn with_suggestion(mut error: Error, words: &[OsString]) -> Error {
    if let Some(ContextValue::String(verb)) = error.get(ContextKind::InvalidSubcommand) {
        let (command, path) = command_of(words);
        let table: &[(&str, &str)] = match path.as_slice() {
            [] => &ELSEWHERE,
            [golden] if golden == "golden" => &RENAMED,
            _ => &[],
        };
        let elsewhere = |name: &str| table.iter().find(|(old, _)| *old == name).map(|(_, new)| (*new).to_owned());
        let slip = || elsewhere(&closest(table.iter().map(|(old, _)| (*old).to_owned()), verb)?);
        let known = elsewhere(verb);
        let visible = command.get_subcommands().filter(|one| !one.is_hide_set()).map(|one| one.get_name().to_owned());
        let meant = known.or_else(|| closest(visible, verb)).or_else(slip);
        match meant {
            Some(meant) => drop(error.insert(ContextKind::SuggestedSubcommand, ContextValue::String(meant))),
            None => drop(error.remove(ContextKind::SuggestedSubcommand)),
        }
    } else if let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && error.get(ContextKind::SuggestedArg).is_none()
        && let Some(name) = option.strip_prefix("--")
    {
        let (command, _) = command_of(words);
        let whole = Arguments::command();
        let global = whole.get_arguments().filter(|one| one.is_global_set());
        let options = command.get_arguments().chain(global).filter(|one| !one.is_hide_set());
        let meant = closest(options.filter_map(|one| one.get_long().map(str::to_owned)), name);
        if let Some(meant) = meant {
            error.remove(ContextKind::Suggested);
            error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{meant}")));
        }
    }
    // clap's tip to pass an unknown option as a value helps no user.
    let is_trick = |value: &ContextValue| format!("{value:?}").contains("as a value");
    if error.get(ContextKind::Suggested).is_some_and(is_trick) {
        error.remove(ContextKind::Suggested);
    }
    error
}

/// The command that `words` name, with the names of those that lead to it.
fn command_of(words: &[OsString]) -> (Command, Vec<String>) {
    let (mut command, mut path) = (Arguments::command(), Vec::new());
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        let Some(next) = command.find_subcommand(word) else { continue };
        path.push(word.to_owned());
        command = next.clone();
    }
    (command, path)
}

/// The one of `names` that is spelled almost as `text`.
fn closest(names: impl Iterator<Item = String>, text: &str) -> Option<String> {
    misspelt(names, text, 4)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::Parser;

    use super::with_suggestion;
    use crate::cli::arguments::Arguments;

    #[test]
    fn what_was_meant_is_said() {
        for (line, meant) in [
            ("instal", "'colab-boot apply'"),
            ("qwertyuiop", ""),
            ("install", "'colab-boot apply'"),
            ("lokc", "'lock'"),
            ("plan --gup T4", "'--gpu'"),
            ("plan --offlin", "'--offline'"),
            ("golden yank x", "golden withdraw --yank"),
            ("golden pubish", "'publish'"),
            ("apply --quite", "'--quiet'"),
        ] {
            let words: Vec<OsString> = ["colab-boot"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
            let error = Arguments::try_parse_from(&words).expect_err(line);
            let said = with_suggestion(error, &words).render().to_string();
            assert!(said.contains(meant), "{line}: {said}");
            assert!(!said.contains("install-wheels"), "{line}: {said}");
        }
    }
}
