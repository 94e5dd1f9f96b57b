//! What a verb may say at its end. `ready`, `applied`, `verified` and `restored` are values that only evidence builds:
//! each holds what was compared and what was not, with the reason. Text, JSON and exit code are rendered from the
//! value; nothing else prints these words.

mod evidence;
mod report;

use serde::Serialize;

use crate::core::diag::counted;

pub use evidence::{Compared, Evidence, Files};
pub use report::{Report, path_text};

/// The end of a verb.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Verdict {
    word: Word,
    sentence: String,
    /// Absent where nothing was compared, because the verb was refused before.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence>,
}

/// What a verdict comes down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Nothing had to be changed.
    Ready,
    /// Something was changed, and everything is as locked.
    Applied,
    /// As locked; a kernel has to restart once.
    RestartPending,
    Restored,
    Verified,
    /// The evidence contradicts what the verb was to reach.
    Unproven,
    /// Errors were found before the first change.
    Refused,
}

/// How the kernel came to hold what is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelState {
    /// It was asked to restart, and is gone: another one runs.
    Restarted,
    /// An earlier run has said so already.
    Known,
    New,
}

impl Verdict {
    /// Nothing had to be changed: `packages` are as locked.
    pub fn ready(evidence: Evidence, packages: usize, kernel: KernelState) -> Self {
        let state = match kernel {
            KernelState::Restarted => ", in a newly started Python",
            KernelState::Known if evidence.kernel.was_compared() => ", no restart needed",
            KernelState::Known => "",
            KernelState::New => ", nothing changed",
        };
        let sentence = format!("ready: {} {}{state}", counted(packages, "package"), as_what(&evidence));
        Self::proven(Word::Ready, sentence, evidence)
    }

    /// Something was changed, and `packages` are as locked now.
    pub fn applied(evidence: Evidence, packages: usize) -> Self {
        let state = if evidence.kernel.was_compared() { ", no restart needed" } else { "" };
        let sentence = format!("applied: {} {}{state}", counted(packages, "package"), as_what(&evidence));
        Self::proven(Word::Applied, sentence, evidence)
    }

    /// As locked, or restored, but a kernel has to restart; `named` where the kernel that asks is the one.
    pub fn restart_pending(evidence: Evidence, named: bool, is_restore: bool) -> Self {
        let done = if is_restore { "restored" } else { "applied" };
        let rest = if named {
            "restart the kernel once, then run this again"
        } else {
            "a running kernel has old code or variables; restart it once"
        };
        let sentence = with_open(format!("{done}: {rest}"), &evidence);
        Self { word: Word::RestartPending, sentence, evidence: Some(evidence) }
    }

    /// Everything is as it was before the first apply, but for `kept` packages that stay. `changed`: something was to
    /// be done.
    pub fn restored(evidence: Evidence, kept: usize, changed: bool) -> Self {
        let unowned = Compared::Not("there is no record of them".to_owned());
        let evidence = if changed { Evidence { unowned, ..evidence } } else { evidence };
        let sentence = match (kept, changed) {
            (0, true) => "restored: all changes that colab-boot made are undone".to_owned(),
            (0, false) => "restored: nothing to undo".to_owned(),
            (kept, _) => format!("restored, except for {}", counted(kept, "package")),
        };
        Self::proven(Word::Restored, sentence, evidence)
    }

    /// What `verify` looked at is as locked and works; `problems` are errors that it found.
    /// Versions alone prove nothing about files.
    pub fn verified(evidence: Evidence, problems: usize) -> Self {
        if problems > 0 {
            let sentence = format!("not verified: {}", counted(problems, "problem"));
            return Self { word: Word::Unproven, sentence, evidence: Some(evidence) };
        }
        if evidence.has_versions_alone() {
            let sentence = "not verified: only versions could be compared, and no framework was tested".to_owned();
            return Self { word: Word::Unproven, sentence, evidence: Some(evidence) };
        }
        Self::proven(Word::Verified, "verified".to_owned(), evidence)
    }

    /// `errors` were found, and nothing was changed.
    pub fn refused(errors: usize) -> Self {
        let sentence = format!("refused: {}, nothing was changed", counted(errors, "error"));
        Self { word: Word::Refused, sentence, evidence: None }
    }

    /// `word`, unless the evidence says otherwise.
    fn proven(word: Word, sentence: String, evidence: Evidence) -> Self {
        let contradictions = evidence.contradictions();
        if !contradictions.is_empty() {
            let sentence = format!("not as locked: {}", contradictions.join("; "));
            return Self { word: Word::Unproven, sentence, evidence: Some(evidence) };
        }
        Self { word, sentence: with_open(sentence, &evidence), evidence: Some(evidence) }
    }

    /// One line, for people.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// Whether the answer is "no".
    pub fn is_no(&self) -> bool {
        matches!(self.word, Word::Unproven | Word::Refused)
    }

    /// Whether a kernel has to restart.
    pub fn wants_restart(&self) -> bool {
        self.word == Word::RestartPending
    }

    /// Whether something was compared with a lock, and is as it says.
    pub fn is_verified(&self) -> bool {
        self.word == Word::Verified
    }
}

/// `sentence` with what was not compared.
fn with_open(sentence: String, evidence: &Evidence) -> String {
    let open = evidence.not_compared();
    if open.is_empty() { sentence } else { format!("{sentence} ({})", open.join("; ")) }
}

/// What the packages are like: as the lock says, or as this machine wanted it.
const fn as_what(evidence: &Evidence) -> &'static str {
    if evidence.other_target.is_some() { "as resolved for this machine" } else { "as locked" }
}

#[cfg(test)]
mod tests {
    use super::{Compared, Evidence, Files, KernelState, Verdict};

    fn evidence() -> Evidence {
        let files = Files { against_wheel: 6, files: 90, ..Files::default() };
        Evidence { files, kernel: Compared::Same(12), variables: Compared::Nothing, ..Evidence::default() }
    }

    #[test]
    fn what_was_not_compared_is_part_of_the_sentence() {
        let ready = |evidence: Evidence| Verdict::ready(evidence, 6, KernelState::Known).sentence().to_owned();
        assert_eq!(ready(evidence()), "ready: 6 packages as locked, no restart needed");
        let without = Evidence { kernel: Compared::Not("no facts".to_owned()), ..evidence() };
        assert_eq!(ready(without.clone()), "ready: 6 packages as locked (kernel not compared: no facts)");
        let mut by_version = without;
        by_version.files.by_version = 1;
        assert_eq!(
            ready(by_version.clone()),
            "ready: 6 packages as locked (1 package compared by version alone; kernel not compared: no facts)"
        );
        let pending = Verdict::restart_pending(by_version.clone(), true, false);
        assert!(pending.sentence().contains("then run this again (1 package compared by version alone"), "{pending:?}");
        by_version.files.by_version = 2;
        by_version.kernel = Compared::Nothing;
        assert_eq!(
            ready(by_version),
            "ready: 6 packages as locked, no restart needed (2 packages compared by version alone)"
        );
    }

    #[test]
    fn evidence_against_it_takes_the_word_away() {
        let mut broken = evidence();
        broken.files.faulty.push("numpy".parse().expect("a name"));
        let stale = Evidence { kernel: Compared::Differs(vec!["numpy is loaded".to_owned()]), ..evidence() };
        let variables = Evidence { variables: Compared::Differs(vec!["`A` is not set".to_owned()]), ..evidence() };
        for (evidence, says) in [
            (broken, "not as locked: files of numpy"),
            (stale, "not as locked: numpy is loaded"),
            (variables, "not as locked: `A` is not set"),
        ] {
            let all = [
                Verdict::ready(evidence.clone(), 6, KernelState::New),
                Verdict::applied(evidence.clone(), 6),
                Verdict::restored(evidence.clone(), 0, true),
                Verdict::verified(evidence, 0),
            ];
            for verdict in all {
                assert!(verdict.is_no() && verdict.sentence() == says, "{verdict:?}");
            }
        }
        assert!(Verdict::verified(evidence(), 1).is_no());
        assert_eq!(Verdict::refused(12).sentence(), "refused: 12 errors, nothing was changed");
    }
}
