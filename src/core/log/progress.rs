//! Progress of downloads. On a terminal a bar; in a notebook or a log a line now and then.

use std::fmt::{Display, Formatter, Result as FmtResult};
use std::io::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::core::diag::bytes;
use crate::core::log::Style;

/// Called with every piece that arrives (bytes) and for every file that is complete.
pub trait Progress: Send + Sync {
    fn bytes(&self, count: u64);
    fn finished(&self);
    /// Nothing more will come.
    fn ended(&self);
}

struct Bar {
    bar: ProgressBar,
    files: FileCount,
}

impl Progress for Bar {
    fn bytes(&self, count: u64) {
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

/// Lines, for what keeps all that is written.
struct PlainLines {
    total: u64,
    here: AtomicU64,
    files: FileCount,
    began: Instant,
    printed: Mutex<Instant>,
}

impl Progress for PlainLines {
    fn bytes(&self, count: u64) {
        let here = self.here.fetch_add(count, Ordering::Relaxed) + count;
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        if printed.elapsed() >= BETWEEN_LINES {
            *printed = Instant::now();
            let pace = pace(here, self.total, self.began.elapsed());
            // A closed stderr is no reason to stop.
            let _ =
                writeln!(std::io::stderr(), "colab-boot: {} of {}{}{pace}", bytes(here), bytes(self.total), self.files);
        }
    }

    fn finished(&self) {
        self.files.one_more();
    }

    fn ended(&self) {}
}

/// `, 12.0 MB/s, 30 s left`, where `here` of `total` bytes took so long.
fn pace(here: u64, total: u64, took: Duration) -> String {
    let Some(speed) = u128::from(here).saturating_mul(1000).checked_div(took.as_millis()).filter(|speed| *speed > 0)
    else {
        return String::new();
    };
    let left = u128::from(total.saturating_sub(here)) / speed;
    format!(", {}/s, {left} s left", bytes(u64::try_from(speed).unwrap_or(u64::MAX)))
}

/// Notebooks cut long outputs from the top, so lines are few.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// A sink for the progress of `total` bytes in so many files; 0 where nobody counts them.
pub fn bar(total: u64, files: usize, style: Style) -> Arc<dyn Progress> {
    let files = FileCount { total: files, done: AtomicUsize::new(0) };
    if style.plain {
        let (here, began) = (AtomicU64::new(0), Instant::now());
        return Arc::new(PlainLines { total, here, files, began, printed: Mutex::new(began) });
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
