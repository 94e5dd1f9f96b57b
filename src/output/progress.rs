//! Progress of downloads. On a terminal a bar; in a notebook or a log one line at most twice a second, without cursor movement.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::index::Progress;
use crate::output::Style;

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

/// A sink for the progress of `total` bytes.
pub fn bar(total: u64, style: Style) -> Arc<dyn Progress> {
    let target = if style.plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(2) };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let template = "  {bytes:>10} of {total_bytes} [{bar:30}] {msg}";
    if let Ok(look) = ProgressStyle::with_template(template) {
        bar.set_style(look.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    Arc::new(Bar(bar))
}
