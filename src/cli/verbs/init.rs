//! `init`: a commented starter profile.

use std::path::Path;

use serde::Serialize;

use crate::boot::profile::STARTER;
use crate::boot::verdict::{Report, path_text};
use crate::cli::arguments::InitOptions;
use crate::core::diag::Failure;
use crate::core::host::destination::{is_stdout, write_output};
use crate::core::host::files;
use crate::core::host::mounts::Look;

#[derive(Serialize)]
struct InitReport<'a> {
    #[serde(serialize_with = "path_text")]
    path: &'a Path,
}

pub(super) fn run(options: &InitOptions) -> Result<Report, Failure> {
    let path = &options.path;
    if is_stdout(path) {
        return Ok(Report::new(InitReport { path }, String::new()).printing(Some(STARTER.to_owned())));
    }
    if path.is_there() {
        return Err(
            Failure::input(format!("`{}` exists already", path.display())).help("name another file, or edit this one")
        );
    }
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), files::create_folder)?;
    write_output(path, STARTER.as_bytes())?;
    let mut report = Report::new(InitReport { path }, String::new());
    report.talk.push(format!("wrote {}; next: edit it, then `colab-boot plan {}`", path.display(), path.display()));
    Ok(report)
}
