//! From a profile to a verified environment: profile → machine → resolve → lock → plan → script → apply → marker →
//! restart → verify.
//!
//! Five wings; a wing names only wings above it. `tests/it/house/` checks this; ARCHITECTURE.md has the picture and
//! "where does … go".

// What is known without a profile.
pub mod core;
// From a profile to a verdict.
pub mod boot;
// What a team publishes.
pub mod golden;
// Whether the machine is fit to work.
pub mod health;
// The command line. The only wing that prints.
pub mod cli;

pub use crate::cli::run::{Ambient, run};
