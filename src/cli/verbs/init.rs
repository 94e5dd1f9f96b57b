//! `init`: a commented starter profile, or one that asks for what files of other tools ask for.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::boot::goal::read_listed_text;
use crate::boot::import::{Imported, imported, of_environment, script_block};
use crate::boot::machine::MachineRequest;
use crate::boot::profile::STARTER;
use crate::boot::session::Session;
use crate::boot::verdict::{Report, path_text};
use crate::cli::arguments::InitOptions;
use crate::core::diag::{Code, Failure, Finding, counted, shell_word};
use crate::core::host::destination::{is_stdout, write_output};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::ipynb::Ipynb;
use crate::core::model::requirement::lenient_specifiers;
use crate::core::model::version::range_of;

/// Files of other tools that `init` looks for in the folder of the profile.
const KNOWN: [&str; 5] = ["pyproject.toml", "requirements.txt", "environment.yml", "uv.lock", "pylock.toml"];

#[derive(Serialize)]
struct InitReport<'a> {
    #[serde(serialize_with = "path_text")]
    path: &'a Path,
    /// How many packages it names, where it was made from other files.
    #[serde(skip_serializing_if = "Option::is_none")]
    packages: Option<usize>,
    /// What of them is not in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

pub(super) fn run(options: &InitOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let path = &options.path;
    if !is_stdout(path) && path.is_there() {
        return Err(
            Failure::input(format!("`{}` exists already", path.display())).help("name another file, or edit this one")
        );
    }
    let made = if options.from.is_empty() { None } else { Some(taken_over(options, session)?) };
    let text = made.as_ref().map_or(STARTER, |made| made.text.as_str());
    let (packages, left_out) = made.as_ref().map(|made| (made.packages, made.left_out.clone())).unzip();
    let report = Report::new(InitReport { path, packages, left_out: left_out.unwrap_or_default() }, String::new());
    let mut report = report.with_findings(made.as_ref().and_then(not_taken_over).into_iter().collect());
    if is_stdout(path) {
        return Ok(report.printing(Some(text.to_owned())));
    }
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), files::create_folder)?;
    write_output(path, text.as_bytes())?;
    let name = shell_word(path);
    report.talk.push(match packages {
        Some(packages) => format!("wrote {name} with {}; next: `colab-boot plan {name}`", counted(packages, "package")),
        None => format!("wrote {name}; next: edit it, then `colab-boot plan {name}`"),
    });
    let folder = path.parent().unwrap_or(Path::new(""));
    let found: Vec<PathBuf> = KNOWN.iter().map(|name| folder.join(name)).filter(|file| file.is_file_there()).collect();
    if packages.is_none()
        && let Some(first) = found.first()
    {
        let first = shell_word(first);
        report.talk.push(format!("`colab-boot init --from {first} OTHER.toml` makes a profile of `{first}`"));
    }
    Ok(report)
}

/// A warning with each line that is not in the profile.
fn not_taken_over(made: &Imported) -> Option<Finding> {
    let message =
        format!("{} not taken over; the profile lists them as comments", counted(made.left_out.len(), "line"));
    let finding = Finding::warning(Code::ImportIncomplete, message);
    (!made.left_out.is_empty()).then(|| made.left_out.iter().cloned().fold(finding, Finding::with_note))
}

/// The profile that asks for what the named files ask for.
fn taken_over(options: &InitOptions, session: &Session<'_>) -> Result<Imported, Failure> {
    let name = profile_name(&options.path, &options.from[0]);
    if let [folder] = options.from.as_slice()
        && folder.is_folder_there()
    {
        let request = MachineRequest { python: Some(folder.clone()), system: true, ..MachineRequest::default() };
        return of_environment(&name, &session.machine(&request)?, session.matrix);
    }
    let seen = session.machine_near(&MachineRequest { system: true, ..MachineRequest::default() }, None)?;
    let python = seen.python_facts()?;
    let (mut all, mut notes) = (Vec::new(), Vec::new());
    for file in &options.from {
        let path = if is_stdout(file) { PathBuf::from("/dev/stdin") } else { file.clone() };
        let shown = file.display().to_string();
        let text = files::read_text(&path, "file")?;
        if let Some(block) = cells_of(&text).iter().find_map(|cell| script_block(cell)) {
            let block = block.map_err(|why| Failure::input(format!("the metadata of `{shown}`")).cause(why))?;
            let lines: String = block.dependencies.iter().map(|line| format!("{line}\n")).collect();
            all.push((shown.clone(), read_listed_text(&path.with_extension("txt"), &lines, &python)?));
            let is_met = |wanted: &String| {
                let range = lenient_specifiers(wanted).map(|specifiers| range_of(&specifiers));
                range.is_none_or(|range| range.contains(&python.version.only_release()))
            };
            let other = block.requires_python.filter(|wanted| !is_met(wanted));
            notes
                .extend(other.map(|wanted| format!("{shown}: requires-python `{wanted}`: this Python is another one")));
        } else {
            all.push((shown, read_listed_text(&path, &text, &python)?));
        }
    }
    Ok(imported(&name, &all, session.matrix, notes))
}

/// The code cells of a notebook; any other text as it is.
fn cells_of(text: &str) -> Vec<String> {
    let Ok(notebook) = Ipynb::parse(text) else { return vec![text.to_owned()] };
    notebook.cells.into_iter().filter(|cell| cell.is_code).map(|cell| cell.source).collect()
}

/// A name for the profile at `path`: that of the file, or of the folder that it or its source lies in.
fn profile_name(path: &Path, from: &Path) -> String {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let of_folder = || from.real().ok()?.parent()?.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = stem(path).filter(|name| name != "profile" && name != "-").or_else(of_folder).unwrap_or_default();
    let clean = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(clean).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "my-notebook".to_owned() } else { name.to_owned() }
}
