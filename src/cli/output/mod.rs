//! Text for people: findings and failures with carets, plans, tables.

mod table;
mod findings;
mod plan_table;
mod why;

pub use findings::{render_failure, render_findings};
pub use plan_table::{needed_images, plan_line, render_plan};
pub use table::{RowReport, render_builds};
pub use why::ShownWhy;
