//! The recorder: a small process that learns how a kernel ended, which nobody else does: the notebook server reaps it
//! without a word. It keeps the last minute of its memory, writes one file when the kernel is gone, and follows the
//! next one.

mod crash_file;
mod successor;
mod watcher;

pub use crash_file::{follow_crashes, unfollow_crashes};
pub use watcher::{start, watch};
