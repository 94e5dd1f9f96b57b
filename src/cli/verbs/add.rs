//! `add`: packages come into the profile, and into its lock.

use std::path::Path;

use crate::boot::index::project_metadata;
use crate::boot::lock::lock_path;
use crate::boot::profile::{AskedLine, with_packages};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::AddPackagesOptions;
use crate::cli::verbs::lock::lock_edited;
use crate::core::diag::Failure;
use crate::core::host::files;

pub(super) fn run(options: &AddPackagesOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let edited = &options.edited;
    let name_in = |folder: &str| {
        let seen = session.machine_near(&edited.machine.request(), Some(&edited.profile)).ok();
        let machine = seen.as_ref().map(|seen| &seen.machine);
        let builder = machine.and_then(|machine| session.project_builder(&edited.index.settings(), None, machine));
        let named = project_metadata(Path::new(folder), false, builder.as_ref());
        named.map(|project| project.name).map_err(|failure| failure.to_string())
    };
    let asked = |text: &String| {
        let failed = |why| Failure::input(format!("`{text}` can't be added")).cause(why);
        let text = if options.editable { &format!("-e {text}") } else { text };
        let line = AskedLine::parse(text, &name_in).map_err(failed)?;
        // What the user names is from here, what the profile names is from its folder.
        let is_here = options.edited.profile.parent().is_none_or(|folder| folder.as_os_str().is_empty());
        if is_here { Ok(line) } else { files::absolute(Path::new(".")).map(|here| line.below(&here)) }
    };
    let lines: Vec<AskedLine> = options.packages.iter().map(asked).collect::<Result<_, _>>()?;
    let path = &options.edited.profile;
    let with_lines = |text: &str| with_packages(text, &lines, &|name| session.matrix.is_framework(name));
    let text = match session.profile(path) {
        Ok(profile) => with_lines(&profile.source.text)?,
        // A profile without packages gets its first one.
        Err(failure) => {
            let text = files::read_optional(path)?.and_then(|text| with_lines(&text).ok());
            text.filter(|text| session.profile_of(path, text.clone()).is_ok()).ok_or(failure)?
        }
    };
    let written: Vec<String> = lines.iter().map(AskedLine::written).collect();
    let is_there = files::read_optional(path)?.is_some_and(|there| there == text);
    let done = if is_there { "it asks already for" } else { "added" };
    let mut report = lock_edited(&options.edited, text, &format!("{done} {}", written.join(", ")), session)?;
    let lock = session.existing_lock(&lock_path(path, options.edited.lock.as_ref()), path.display())?;
    let is_out = |line: &&AskedLine| lock.targets.iter().all(|target| target.package(&line.name).is_none());
    report.talk.extend(lines.iter().filter(is_out).map(|line| {
        format!(
            "{}: its marker in the profile does not hold here, so it is not installed; take the marker out",
            line.name
        )
    }));
    Ok(report)
}
