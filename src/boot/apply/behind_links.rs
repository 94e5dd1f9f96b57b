//! Files behind a link that leads out of the environment: installers write over what lies there, and remove none of
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::boot::apply::one_apply::Work;
use crate::boot::apply::prepared::Wheels;
use crate::boot::apply::unowned_files::written;
use crate::boot::files::lexical;
use crate::boot::machine::{Layout, record_in};
use crate::core::diag::{Code, Failure, Finding, Subject};
use crate::core::host::mounts::Look;
use crate::core::inspect::parse_record;
use crate::core::model::PackageName;

impl Work<'_> {
    /// An error for each package that has, or would have, files behind such a link.
    pub(super) fn behind_links(&self, wheels: &Wheels) -> Result<Vec<Finding>, Failure> {
        let mut places: BTreeMap<&PackageName, BTreeSet<PathBuf>> = BTreeMap::new();
        for (name, wheel) in wheels {
            places.entry(name).or_default().extend(written(wheel, self.layout).map(|one| one.place));
        }
        for (change, site, info) in self.infos(|change| change.from.is_some())? {
            let record = record_in(&info)?.unwrap_or_default();
            let old = parse_record(&record).into_iter().filter(|one| !one.path.contains("__pycache__/"));
            places.entry(&change.name).or_default().extend(old.map(|one| lexical(&one.path, site)));
        }
        let mut findings = Vec::new();
        for (name, places) in &places {
            for (link, to) in links_out(self.layout, places) {
                let (link, to) = (link.display(), to.display());
                let message =
                    format!("files of {name} are behind the link `{link}`, which points outside the environment");
                findings.push(
                    Finding::error(Code::WheelOverwrites, message)
                        .about(Subject::package(name))
                        .with_note(format!(
                            "the link points to `{to}`: files there would be overwritten or left behind"
                        ))
                        .with_help(
                            "nothing was changed; replace the link with the folder itself, then run the command again",
                        ),
                );
            }
        }
        Ok(findings)
    }
}

/// Links among the folders above `places` that lead out of the environment, with where they lead.
fn links_out(layout: &Layout, places: &BTreeSet<PathBuf>) -> Vec<(PathBuf, PathBuf)> {
    let mut own = layout.folders();
    own.extend([&layout.scripts, &layout.data]);
    let mut folders = BTreeSet::new();
    for place in places {
        let bases = own.iter().filter(|base| place.starts_with(base));
        // The innermost.
        if let Some(base) = bases.max_by_key(|base| base.components().count()) {
            folders.extend(place.ancestors().skip(1).take_while(|folder| folder != base));
        }
    }
    let real: Vec<PathBuf> = own.iter().filter_map(|base| base.real().ok()).collect();
    let links = folders.into_iter().filter(|folder| folder.look_at_entry().is_ok_and(|data| data.is_symlink()));
    let led = links.filter_map(|link| Some((link.to_owned(), link.real().ok()?)));
    led.filter(|(_, to)| !real.iter().any(|base| to.starts_with(base))).collect()
}
