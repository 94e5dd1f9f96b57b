//! Which page of an index that a framework publishes fits a target: the builds of the newest CUDA that its driver runs,
//! or those without CUDA.

use crate::boot::index::Locations;
use crate::boot::lock::LockedPackage;
use crate::boot::profile::{CudaWish, NamedIndex, Profile};
use crate::boot::resolve::Target;
use crate::core::diag::Failure;
use crate::core::matrix::{IndexPage, Matrix, forward_level};

/// The labels of the pages to try, best first; one `None` where the profile names no index that has pages. Fails where
/// none fits.
pub(super) fn pages_for(profile: &Profile, target: &Target, matrix: &Matrix) -> Result<Vec<Option<String>>, Failure> {
    let Some(named) = profile.indexes.iter().find(|index| index.page.is_some()) else {
        return Ok(vec![None]);
    };
    let known = matrix.indexes.iter().find(|index| index.name == named.name);
    let all: Vec<&IndexPage> = known.iter().flat_map(|index| &index.pages).collect();
    let mut fitting: Vec<&IndexPage> = all.iter().copied().filter(|page| fits(page, target, matrix)).collect();
    fitting.sort_by_key(|page| std::cmp::Reverse(page.cuda));
    if fitting.is_empty() {
        let labels: Vec<&str> = all.iter().map(|page| page.label.as_str()).collect();
        let driver = target.hardware.driver.as_ref();
        let driver = driver.map(|driver| format!(" with driver {driver}")).unwrap_or_default();
        return Err(Failure::answer(format!("the index `{}` has no page for {}{driver}", named.name, target.name))
            .cause(format!("it has {}", labels.join(", ")))
            .help("change `cuda` in `[target]`, or remove `index` to use the default index"));
    }
    Ok(fitting.into_iter().map(|page| Some(page.label.clone())).collect())
}

fn fits(page: &IndexPage, target: &Target, matrix: &Matrix) -> bool {
    let hardware = &target.hardware;
    let has_gpu = hardware.driver.is_some() || !hardware.gpus.is_empty();
    let Some(cuda) = page.cuda else {
        return target.cuda == CudaWish::Cpu || target.cuda == CudaWish::Auto && !has_gpu;
    };
    let wished = match target.cuda {
        CudaWish::Cpu => false,
        CudaWish::Auto => has_gpu,
        CudaWish::Major(major) => cuda.major == major,
        CudaWish::Exact(exact) => cuda == exact,
    };
    let runs =
        hardware.driver.as_ref().is_none_or(|driver| matrix.driver_floor(cuda).is_some_and(|floor| driver >= floor));
    wished && (runs || forward_level(matrix, hardware).is_some_and(|level| level >= cuda))
}

/// `locations` at the page that `packages` are from.
pub(super) fn at_page(
    locations: Locations,
    packages: &[&LockedPackage],
    profile: Option<&Profile>,
    matrix: &Matrix,
) -> Locations {
    let indexes = profile.map(|profile| profile.indexes.as_slice()).unwrap_or_default();
    match page_of(packages.iter().copied(), indexes) {
        Some(label) => locations.page(&label, &matrix.indexes),
        None => locations,
    }
}

/// The page that the wheels of a lock are from, where the profile names an index with pages: their label says it.
pub(super) fn page_of<'p>(
    packages: impl IntoIterator<Item = &'p LockedPackage>,
    indexes: &[NamedIndex],
) -> Option<String> {
    packages.into_iter().find_map(|package| {
        let from = package.wheel()?.index.as_str();
        let label = package.version.local().iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
        let page = indexes.iter().find(|index| index.name == from && index.page.as_ref() == Some(&label))?;
        page.page.clone()
    })
}
