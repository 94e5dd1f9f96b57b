//! From a profile to a verified environment: profile → machine → resolve → lock → plan → script → apply → marker → restart → verify.
//!
//! A module names only modules above it in this list. `model diag matrix profile resolve lock plan script marker` are pure:
//! they take values and return values. Both laws are kept by `tests/it/house.rs`.

pub mod diag;
pub mod host;
pub mod index;
pub mod lock;
pub mod machine;
pub mod matrix;
pub mod model;
pub mod plan;
pub mod profile;
pub mod resolve;
pub mod script;
