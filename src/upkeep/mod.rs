//! The matrix kept up to date: wheels read, rows of new releases, hints that save `lock` from waiting.

mod hints;
mod link_rows;
mod reading;
mod refresh;
mod releases;
mod report;

pub use hints::{Gathering, write_hints};
pub use link_rows::{link, read_symbols};
pub use reading::{Reader, Reading, Spec, wheel_target};
pub use refresh::refresh;
pub use releases::{Releases, online, watched};
pub use report::{BuildReport, render_reading};
