//! `add`: packages come into the profile, and into its lock.

use crate::boot::profile::{AskedLine, with_packages};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::AddPackagesOptions;
use crate::cli::verbs::lock::lock_edited;
use crate::core::diag::Failure;

pub(super) fn run(options: &AddPackagesOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let asked = |text: &String| {
        AskedLine::parse(text).map_err(|why| Failure::input(format!("`{text}` can't be added")).cause(why))
    };
    let lines: Vec<AskedLine> = options.packages.iter().map(asked).collect::<Result<_, _>>()?;
    let profile = session.profile(&options.edited.profile)?;
    let text = with_packages(&profile.source.text, &lines, &|name| session.matrix.is_framework(name))?;
    let written: Vec<String> = lines.iter().map(AskedLine::written).collect();
    lock_edited(&options.edited, text, &format!("added {}", written.join(", ")), session)
}
