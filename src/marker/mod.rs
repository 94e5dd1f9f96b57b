//! The durable record of an apply, and what it means on the next run. Pure: the file is read and written by the commands.
//!
//! What makes a marker void: another lock digest (something else is wanted), another boot id (the machine was started anew or is
//! another one). What does not: the working directory, a file in the notebook's folder, the wall clock. What a void marker leaves
//! open in the same boot, the next one takes over.
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
    /// When the last change was done, in the unit of [`Kernel::start_time`]: kernels that started later run the new code.
    pub applied_at: u64,
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
    /// No process is the marker's old kernel any more.
    pub old_is_gone: bool,
    /// The time since boot, in the unit of [`Kernel::start_time`].
    pub uptime: u64,
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

/// What `marker` means now. Seen from a terminal, the old kernel counts while it lives; seen from a kernel, what counts is whether
/// that one started after the apply: a second notebook neither settles the first one's restart nor inherits it.
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
        (Phase::Applied, Some(old), Some(kernel)) if old != kernel && kernel.start_time >= marker.applied_at => {
            Standing::Restarted
        }
        (Phase::Applied, Some(_), None) if now.old_is_gone => Standing::Restarted,
        (Phase::Applied, Some(_), _) => Standing::RestartPending,
    }
}

/// The marker of an apply that begins. What `previous` leaves open is taken over, whatever lock it was for: packages in doubt, and a
/// kernel that still runs old code.
pub fn begin(profile: String, now: &Now<'_>, changed: Vec<PackageName>, previous: Option<&Marker>) -> Marker {
    let previous = previous.filter(|marker| marker.boot_id == now.boot_id);
    let mut changed = changed;
    if let Some(doubted) = previous.filter(|marker| marker.is_in_doubt()) {
        changed.extend(doubted.changed.iter().cloned());
        changed.sort();
        changed.dedup();
    }
    let open = previous.filter(|marker| marker.old_kernel.is_some() && !now.old_is_gone);
    Marker {
        schema: SCHEMA,
        profile,
        lock: now.lock,
        boot_id: now.boot_id.to_owned(),
        phase: Phase::Applying,
        changed,
        old_kernel: open.and_then(|marker| marker.old_kernel.clone()),
        because: open.map(|marker| marker.because.clone()).unwrap_or_default(),
        asked: 0,
        applied_at: now.uptime,
    }
}

impl Marker {
    /// Whether the files of its packages may be half-written.
    pub const fn is_in_doubt(&self) -> bool {
        !matches!(self.phase, Phase::Applied)
    }

    /// After everything is installed and checked; `restart` names the kernel that must go, with the reasons. A restart that was
    /// pending before is still wanted.
    #[must_use]
    pub fn applied(self, restart: Option<(Kernel, Vec<String>)>, uptime: u64) -> Self {
        let (kernel, more) = restart.unzip();
        let mut because = self.because.clone();
        because.extend(more.unwrap_or_default().into_iter().filter(|reason| !self.because.contains(reason)));
        let old_kernel = kernel.or_else(|| self.old_kernel.clone());
        let asked = u32::from(old_kernel.is_some());
        Self { phase: Phase::Applied, old_kernel, because, asked, applied_at: uptime, ..self }
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
mod tests;
