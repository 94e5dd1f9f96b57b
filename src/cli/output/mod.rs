//! Text for people: findings and failures with carets, plans, tables.

mod matrix_table;
mod findings;
mod forecast_table;
mod plan_table;
mod plan_page;
mod report_page;
mod tree;
mod release_text;
mod why;

pub use findings::{render_failure, render_findings};
pub use forecast_table::{forecast_edges, render_forecast};
pub use matrix_table::{RowReport, render_builds};
pub use plan_page::plan_page;
pub use plan_table::{needed_images, plan_line, render_plan};
pub use release_text::{Row, difference, one_release, shown};
pub use report_page::report_page;
pub use tree::render_tree;
pub use why::ShownWhy;
