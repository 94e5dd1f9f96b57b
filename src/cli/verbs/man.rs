//! `man`: the manual pages.

use clap::CommandFactory;
use serde::Serialize;

use crate::boot::verdict::Report;
use crate::cli::arguments::{Arguments, ManOptions};
use crate::core::diag::{Failure, counted};
use crate::core::host::files;

#[derive(Serialize)]
struct ManReport {
    pages: Vec<String>,
}

pub(super) fn run(options: &ManOptions) -> Result<Report, Failure> {
    let folder = &options.folder;
    files::create_folder(folder)?;
    let failed = |error: std::io::Error| files::writing_failed(folder, &error);
    clap_mangen::generate_to(Arguments::command(), folder).map_err(failed)?;
    let ours = |name: &String| name.starts_with("colab-boot") && name.ends_with(".1");
    let pages: Vec<String> = files::names_in(folder)?.into_iter().filter(ours).collect();
    let mut report = Report::new(ManReport { pages: pages.clone() }, String::new());
    report.talk.push(format!("wrote {} to {}", counted(pages.len(), "page"), folder.display()));
    Ok(report)
}
