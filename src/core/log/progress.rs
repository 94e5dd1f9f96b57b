//! Progress of downloads. On a terminal a bar; in a log a line now and then; for a notebook records, which its
//! cell draws.

use std::fmt::{Display, Formatter, Result as FmtResult};
use std::io::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::core::diag::bytes;
use crate::core::log::{ProgressForm, Style};

/// Called with every piece that arrives (of which file, bytes) and for every file that is complete.
pub trait Progress: Send + Sync {
    fn bytes(&self, file: &str, count: u64);
    fn finished(&self);
    /// Nothing more will come.
    fn ended(&self);
}

struct Bar {
    bar: ProgressBar,
    files: FileCount,
}

impl Progress for Bar {
    fn bytes(&self, _: &str, count: u64) {
        self.bar.inc(count);
    }

    fn finished(&self) {
        self.files.one_more();
        self.bar.set_message(self.files.to_string());
    }

    fn ended(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.ended();
    }
}

/// How many files are complete.
struct FileCount {
    total: usize,
    done: AtomicUsize,
}

impl FileCount {
    fn one_more(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Display for FileCount {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> FmtResult {
        match self.total {
            0 => Ok(()),
            total => write!(formatter, ", {} of {total} files", self.done.load(Ordering::Relaxed)),
        }
    }
}

/// What a record begins with: a line of JSON follows (RFC 7464, JSON text sequences).
pub const RECORD: char = '\u{1e}';

/// One state of the work.
#[derive(Debug, Serialize)]
struct ProgressRecord<'a> {
    /// Bytes.
    done: u64,
    /// Bytes; 0 if unknown.
    total: u64,
    files_done: usize,
    /// 0 if unknown.
    files: usize,
    /// Bytes per second since the begin.
    speed: u64,
    /// The file that the last bytes belong to.
    file: &'a str,
    ended: bool,
}

/// Lines or records, for what keeps all that is written.
struct Written {
    total: u64,
    here: AtomicU64,
    files: FileCount,
    began: Instant,
    records: bool,
    /// When the last one was written, and whether the end was.
    last: Mutex<(Instant, bool)>,
}

impl Written {
    /// Lines are few, for notebooks cut long outputs from the top. A record replaces the one before it.
    const fn between(&self) -> Duration {
        if self.records { Duration::from_millis(250) } else { Duration::from_secs(5) }
    }

    /// A closed stderr is no reason to stop.
    fn write(&self, file: &str, ended: bool) {
        let (here, total, took) = (self.here.load(Ordering::Relaxed), self.total, self.began.elapsed());
        if !self.records {
            let pace = pace(here, total, took);
            let _ = writeln!(std::io::stderr(), "colab-boot: {} of {}{}{pace}", bytes(here), bytes(total), self.files);
            return;
        }
        let FileCount { total: files, done } = &self.files;
        let (files, files_done) = (*files, done.load(Ordering::Relaxed));
        let record = ProgressRecord { done: here, total, files_done, files, speed: speed(here, took), file, ended };
        let text = serde_json::to_string(&record).unwrap_or_default();
        let _ = writeln!(std::io::stderr(), "{RECORD}{text}");
    }
}

impl Progress for Written {
    fn bytes(&self, file: &str, count: u64) {
        self.here.fetch_add(count, Ordering::Relaxed);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0.elapsed() >= self.between() {
            last.0 = Instant::now();
            self.write(file, false);
        }
    }

    fn finished(&self) {
        self.files.one_more();
    }

    fn ended(&self) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if self.records && !std::mem::replace(&mut last.1, true) {
            self.write("", true);
        }
    }
}

/// Bytes per second, of `here` bytes that took so long.
fn speed(here: u64, took: Duration) -> u64 {
    let speed = u128::from(here).saturating_mul(1000).checked_div(took.as_millis()).unwrap_or_default();
    u64::try_from(speed).unwrap_or(u64::MAX)
}

/// `, 12.0 MB/s, 30 s left`, where `here` of `total` bytes took so long.
fn pace(here: u64, total: u64, took: Duration) -> String {
    let speed = speed(here, took);
    let Some(left) = total.saturating_sub(here).checked_div(speed) else { return String::new() };
    format!(", {}/s, {left} s left", bytes(speed))
}

/// A sink for the progress of `total` bytes in so many files; 0 where nobody counts them.
pub fn progress_of(total: u64, files: usize, style: Style) -> Arc<dyn Progress> {
    let files = FileCount { total: files, done: AtomicUsize::new(0) };
    if style.progress != ProgressForm::Bar {
        let (here, began) = (AtomicU64::new(0), Instant::now());
        let records = style.progress == ProgressForm::Records;
        return Arc::new(Written { total, here, files, began, records, last: Mutex::new((began, false)) });
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(2));
    let template = "  {bytes:>10} of {total_bytes} [{bar:30}] {bytes_per_sec}, {eta} left{msg}";
    if let Ok(look) = ProgressStyle::with_template(template) {
        bar.set_style(look.progress_chars("=> "));
    }
    bar.set_message(files.to_string());
    Arc::new(Bar { bar, files })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::pace;

    #[test]
    fn pace_needs_some_bytes_and_some_time() {
        assert_eq!(pace(0, 100, Duration::from_secs(5)), "");
        assert_eq!(pace(100, 100, Duration::ZERO), "");
        assert_eq!(pace(60_000_000, 360_000_000, Duration::from_secs(5)), ", 12.0 MB/s, 25 s left");
        assert_eq!(pace(200, 100, Duration::from_secs(1)), ", 200 B/s, 0 s left");
    }
}
