//! Verbs through the real binary, one file each, and how an index is reached.

mod addresses;
mod apply;
mod audit;
mod credentials;
mod default_index;
mod fingerprint;
mod golden;
mod lock;
mod matrix;
mod script;
mod usage;
