//! How fast folders are: large files, small files, names; and how many samples a second that makes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding};
use crate::core::host::files;
use crate::core::host::mounts::must_be_folder;
use crate::core::matrix::Figures;
use crate::health::probe::scratch::Scratch;
use crate::health::probe::{Measure, Probed, Unit, look};

const SCRIPT: &str = include_str!("storage.py");

/// So much is written at most, and so many small files.
const BYTES: u64 = 64 << 20;
const FILES: u64 = 200;

/// Of the free space, a tenth may be used.
const ROOM: u64 = 10;

/// So much of each file that is there is read.
const TINY: f64 = 65_536.0;

/// A folder that is looked at.
#[derive(Clone, Debug)]
pub struct Folder {
    pub path: PathBuf,
    /// The kind of its file system; empty where that is not known.
    pub kind: String,
    /// The user's own files are read, and nothing is written: it is on the network, behind a program, or the user wants
    /// it so.
    pub only_read: bool,
}

impl Folder {
    /// `/data (ext4)`.
    fn name(&self) -> String {
        format!("{} ({})", self.path.display(), if self.kind.is_empty() { "?" } else { &self.kind })
    }
}

/// What the samples are like.
#[derive(Clone, Copy, Debug)]
pub struct Samples {
    /// Bytes of one.
    pub size: f64,
    pub workers: u64,
    /// Samples a second that are needed.
    pub need: Option<f64>,
}

#[derive(Serialize)]
struct DiskWish<'a> {
    folder: Option<&'a Path>,
    sample: Option<&'a Path>,
    bytes: u64,
    files: u64,
    seconds: f64,
}

/// What `storage.py` prints.
#[derive(Debug, Default, Deserialize)]
pub(super) struct DiskOutput {
    pub large: Option<Large>,
    pub small: Option<Small>,
    pub existing: Option<Existing>,
}

/// Bytes a second.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Large {
    pub bytes: f64,
    pub write_synced: f64,
    pub read_how: String,
    pub reads: Vec<f64>,
}

/// Seconds.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Small {
    pub create: Option<Quantiles>,
    pub stat: Option<Quantiles>,
    pub open_read: Option<Quantiles>,
    pub list: f64,
    pub files: u64,
}

/// Files that were there.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Existing {
    pub open_read: Option<Quantiles>,
    /// Bytes a second.
    pub read: f64,
    pub files: u64,
    pub names: u64,
    /// Seconds for all names.
    pub list: f64,
    /// All names were seen within the time.
    pub whole: bool,
    pub size: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Quantiles {
    pub p50: f64,
    pub p95: f64,
}

/// Measures each folder in turn. A folder that can't be measured is an error where it is the only one, else a row that
/// says why.
pub fn probe_folders(
    session: &Session<'_>,
    python: &Path,
    folders: &[Folder],
    samples: Samples,
    seconds: f64,
) -> Result<Probed, Failure> {
    let figures = Figures::bundled().map_err(Failure::bug)?;
    let mut probed = Probed::default();
    let mut rates: Vec<(String, f64)> = Vec::new();
    for folder in folders {
        session.say(&format!("measuring {}", folder.path.display()));
        match looked(session, python, folder, seconds) {
            Ok(looked) => {
                let rate = judge(folder, &looked, samples, figures, &mut probed);
                rates.extend(rate.map(|rate| (folder.path.display().to_string(), rate)));
            }
            Err(failure) if folders.len() == 1 => return Err(failure),
            Err(failure) => {
                let why = failure.causes.first().unwrap_or(&failure.message).clone();
                probed.measures.push(Measure::new(&folder.name(), "not measured", None, Unit::Seconds).noted(why));
            }
        }
    }
    rates.sort_by(|a, b| b.1.total_cmp(&a.1));
    if let [(best, most), .., (worst, least)] = rates.as_slice()
        && most > &(least * 2.0)
    {
        let times = most / least;
        probed.meaning.push(format!(
            "{best} delivers samples {times:.0} times as fast as {worst}: `colab-boot stage {worst} {best}` copies them"
        ));
    }
    Ok(probed)
}

fn looked(session: &Session<'_>, python: &Path, folder: &Folder, seconds: f64) -> Result<DiskOutput, Failure> {
    must_be_folder(&folder.path, "there is no folder")?;
    let scratch = (!folder.only_read).then(|| Scratch::new(&folder.path)).transpose()?;
    let free = files::free_bytes(&folder.path).unwrap_or(BYTES * ROOM);
    let bytes = BYTES.min(free / ROOM) >> 20 << 20;
    if scratch.is_some() && bytes == 0 {
        let why = format!("`{}` has {} left", folder.path.display(), crate::core::diag::bytes(free));
        return Err(Failure::world(why).help("free at least 10 MiB: the probe uses a tenth of the free space"));
    }
    let wish = DiskWish {
        folder: scratch.as_ref().map(|scratch| scratch.path.as_path()),
        sample: folder.only_read.then_some(folder.path.as_path()),
        bytes,
        files: FILES,
        seconds,
    };
    // A mount that hangs is given up.
    look(session, python, SCRIPT, &wish, Duration::from_secs_f64(seconds * 3.0 + 10.0))
}

/// Samples a second that a folder hands out, with what it is like.
pub(super) fn judge(
    folder: &Folder,
    looked: &DiskOutput,
    samples: Samples,
    figures: &Figures,
    probed: &mut Probed,
) -> Option<f64> {
    let name = &folder.name();
    let limit = |name: &str| figures.limit(name);
    let mut reading = None;
    if let Some(large) = &looked.large {
        reading = large_files(name, large, limit("read-slow"), limit("spread"), probed);
    }
    let mut opening = None;
    if let Some(small) = &looked.small {
        opening = small.open_read;
        small_files(name, small, limit("open-slow"), probed);
    }
    if let Some(existing) = &looked.existing {
        opening = existing.open_read;
        reading = (existing.read > 0.0).then_some(existing.read);
        existing_files(name, existing, limit("open-slow"), probed);
        too_many_names(folder, existing, figures, probed);
    }
    let opening = opening?;
    let path = folder.path.display();
    // Of files smaller than what is read of each, throughput says nothing: each costs what it takes to open it.
    let tiny = looked.existing.as_ref().and_then(|existing| existing.size).is_some_and(|size| size < TINY);
    let (size, reading) = if tiny { (0.0, None) } else { (samples.size, reading) };
    #[expect(clippy::cast_precision_loss, reason = "a number of workers")]
    let rate = samples.workers as f64 / (opening.p50 + size / reading.unwrap_or(f64::INFINITY));
    let mut measure = Measure::new(name, "samples", Some(rate), Unit::PerSecond);
    if let Some(need) = samples.need {
        measure = measure.at_least(need);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes of a sample")]
    let each = crate::core::diag::bytes(samples.size as u64);
    let each = if tiny { "one whole file each".to_owned() } else { format!("{each} each") };
    probed.measures.push(measure.noted(format!("workers: {}; {each}", samples.workers)));
    let said = match samples.need {
        Some(need) if rate < need => Some(Finding::error(
            Code::StorageSlow,
            format!("{path} delivers {rate:.0} samples a second, but {need:.0} are needed"),
        )),
        _ if opening.p50 > limit("open-slowest") => {
            Some(Finding::error(Code::StorageSlow, format!("{path} takes {:.1} ms to open a file", opening.p50 * 1e3)))
        }
        _ if opening.p50 > limit("open-slow") => Some(Finding::warning(
            Code::StorageSlow,
            format!("{path} takes {:.1} ms to open a file", opening.p50 * 1e3),
        )),
        _ => None,
    };
    probed.findings.extend(said.map(|finding| {
        finding
            .with_note(format!("this is the median; 5 % of the files took {:.1} ms or more", opening.p95 * 1e3))
            .with_help(format!(
                "`colab-boot stage {path} /tmp/data` copies it to a local disk; pack many small files with `--shards`"
            ))
    }));
    Some(rate)
}

/// Bytes a second of reading.
fn large_files(name: &str, large: &Large, slow: f64, spread: f64, probed: &mut Probed) -> Option<f64> {
    let bytes = Unit::BytesPerSecond;
    let write = Measure::new(name, "write", Some(large.write_synced), bytes);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, not negative")]
    let size = crate::core::diag::bytes(large.bytes as u64);
    probed.measures.push(write.noted(format!("{size}, to the disk")));
    let mut reads = large.reads.clone();
    reads.sort_by(f64::total_cmp);
    let median = reads.get(reads.len() / 2).copied();
    let steady = reads.first().zip(reads.last()).is_some_and(|(worst, best)| *best < worst * spread);
    let read = Measure::new(name, "read", median, bytes);
    let measure = match large.read_how.as_str() {
        "cold" if steady => read.at_least(slow).noted("without the page cache, which was dropped"),
        "direct" if steady => read.at_least(slow).noted("without the page cache (O_DIRECT)"),
        "cached" => read.noted("the page cache can't be dropped: this is the speed of memory, not of the disk"),
        _ => read.noted("too noisy to judge"),
    };
    probed.measures.push(measure);
    median
}

fn small_files(name: &str, small: &Small, slow: f64, probed: &mut Probed) {
    let seconds = Unit::Seconds;
    let late =
        |one: Option<Quantiles>| one.map_or_else(String::new, |one| format!("95th percentile {:.2} ms", one.p95 * 1e3));
    probed.measures.extend([
        Measure::new(name, "open and read 4 kB", half(small.open_read), seconds)
            .at_most(slow)
            .noted(late(small.open_read)),
        Measure::new(name, "create 4 kB", half(small.create), seconds).noted(late(small.create)),
        Measure::new(name, "stat", half(small.stat), seconds),
        Measure::new(name, "list", Some(small.list), seconds).noted(format!("{} names", small.files)),
    ]);
}

fn half(one: Option<Quantiles>) -> Option<f64> {
    one.map(|one| one.p50)
}

fn existing_files(name: &str, existing: &Existing, slow: f64, probed: &mut Probed) {
    let size = existing.size.map(|size| format!(", median {:.0} kB", size / 1e3)).unwrap_or_default();
    let seen = format!("{} existing files{size}", existing.files);
    let open = Measure::new(name, "open and read 4 kB", existing.open_read.map(|one| one.p50), Unit::Seconds);
    let more = if existing.whole { "" } else { ", and more" };
    probed.measures.extend([
        open.at_most(slow).noted(seen),
        Measure::new(name, "read", (existing.files > 0).then_some(existing.read), Unit::BytesPerSecond)
            .noted("64 kB per file; recently read files may be cached"),
        Measure::new(name, "list", Some(existing.list), Unit::Seconds).noted(format!("{} names{more}", existing.names)),
    ]);
}

fn too_many_names(folder: &Folder, existing: &Existing, figures: &Figures, probed: &mut Probed) {
    #[expect(clippy::cast_precision_loss, reason = "a number of names")]
    let names = existing.names as f64;
    let message = format!("{} has at least {} entries", folder.path.display(), existing.names);
    let finding = match (names > figures.limit("most-names"), names > figures.limit("many-names")) {
        (true, _) => Finding::error(Code::FolderTooBig, message),
        (_, true) => Finding::warning(Code::FolderTooBig, message),
        _ => return,
    };
    let help = "`colab-boot stage --shards 256MB` packs them into tar files, each read with one request";
    probed.findings.push(finding.with_help(help));
}
