//! The only room that prints: findings and failures with carets, tables for people, the JSON envelope, progress.

mod table;
mod human;
mod json;
mod progress;
mod report;
mod why;

pub use human::{needed_images, plan_line, render_failure, render_findings, render_plan};
pub use json::envelope;
pub use progress::bar;
pub use report::{Report, path_text};
pub use table::{RowReport, render_builds};
pub use why::ShownWhy;

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub color: bool,
    /// A notebook or a file: no cursor movement.
    pub plain: bool,
}
