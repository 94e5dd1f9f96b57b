//! The durable record of the applies of one environment, and every move of it. Pure: `state` reads and writes the file.
//!
//! What makes a marker void: another boot id (the machine was started anew or is another one). Another lock digest
//! means that something else is wanted; what was changed under running kernels, and what is in doubt, stays true. What
//! does not make it void: the working directory, a file in the notebook's folder, the wall clock.
//!
//! [`standing`] says what a marker means, [`next`] what becomes of it: nothing → applying → (failed →) applied. Whether
//! a kernel must restart is evidence, not a state: what it has loaded, and what was changed since it started
//! ([`Touched`]). A kernel that goes on is reminded at most [`ASKED_AT_MOST`] times, and as many kernels in a row are
//! asked.

mod stale_kernels;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::boot::machine::Kernel;
use crate::boot::notebook::Loaded;
use crate::core::model::{PackageName, Sha256};

use stale_kernels::held_package;
pub use stale_kernels::{Given, Touched, because, is_assumption};

/// The format of the record.
pub const SCHEMA: u32 = 2;

/// The title of a marker that `restore` has written; it has no profile.
pub const RESTORE: &str = "restore";

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
    /// The interpreter, for people.
    pub python: PathBuf,
    pub boot_id: String,
    pub phase: Phase,
    /// Distributions that this apply changes: on an interruption they are in doubt.
    pub changed: Vec<PackageName>,
    /// What was changed since the machine started.
    pub touched: Vec<Touched>,
    /// The kernels that were asked to restart and have not been seen to be gone.
    pub asked: Vec<AskedRestart>,
    /// The restarts since a kernel was last found ready.
    #[serde(default)]
    pub in_a_row: InARow,
}

/// Restarts that follow each other for the same reasons: each kernel was started after the one before it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InARow {
    pub times: u32,
    /// When the last of them was asked for, in the unit of [`Kernel::start_time`].
    pub last: u64,
    pub because: Vec<String>,
}

impl InARow {
    /// With one more, of a `kernel` that has not been asked before.
    fn add(&mut self, kernel: &Kernel, because: &[String], clock: u64) {
        // One that is older was not started by a restart.
        if kernel.start_time >= self.last {
            let times = if self.because == because { self.times.saturating_add(1) } else { 1 };
            *self = Self { times, last: clock, because: because.to_vec() };
        }
    }
}

/// A restart that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AskedRestart {
    pub kernel: Kernel,
    pub because: Vec<String>,
    pub times: u32,
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
    pub python: PathBuf,
    pub boot_id: &'a str,
    pub kernel: Option<&'a Kernel>,
    /// What that kernel has loaded.
    pub loaded: &'a Loaded,
    /// The folders that modules are installed to.
    pub folders: &'a [PathBuf],
    /// Why the kernel must restart, whatever the marker says: libraries that were replaced under it, variables that it
    /// read too early.
    pub evidence: &'a [String],
    /// Those of the kernels that were asked to restart that are no process any more.
    pub gone: Vec<Kernel>,
    /// Now, in the unit of [`Kernel::start_time`].
    pub clock: u64,
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
    /// Applied; the kernel runs code that was replaced.
    RestartPending,
    /// Applied, and the kernel that was asked to restart is gone.
    Restarted,
    /// Applied, and nothing of what was replaced is loaded.
    Ready,
}

impl Standing {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "the last apply was not of this lock",
            Self::NewMachine => "applied before this machine started",
            Self::Interrupted => "an apply was interrupted",
            Self::Failed => "an apply failed",
            Self::RestartPending => "applied, restart pending",
            Self::Restarted => "applied, kernel restarted",
            Self::Ready => "applied",
        }
    }
}

/// What `marker` means now. Seen from a kernel, its own memory counts; seen from a terminal, whether a kernel that was
/// asked to restart is still there.
pub fn standing(marker: Option<&Marker>, now: &Now<'_>) -> Standing {
    let Some(marker) = marker.filter(|marker| marker.lock == now.lock) else {
        return Standing::Fresh;
    };
    if marker.boot_id != now.boot_id {
        return Standing::NewMachine;
    }
    match marker.phase {
        Phase::Applying => Standing::Interrupted,
        Phase::Failed(_) => Standing::Failed,
        Phase::Applied if marker.is_pending(now) => Standing::RestartPending,
        Phase::Applied if marker.asked.is_empty() => Standing::Ready,
        Phase::Applied => Standing::Restarted,
    }
}

/// What happens to a marker.
#[derive(Clone, Debug)]
pub enum Event {
    /// An apply is about to change these distributions. An apply that dies in the middle leaves nothing else to tell it
    /// by.
    Begin { changed: Vec<PackageName>, touched: Vec<Touched> },
    /// A step of that apply failed, and nothing that it started goes on. `open` is what kernels had to restart for
    /// before it, where it had changed nothing yet.
    Fail { why: String, open: Option<Vec<Touched>> },
    /// A signal has stopped that apply, and what it had changed is as before; `open` as above. The next one goes on.
    Stop { open: Option<Vec<Touched>> },
    /// Everything is installed and checked.
    Finish,
    /// An apply has found nothing to change.
    Look,
}

/// What follows from an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The new marker, to be written before anything else is done; `None` where the old one stays.
    pub write: Option<Marker>,
    pub verdict: Next,
}

/// What the caller does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Change the machine.
    Change,
    /// Tell what is wrong; the next apply goes on from there.
    Stop,
    /// Nothing is left to do.
    Ready(Standing),
    /// Have the kernel restarted, for these reasons.
    Restart(Vec<String>),
    /// Have a person restart the kernel: it was asked for several times, and the kernel is the same.
    RestartByHand,
    /// Have a person look: each of several kernels has loaded what was replaced, for these reasons.
    InVain(Vec<String>),
}

/// A move that no command may make: an end without a beginning, or a look at packages in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegal;

/// What becomes of `marker`.
pub fn next(marker: Option<&Marker>, event: Event, now: &Now<'_>) -> Result<Move, Illegal> {
    let stands = standing(marker, now);
    match (event, marker) {
        (Event::Begin { changed, touched }, _) => Ok(Move::to(begin(now, changed, touched, marker), Next::Change)),
        (Event::Fail { why, open }, Some(marker)) if stands == Standing::Interrupted => {
            Ok(Move::to(Marker { phase: Phase::Failed(why), ..marker.undone(open, now) }, Next::Stop))
        }
        (Event::Stop { open }, Some(marker)) if stands == Standing::Interrupted => {
            Ok(Move::to(marker.undone(open, now), Next::Stop))
        }
        (Event::Finish, Some(marker)) if stands == Standing::Interrupted => Ok(marker.clone().finished(now)),
        (Event::Fail { .. } | Event::Stop { .. } | Event::Finish, _) => Err(Illegal),
        // Packages in doubt are looked at by an apply that begins.
        (Event::Look, Some(marker)) if marker.is_in_doubt() && marker.boot_id == now.boot_id => Err(Illegal),
        (Event::Look, Some(marker)) if stands != Standing::Fresh && stands != Standing::NewMachine => {
            Ok(marker.looked_at(stands, now))
        }
        // Everything is in place already, by another lock or on a machine that was started anew.
        (Event::Look, previous) => Ok(begin(now, Vec::new(), Vec::new(), previous).finished(now)),
    }
}

/// The marker of an apply that begins. What `previous` leaves open is taken over, whatever lock it was for: packages in
/// doubt, and what was changed under kernels.
fn begin(now: &Now<'_>, mut changed: Vec<PackageName>, new: Vec<Touched>, previous: Option<&Marker>) -> Marker {
    let previous = previous.filter(|marker| marker.boot_id == now.boot_id);
    if let Some(doubted) = previous.filter(|marker| marker.is_in_doubt()) {
        changed.extend(doubted.changed.iter().cloned());
        changed.sort();
        changed.dedup();
    }
    let settled = previous.map(|marker| marker.settled(now));
    let (mut touched, asked) = settled.map(|marker| (marker.touched, marker.asked)).unwrap_or_default();
    for mut one in new {
        if let Some(at) = touched.iter().position(|known| known.name == one.name && !known.is_read_at_start()) {
            let known = touched.remove(at);
            one.modules.extend(known.modules);
            one.existed |= known.existed;
        }
        touched.push(one);
    }
    let in_a_row =
        previous.filter(|marker| marker.lock == now.lock).map(|marker| marker.in_a_row.clone()).unwrap_or_default();
    Marker {
        schema: SCHEMA,
        profile: now.profile.clone(),
        lock: now.lock,
        python: now.python.clone(),
        boot_id: now.boot_id.to_owned(),
        phase: Phase::Applying,
        changed,
        touched,
        asked,
        in_a_row,
    }
}

impl Move {
    const fn to(marker: Marker, verdict: Next) -> Self {
        Self { write: Some(marker), verdict }
    }
}

impl Marker {
    /// Whether the files of its packages may be half-written.
    pub const fn is_in_doubt(&self) -> bool {
        !matches!(self.phase, Phase::Applied)
    }

    /// The packages whose files may be half-written: those that an apply which did not end was changing.
    pub fn doubted(&self) -> &[PackageName] {
        if self.is_in_doubt() { &self.changed } else { &[] }
    }

    /// Why the kernel of `now` must restart; nothing where there is no kernel, or it need not.
    pub fn because(&self, now: &Now<'_>) -> Vec<String> {
        let Some(kernel) = now.kernel else {
            return Vec::new();
        };
        let mut all = because(&self.touched, kernel, now.loaded, now.folders);
        // What it was asked to restart for stays true of this very process, whatever it says of itself later; but for
        // what was only assumed before it said anything.
        let asked = self.asked.iter().filter(|asked| asked.kernel == *kernel).flat_map(|asked| &asked.because);
        let asked = asked.filter(|reason| !(now.loaded.was_compared() && is_assumption(reason)));
        for reason in now.evidence.iter().chain(asked) {
            // Of a package that has changed again since, the last change is said.
            let holds = held_package(reason);
            if !all.iter().any(|known| known == reason || holds.is_some() && held_package(known) == holds) {
                all.push(reason.clone());
            }
        }
        all
    }

    /// The kernels that were asked to restart and still run.
    pub fn pending<'a>(&'a self, gone: &'a [Kernel]) -> impl Iterator<Item = &'a AskedRestart> {
        self.asked.iter().filter(|asked| !gone.contains(&asked.kernel))
    }

    fn is_pending(&self, now: &Now<'_>) -> bool {
        match now.kernel {
            Some(_) => !self.because(now).is_empty(),
            None => self.pending(&now.gone).next().is_some(),
        }
    }

    /// What was under way is over now.
    fn ended(mut self, now: &Now<'_>) -> Self {
        for one in self.touched.iter_mut().filter(|one| one.ended.is_none()) {
            one.ended = Some(now.clock);
        }
        self
    }

    /// What was under way is over and undone; where nothing was changed, kernels have to restart for what is `open`.
    fn undone(&self, open: Option<Vec<Touched>>, now: &Now<'_>) -> Self {
        let touched = open.unwrap_or_else(|| self.touched.clone());
        Self { touched, ..self.clone() }.ended(now)
    }

    /// Applied.
    fn finished(self, now: &Now<'_>) -> Move {
        let marker = Self { phase: Phase::Applied, ..self.ended(now) };
        match standing(Some(&marker), now) {
            Standing::RestartPending => marker.ask(now),
            stands => Move::to(marker.found_ready(now), Next::Ready(stands)),
        }
    }

    /// A kernel that holds nothing of what was replaced ends a row of restarts.
    fn found_ready(self, now: &Now<'_>) -> Self {
        let in_a_row = if now.kernel.is_some() { InARow::default() } else { self.in_a_row };
        Self { in_a_row, ..self }
    }

    /// Nothing was to be changed.
    fn looked_at(&self, stands: Standing, now: &Now<'_>) -> Move {
        if stands == Standing::RestartPending {
            return self.clone().ask(now);
        }
        let settled = self.settled(now).found_ready(now);
        Move { write: Some(settled).filter(|settled| settled != self), verdict: Next::Ready(stands) }
    }

    /// Asks for the restart of the kernel that asks us; seen from a terminal, says which restarts are pending.
    fn ask(mut self, now: &Now<'_>) -> Move {
        let because = self.because(now);
        self = self.settled(now);
        let Some(kernel) = now.kernel else {
            let pending = self.asked.iter().flat_map(|asked| asked.because.iter().cloned()).collect();
            return Move::to(self, Next::Restart(pending));
        };
        let known = self.asked.iter().position(|asked| asked.kernel == *kernel);
        let mut asked = match known {
            Some(at) => self.asked.remove(at),
            None => {
                self.in_a_row.add(kernel, &because, now.clock);
                AskedRestart { kernel: kernel.clone(), because: Vec::new(), times: 0 }
            }
        };
        asked.because.clone_from(&because);
        let verdict = match asked.times {
            _ if self.in_a_row.times > ASKED_AT_MOST => Next::InVain(because),
            ASKED_AT_MOST.. => Next::RestartByHand,
            _ => Next::Restart(because),
        };
        asked.times = ASKED_AT_MOST.min(asked.times + 1);
        self.asked.push(asked);
        Move::to(self, verdict)
    }

    /// Without the kernels that are gone: they have restarted.
    fn settled(&self, now: &Now<'_>) -> Self {
        let asked = self.asked.iter().filter(|asked| !now.gone.contains(&asked.kernel)).cloned().collect();
        Self { asked, ..self.clone() }
    }
}

#[cfg(test)]
mod tests;
