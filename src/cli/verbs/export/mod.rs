//! `export`: a profile and its lock as files of other tools.

mod notebook;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use url::Url;

use crate::boot::export::{
    Base, LockView, devcontainer, dockerfile, image_constraints, is_exported, lock_constraints, must_be_on_indexes,
    pylock, requirements, script_block, target_of,
};
use crate::boot::lock::{LockedPackage, LockedTarget, lock_path};
use crate::boot::profile::Profile;
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::{ContainerOptions, ExportVerb, ExportedOptions};
use crate::core::diag::{Failure, others};
use crate::core::host::destination::{is_stdout, write_output};
use crate::core::host::files;

#[derive(Serialize)]
struct ExportReport {
    files: Vec<String>,
    check: bool,
}

/// Files with their texts.
type Texts = Vec<(PathBuf, String)>;

pub(super) fn run(verb: &ExportVerb, session: &Session<'_>) -> Result<Report, Failure> {
    let Some(options) = verb.exported() else {
        let ExportVerb::Notebook(options) = verb else { return Err(Failure::bug("an export of nothing")) };
        return notebook::run(options, session);
    };
    let output = verb.output().cloned().unwrap_or_else(|| PathBuf::from("-"));
    let has_file = verb.output().is_some() || matches!(verb, ExportVerb::Dockerfile(_) | ExportVerb::Devcontainer(_));
    if options.check && !has_file {
        return Err(Failure::input("--check compares with a file, and none is named").help("name it with --output"));
    }
    if let ExportVerb::Constraints(constraints) = verb
        && let Some(name) = &constraints.runtime
    {
        let runtimes = session.runtimes()?;
        let runtime = runtimes.find(name)?;
        return written(&[(output, image_constraints(&runtime))], options.check);
    }
    let lock_file = lock_path(&options.profile, options.lock.as_ref());
    let (profile, lock) = session.with_fresh_lock(&options.profile, &lock_file)?;
    let target = target_of(&lock, options.target.as_deref())?;
    if !matches!(verb, ExportVerb::Constraints(_)) {
        must_be_on_indexes(target)?;
    }
    let addresses = addresses(verb, (options, &profile), target, session)?;
    let here: Vec<&str> =
        addresses.iter().filter(|(_, url)| url.scheme() == "file").map(|(file, _)| file.as_str()).collect();
    let is_container = matches!(verb, ExportVerb::Dockerfile(_) | ExportVerb::Devcontainer(_));
    if let Some(file) = here.first().filter(|_| is_container) {
        return Err(Failure::answer(format!("`{file}` is in a folder of this machine, which no container sees"))
            .help("give its `[[index]]` a `url` that the build can reach in place of the `path`"));
    }
    let view = LockView { profile: &profile, lock: &lock, target, addresses: &addresses };
    let texts = match verb {
        ExportVerb::Constraints(_) => vec![(output, lock_constraints(&view))],
        ExportVerb::Requirements(_) => vec![(output, requirements(&view))],
        ExportVerb::Script(_) => vec![(output, script_block(&view))],
        ExportVerb::Pylock(pylock_options) => {
            let folder = pylock_options.wheelhouse.as_deref().map(|folder| seen_from(&output, folder)).transpose()?;
            vec![(output, pylock(&view, folder.as_deref()))]
        }
        ExportVerb::Dockerfile(options) => container(&view, options, &options.out),
        ExportVerb::Devcontainer(options) => {
            let folder = options.out.join(".devcontainer");
            let mut texts = container(&view, options, &folder);
            texts.push((folder.join("devcontainer.json"), devcontainer(&view)));
            texts
        }
        ExportVerb::Notebook(_) => Vec::new(),
    };
    let mut report = written(&texts, options.check)?;
    if let Some(file) = here.first() {
        let more = others(here.len() - 1);
        report.talk.push(format!("it works on this machine only: it names `{file}`{more} in a folder"));
    }
    Ok(report)
}

fn container(view: &LockView<'_>, options: &ContainerOptions, folder: &Path) -> Texts {
    let base = options.base.as_deref().map_or(Base::Usual, Base::Named);
    let texts = [("Dockerfile", dockerfile(view, &base)), ("requirements.txt", requirements(view))];
    texts.into_iter().map(|(name, text)| (folder.join(name), text)).collect()
}

/// The addresses that the format has to have.
fn addresses(
    verb: &ExportVerb,
    (options, profile): (&ExportedOptions, &Profile),
    target: &LockedTarget,
    session: &Session<'_>,
) -> Result<BTreeMap<String, Url>, Failure> {
    let is_needed = |package: &&LockedPackage| match verb {
        ExportVerb::Constraints(_) | ExportVerb::Notebook(_) => false,
        ExportVerb::Pylock(pylock) => pylock.wheelhouse.is_none(),
        _ => package.wheel().is_some_and(|wheel| wheel.index != "default"),
    };
    let packages: Vec<&LockedPackage> = target.packages.iter().filter(is_needed).collect();
    if packages.is_empty() {
        return Ok(BTreeMap::new());
    }
    let settings = options.index.settings();
    session.sources_of_target(&settings, Some(profile), target)?.addresses(&packages)
}

/// `folder` as a file beside `output` names it.
fn seen_from(output: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    if is_stdout(output) {
        return Ok(folder.to_owned());
    }
    let (output, folder) = (files::absolute(output)?, files::absolute(folder)?);
    let beside = output.parent().unwrap_or(&output);
    Ok(folder.strip_prefix(beside).map_or_else(|_| folder.clone(), Path::to_owned))
}

/// Writes `texts`, or checks that they are there.
fn written(texts: &[(PathBuf, String)], check: bool) -> Result<Report, Failure> {
    let named = texts.iter().map(|(path, _)| path.display().to_string()).collect();
    let mut report = Report::new(ExportReport { files: named, check }, String::new());
    for (path, text) in texts {
        if is_stdout(path) {
            return Ok(report.printing(Some(text.clone())));
        }
        let here = files::read_optional(path)?;
        if check && here.as_deref() != Some(text) {
            return Err(Failure::answer(format!("`{}` does not match its profile and lock", path.display()))
                .help("run the command without --check to write it"));
        }
        if !check && here.is_some_and(|here| !is_exported(&here)) {
            return Err(Failure::input(format!("`{}` exists, and `export` did not write it", path.display()))
                .help("nothing was written; name another file or folder"));
        }
    }
    for (path, text) in texts.iter().filter(|_| !check) {
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), files::create_folder)?;
        write_output(path, text.as_bytes())?;
        report.talk.push(format!("wrote {}", path.display()));
    }
    Ok(report)
}
