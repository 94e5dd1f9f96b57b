//! From a profile to a verdict: read the profile, observe the machine, resolve, lock, plan, write the script, apply it,
//! verify.
//!
//! It uses `core`; every other wing may use it. A room names only rooms above it in this list. `profile resolve audit
//! lock ledger marker verdict plan script` are pure.

// TOML text → profile, or all faults at once with carets.
pub mod profile;
// What a machine is: `observe` collects raw facts, `judge` decides; bundled runtimes, overrides.
pub mod machine;
// The package index over the network or from the cache; the only async room.
pub mod index;
// The solve, with drivers and GPUs in it; why there is no solution; why a package is there.
pub mod resolve;
// What is wrong with an environment that somebody else made; files of other tools that name packages.
pub mod audit;
// The lock: writer, reader, staleness, the target that fits.
pub mod lock;
// What the kernel has loaded and read, as facts.
pub mod notebook;
// For each distribution: did colab-boot or another tool install it, and which version was there before.
pub mod ledger;
// How far an apply has come (states and legal moves), and which kernels still have the old code loaded.
pub mod marker;
// What a verb may say at its end: values that only evidence builds; the report that holds one.
pub mod verdict;
// `decide(basis) → Decision`: what changes, what that breaks, whether the kernel restarts. Pure, once.
pub mod plan;
// A decision as bash.
pub mod script;
// The state folder: marker, ledger and RECORDs on disk, one apply at a time.
pub mod state;
// Compares installed files with their RECORD.
pub mod files;
// What several verbs gather: profile, machine, index, lock, kernel, the plan; it also refuses a Python that may not be
// changed.
pub mod session;
// Wheels that a user names, read for what they were built for.
pub mod reading;
// Carries a plan out: fetch, run the script, check every file, roll back.
pub mod apply;
// Is it what was locked, does the kernel run it, does it work.
pub mod verify;
