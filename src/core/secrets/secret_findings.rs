//! The findings for the secrets of a file.

use crate::core::diag::{Code, Failure, Finding, counted};
use crate::core::secrets::Sighting;

/// So many of a file are shown.
const NAMED: usize = 20;

/// What became of the secrets of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Found,
    Removed,
    /// The file could not be written without them.
    Refused,
}

impl Fate {
    /// Of secrets that were to be removed where that was `asked`, and are `gone`.
    pub const fn of(asked: bool, gone: bool) -> Self {
        match (asked, gone) {
            (_, true) => Self::Removed,
            (true, false) => Self::Refused,
            (false, false) => Self::Found,
        }
    }
}

/// The findings for the secrets of `file`.
pub fn said(file: &str, secrets: &[Sighting], fate: Fate) -> Vec<Finding> {
    let kind = if fate == Fate::Removed { Finding::warning } else { Finding::error };
    let help = match fate {
        Fate::Removed => "it is still in the history and in earlier copies: revoke it",
        Fate::Refused => "it was not removed (see below); revoke it if others may have seen it",
        Fate::Found => {
            "remove it with `--write`, and revoke it if others may have seen it; to accept it, add `# colab-boot: allow` \
             to its line or use --baseline"
        }
    };
    let mut findings: Vec<Finding> = secrets
        .iter()
        .take(NAMED)
        .map(|one| {
            let message = format!("{file}: {}: {} ({})", one.place, one.rule, one.shown);
            kind(Code::SecretFound, message).with_help(help)
        })
        .collect();
    let more = secrets.len().saturating_sub(NAMED);
    findings.extend((more > 0).then(|| {
        let message = format!("{file}: {}", counted(more, "more secret"));
        kind(Code::SecretFound, message).with_help("--json and --sarif list all of them")
    }));
    findings
}

/// A file could not be written without its secrets.
pub fn unwritten_file(name: &str, failure: &Failure) -> Finding {
    let finding = Finding::error(Code::ScrubUnread, format!("{name}: {}", failure.message));
    let finding = failure.causes.iter().cloned().fold(finding, Finding::with_note);
    failure.help.iter().cloned().fold(finding, Finding::with_help)
}

/// A file was not searched, or not changed.
pub fn unread_file(name: &str, why: &str) -> Finding {
    let help = "its content is unknown: make it readable, save it as UTF-8, or exclude it";
    Finding::error(Code::ScrubUnread, format!("{name}: {why}")).with_help(help)
}

/// How many secrets were removed and are left, each with the number of their files; of `files` that were searched.
pub fn summary(removed: Option<(usize, usize)>, left: (usize, usize), (files, not_searched): (usize, usize)) -> String {
    let (left, of_left) = left;
    let files = counted(files, "file");
    let searched = match removed {
        Some((gone, of_gone)) if left == 0 => format!("{} removed from {of_gone} of {files}", counted(gone, "secret")),
        Some((gone, of_gone)) => {
            format!("{} removed from {of_gone} of {files}, {left} left in {of_left}", counted(gone, "secret"))
        }
        None => format!("{} in {of_left} of {files}", counted(left, "secret")),
    };
    if not_searched == 0 { searched } else { format!("{searched}; {not_searched} not searched (not text)") }
}
