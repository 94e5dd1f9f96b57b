//! Progress of downloads. On a terminal a bar; in a notebook or a log a line now and then.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::core::diag::bytes;
use crate::core::log::Style;

/// Called with every piece that arrives (bytes) and every file that is complete (its name).
pub trait Progress: Send + Sync {
    fn bytes(&self, count: u64);
    fn finished(&self, file: &str);
}

struct Bar(ProgressBar);

impl Progress for Bar {
    fn bytes(&self, count: u64) {
        self.0.inc(count);
    }

    fn finished(&self, file: &str) {
        self.0.set_message(file.to_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Lines, for what keeps all that is written.
struct PlainLines {
    total: u64,
    here: AtomicU64,
    printed: Mutex<Instant>,
}

impl Progress for PlainLines {
    fn bytes(&self, count: u64) {
        let here = self.here.fetch_add(count, Ordering::Relaxed) + count;
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        if printed.elapsed() >= BETWEEN_LINES {
            *printed = Instant::now();
            // A closed stderr is no reason to stop.
            let _ = writeln!(std::io::stderr(), "colab-boot: {} of {}", bytes(here), bytes(self.total));
        }
    }

    fn finished(&self, _file: &str) {}
}

/// Notebooks cut long outputs from the top, so lines are few.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// A sink for the progress of `total` bytes.
pub fn bar(total: u64, style: Style) -> Arc<dyn Progress> {
    if style.plain {
        return Arc::new(PlainLines { total, here: AtomicU64::new(0), printed: Mutex::new(Instant::now()) });
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(2));
    let template = "  {bytes:>10} of {total_bytes} [{bar:30}] {msg}";
    if let Ok(look) = ProgressStyle::with_template(template) {
        bar.set_style(look.progress_chars("=> "));
    }
    Arc::new(Bar(bar))
}
