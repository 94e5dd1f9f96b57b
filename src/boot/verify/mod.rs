//! Whether what is installed is what was locked, whether the kernel runs it, and whether it works: files against
//! RECORD, older copies that come first, frameworks by smoke tests in processes of their own.

mod locked;
mod frameworks;
mod kernel;
mod native;
mod smoke;
mod summary;

pub use frameworks::{Repeated, no_gpu, repeated, smoke_finding, smoke_tests};
pub use kernel::{held_since, is_assumed, kernel_findings};
pub use locked::file_findings;
pub use native::imports;
pub use smoke::SmokeOutcome;
pub use summary::{shown_tests, summary};
