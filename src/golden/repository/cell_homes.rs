//! Whom the cells of published releases ask and believe: what the next cells take from them, and whether they still
//! run.

use std::collections::BTreeMap;

use url::Url;

use crate::boot::session::Session;
use crate::core::diag::{Code, Finding};
use crate::core::host::files;
use crate::golden::calendar::Day;
use crate::golden::entry::{Release, Standing};
use crate::golden::in_notebook::{CarriedHome, boot_home};
use crate::golden::index_trust::Trust;
use crate::golden::repository::repository_address::Repository;
use crate::golden::repository::repository_changes::Kept;
use crate::golden::repository::trusted_read::believed;
use crate::golden::signers::Signers;

/// What the cell of `release` carries. `None` where it has no repository to ask, and where the file can't be read:
/// `golden check` reports such a file by its digest.
fn carried(kept: &Kept, release: &Release) -> Option<CarriedHome> {
    let file = release.file("ipynb")?;
    let text = files::read_optional(&kept.folder.join(release.folder()).join(&file.name)).ok().flatten()?;
    boot_home(&text)
}

/// Where the cells of the release that was published last ask, with its title.
pub fn last_address(kept: &Kept) -> Option<(String, Url)> {
    let release = kept.catalogue.releases.last()?;
    Some((release.title(), carried(kept, release)?.at.parse().ok()?))
}

/// Cells of current releases that stop, because their keys do not vouch for the index any more, and those that never
/// ask whether they were withdrawn though others do.
pub fn cell_findings(kept: &Kept, repository: &Repository, today: Day, session: &Session<'_>) -> Vec<Finding> {
    let (mut homes, mut silent) = (BTreeMap::<_, Vec<String>>::new(), Vec::new());
    for release in kept.catalogue.releases.iter().filter(|one| one.standing(today) == Standing::Current) {
        match carried(kept, release) {
            Some(home) => homes.entry((home.keys, home.threshold)).or_default().push(release.title()),
            None => silent.push(release.title()),
        }
    }
    let asks = !homes.is_empty();
    let mut findings: Vec<Finding> = homes
        .into_iter()
        .filter_map(|((keys, threshold), titles)| {
            let signers = Signers::of_keys(&keys).ok()?;
            let trust = Trust { signers, threshold, ..Trust::default() };
            let why = believed(repository, trust, false, session).err()?;
            let message = format!("cells of {} stop: their keys do not vouch for this index", titles.join(", "));
            let finding = Finding::error(Code::GoldenThreshold, message).with_note(why.to_string());
            Some(finding.with_help(
                "publish a new version of each with `--replaces VERSION`: its cells know the present keys; until \
                 then, `colab-boot golden trust` shows users the line that lets their cells run",
            ))
        })
        .collect();
    if asks && !silent.is_empty() {
        let message = format!("cells of {} never ask whether they were withdrawn; others do", silent.join(", "));
        let help = "publish a new version with `--at URL`";
        findings.push(Finding::warning(Code::GoldenUnchecked, message).with_help(help));
    }
    findings
}
