//! How many worker processes a data loader can use here.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, bytes};
use crate::core::host::files;
use crate::core::matrix::Figures;
use crate::health::probe::scratch::Scratch;
use crate::health::probe::{Measure, Probed, Unit, look};

const SCRIPT: &str = include_str!("loader.py");

/// Batches that each worker has ready, as torch's loader does.
const PREFETCH: u64 = 2;

/// What is tried.
#[derive(Clone, Copy, Debug)]
pub struct LoaderWish {
    /// The user's number of workers.
    pub workers: Option<u64>,
    /// Bytes of one batch.
    pub batch: u64,
    /// CPUs that work at the same time.
    pub cpus: u64,
    pub seconds: f64,
}

#[derive(Serialize)]
struct LoaderRunWish<'a> {
    folder: &'a Path,
    counts: Vec<u64>,
    batch: u64,
    prefetch: u64,
    seconds: f64,
}

#[derive(Debug, Deserialize)]
pub(super) struct LoaderOutput {
    pub rounds: Vec<Round>,
}

/// A number of workers with the batches a second that they handed over, or why they did not.
#[derive(Debug, Deserialize)]
pub(super) struct Round {
    pub workers: u64,
    pub rate: Option<f64>,
    pub error: Option<String>,
}

/// Tries none, one, and so on up to the user's number or the number of CPUs.
pub fn probe_loader(session: &Session<'_>, python: &Path, shared: &Path, wish: LoaderWish) -> Result<Probed, Failure> {
    let most = files::read_optional(Path::new("/proc/meminfo"))?.and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    });
    if most.is_some_and(|kilobytes| wish.batch > kilobytes.saturating_mul(1024) / 8) {
        let message = format!("batches of {} are too large to try on this machine", bytes(wish.batch));
        return Err(Failure::input(message).help("at most an eighth of the available memory is used"));
    }
    let scratch = Scratch::new(shared)?;
    let free = files::free_bytes(shared).unwrap_or_default();
    let asked = LoaderRunWish {
        folder: &scratch.path,
        counts: counts(&wish),
        batch: wish.batch,
        prefetch: PREFETCH,
        seconds: wish.seconds,
    };
    let looked: LoaderOutput =
        look(session, python, SCRIPT, &asked, Duration::from_secs_f64(wish.seconds * 3.0 + 30.0))?;
    let figures = Figures::bundled().map_err(Failure::bug)?;
    Ok(judge(&looked, &wish, free, figures.limit("gain")))
}

/// 0, 1, 2, 4 … up to the CPUs, and the user's own number.
fn counts(wish: &LoaderWish) -> Vec<u64> {
    let most = wish.workers.unwrap_or(wish.cpus).max(wish.cpus).min(64);
    let mut counts: Vec<u64> =
        std::iter::successors(Some(1), |count| Some(count * 2)).take_while(|count| *count < most).collect();
    counts.extend([0, most]);
    counts.extend(wish.workers.map(|workers| workers.min(64)));
    counts.sort_unstable();
    counts.dedup();
    counts
}

pub(super) fn judge(looked: &LoaderOutput, wish: &LoaderWish, free: u64, gain: f64) -> Probed {
    let mut probed = Probed::default();
    let load = format!("batches of {}, {} CPUs", bytes(wish.batch), wish.cpus);
    let rates = || looked.rounds.iter().filter_map(|round| Some((round.workers, round.rate?)));
    // The fewest workers that come near to the best.
    let best = rates().map(|(_, rate)| rate).fold(0.0, f64::max);
    let enough = rates().find(|(_, rate)| *rate >= best * (1.0 - gain)).map_or(0, |(workers, _)| workers);
    for round in &looked.rounds {
        let what = match round.workers {
            0 => "no worker",
            1 => "1 worker",
            2 => "2 workers",
            4 => "4 workers",
            8 => "8 workers",
            16 => "16 workers",
            32 => "32 workers",
            _ => "workers",
        };
        let need = need(round.workers, wish.batch);
        let note = round
            .error
            .clone()
            .unwrap_or_else(|| format!("workers: {}, shared memory: {}", round.workers, bytes(need)));
        probed.measures.push(Measure::new(&load, what, round.rate, Unit::PerSecond).noted(note));
    }
    if let Some(round) = looked.rounds.iter().find(|round| round.rate.is_none()) {
        let message = format!("shared memory is too small for this number of workers: {}", round.workers);
        let need = bytes(need(round.workers, wish.batch));
        let note = format!("{need} of {} free: {}", bytes(free), round.error.clone().unwrap_or_default());
        let finding = Finding::error(Code::ShmSmall, message).with_note(note);
        probed.findings.push(finding.with_help("use fewer workers, smaller batches, or `docker run --shm-size`; `colab-boot doctor shm-small --workers N --batch-bytes SIZE` shows what is needed"));
    }
    let all = looked.rounds.iter().all(|round| round.rate.is_some());
    if let Some(workers) = wish.workers.filter(|workers| all && *workers > enough && *workers > wish.cpus) {
        let message = format!("{workers} workers are no faster than {enough} here");
        let finding = Finding::warning(Code::WorkersTooMany, message);
        probed.findings.push(finding.with_help(format!("num_workers={enough}")));
    }
    probed.meaning.push(format!(
        "use num_workers={enough}: more workers gain less than {:.0} %; measured with decompression, which costs about as much as image decoding",
        gain * 100.0
    ));
    probed
}

/// Bytes of shared memory: what each worker has ready, and the batch in hand.
fn need(workers: u64, batch: u64) -> u64 {
    workers.saturating_mul(PREFETCH).saturating_add(u64::from(workers > 0)).saturating_mul(batch)
}
