//! Libraries that what is there was linked against, and nothing there carries.

use std::collections::BTreeSet;

use crate::boot::audit::{Audited, Environment};
use crate::core::diag::{Code, Finding, listed};
use crate::core::matrix::{Link, Matrix, Missing};

/// Findings about packages that are linked against the CUDA of their build: an error where the environment has another
/// CUDA's libraries, a warning where it has none that are known of.
pub(super) fn links(environment: &Environment, matrix: &Matrix) -> Vec<Finding> {
    let by_build = environment.held.iter().filter_map(|held| by_build(environment, matrix, held));
    let by_rows = environment.held.iter().filter_map(|held| by_row(environment, matrix, held));
    let by_cuda = environment.held.iter().filter_map(|held| by_cuda(environment, matrix, held));
    by_build.chain(by_rows).chain(by_cuda).collect()
}

/// A package that is linked against the CUDA of its build.
fn by_build(environment: &Environment, matrix: &Matrix, held: &Audited) -> Option<Finding> {
    let link = matrix.link(&held.name, &held.version)?;
    let major = matrix.linked_major(link, &held.version, held.build.as_ref())?;
    let others = environment.held.iter().filter(|other| other.name != held.name);
    let others = others.map(|other| (&other.name, &other.version));
    let (mut carried, debian) = (matrix.carried(link, others.clone()), of_debian(environment, link));
    let absent = matrix.absent(link, major, &others);
    if absent.is_empty() || debian.contains(&major) {
        return None;
    }
    carried.extend(debian);
    // The others of a file may have what it does not name.
    let is_other_cuda = !carried.is_empty() && !carried.contains(&major);
    if !is_other_cuda && !environment.complete {
        return None;
    }
    let (libraries, without) = (listed(&absent), &link.without);
    let message = format!("{} {} needs {libraries}, which no installed package contains", held.name, held.version);
    let majors: Vec<String> = carried.iter().map(ToString::to_string).collect();
    let finding = if !is_other_cuda || link.runs_on_cpu {
        Finding::warning(Code::LibraryMissing, message)
    } else {
        Finding::error(Code::LibraryMissing, message)
    };
    let installed = is_other_cuda.then(|| format!("the installed libraries are for CUDA {}", majors.join(" and ")));
    let finding = installed.into_iter().fold(finding, Finding::with_note);
    let finding = finding.about(held.subject());
    let other = || format!("choose a release for the installed CUDA, or add `{}`", link.carrier_of(major));
    let help = link.bringer().filter(|_| !is_other_cuda).unwrap_or_else(other);
    Some(held.placed(finding.with_note(format!("without that library, {without}")).with_help(help)))
}

/// A package that has no library for the CUDA of the one that it works with.
fn by_cuda(environment: &Environment, matrix: &Matrix, held: &Audited) -> Option<Finding> {
    let row = matrix.by_cuda(&held.name, &held.version)?;
    let framework = environment.held.iter().find(|other| other.name == row.of)?;
    let cuda = matrix.cuda_of(&framework.name, &framework.version).filter(|cuda| !row.has(*cuda))?;
    let message = format!("{} {} has no library for CUDA {cuda}", held.name, held.version);
    let known = row.cuda.iter().map(ToString::to_string).collect::<Vec<_>>();
    let finding = Finding::error(Code::LibraryMissing, message)
        .about(held.subject())
        .with_note(format!(
            "{} {} is for CUDA {cuda}; {} has libraries for {}",
            framework.name,
            framework.version,
            held.name,
            listed(&known)
        ))
        .with_note(format!("without one {}", row.without))
        .with_help(format!("choose releases of {} and {} for the same CUDA", held.name, framework.name));
    Some(held.placed(finding))
}

/// The same of a package whose wheels were read into rows, or whose files were read where they are.
fn by_row(environment: &Environment, matrix: &Matrix, held: &Audited) -> Option<Finding> {
    let row = matrix.linkages.of(&held.name).and_then(|file| file.row(&held.version)).map(|row| &row.linkage);
    let linkage = row.or(held.linkage.as_ref())?;
    let others = environment.held.iter().filter(|other| other.name != held.name);
    let missing = matrix.missing(&held.name, linkage, &others.map(|other| (&other.name, &other.version)))?;
    let Missing { library, instead, carrier } = missing;
    let message = format!("{} {} needs {library}, which no installed package contains", held.name, held.version);
    let finding = Finding::error(Code::LibraryMissing, message)
        .about(held.subject())
        .with_note(format!("{instead} is installed; without that library its compiled code can't be loaded"))
        .with_help(format!("choose a release for the installed CUDA, or add `{carrier}`"));
    matrix.link(&held.name, &held.version).is_none().then(|| held.placed(finding))
}

/// The CUDA majors of which Debian packages bring the library: `libcublas-12-8`, `cuda-cudart-13-0`.
fn of_debian(environment: &Environment, link: &Link) -> BTreeSet<u32> {
    let stem = link.library.trim_start_matches("lib").trim_end_matches(".so").trim_end_matches("Lt");
    environment
        .debian
        .iter()
        .filter_map(|(name, _)| {
            let rest = name.strip_prefix("cuda-").or_else(|| name.strip_prefix("lib"))?.strip_prefix(stem)?;
            rest.strip_prefix('-')?.split('-').next()?.parse().ok()
        })
        .collect()
}
