//! What goes of an installed distribution: what its metadata lists, and nothing that another one lists too.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::boot::files::{Claims, Corrections, lexical};
use crate::boot::install::bases::bases;
use crate::boot::machine::{Layout, record_in};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::inspect::parse_record;
use crate::core::model::PackageName;
use crate::core::model::wheel_names::metadata_of;

/// The files and folders of one distribution.
#[derive(Debug, Default)]
pub(super) struct Going {
    /// Its metadata: dist-info and egg-info folders, or files.
    pub infos: Vec<PathBuf>,
    /// Files that its lists name, within the environment.
    pub files: HashSet<PathBuf>,
    /// Folders and files of the packages of an egg without a list, which go as a whole.
    whole: Vec<PathBuf>,
}

impl Going {
    /// What is installed in `layout` of `name`, where its lists are not right with `corrections`. Files that `others`
    /// list stay.
    pub(super) fn of(
        name: &PackageName,
        layout: &Layout,
        others: &Claims,
        corrections: Option<&Corrections>,
    ) -> Result<Self, Failure> {
        let mut going = Self::default();
        for site in layout.folders() {
            for entry in files::names_in(site)?.into_iter().filter(|entry| metadata_of(entry).as_ref() == Some(name)) {
                going.add(&site.join(entry), site)?;
            }
        }
        if let Some(corrections) = corrections {
            going.files.extend(corrections.left_out.iter().cloned());
            going.files.retain(|place| !corrections.strange.contains(place));
        }
        let bases = bases(layout);
        let is_inside = |place: &PathBuf| bases.iter().any(|base| place.starts_with(base) && place != base);
        let in_metadata = |place: &PathBuf| going.infos.iter().any(|info| place.starts_with(info));
        going.files.retain(|place| is_inside(place) && !others.has(place) && !in_metadata(place));
        Ok(going)
    }

    /// The metadata at `info`, in `site`.
    fn add(&mut self, info: &Path, site: &Path) -> Result<(), Failure> {
        self.infos.push(info.to_owned());
        if !info.is_folder_there() {
            return Ok(());
        }
        let record = record_in(info)?.unwrap_or_default();
        let listed = parse_record(&record);
        if !listed.is_empty() {
            self.files.extend(listed.iter().map(|entry| lexical(&entry.path, site)));
            return Ok(());
        }
        let text = |file: &str| files::read_optional(&info.join(file)).ok().flatten();
        if let Some(list) = text("installed-files.txt") {
            self.files.extend(list.lines().map(|line| lexical(line.trim(), info)));
        } else if info.extension().is_some_and(|end| end == "egg-info") {
            let modules = text("top_level.txt").unwrap_or_default();
            let shared = text("namespace_packages.txt").unwrap_or_default();
            let shared: BTreeSet<&str> = shared.split_whitespace().collect();
            for module in modules.split_whitespace().filter(|module| !shared.contains(module)) {
                let is_name = !module.contains('/') && module != "..";
                let places = ["", ".py", ".pyc", ".pyo"].map(|end| site.join(format!("{module}{end}")));
                self.whole.extend(places.into_iter().filter(|place| is_name && place.look_at_entry().is_ok()));
            }
        }
        Ok(())
    }

    /// Whether the file at `place` goes; what Python has compiled does wherever its source would.
    pub(super) fn has(&self, place: &Path) -> bool {
        self.files.contains(place) || self.whole.iter().any(|folder| place.starts_with(folder))
    }

    /// All places that go, metadata aside.
    pub(super) fn places(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().chain(&self.whole)
    }
}
