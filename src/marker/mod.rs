//! The durable record of an apply, and every move of it. Pure: the file is read and written by the commands.
//!
//! What makes a marker void: another lock digest (something else is wanted), another boot id (the machine was started anew or is
//! another one). What does not: the working directory, a file in the notebook's folder, the wall clock. What a void marker leaves
//! open in the same boot, the next one takes over.
//!
//! [`standing`] says what a marker means, [`next`] what becomes of it: nothing → applying → (failed →) applied, with or without a
//! restart wanted; restart wanted → restarted once the kernel is another process. A kernel that goes on is reminded at most
//! [`ASKED_AT_MOST`] times. After a lock has had its restart on a machine no other is asked for: whatever puts packages back would
//! make a loop of it, so a person decides.

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
    /// The locks that have had their restart on this machine.
    #[serde(default)]
    pub restarted: Vec<Sha256>,
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
    /// Name and version of the profile.
    pub profile: String,
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

/// What happens to a marker.
#[derive(Clone, Debug)]
pub enum Event {
    /// An apply is about to change these distributions.
    Begin { changed: Vec<PackageName> },
    /// A step of that apply failed.
    Fail { why: String },
    /// Everything is installed and checked. The kernel that must go, with the reasons, if one must.
    Finish { restart: Option<(Kernel, Vec<String>)> },
    /// An apply has found nothing to change.
    Look,
    /// A verification has found that these are not what they should be.
    Doubt { changed: Vec<PackageName>, why: String },
}

/// What follows from an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The new marker, to be written before anything else is done; `None` where the old one stays.
    pub write: Option<Marker>,
    pub verdict: Verdict,
}

/// What the caller does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Change the machine.
    Change,
    /// Tell what is wrong; the next apply goes on from there.
    Stop,
    /// Nothing is left to do.
    Ready(Standing),
    /// Have the kernel restarted.
    Restart,
    /// Have a person restart the kernel: it was asked for several times, and the kernel is the same.
    RestartByHand,
    /// Have a person look: this lock has had its restart here, and packages have changed since.
    Drifted,
}

/// A move that no command may make: changes that nobody announced, or an end without a beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegal;

/// What becomes of `marker`.
pub fn next(marker: Option<&Marker>, event: Event, now: &Now<'_>) -> Result<Move, Illegal> {
    let stands = standing(marker, now);
    match (event, marker) {
        (Event::Begin { changed }, _) => Ok(Move::to(begin(now, changed, marker), Verdict::Change)),
        (Event::Doubt { changed, why }, _) => Ok(Move::to(begin(now, changed, marker).failed(why), Verdict::Stop)),
        (Event::Fail { why }, Some(marker)) if stands == Standing::Interrupted => {
            Ok(Move::to(marker.clone().failed(why), Verdict::Stop))
        }
        (Event::Finish { restart }, Some(marker)) if stands == Standing::Interrupted => {
            Ok(marker.clone().applied(restart, now.uptime, now))
        }
        (Event::Fail { .. } | Event::Finish { .. }, _) => Err(Illegal),
        // Packages in doubt are looked at by an apply that begins.
        (Event::Look, Some(marker)) if marker.is_in_doubt() => Err(Illegal),
        (Event::Look, Some(marker)) => match stands {
            Standing::RestartPending => Ok(marker.asked_again()),
            Standing::Restarted if now.old_is_gone => Ok(Move::to(marker.settled(), Verdict::Ready(stands))),
            Standing::Restarted | Standing::Ready => Ok(Move { write: None, verdict: Verdict::Ready(stands) }),
            _ => Ok(untouched(now, Some(marker))),
        },
        (Event::Look, None) => Ok(untouched(now, None)),
    }
}

/// Everything is in place already. A restart that another apply has left open counts from that apply.
fn untouched(now: &Now<'_>, previous: Option<&Marker>) -> Move {
    let marker = begin(now, Vec::new(), previous);
    let since = previous.filter(|_| marker.old_kernel.is_some()).map_or(now.uptime, |previous| previous.applied_at);
    marker.applied(None, since, now)
}

/// The marker of an apply that begins. What `previous` leaves open is taken over, whatever lock it was for: packages in doubt, and a
/// kernel that still runs old code.
fn begin(now: &Now<'_>, mut changed: Vec<PackageName>, previous: Option<&Marker>) -> Marker {
    let previous = previous.filter(|marker| marker.boot_id == now.boot_id);
    if let Some(doubted) = previous.filter(|marker| marker.is_in_doubt()) {
        changed.extend(doubted.changed.iter().cloned());
        changed.sort();
        changed.dedup();
    }
    let open = previous.filter(|marker| marker.old_kernel.is_some() && !now.old_is_gone);
    let restarted = match previous {
        Some(marker) if standing(Some(marker), &Now { lock: marker.lock, ..now.clone() }) == Standing::Restarted => {
            marker.settled().restarted
        }
        Some(marker) => marker.restarted.clone(),
        None => Vec::new(),
    };
    Marker {
        schema: SCHEMA,
        profile: now.profile.clone(),
        lock: now.lock,
        boot_id: now.boot_id.to_owned(),
        phase: Phase::Applying,
        changed,
        old_kernel: open.and_then(|marker| marker.old_kernel.clone()),
        because: open.map(|marker| marker.because.clone()).unwrap_or_default(),
        asked: 0,
        applied_at: now.uptime,
        restarted,
    }
}

impl Move {
    const fn to(marker: Marker, verdict: Verdict) -> Self {
        Self { write: Some(marker), verdict }
    }
}

impl Marker {
    /// Whether the files of its packages may be half-written.
    pub const fn is_in_doubt(&self) -> bool {
        !matches!(self.phase, Phase::Applied)
    }

    fn failed(self, why: String) -> Self {
        Self { phase: Phase::Failed(why), ..self }
    }

    /// A restart that was pending before is still wanted.
    fn applied(self, restart: Option<(Kernel, Vec<String>)>, applied_at: u64, now: &Now<'_>) -> Move {
        let (kernel, more) = restart.unzip();
        let mut because = self.because.clone();
        because.extend(more.unwrap_or_default().into_iter().filter(|reason| !self.because.contains(reason)));
        let wanted = kernel.is_some();
        let old_kernel = kernel.or_else(|| self.old_kernel.clone());
        let (asked, verdict) = match &old_kernel {
            None => (0, Verdict::Ready(Standing::Ready)),
            Some(_) if wanted && self.restarted.contains(&self.lock) => (ASKED_AT_MOST, Verdict::Drifted),
            Some(_) => (1, Verdict::Restart),
        };
        let marker = Self { phase: Phase::Applied, old_kernel, because, asked, applied_at, ..self };
        // This kernel may have started after what another one still has to restart for.
        let verdict = match standing(Some(&marker), now) {
            stands @ (Standing::Restarted | Standing::Ready) => Verdict::Ready(stands),
            _ => verdict,
        };
        Move::to(marker, verdict)
    }

    fn asked_again(&self) -> Move {
        if self.asked < ASKED_AT_MOST {
            Move::to(Self { asked: self.asked + 1, ..self.clone() }, Verdict::Restart)
        } else {
            Move { write: None, verdict: Verdict::RestartByHand }
        }
    }

    /// The kernel has restarted: nothing is wanted any more.
    fn settled(&self) -> Self {
        let mut restarted = self.restarted.clone();
        if !restarted.contains(&self.lock) {
            restarted.push(self.lock);
        }
        Self { old_kernel: None, because: Vec::new(), restarted, ..self.clone() }
    }
}

#[cfg(test)]
mod tests;
