//! What is known without a profile: findings and failures, values, the operating system, the CUDA-compat matrix, wheels
//! read from their bytes, secrets by their formats.
//!
//! Every wing uses this one; this one uses none. A room names only rooms above it in this list. All but `log` and
//! `host` are pure.

// Findings with codes and explanations; failures; places in the user's files; the JSON envelope.
pub mod diag;
// Values: versions, names, wheels, digests, requirements, platforms, CUDA versions.
pub mod model;
// Lines and bars about work in progress, by verbosity.
pub mod log;
// Reports as pages for browsers and notebooks, made by one template.
pub mod page;
// The only door to the operating system: processes, files, locks, signals.
pub mod host;
// Typed rows of `matrix/` and the questions that they answer: verdict, driver floor, families, variables, notebook
// hosts.
pub mod matrix;
// Wheels read from their bytes: zip directory, ELF, fat binaries; RECORD.
pub mod inspect;
// Secrets in texts and notebooks, by their formats.
pub mod secrets;
