//! What lies in the folder of a repository besides its index: files and folders that it does not name, records and
//! statements that nobody has signed.

use std::path::Path;

use crate::core::diag::{Code, Finding};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::golden::calendar::Day;
use crate::golden::entry::Release;
use crate::golden::index_trust::{Confirmation, Trust, Unconfirmed, confirmed_until};
use crate::golden::repository::{FRESH_FILE, Kept, Repository, SIGNERS_FILE};
use crate::golden::signers::Signers;

/// Records that are not signed by whom the index names. Who has left the list since is known by the key.
pub fn witnesses(repository: &Repository, release: &Release, signers: &Signers) -> Vec<Finding> {
    let text = |name: &String| {
        let file = release.files.iter().find(|file| file.name == *name)?;
        String::from_utf8(repository.file(release, file).ok()?).ok()
    };
    release
        .verified
        .iter()
        .filter_map(|evidence| {
            let by = evidence.by.as_ref()?;
            let said = text(&evidence.file).zip(text(&format!("{}.sig", evidence.file)));
            let fault = match said.map(|(record, signature)| signers.witness(&record, &signature)) {
                None => return None,
                Some(Err(why)) => why,
                Some(Ok(name)) if name == *by || name.starts_with("SHA256:") => return None,
                Some(Ok(name)) => format!("it is signed by {name}"),
            };
            let message = format!("`{}/{}` is not signed by {by}: {fault}", release.folder(), evidence.file);
            Some(Finding::error(Code::GoldenFileDiffers, message))
        })
        .collect()
}

/// Folders of releases that the index does not name.
pub fn beside(kept: &Kept) -> Vec<Finding> {
    let warning = |message: String| Finding::warning(Code::GoldenFileDiffers, message);
    let is_known = |title: &str| kept.catalogue.releases.iter().any(|release| release.title() == title);
    let mut found = Vec::new();
    for name in files::names_if_any(&kept.folder) {
        let versions = files::names_if_any(&kept.folder.join(&name)).into_iter();
        let releases = versions
            .filter(|version| kept.folder.join(&name).join(version).join(format!("{name}.lock")).is_file_there());
        let lost = releases.filter(|version| !is_known(&format!("{name}@{version}")));
        found.extend(lost.map(|version| {
            warning(format!("`{name}/{version}` is a release that is not in the index"))
                .with_help("publish its profile again, or remove the folder")
        }));
    }
    found
}

/// Until when `fresh.toml` confirms the index of `kept`, if it does; a finding for one that no trusted key has signed,
/// which readers pass over.
pub fn confirmation(kept: &Kept, signers: &Signers, now: u64) -> (Option<Day>, Option<Finding>) {
    let read = |name| files::read_optional(&kept.folder.join(name)).ok().flatten();
    let Some(statement) = read(FRESH_FILE) else { return (None, None) };
    let list = read(SIGNERS_FILE).unwrap_or_default();
    let fresh = Confirmation { statement: statement.as_bytes(), list: list.as_bytes() };
    let trust = Trust { signers: signers.clone(), threshold: 1, ..Trust::default() };
    match confirmed_until(fresh, &kept.catalogue, kept.digest(), &trust, now) {
        Ok(until) => (Some(until), None),
        Err(Unconfirmed::Over) => (None, None),
        Err(Unconfirmed::Wrong) => {
            let message = format!("`{FRESH_FILE}` has no trusted signature for this index");
            let finding = Finding::warning(Code::GoldenStale, message);
            (None, Some(finding.with_help("sign it with `colab-boot golden sign --fresh`, or remove it")))
        }
    }
}

/// Files in the folder of a release that the index does not name: nobody has signed them.
pub fn strangers(folder: &Path, release: &Release) -> Vec<Finding> {
    let names = files::names_if_any(&folder.join(release.folder()));
    let strange = names.into_iter().filter(|name| !release.files.iter().any(|file| file.name == *name));
    strange
        .map(|name| {
            let message = format!("`{}/{name}` is not in the index", release.folder());
            Finding::warning(Code::GoldenFileDiffers, message)
        })
        .collect()
}
