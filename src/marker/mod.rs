//! The durable record of an apply, and what it means on the next run. Pure: the file is read and written by the commands.
//!
//! What makes a marker void: another lock digest (something else is wanted), another boot id (the machine was started anew or is
//! another one). What does not: the time, the working directory, a file in the notebook's folder.
//!
//! Legal moves: nothing → applying → (failed →) applied, with or without a restart wanted; restart wanted → restarted once the
//! kernel is another process. A restart is asked for at most [`ASKED_AT_MOST`] times and then left to the user.

use serde::{Deserialize, Serialize};

use crate::machine::Kernel;
use crate::model::{PackageName, Sha256};

/// The format of the record.
pub const SCHEMA: u32 = 1;

/// How often a restart is asked for before we say that it does not happen.
pub const ASKED_AT_MOST: u32 = 3;

/// The record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Marker {
    pub schema: u32,
    /// Name and version of the profile, for people.
    pub profile: String,
    pub lock: Sha256,
    pub boot_id: String,
    pub phase: Phase,
    /// Distributions that this apply changes: on an interruption they are in doubt.
    pub changed: Vec<PackageName>,
    /// The kernel that has the old code loaded; absent where no restart is wanted.
    pub old_kernel: Option<Kernel>,
    /// Why a restart is wanted.
    pub because: Vec<String>,
    /// How often it has been asked for.
    pub asked: u32,
}

/// How far the apply has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Written before the first change.
    Applying,
    /// A step failed; its last lines.
    Failed(String),
    /// Everything is installed and its files are checked.
    Applied,
}

/// What is true now.
#[derive(Clone, Debug)]
pub struct Now<'a> {
    pub lock: Sha256,
    pub boot_id: &'a str,
    pub kernel: Option<&'a Kernel>,
    /// No process is the marker's old kernel any more; only asked where `kernel` is unknown, as in a terminal.
    pub old_is_gone: bool,
}

/// Where this machine stands with a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Nothing was applied, or something else.
    Fresh,
    /// The marker is from before the machine started.
    NewMachine,
    /// An apply was killed.
    Interrupted,
    Failed,
    /// Applied; the kernel still runs the old code.
    RestartPending,
    /// Applied, and the kernel is another process since.
    Restarted,
    /// Applied; no restart was needed.
    Ready,
}

impl Standing {
    /// Whether files of the last apply may be half-written.
    pub const fn in_doubt(self) -> bool {
        matches!(self, Self::Interrupted | Self::Failed)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "nothing applied",
            Self::NewMachine => "applied before this machine started",
            Self::Interrupted => "an apply was interrupted",
            Self::Failed => "an apply failed",
            Self::RestartPending => "applied, restart pending",
            Self::Restarted => "applied, kernel restarted",
            Self::Ready => "applied, no restart needed",
        }
    }
}

/// What `marker` means now. An unknown kernel counts as the old one while that lives:
/// to think that it has restarted would be worse.
pub fn standing(marker: Option<&Marker>, now: &Now<'_>) -> Standing {
    let Some(marker) = marker.filter(|marker| marker.lock == now.lock) else {
        return Standing::Fresh;
    };
    if marker.boot_id != now.boot_id {
        return Standing::NewMachine;
    }
    match (&marker.phase, &marker.old_kernel, now.kernel) {
        (Phase::Applying, ..) => Standing::Interrupted,
        (Phase::Failed(_), ..) => Standing::Failed,
        (Phase::Applied, None, _) => Standing::Ready,
        (Phase::Applied, Some(old), Some(kernel)) if old != kernel => Standing::Restarted,
        (Phase::Applied, Some(_), None) if now.old_is_gone => Standing::Restarted,
        (Phase::Applied, Some(_), _) => Standing::RestartPending,
    }
}

/// The marker of an apply that begins.
pub fn begin(profile: String, now: &Now<'_>, changed: Vec<PackageName>) -> Marker {
    Marker {
        schema: SCHEMA,
        profile,
        lock: now.lock,
        boot_id: now.boot_id.to_owned(),
        phase: Phase::Applying,
        changed,
        old_kernel: None,
        because: Vec::new(),
        asked: 0,
    }
}

impl Marker {
    /// After everything is installed and checked; `restart` names the kernel that must go, with the reasons.
    #[must_use]
    pub fn applied(self, restart: Option<(Kernel, Vec<String>)>) -> Self {
        let (old_kernel, because) = restart.unzip();
        let asked = u32::from(old_kernel.is_some());
        Self { phase: Phase::Applied, old_kernel, because: because.unwrap_or_default(), asked, ..self }
    }

    /// After a step failed.
    #[must_use]
    pub fn failed(self, why: String) -> Self {
        Self { phase: Phase::Failed(why), ..self }
    }

    /// The restart is asked for once more; `None` when that would be once too often.
    #[must_use]
    pub fn asked_again(&self) -> Option<Self> {
        (self.asked < ASKED_AT_MOST).then(|| Self { asked: self.asked + 1, ..self.clone() })
    }

    /// The kernel has restarted: nothing is wanted any more.
    #[must_use]
    pub fn settled(&self) -> Self {
        Self { old_kernel: None, because: Vec::new(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Marker, Now, Standing, begin, standing};
    use crate::machine::Kernel;
    use crate::model::Sha256;

    const OLD: Kernel = Kernel { pid: 7, start_time: 100 };
    const NEW: Kernel = Kernel { pid: 7, start_time: 200 };

    fn now(kernel: Option<&Kernel>) -> Now<'_> {
        Now { lock: Sha256::of(b"lock"), boot_id: "boot", kernel, old_is_gone: false }
    }

    fn pending() -> Marker {
        begin("demo 1.0.0".into(), &now(None), vec![]).applied(Some((OLD, vec!["numpy".into()])))
    }

    #[test]
    fn states_are_told_apart() {
        let begun = begin("demo 1.0.0".into(), &now(Some(&OLD)), vec![]);
        assert_eq!(standing(None, &now(None)), Standing::Fresh);
        assert_eq!(standing(Some(&begun), &now(Some(&OLD))), Standing::Interrupted);
        assert_eq!(standing(Some(&begun.clone().failed("disk full".into())), &now(None)), Standing::Failed);
        assert_eq!(standing(Some(&begun.applied(None)), &now(None)), Standing::Ready);
        assert_eq!(standing(Some(&pending()), &now(Some(&OLD))), Standing::RestartPending);
        assert_eq!(standing(Some(&pending()), &now(Some(&NEW))), Standing::Restarted, "same pid, started later");
        assert_eq!(standing(Some(&pending()), &now(None)), Standing::RestartPending, "an unknown kernel is no new one");
        let gone = Now { old_is_gone: true, ..now(None) };
        assert_eq!(standing(Some(&pending()), &gone), Standing::Restarted, "seen from a terminal");
        let other_boot = Now { boot_id: "other", ..now(Some(&NEW)) };
        assert_eq!(standing(Some(&pending()), &other_boot), Standing::NewMachine);
        let other_lock = Now { lock: Sha256::of(b"other"), ..now(Some(&NEW)) };
        assert_eq!(standing(Some(&pending()), &other_lock), Standing::Fresh);
    }

    #[test]
    fn a_restart_is_never_asked_for_without_end() {
        let mut marker = pending();
        let mut asked = 1;
        while let Some(next) = marker.asked_again() {
            marker = next;
            asked += 1;
        }
        assert_eq!(asked, super::ASKED_AT_MOST);
        assert_eq!(standing(Some(&pending().settled()), &now(Some(&OLD))), Standing::Ready);
    }

    #[test]
    fn a_marker_is_read_as_it_was_written() {
        let text = serde_json::to_string(&pending()).expect("JSON");
        assert_eq!(serde_json::from_str::<Marker>(&text).expect("a marker"), pending());
        assert!(serde_json::from_str::<Marker>(&text.replace("\"asked\"", "\"askd\"")).is_err());
    }
}
