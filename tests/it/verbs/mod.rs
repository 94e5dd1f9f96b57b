//! Verbs through the real binary, one file each, and how an index is reached.

mod apply;
mod audit;
mod credentials;
mod default_index;
mod doctor;
mod doctor_plugins;
mod explain;
mod fetch;
mod fingerprint;
mod forecast;
mod golden;
mod installers;
mod lock;
mod linking;
mod linking_laws;
mod matrix;
mod plan;
mod probe;
mod published_index;
mod script;
mod scrub;
mod signatures;
mod stage;
mod stage_archives;
mod usage;
mod verify;
