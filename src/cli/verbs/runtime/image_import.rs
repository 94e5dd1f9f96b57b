//! `runtime import`: the description of a notebook image from a fingerprint, or from Colab's public manifest.

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::boot::machine::{MachineRequest, Runtime};
use crate::boot::reading::{WheelReader, read_manifest};
use crate::boot::seen::is_word;
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::RuntimeImportOptions;
use crate::core::diag::{Failure, counted};
use crate::core::host::command::Invocation;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::day::{Date, day_of};
use crate::core::model::{Libc, PythonFacts};

/// The name of the image that Colab gives to a notebook that asks for none.
const LATEST: &str = "colab-latest";

/// The requirements of an image's packages are looked up whatever C library their wheels need: they are installed.
const LIBC: Libc = Libc::Glibc(2, 45);

/// How long git may take to say when a checkout is from.
const GIT: Duration = Duration::from_secs(10);

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct ImportReport {
    runtimes: Vec<Imported>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Imported {
    name: String,
    file: PathBuf,
    as_of: String,
    packages: usize,
    /// Packages whose requirements are not known: breakages of these are not seen.
    without_requirements: usize,
}

pub(super) fn run(options: &RuntimeImportOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let folder = options.output.clone().unwrap_or_else(|| session.runtimes_folder());
    let commit = commit(&options.source, session);
    let day = day_of_source(options, commit.as_ref())?;
    let (mut images, mut origin, talk) = read(options, day, session)?;
    origin.push_str(&commit.map(|(name, _)| format!(" (commit {name})")).unwrap_or_default());
    let mut report = ImportReport { runtimes: Vec::new() };
    let mut text = String::new();
    files::create_folder(&folder)?;
    for image in &mut images {
        add_requirements(image, options, session)?;
        let file = folder.join(format!("{}.toml", image.full_name()));
        files::write_whole(&file, image.to_toml(&format!("{} of {day}, {origin}", image.full_name()))?.as_bytes())?;
        let one = Imported {
            name: image.full_name(),
            as_of: day.to_string(),
            packages: image.packages.len(),
            without_requirements: image.unrecorded().len(),
            file,
        };
        let unknown = match one.without_requirements {
            0 => String::new(),
            count => format!(", the requirements of {count} are unknown"),
        };
        let count = counted(one.packages, "package");
        let _ = writeln!(text, "{}: {count} on {day}{unknown}; wrote {}", one.name, one.file.display());
        report.runtimes.push(one);
    }
    let mut report = Report::new(report, text);
    report.talk.extend(talk);
    Ok(report)
}

/// What the source describes, where that is from, and what was left out.
fn read(
    options: &RuntimeImportOptions,
    day: Date,
    session: &Session<'_>,
) -> Result<(Vec<Runtime>, String, Vec<String>), Failure> {
    let source = &options.source;
    if source.is_folder_there() {
        let name = options.name.as_deref().unwrap_or(LATEST);
        let (images, left_out) = read_manifest(source, (must_be_name(name)?, day), &session.runtimes()?)?;
        let origin =
            "with the driver, GPUs and pins of the newest image known then, from Colab's backend-info".to_owned();
        return Ok((images, origin, left_out));
    }
    let request = MachineRequest { record: Some(source.clone()), ..MachineRequest::default() };
    let seen = session.machine(&request)?;
    let stem = source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = must_be_name(options.name.as_deref().unwrap_or(&stem))?;
    let image = Runtime::of_machine(name, day, &seen.machine).ok_or_else(|| {
        Failure::input(format!("`{}` records no Python", source.display()))
            .help("record it with `colab-boot fingerprint --python PYTHON --json=FILE`")
    })?;
    Ok((vec![image], "from a fingerprint".to_owned(), Vec::new()))
}

/// The day that is given, that of the commit that is checked out, or that of the file.
fn day_of_source(options: &RuntimeImportOptions, commit: Option<&(String, Date)>) -> Result<Date, Failure> {
    let source = &options.source;
    let data = source.look().map_err(|error| Failure::input(format!("`{}`", source.display())).because(&error))?;
    let of_file = (!data.is_dir()).then(|| day_of(u64::try_from(data.mtime()).unwrap_or(0)));
    options.as_of.or(of_file).or(commit.map(|(_, day)| *day)).ok_or_else(|| {
        Failure::input(format!("git does not know from which day `{}` is", source.display()))
            .help("give the date with --as-of YYYY-MM-DD")
    })
}

/// The commit that is checked out in the folder, and its day.
fn commit(folder: &Path, session: &Session<'_>) -> Option<(String, Date)> {
    let folder = files::absolute(folder).ok().filter(|folder| folder.is_folder_there())?;
    let arguments = ["-C", folder.to_str()?, "log", "-1", "--format=%h %cs"];
    let finished = Invocation::new("git", &arguments, session.environment).output(GIT).ok()?;
    let (name, day) = finished.stdout.trim().split_once(' ').filter(|_| finished.code == 0)?;
    Some((name.to_owned(), day.parse().ok()?))
}

/// A name that a file and a lock can have.
fn must_be_name(name: &str) -> Result<&str, Failure> {
    is_word(name).then_some(name).ok_or_else(|| {
        Failure::input(format!("`{name}` can't be the name of an image"))
            .help("give one with --name: letters, digits, `.`, `-` and `_`, such as `colab-2026.10`")
    })
}

/// Asks the index what packages require of which neither the source nor a bundled list says it.
fn add_requirements(image: &mut Runtime, options: &RuntimeImportOptions, session: &Session<'_>) -> Result<(), Failure> {
    let unrecorded = image.unrecorded();
    let settings = options.index.settings();
    if unrecorded.is_empty() || settings.offline {
        return Ok(());
    }
    session.say(&format!("requirements of {} from the index", counted(unrecorded.len(), "package")));
    let index = session.default_index(&settings, None)?;
    let client = session.client(std::slice::from_ref(&index), settings.limits)?;
    let (version, architecture) = (image.python.clone(), image.architecture.clone());
    let facts = PythonFacts { version, architecture, libc: LIBC, free_threaded: false };
    let reader = WheelReader::new(session, &client, index, facts, false)?;
    image.requires.extend(reader.requirements(&unrecorded, &image.packages, session.matrix)?);
    Ok(())
}
