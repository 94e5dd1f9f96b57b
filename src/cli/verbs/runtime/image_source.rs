//! What `runtime import` reads: of which day it is, and what it describes.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::boot::machine::{MachineRequest, Runtime, Runtimes};
use crate::boot::reading::read_manifest;
use crate::boot::seen::is_word;
use crate::boot::session::Session;
use crate::cli::arguments::RuntimeImportOptions;
use crate::core::diag::Failure;
use crate::core::host::command::Invocation;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::day::{Date, day_of};

/// The name of the image that Colab gives to a notebook that asks for none.
const LATEST: &str = "colab-latest";

/// What a lock calls the place that is no image.
const MACHINE: &str = "machine";

/// How long git may take to say when a checkout is from.
const GIT: Duration = Duration::from_secs(10);

/// The images that a source describes.
pub(super) struct ImageSource {
    pub(super) images: Vec<Runtime>,
    pub(super) day: Date,
    /// Where the descriptions are from, for people.
    pub(super) origin: String,
    /// What the source does not describe.
    pub(super) left_out: Vec<String>,
}

impl ImageSource {
    pub(super) fn read(options: &RuntimeImportOptions, session: &Session<'_>) -> Result<Self, Failure> {
        let (source, known) = (&options.source, session.runtimes()?);
        let data = source.look().map_err(|error| Failure::input(format!("`{}`", source.display())).because(&error))?;
        if data.is_dir() {
            let name = must_be_name(options.name.as_deref().unwrap_or(LATEST))?;
            let commit = commit(source, session);
            let day = options.as_of.map_or_else(|| commit.clone().map(|(_, day)| day), Ok)?;
            let day = must_have_been(day, session)?;
            let commit = commit.map(|(name, _)| format!(" (commit {name})")).unwrap_or_default();
            let origin = format!(
                "with the driver, GPUs and pins of the newest image known then, from Colab's backend-info{commit}"
            );
            let (images, left_out) = read_manifest(source, (name, day), &known)?;
            return Ok(Self { images, day, origin, left_out });
        }
        let stem = source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let name = must_be_name(options.name.as_deref().unwrap_or(&stem))?;
        let day = options.as_of.unwrap_or_else(|| day_of(u64::try_from(data.mtime()).unwrap_or(0)));
        let day = must_have_been(day, session)?;
        let request = MachineRequest { record: Some(source.clone()), ..MachineRequest::default() };
        let seen = session.machine(&request)?;
        let image = Runtime::of_machine(name, day, &seen.machine).ok_or_else(|| {
            let failure = Failure::input(format!("`{}` records no usable Python", source.display()))
                .help("record it with `colab-boot fingerprint --python PYTHON --json=FILE`");
            seen.findings.iter().fold(failure, |failure, finding| failure.cause(finding.message.clone()))
        })?;
        Ok(Self { images: vec![image], day, origin: "from a fingerprint".to_owned(), left_out: Vec::new() })
    }
}

/// The commit that is checked out in the folder, and its day.
fn commit(folder: &Path, session: &Session<'_>) -> Result<(String, Date), Failure> {
    let folder = files::absolute(folder)?;
    let path = folder.display().to_string();
    let failed = || {
        Failure::input(format!("git does not know from which day `{path}` is"))
            .help("use a checkout of Colab's backend-info, or give its date with --as-of YYYY-MM-DD")
    };
    let arguments = ["-C", path.as_str(), "log", "-1", "--format=%h %cs"];
    let finished = Invocation::new("git", &arguments, session.environment).output(GIT).map_err(|_| failed())?;
    let said = finished.stdout.trim().split_once(' ').filter(|_| finished.code == 0);
    let commit = said.and_then(|(name, day)| Some((name.to_owned(), day.parse().ok()?)));
    commit.ok_or_else(|| failed().cause(finished.stderr.lines().next().unwrap_or_default().to_owned()))
}

/// A day that is not after today.
fn must_have_been(day: Date, session: &Session<'_>) -> Result<Date, Failure> {
    let today = day_of(session.now);
    if day > today {
        return Err(Failure::input(format!("{day} is after today ({today})")).help("give the day with --as-of"));
    }
    Ok(day)
}

/// A name that a file and a lock can have, and that means nothing else.
fn must_be_name(name: &str) -> Result<&str, Failure> {
    let is_free = is_word(name) && name != MACHINE && !name.ends_with(".toml") && !name.ends_with(".json");
    is_free.then_some(name).ok_or_else(|| {
        Failure::input(format!("`{name}` can't be the name of an image"))
            .help("give one with --name: letters, digits, `.`, `-` and `_`, such as `colab-2026.10`")
    })
}

/// Refuses an image whose name another one has that does not change, or of which a newer list is known: it would
/// never be used, or another one no longer.
pub(super) fn must_be_new(image: &Runtime, day: Date, known: &Runtimes) -> Result<(), Failure> {
    let Some((other, file)) = known
        .iter()
        .find(|(one, _)| one.full_name() == image.full_name() || one.name == image.name && image.accelerator.is_none())
    else {
        return Ok(());
    };
    let name = image.full_name();
    let help = "give this one a name of its own with --name, or write it to a folder with --output";
    if file.is_none() && !other.moves {
        return Err(
            Failure::input(format!("`{name}` is the name of a bundled image, which does not change")).help(help)
        );
    }
    match other.day().filter(|other| *other > day) {
        Some(newer) => {
            Err(Failure::input(format!("a newer list of `{name}` is known, of {newer}; this one is of {day}"))
                .help(help))
        }
        None => Ok(()),
    }
}
