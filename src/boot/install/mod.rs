//! Wheels become an environment: unpacked and checked beside the place where they will stand, then switched by
//! renames, package by package. Each rename is in a journal before it happens, so that a run which is killed at any
//! moment can be undone; old files stay until the end, so that undoing needs neither network nor wheel.

mod bases;
mod changed_since;
mod going;
mod switch_journal;
mod launcher;
mod output;
mod own_metadata;
mod packed;
mod queue;
mod renames;
mod staged;
mod staging;
mod stored_members;
mod undo;
mod unpacked_members;
mod wheel_tree;

pub use bases::stage_places;
pub use launcher::entry_points;
pub use renames::switch;
pub use staged::{BuiltPackage, STAGED, Staged, StagedPackage};
pub use staging::{Incoming, Stage, Staging, stage};
pub use switch_journal::SWITCH;
pub use undo::{Undone, clean_up, commit, strangers, undo};
pub use wheel_tree::OF_INSTALLERS;
