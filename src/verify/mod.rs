//! Whether what is installed is what was locked, and whether it works: files against the wheels' RECORD, frameworks by smoke tests
//! in processes of their own.

mod files;
mod record;
mod shadow;
mod smoke;

pub use files::{FileFault, Held, check_distributions, finding_of, ghosts};
pub use record::{record_of_wheel, unpacked_bytes};
pub use shadow::{Surroundings, shadowed};
pub use smoke::{SmokeOutcome, SmokeTest, run_smoke};
