//! From a profile to a verdict: read the profile, observe the machine, resolve, lock, plan, write the script, apply it,
//! verify.
//!
//! It uses `core`; every other wing may use it. A room names only rooms above it in this list. `profile resolve audit
//! lock ledger marker verdict plan script` are pure.

// TOML text → profile, or all faults at once with carets.
pub mod profile;
// What a machine is: `observe` collects raw facts, `judge` decides; bundled runtimes, overrides.
pub mod machine;
// Unpacked wheels, by their digest, that environments share.
pub mod store;
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
// Wheels become an environment: staged beside it, then switched by renames that can be undone.
pub mod install;
// What is true of one run: environment, paths, clock, log, matrix.
pub mod session;
// The machine that is meant: this one, a record or a bundled runtime. It also refuses a Python that may not be changed.
pub mod seen;
// What is asked of indexes for such a machine: solves, pages, wheels.
pub mod retrieval;
// Packages that come from folders, repositories and files: archives pinned by their digest.
pub mod project;
// What is wanted of it: a profile with its lock or a new solve, or a restore.
pub mod goal;
// A lock in the formats of other tools.
pub mod export;
// Files of other tools, and environments, become profiles.
pub mod import;
// What a plan depends on besides: files, what the kernel has loaded, what was changed before.
pub mod situation;
// All of it, and what follows: the decision with every finding.
pub mod planned;
// Wheels that a user names, read for what they were built for.
pub mod reading;
// Carries a plan out: fetch, run the script, check every file, roll back.
pub mod apply;
// Is it what was locked, does the kernel run it, does it work.
pub mod verify;
