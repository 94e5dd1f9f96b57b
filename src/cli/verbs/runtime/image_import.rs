//! `runtime import`: the description of a notebook image from a fingerprint, or from Colab's public manifest.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::image_source::{ImageSource, must_be_new};
use crate::boot::machine::Runtime;
use crate::boot::reading::WheelReader;
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::RuntimeImportOptions;
use crate::core::diag::{Failure, counted};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::{Libc, PythonFacts};

/// The requirements of an image's packages are looked up whatever C library their wheels need: they are installed.
const LIBC: Libc = Libc::Glibc(2, 45);

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
    let ImageSource { mut images, day, origin, left_out } = ImageSource::read(options, session)?;
    let folder = options.output.clone().unwrap_or_else(|| session.runtimes_folder());
    let place = |image: &Runtime| folder.join(format!("{}.toml", image.full_name()));
    if options.output.is_none() {
        let known = session.runtimes()?;
        images.iter().try_for_each(|image| must_be_new(image, day, &known))?;
    }
    images.iter().try_for_each(|image| must_be_an_image(&place(image)))?;
    files::create_folder(&folder)?;
    files::remove_temporaries(&folder)?;
    let (mut imported, mut text) = (Vec::new(), String::new());
    for image in &mut images {
        add_requirements(image, options, session)?;
        let file = place(image);
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
        imported.push(one);
    }
    let mut report = Report::new(ImportReport { runtimes: imported }, text);
    report.talk.extend(left_out);
    Ok(report)
}

/// Refuses to replace what is no description of an image. In the folder of images even a damaged one is.
fn must_be_an_image(path: &Path) -> Result<(), Failure> {
    let is_ours = path.is_missing() || path.parent().is_some_and(|folder| folder.ends_with("runtimes"));
    if is_ours || Runtime::read(path).is_ok() {
        return Ok(());
    }
    Err(Failure::input(format!("`{}` exists and does not describe a notebook image", path.display()))
        .help("give the image another name with --name, or another folder with --output"))
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
