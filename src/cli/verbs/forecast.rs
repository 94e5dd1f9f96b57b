//! `forecast`: what would become of profiles on notebook images, before anybody meets it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use crate::boot::machine::{MachineRequest, Runtime};
use crate::boot::planned::{Outlook, gpus_of, outlook};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::ForecastOptions;
use crate::core::diag::{Failure, bytes};
use crate::core::model::day::day_of;
use crate::golden::calendar::Day;
use crate::golden::entry::Standing;
use crate::golden::repository::Kept;

pub(super) fn run(options: &ForecastOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let profiles = profiles(options, session)?;
    let machines = machines(options, session)?;
    let settings = options.index.settings();
    let mut all = Vec::new();
    for path in &profiles {
        for (name, machine) in &machines {
            for gpu in gpus_of(session, machine)? {
                session.log.detail(|| format!("{} on {name} {}", path.display(), gpu.as_deref().unwrap_or_default()));
                all.push(outlook(session, path, (name, machine, gpu.as_deref()), &settings)?);
            }
        }
    }
    let mut report = Report::new(&all, table(&all));
    report.talk.extend(edges(&all));
    Ok(report)
}

/// The profiles that are named, or those of the current releases of a repository.
fn profiles(options: &ForecastOptions, session: &Session<'_>) -> Result<Vec<PathBuf>, Failure> {
    let Some(folder) = &options.repo else { return Ok(options.profiles.clone()) };
    let kept = Kept::open(folder, session)?;
    let today = Day(day_of(session.now));
    let alive = kept.catalogue.releases.iter().filter(|release| release.standing(today) <= Standing::Deprecated);
    let path =
        |release: &crate::golden::entry::Release| folder.join(release.folder()).join(format!("{}.toml", release.name));
    let paths: Vec<PathBuf> = alive.map(path).collect();
    if paths.is_empty() {
        return Err(Failure::input(format!("`{}` has no current release", folder.display())));
    }
    Ok(paths)
}

/// The machines and images that are named, all images, or the two newest with a GPU; newest first. Each with the name
/// that the table gives it.
fn machines(options: &ForecastOptions, session: &Session<'_>) -> Result<Vec<(String, MachineRequest)>, Failure> {
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
        images.retain(|image| !image.gpus.is_empty());
        images.truncate(2);
    }
    let named = images.iter().map(|image| image.full_name()).map(|name| (name.clone(), MachineRequest::runtime(&name)));
    Ok(named.collect())
}

/// One line for GPUs on which the same happens.
fn table(all: &[Outlook]) -> String {
    let mut text = String::new();
    let mut last = "";
    for group in all.chunk_by(|a, b| a.profile == b.profile && a.runtime == b.runtime && said(a) == said(b)) {
        let one = &group[0];
        if one.profile != last {
            let _ = writeln!(text, "{}", one.profile);
            last = &one.profile;
        }
        let gpus: Vec<&str> = group.iter().filter_map(|one| one.gpu.as_deref()).map(short).collect();
        let gpus = if gpus.is_empty() { "no GPU".to_owned() } else { gpus.join(", ") };
        let _ = writeln!(text, "  {:<18} {gpus}\n  {:<18} {}", one.runtime, "", said(one));
    }
    let broken = all.iter().filter(|one| !one.survives).count();
    let _ = writeln!(text, "forecast: {} of {} survive", all.len() - broken, all.len());
    text
}

/// What happens, in one line.
fn said(one: &Outlook) -> String {
    if one.survives {
        let restart = if one.restart { "one restart" } else { "no restart" };
        let warnings = if one.warnings.is_empty() { String::new() } else { format!("; {}", one.warnings.join(", ")) };
        let fetched = bytes(one.download);
        return format!(
            "survives: {} to change, {} kept, {fetched} to fetch, {restart}{warnings}",
            one.changes, one.kept
        );
    }
    let code = one.code.as_ref().map(|code| format!("{code}: ")).unwrap_or_default();
    let because = one.because.as_deref().unwrap_or_default();
    format!("breaks: {code}{}", because.lines().next().unwrap_or_default())
}

/// A GPU's name without its maker's, and what distinguishes none that notebooks have.
fn short(name: &str) -> &str {
    let name = name.trim_start_matches("NVIDIA ").trim_start_matches("Tesla ");
    name.trim_end_matches(" Server Edition").split("-SXM").next().unwrap_or(name)
}

/// From which image on something breaks that all older ones run, by profile and GPU.
fn edges(all: &[Outlook]) -> Vec<String> {
    let mut by_gpu: BTreeMap<(&str, String), Vec<&Outlook>> = BTreeMap::new();
    for one in all.iter().filter(|one| one.is_image) {
        let kind = one.runtime.rsplit('-').next().unwrap_or_default();
        let gpu = one.gpu.as_deref().map_or_else(|| format!("{kind} images"), |gpu| short(gpu).to_owned());
        by_gpu.entry((&one.profile, gpu)).or_default().push(one);
    }
    let mut lines: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for ((profile, gpu), mut outlooks) in by_gpu {
        outlooks.sort_by(|a, b| a.runtime.cmp(&b.runtime));
        let good = outlooks.iter().take_while(|one| one.survives).count();
        let rest = &outlooks[good..];
        if let Some(first) = rest.first().filter(|_| good > 0 && rest.iter().all(|one| !one.survives)) {
            lines.entry((profile, &first.runtime)).or_default().push(gpu);
        }
    }
    lines
        .into_iter()
        .map(|((profile, from), gpus)| format!("{profile} breaks from {from}: {}", gpus.join(", ")))
        .collect()
}
