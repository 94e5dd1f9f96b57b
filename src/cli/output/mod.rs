//! Text for people: findings and failures with carets, plans, tables.

mod table;
mod human;
mod why;

pub use human::{needed_images, plan_line, render_failure, render_findings, render_plan};
pub use table::{RowReport, render_builds};
pub use why::ShownWhy;
