//! Bringing the wheels of an apply to its folder, before anything is changed.

use std::path::Path;

use url::Url;

use crate::cli::ApplyOptions;
use crate::command::apply::Work;
use crate::command::gather::from_trouble;
use crate::diag::{Code, Failure, Finding, Kind};
use crate::host::files;
use crate::index::{Client, Download, Locations, fetch_all};
use crate::lock::{LockedPackage, LockedWheel};
use crate::model::PackageName;
use crate::model::catalog::Candidate;
use crate::output::{bar, bytes};

/// What stays free on a disk that we write to.
const MARGIN: u64 = 256 << 20;

impl Work<'_> {
    /// Brings the wheels. Ends before the first change.
    pub(super) fn fetch(
        &self,
        options: &ApplyOptions,
        packages: &[&LockedPackage],
        folder: &Path,
    ) -> Result<(), Failure> {
        if packages.is_empty() {
            return files::create_private_folder(folder);
        }
        let plan = &self.planned.plan;
        enough_space(&self.session.paths.cache, plan.download_bytes, "the wheels")?;
        let size = if plan.download_bytes > 0 { format!(", {}", bytes(plan.download_bytes)) } else { String::new() };
        let plural = if packages.len() == 1 { "" } else { "s" };
        self.session.say(&format!("fetching {} wheel{plural}{size}", packages.len()));
        let planned = self.planned;
        let locations = self.session.locations(&options.plan.index, &planned.profile, &planned.seen.machine)?;
        let client = self.session.client(&locations.addresses(), options.plan.index.connections)?;
        let in_folder = |package: &&LockedPackage| {
            let wheel = package.wheel.as_ref()?;
            download(wheel, locations.local(&package.name, &wheel.file)?)
        };
        let (local, remote): (Vec<&LockedPackage>, Vec<&LockedPackage>) =
            packages.iter().partition(|package| in_folder(package).is_some());
        let mut downloads: Vec<Download> = local.iter().filter_map(in_folder).collect();
        if options.plan.index.offline {
            all_here(&remote, folder)?;
        } else if !remote.is_empty() {
            downloads.extend(self.downloads(locations, &remote, &client)?);
        }
        fetch_all(&client, &downloads, folder, &bar(plan.download_bytes, self.style))
    }

    /// Addresses of the locked files that no folder has. The lock names none, so that it works through any mirror; the index is asked.
    fn downloads(
        &self,
        locations: Locations,
        packages: &[&LockedPackage],
        client: &Client,
    ) -> Result<Vec<Download>, Failure> {
        let direct = |name: &PackageName| {
            let wanted = self.planned.profile.wanted.iter().find(|one| one.name == *name);
            wanted.and_then(|one| one.direct.as_ref())
        };
        let (given, listed): (Vec<&LockedPackage>, Vec<&LockedPackage>) =
            packages.iter().partition(|package| direct(&package.name).is_some());
        let names: Vec<PackageName> = listed.iter().map(|package| package.name.clone()).collect();
        let listings = self.session.listings(self.planned, locations, client, &names)?;
        let mut downloads = Vec::new();
        for (package, listing) in listed.iter().zip(listings) {
            let Some(wheel) = &package.wheel else {
                continue;
            };
            let candidate =
                listing.as_ref().and_then(|listing| listing.get(&package.version)).filter(|one| one.file == wheel.file);
            let url = candidate.map(Candidate::url).transpose().map_err(from_trouble)?.ok_or_else(|| {
                Failure::world(format!("the index no longer has `{}`", wheel.file))
                    .help("make the lock anew with `colab-boot lock`")
            })?;
            downloads.extend(download(wheel, url));
        }
        for package in given {
            if let (Some(wheel), Some(direct)) = (&package.wheel, direct(&package.name)) {
                downloads.extend(download(wheel, direct.url.clone()));
            }
        }
        Ok(downloads)
    }
}

/// What to fetch for a locked file; one without a digest is refused with the plan.
fn download(wheel: &LockedWheel, url: Url) -> Option<Download> {
    Some(Download { file: wheel.file.clone(), url, sha256: wheel.sha256? })
}

fn all_here(packages: &[&LockedPackage], folder: &Path) -> Result<(), Failure> {
    let missing =
        packages.iter().filter_map(|package| package.wheel.as_ref()).find(|wheel| !folder.join(&wheel.file).exists());
    missing.map_or(Ok(()), |wheel| {
        Err(Failure::world(format!("`{}` is not in the cache, and --offline forbids fetching it", wheel.file))
            .help("run the command once without --offline, or give a folder that has it with --find-links"))
    })
}

pub(super) fn enough_space(path: &Path, needed: u64, what: &str) -> Result<(), Failure> {
    let with_margin = needed.saturating_add(MARGIN);
    let Some(free) = files::free_bytes(path).filter(|free| needed > 0 && *free < with_margin) else {
        return Ok(());
    };
    let message = format!("{what} need {}, and `{}` has {} free", bytes(with_margin), path.display(), bytes(free));
    let finding = Finding::error(Code::DiskFull, message)
        .with_help("free some space and run the command again; nothing was changed");
    Err(Failure::from_findings(Kind::World, vec![finding]))
}
