//! Whether a machine is fit to work: checks, error texts, how a kernel ended, measurements, data on fast disks.
//!
//! It uses `core` and `boot`; only `cli` may use it. A room names only rooms above it in this list. `difference` is
//! pure.

// Checks of a machine: observe, then a judgement for each row of `matrix/doctor-checks.toml`.
pub mod doctor;
// Two machines side by side. Pure.
pub mod difference;
// Figures that are measured on request: GPU, storage, data loading; bounded, cleaned up.
pub mod probe;
// Data copied to a disk of this machine, checkpoints copied back.
pub mod stage;
// How a kernel ended: a process that watches it.
pub mod record;
