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
    /// The kernels that have old code loaded. They stand here before the first change is made.
    pub open: Vec<Open>,
    /// The locks that have had their restart on this machine.
    pub restarted: Vec<Sha256>,
    /// What this apply changes under a kernel, it changes for the second time: the lock has had its restart.
    pub drifted: bool,
}

/// A restart that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Open {
    pub kernel: Kernel,
    /// The lock that wants it.
    pub lock: Sha256,
    pub because: Vec<String>,
    /// How often it has been asked for.
    pub asked: u32,
    /// When the change was done, in the unit of [`Kernel::start_time`]: kernels that started later run the new code.
    pub since: u64,
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
    /// Those of the marker's open kernels that are no process any more.
    pub gone: Vec<Kernel>,
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

/// What `marker` means now. Seen from a terminal, an open kernel counts while it lives; seen from a kernel, what counts is whether
/// that one started after the apply: a second notebook neither settles the first one's restart nor inherits it.
pub fn standing(marker: Option<&Marker>, now: &Now<'_>) -> Standing {
    let Some(marker) = marker.filter(|marker| marker.lock == now.lock) else {
        return Standing::Fresh;
    };
    if marker.boot_id != now.boot_id {
        return Standing::NewMachine;
    }
    let runs_old = |open: &Open| match now.kernel {
        Some(kernel) => open.kernel == *kernel || kernel.start_time < open.since,
        None => !now.gone.contains(&open.kernel),
    };
    match marker.phase {
        Phase::Applying => Standing::Interrupted,
        Phase::Failed(_) => Standing::Failed,
        Phase::Applied if marker.open.is_empty() => Standing::Ready,
        Phase::Applied if marker.open.iter().any(runs_old) => Standing::RestartPending,
        Phase::Applied => Standing::Restarted,
    }
}

/// What happens to a marker.
#[derive(Clone, Debug)]
pub enum Event {
    /// An apply is about to change these distributions; the kernel that must go when they are, with the reasons, if one must. An apply
    /// that dies in the middle leaves nothing to tell it by.
    Begin { changed: Vec<PackageName>, restart: Option<(Kernel, Vec<String>)> },
    /// A step of that apply failed.
    Fail { why: String },
    /// Everything is installed and checked.
    Finish,
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
        (Event::Begin { changed, restart }, _) => Ok(Move::to(begin(now, changed, restart, marker), Verdict::Change)),
        (Event::Doubt { changed, why }, _) => {
            Ok(Move::to(Marker { phase: Phase::Failed(why), ..begin(now, changed, None, marker) }, Verdict::Stop))
        }
        (Event::Fail { why }, Some(marker)) if stands == Standing::Interrupted => {
            Ok(Move::to(Marker { phase: Phase::Failed(why), ..marker.clone() }, Verdict::Stop))
        }
        (Event::Finish, Some(marker)) if stands == Standing::Interrupted => {
            let mut marker = marker.clone();
            for open in marker.open.iter_mut().filter(|open| Some(&open.kernel) == now.kernel) {
                open.since = now.uptime;
            }
            Ok(marker.applied(now))
        }
        (Event::Fail { .. } | Event::Finish, _) => Err(Illegal),
        // Packages in doubt are looked at by an apply that begins.
        (Event::Look, Some(marker)) if marker.is_in_doubt() => Err(Illegal),
        (Event::Look, Some(marker)) => match stands {
            Standing::RestartPending => Ok(marker.clone().ask(now)),
            Standing::Restarted => Ok(Move {
                write: Some(marker.settled(now)).filter(|settled| settled != marker),
                verdict: Verdict::Ready(stands),
            }),
            Standing::Ready => Ok(Move { write: None, verdict: Verdict::Ready(stands) }),
            // Everything is in place already, by another lock or on a machine that was started anew.
            _ => Ok(begin(now, Vec::new(), None, Some(marker)).applied(now)),
        },
        (Event::Look, None) => Ok(begin(now, Vec::new(), None, None).applied(now)),
    }
}

/// The marker of an apply that begins. What `previous` leaves open is taken over, whatever lock it was for: packages in doubt, and
/// kernels that still run old code.
fn begin(
    now: &Now<'_>,
    mut changed: Vec<PackageName>,
    restart: Option<(Kernel, Vec<String>)>,
    previous: Option<&Marker>,
) -> Marker {
    let previous = previous.filter(|marker| marker.boot_id == now.boot_id);
    if let Some(doubted) = previous.filter(|marker| marker.is_in_doubt()) {
        changed.extend(doubted.changed.iter().cloned());
        changed.sort();
        changed.dedup();
    }
    let settled = previous.map(|marker| marker.settled(now));
    let (mut open, restarted) = settled.map(|marker| (marker.open, marker.restarted)).unwrap_or_default();
    let goes_on = previous.is_some_and(|marker| marker.drifted && marker.is_in_doubt());
    let drifted = (restart.is_some() || goes_on) && restarted.contains(&now.lock);
    if let Some((kernel, because)) = restart {
        let new = Open { kernel, lock: now.lock, because: Vec::new(), asked: 0, since: now.uptime };
        let one = entry(&mut open, new);
        one.lock = now.lock;
        for reason in because {
            if !one.because.contains(&reason) {
                one.because.push(reason);
            }
        }
    }
    Marker {
        schema: SCHEMA,
        profile: now.profile.clone(),
        lock: now.lock,
        boot_id: now.boot_id.to_owned(),
        phase: Phase::Applying,
        changed,
        open,
        restarted,
        drifted,
    }
}

/// The entry of the kernel that `new` is for; `new` where there is none.
fn entry(open: &mut Vec<Open>, new: Open) -> &mut Open {
    let known = open.iter().position(|one| one.kernel == new.kernel);
    let at = known.unwrap_or(open.len());
    if known.is_none() {
        open.push(new);
    }
    &mut open[at]
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

    /// Why restarts are wanted.
    pub fn because(&self) -> Vec<String> {
        let mut all: Vec<String> = self.open.iter().flat_map(|open| open.because.iter().cloned()).collect();
        all.dedup();
        all
    }

    fn applied(self, now: &Now<'_>) -> Move {
        let marker = Self { phase: Phase::Applied, ..self };
        match standing(Some(&marker), now) {
            Standing::RestartPending => marker.ask(now),
            stands => Move::to(marker, Verdict::Ready(stands)),
        }
    }

    /// Asks for the restart of the kernel that asks us; seen from a terminal, of the first that is open.
    fn ask(mut self, now: &Now<'_>) -> Move {
        let kernel =
            now.kernel.or_else(|| self.open.iter().map(|open| &open.kernel).find(|one| !now.gone.contains(one)));
        let Some(kernel) = kernel.cloned() else {
            return Move { write: Some(self), verdict: Verdict::Ready(Standing::Restarted) };
        };
        // It may be another one, older than the apply.
        let since = self.open.iter().map(|open| open.since).max().unwrap_or(now.uptime);
        let new = Open { kernel, lock: self.lock, because: self.because(), asked: 0, since };
        let drifted = self.drifted;
        let one = entry(&mut self.open, new);
        let verdict = match (one.asked < ASKED_AT_MOST, drifted) {
            (false, _) => Verdict::RestartByHand,
            (true, true) => Verdict::Drifted,
            (true, false) => Verdict::Restart,
        };
        one.asked = if drifted { ASKED_AT_MOST } else { ASKED_AT_MOST.min(one.asked + 1) };
        Move::to(self, verdict)
    }

    /// Without the kernels that are gone: they have restarted.
    fn settled(&self, now: &Now<'_>) -> Self {
        let (gone, open): (Vec<Open>, Vec<Open>) =
            self.open.iter().cloned().partition(|open| now.gone.contains(&open.kernel));
        let mut restarted = self.restarted.clone();
        let done = gone.iter().map(|open| open.lock).filter(|_| !self.is_in_doubt());
        restarted.extend(done.filter(|lock| !self.restarted.contains(lock)));
        restarted.dedup();
        Self { open, restarted, ..self.clone() }
    }
}

#[cfg(test)]
mod tests;
