//! `init`: a commented starter profile, or one that asks for what files of other tools ask for.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::boot::import::{Imported, IndexAnswers, ProfileHead, of_environment, of_files, profile_name};
use crate::boot::machine::MachineRequest;
use crate::boot::profile::STARTER;
use crate::boot::session::Session;
use crate::boot::verdict::{Report, path_text};
use crate::cli::arguments::{InitOptions, MachineOptions, PlanOptions, PreviewOptions};
use crate::cli::verbs::plan;
use crate::core::diag::{Failure, counted, shell_word};
use crate::core::host::destination::{is_stdout, write_output};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::golden::cell::render_form_notebook;

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
    /// That of `plan`, where it was made from other files.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<serde_json::Value>,
}

pub(super) fn run(options: &InitOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let path = options.path();
    let is_bare = options.from().is_empty() && options.python.is_none();
    let is_starter = is_bare || options.notebook;
    if !is_stdout(path) && path.is_there() && (is_starter || files::read_text(path, "profile")? != STARTER) {
        return Err(Failure::input(format!("`{}` exists already", path.display()))
            .help("edit it, name another file, or delete it to begin again"));
    }
    if is_starter {
        return starter(options, session);
    }
    let made = taken_over(options, session)?;
    if made.packages == 0 {
        let nothing = Failure::input("there is no package to take over").help("nothing was written");
        return Err(made.left_out.into_iter().fold(nothing, Failure::cause));
    }
    let report = InitReport { path, packages: Some(made.packages), left_out: made.left_out.clone(), plan: None };
    if is_stdout(path) {
        let findings = made.not_taken_over().into_iter().collect();
        return Ok(Report::new(report, String::new()).with_findings(findings).printing(Some(made.text)));
    }
    write(path, &made.text)?;
    let done = format!("wrote {} with {}", shell_word(path), counted(made.packages, "package"));
    let mut plan = plan::run(&previewed(options, session), session).map_err(|failure| {
        let lines = counted(made.left_out.len(), "line");
        let rest = if made.left_out.is_empty() { String::new() } else { format!("; it lists {lines} not taken over") };
        let failure = failure.advise(format!("{done}{rest}"));
        let runtime = options.runtime.as_ref().map(|name| format!(" --runtime {name}")).unwrap_or_default();
        failure.advise(format!("once this is corrected: `colab-boot plan {}{runtime}`", shell_word(path)))
    })?;
    plan.data = serde_json::to_value(InitReport { plan: Some(plan.data), ..report }).unwrap_or_default();
    plan.findings.splice(0..0, made.not_taken_over());
    plan.talk.insert(0, done);
    Ok(plan)
}

/// Writes the starter profile, and says of what else in its folder a profile can be made; or the notebook with a form.
fn starter(options: &InitOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let (path, name) = (options.path(), shell_word(options.path()));
    let text = if options.notebook { render_form_notebook() } else { STARTER.to_owned() };
    let report = InitReport { path, packages: None, left_out: Vec::new(), plan: None };
    let mut report = Report::new(report, String::new());
    if is_stdout(path) {
        return Ok(report.printing(Some(text)));
    }
    let found = session.importable(path.parent().unwrap_or(path));
    write(path, &text)?;
    if options.notebook {
        report.talk.push(format!("wrote {name}; next: open it, fill in the form, and run all cells"));
        return Ok(report);
    }
    report.talk.push(format!("wrote {name}; next: edit it, then `colab-boot plan {name}`"));
    let commands = found.iter().map(|from| format!("  colab-boot init {name} --from {}", shell_word(from)));
    report.talk.extend((!found.is_empty()).then(|| "or, to start from what you have:".to_owned()));
    report.talk.extend(commands);
    Ok(report)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), files::create_folder)?;
    write_output(path, text.as_bytes())
}

/// How the written profile is planned.
fn previewed(options: &InitOptions, session: &Session<'_>) -> PreviewOptions {
    let machine = MachineOptions {
        python: python_of(options, session),
        runtime: options.runtime.clone(),
        ..MachineOptions::default()
    };
    let (profile, index) = (options.path().to_owned(), options.index.clone());
    PreviewOptions {
        plan: PlanOptions { profile, lock: None, locked: false, script: None, machine, index },
        add_apt: false,
    }
}

/// The Python that is meant. A variable names one to plan for, never one to take over.
fn python_of(options: &InitOptions, session: &Session<'_>) -> Option<PathBuf> {
    options.python.clone().or_else(|| session.environment.get("COLAB_BOOT_PYTHON").map(PathBuf::from))
}

/// The profile that asks for what the named files ask for, or for what is installed in an environment.
fn taken_over(options: &InitOptions, session: &Session<'_>) -> Result<Imported, Failure> {
    let (given, runtime) = (python_of(options, session), options.runtime.clone());
    let request = MachineRequest { python: given, runtime: runtime.clone(), system: true, ..MachineRequest::default() };
    let folder = match options.from() {
        [] => options.python.clone(),
        [folder] => Some(folder.clone()).filter(|folder| folder.is_folder_there()),
        _ => None,
    };
    let name = profile_name(options.path());
    // An image in a file is no name that other machines know.
    let named = runtime.as_deref().filter(|runtime| !Path::new(runtime).is_there());
    let head = ProfileHead { name: &name, runtime: named };
    if let Some(folder) = folder {
        let request = MachineRequest { python: Some(folder), runtime: None, ..request };
        return of_environment(&head, &session.machine(&request)?, session.matrix);
    }
    let python = session.machine_near(&request, Some(options.path()))?.python_facts()?;
    let beside = options.path().parent().unwrap_or(Path::new(""));
    let answers = IndexAnswers { session, settings: &options.index.settings(), python: &python };
    of_files(&head, (options.from(), beside), &answers)
}
