//! `forecast`: what would become of profiles on notebook images, before anybody meets it.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use crate::boot::lock::lock_path;
use crate::boot::machine::{MachineRequest, Runtime};
use crate::boot::planned::{gpus_of, outlook};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::ForecastOptions;
use crate::cli::output::{forecast_edges, render_forecast};
use crate::core::diag::Failure;
use crate::core::host::parallel::on_all_cores;
use crate::golden::calendar::Day;
use crate::golden::entry::Standing;
use crate::golden::repository::Kept;

pub(super) fn run(options: &ForecastOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let profiles = profiles(options, session)?;
    let with_gpu = machines(options, |image| !image.gpus.is_empty(), session)?;
    let without = machines(options, |image| image.accelerator.as_deref() == Some("cpu"), session)?;
    let settings = options.index.settings();
    let mut wanted = Vec::new();
    for path in &profiles {
        let machines = if needs_no_gpu(path, session) { &without } else { &with_gpu };
        for (name, machine) in machines {
            wanted.extend(gpus_of(session, machine)?.into_iter().map(|gpu| (path, name, machine, gpu)));
        }
    }
    let wanted: Vec<_> = wanted.into_iter().enumerate().collect();
    let mut all = on_all_cores(&wanted, |(at, (path, name, machine, gpu))| {
        session.log.detail(|| format!("{} on {name} {}", path.display(), gpu.as_deref().unwrap_or_default()));
        Some((*at, outlook(session, path, (name, machine, gpu.as_deref()), &settings)))
    });
    all.sort_by_key(|(at, _)| *at);
    let all = all.into_iter().map(|(_, one)| one).collect::<Result<Vec<_>, Failure>>()?;
    let mut report = Report::new(&all, render_forecast(&all));
    report.talk.extend(forecast_edges(&all));
    Ok(report)
}

/// Whether a profile has a lock without CUDA: its users choose an image without a GPU.
fn needs_no_gpu(profile: &Path, session: &Session<'_>) -> bool {
    let lock = session.read_lock(&lock_path(profile, None)).ok().flatten();
    lock.is_some_and(|lock| lock.targets.iter().all(|target| target.cuda.is_none()))
}

/// The profiles that are named, or those of the current releases of a repository.
fn profiles(options: &ForecastOptions, session: &Session<'_>) -> Result<Vec<PathBuf>, Failure> {
    let Some(folder) = &options.repo else { return Ok(options.profiles.clone()) };
    let kept = Kept::open(folder, session)?;
    let today = Day::at(session.now);
    let alive = kept.catalogue.releases.iter().filter(|release| release.standing(today) <= Standing::Deprecated);
    let path =
        |release: &crate::golden::entry::Release| folder.join(release.folder()).join(format!("{}.toml", release.name));
    let paths: Vec<PathBuf> = alive.map(path).collect();
    if paths.is_empty() {
        return Err(Failure::input(format!("`{}` has no current release", folder.display())));
    }
    Ok(paths)
}

/// The machines and images that are named, all images, or the two newest that are wanted; newest first. Each has the
/// name that the table gives it.
fn machines(
    options: &ForecastOptions,
    is_wanted: impl Fn(&Runtime) -> bool,
    session: &Session<'_>,
) -> Result<Vec<(String, MachineRequest)>, Failure> {
    let known = session.runtimes()?;
    if !options.runtime.is_empty() || !options.machine.is_empty() {
        let recorded = options.machine.iter().map(|path| {
            let machine = MachineRequest { record: Some(path.clone()), ..MachineRequest::default() };
            (path.display().to_string(), machine)
        });
        let images: Result<Vec<_>, _> = options
            .runtime
            .iter()
            .map(|name| Ok((known.find(name)?.full_name(), MachineRequest::runtime(name))))
            .collect();
        return Ok(recorded.chain(images?).collect());
    }
    let mut images: Vec<&Runtime> =
        known.iter().map(|(image, _)| image).filter(|one| !one.packages.is_empty()).collect();
    images.sort_by_key(|image| Reverse((image.day(), image.full_name())));
    if !options.all {
        images.retain(|image| is_wanted(image));
        images.truncate(2);
    }
    let named = images.iter().map(|image| image.full_name()).map(|name| (name.clone(), MachineRequest::runtime(&name)));
    Ok(named.collect())
}
