//! The only rooms that print: findings and failures with carets, tables for people, the JSON envelope, progress.

mod human;
mod json;
mod progress;
mod report;

pub use human::{bytes, harmless, render_failure, render_finding, render_plan};
pub use json::envelope;
pub use progress::bar;
pub use report::Report;

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub color: bool,
    /// A notebook or a file: no cursor movement.
    pub plain: bool,
}
