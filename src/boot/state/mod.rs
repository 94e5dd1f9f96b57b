//! The state folder: for each environment a lock, a marker, a ledger, and the RECORDs and the look of what was
//! installed.

mod hold;
mod orphan;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::boot::ledger::{Entry as LedgerEntry, Ledger, Notes};
use crate::boot::machine::Layout;
use crate::boot::marker::{Event, Marker, Move, Next, Now, Phase, SCHEMA, next};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;
use crate::core::inspect::{Entry, parse_record};
use crate::core::model::wheel_names::{INSTALLER, dist_info};
use crate::core::model::{PackageName, Sha256, Version};

pub use hold::{Hold, hold};
pub use orphan::{forget_process, record_process};

/// The format of the stamps of files, and the most that is read of them: 30,000 files have 2 MB.
const HASHED: &[u8] = b"colab-boot files 4\n";
const HASHED_LIMIT: u64 = 256 << 20;

/// The file in site-packages with the environment's identity.
pub const IDENTITY: &str = ".colab-boot-id";

/// What the files begin with that keep ledgers of environments whose path another one has, and how many are kept.
const REPLACED_LEDGER: &str = "ledger-of-";
const REPLACED_LEDGERS: usize = 8;

/// What every format of the marker has.
#[derive(Deserialize)]
struct MarkerHead {
    schema: u32,
}

/// The part of the state that belongs to one environment.
#[derive(Clone, Debug)]
pub struct State {
    folder: PathBuf,
    /// The environment's site-packages; `None` for one of [`all`](Self::all), of which no more than the folder is
    /// known.
    site: Option<PathBuf>,
}

/// The identities in the file at `path`, one a line: each record of changes of this environment has its own, for users
/// and state folders may be several.
fn identities(path: &Path) -> Result<Vec<String>, Failure> {
    let text = files::read_optional(path)?.unwrap_or_default();
    Ok(text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect())
}

/// Whether the virtual environment of `python` is another one than that which `ledger` is of: it was recreated.
pub fn was_recreated(python: &Path, ledger: &Ledger) -> bool {
    let (Some(own), Some(prefix)) = (&ledger.identity, python.parent().and_then(Path::parent)) else { return false };
    let libraries = prefix.join("lib");
    let mut sites = files::names_if_any(&libraries).into_iter().map(|name| libraries.join(name).join("site-packages"));
    let has = |site: PathBuf| {
        let here = identities(&site.join(IDENTITY)).unwrap_or_default();
        here.iter().any(|one| one == own.trim()) || has_lost_identity(&site, &here, ledger)
    };
    prefix.join("pyvenv.cfg").is_file_there() && !sites.any(has)
}

/// Whether the environment with this `site` is that of `ledger`, though the file with its identities, `here`, was
/// deleted: a package is there as colab-boot has installed it. A recreated environment has none.
fn has_lost_identity(site: &Path, here: &[String], ledger: &Ledger) -> bool {
    let is_ours = |info: &str| {
        let entry = dist_info(info).and_then(|(name, version)| Some((ledger.distributions.get(&name)?, version)));
        entry.is_some_and(|(entry, version)| version.parse().is_ok_and(|version: Version| version == entry.version))
            && files::read_optional(&site.join(info).join("INSTALLER"))
                .is_ok_and(|text| text.is_some_and(|text| text.trim() == INSTALLER))
    };
    here.is_empty() && files::names_if_any(site).iter().any(|name| is_ours(name))
}

/// The ledger in the file at `path`, if there is one.
fn read_ledger(path: &Path) -> Result<Option<Ledger>, Failure> {
    let Some(text) = files::read_optional(path)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Failure::world(format!("the ledger `{}` can't be read", path.display()))
            .because(&error)
            .help("inspect it; without it, colab-boot treats all installed packages as part of the image")
    })
}

impl State {
    /// The state of the environment with this layout, under whichever name it was asked for.
    pub fn of(folder: &Path, layout: &Layout) -> Self {
        let site = layout.purelib.real().unwrap_or_else(|_| layout.purelib.clone());
        let key = Sha256::of(site.as_os_str().as_encoded_bytes()).short();
        Self { folder: folder.join("python").join(key), site: Some(site) }
    }

    /// The same, whichever environment lies there now.
    #[must_use]
    pub fn as_written(self) -> Self {
        Self { site: None, ..self }
    }

    /// Every Python that has state here.
    pub fn all(folder: &Path) -> Result<Vec<Self>, Failure> {
        let folder = folder.join("python");
        Ok(files::names_in(&folder)?.into_iter().map(|name| Self { folder: folder.join(name), site: None }).collect())
    }

    fn marker_path(&self) -> PathBuf {
        self.folder.join("marker.json")
    }

    /// The ledger; an empty one where there is none of this environment. One that can't be read is never taken for
    /// none: what was there before would be forgotten.
    pub fn ledger(&self) -> Result<Ledger, Failure> {
        let written = self.written_ledger()?.unwrap_or_default();
        let Some(site) = &self.site else { return Ok(written) };
        let here = identities(&site.join(IDENTITY))?;
        let own = written.identity.as_deref().map(str::trim);
        if own.is_some_and(|own| here.iter().any(|one| one == own)) || has_lost_identity(site, &here, &written) {
            return Ok(written);
        }
        let replaced = here.iter().find_map(|one| read_ledger(&self.replaced_ledger_path(one)).transpose());
        let without = if own.is_none() { written } else { Ledger::default() };
        Ok(replaced.transpose()?.unwrap_or(without))
    }

    /// The ledger that was written last, which may be that of an environment that was here before this one.
    fn written_ledger(&self) -> Result<Option<Ledger>, Failure> {
        read_ledger(&self.folder.join("ledger.json"))
    }

    /// Where the ledger of an environment is kept while another one has its path.
    fn replaced_ledger_path(&self, identity: &str) -> PathBuf {
        self.folder.join(format!("{REPLACED_LEDGER}{identity}"))
    }

    /// Keeps the ledger of the environment that was here before the one whose identities are in the file at `path`.
    /// Those of the last few are kept.
    fn keep_replaced_ledger(&self, path: &Path) -> Result<(), Failure> {
        let written = self.written_ledger()?.unwrap_or_default();
        let Some(other) = written.identity.as_deref().map(str::trim).filter(|_| !written.is_empty()) else {
            return Ok(());
        };
        if identities(path)?.iter().any(|one| one == other) {
            return Ok(());
        }
        let (from, to) = (self.folder.join("ledger.json"), self.replaced_ledger_path(other));
        std::fs::rename(&from, to)
            .map_err(|error| Failure::world(format!("could not rename `{}`", from.display())).because(&error))?;
        let names = files::names_in(&self.folder)?.into_iter().filter(|name| name.starts_with(REPLACED_LEDGER));
        let mut all: Vec<PathBuf> = names.map(|name| self.folder.join(name)).collect();
        all.sort_by_key(|path| Reverse(Stamp::of(path).changed));
        all.iter().skip(REPLACED_LEDGERS).try_for_each(|path| files::remove_if_there(path))
    }

    /// Whether colab-boot has changed the environment and no ledger says how: it is gone, or the environment is a copy
    /// from before its changes were undone.
    pub fn has_lost_ledger(&self, ledger: &Ledger) -> bool {
        ledger.is_empty() && self.site.as_ref().is_some_and(|site| site.join(IDENTITY).is_file_there())
    }

    /// Whether the last apply here was of `lock` and was completed, and the packages that it installed still have their
    /// metadata. No file is compared.
    pub fn is_as_locked(&self, lock: Sha256) -> Result<bool, Failure> {
        let is_of = |marker: Marker| marker.lock == lock && marker.phase == Phase::Applied;
        if !self.marker()?.is_some_and(is_of) {
            return Ok(false);
        }
        let ledger = self.ledger()?;
        let names = self.site.iter().flat_map(|site| files::names_if_any(site));
        let mut there: BTreeMap<PackageName, Vec<Version>> = BTreeMap::new();
        for (name, version) in names.filter_map(|name| dist_info(&name).map(|(name, text)| (name, text.to_owned()))) {
            there.entry(name).or_default().extend(version.parse::<Version>());
        }
        let is_there = |(name, entry): (&PackageName, &LedgerEntry)| {
            there.get(name).is_some_and(|all| *all == [entry.version.clone()])
        };
        Ok(!ledger.is_empty() && ledger.distributions.iter().all(is_there))
    }

    /// Whether another user, or another state folder, has a record of changes of the environment, beside `ledger`.
    pub fn has_other_records(&self, ledger: &Ledger) -> Result<bool, Failure> {
        let Some(site) = &self.site else { return Ok(false) };
        let own = ledger.identity.as_deref().map(str::trim);
        Ok(identities(&site.join(IDENTITY))?.iter().any(|one| Some(one.as_str()) != own))
    }

    /// Writes the ledger, with its identity. An empty ledger has none, and its line in the environment goes.
    pub fn write_ledger(&self, ledger: &Ledger) -> Result<(), Failure> {
        files::create_private_folder(&self.folder)?;
        let identity = match &self.site {
            Some(site) => {
                // A run that was killed may have left one.
                files::remove_temporaries(site)?;
                self.keep_replaced_ledger(&site.join(IDENTITY))?;
                self.identify(&site.join(IDENTITY), ledger)?
            }
            None => ledger.identity.clone(),
        };
        let text = serde_json::to_string_pretty(&Ledger { identity, ..ledger.clone() })
            .map_err(|error| Failure::bug("the ledger could not be written as JSON").because(&error))?;
        files::write_whole(&self.folder.join("ledger.json"), format!("{text}\n").as_bytes())?;
        let own = ledger.identity.as_deref().map(|own| self.replaced_ledger_path(own.trim()));
        own.map_or(Ok(()), |path| files::remove_if_there(&path))
    }

    /// The identity of `ledger` in the file at `path`, a new one where it has none there; an empty ledger's is removed.
    fn identify(&self, path: &Path, ledger: &Ledger) -> Result<Option<String>, Failure> {
        let mut all = identities(path)?;
        let before = all.len();
        // The one that was written last may be newer: the file was deleted in between.
        let written = self.written_ledger()?.and_then(|written| written.identity);
        let mut known = ledger.identity.iter().chain(&written).map(|own| own.trim().to_owned());
        let mut own = known.find(|own| all.contains(own));
        if ledger.is_empty() {
            all.retain(|one| Some(one) != own.as_ref());
            own = None;
        } else if own.is_none() {
            let new = files::read_text(Path::new("/proc/sys/kernel/random/uuid"), "random number")?.trim().to_owned();
            all.push(new.clone());
            own = Some(new);
        }
        if all.is_empty() {
            files::remove_if_there(path)?;
        } else if all.len() != before {
            files::write_whole(path, format!("{}\n", all.join("\n")).as_bytes())?;
        }
        Ok(own)
    }

    /// The marker, if there is one. A marker that cannot be read is never taken for none: that would restart kernels
    /// for ever.
    pub fn marker(&self) -> Result<Option<Marker>, Failure> {
        let path = self.marker_path();
        let Some(text) = files::read_optional(&path)? else {
            return Ok(None);
        };
        let schema = serde_json::from_str(&text).ok().map(|head: MarkerHead| head.schema);
        if let Some(schema) = schema.filter(|schema| *schema != SCHEMA) {
            return Err(Failure::world(format!(
                "the marker `{}` has format {schema}, this colab-boot reads {SCHEMA}",
                path.display()
            ))
            .help("restart the kernel, then remove the file: the next run checks everything again"));
        }
        let marker: Result<Marker, _> = serde_json::from_str(&text);
        marker.map(Some).map_err(|error| {
            Failure::world(format!("the marker `{}` can't be read", path.display()))
                .because(&error)
                .help("inspect it; if you remove it, the next run checks everything again")
        })
    }

    /// Makes a move: what it says is on disk before the caller acts on the verdict. Takes and leaves the marker as it
    /// is on disk.
    pub fn step(&self, marker: &mut Option<Marker>, event: Event, now: &Now<'_>) -> Result<Next, Failure> {
        let Ok(Move { write, verdict }) = next(marker.as_ref(), event, now) else {
            return Err(Failure::bug("a step of an apply that has not begun"));
        };
        if let Some(new) = write {
            self.write_marker(&new)?;
            *marker = Some(new);
        }
        Ok(verdict)
    }

    fn write_marker(&self, marker: &Marker) -> Result<(), Failure> {
        files::create_private_folder(&self.folder)?;
        let text = serde_json::to_string_pretty(marker)
            .map_err(|error| Failure::bug("the marker could not be written as JSON").because(&error))?;
        files::write_whole(&self.marker_path(), format!("{text}\n").as_bytes())
    }

    fn record_path(&self, wheel: &Sha256) -> PathBuf {
        self.folder.join("records").join(wheel.to_string())
    }

    /// The RECORD of a wheel that was installed from here.
    pub fn record(&self, wheel: &Sha256) -> Result<Option<Vec<Entry>>, Failure> {
        Ok(self.record_text(wheel)?.map(|text| parse_record(&text)))
    }

    /// Size and ctime of that RECORD.
    pub fn record_stamp(&self, wheel: &Sha256) -> Stamp {
        Stamp::of(&self.record_path(wheel))
    }

    pub fn record_text(&self, wheel: &Sha256) -> Result<Option<String>, Failure> {
        files::read_optional(&self.record_path(wheel))
    }

    /// Keeps the RECORD of a wheel. Losing it in a power cut costs the comparison with the wheel, no more.
    pub fn keep_record(&self, wheel: &Sha256, text: &str) -> Result<(), Failure> {
        files::create_private_folder(&self.folder.join("records"))?;
        let path = self.record_path(wheel);
        files::write_whole_fast(&path, text.as_bytes()).map_err(|error| files::writing_failed(&path, &error))
    }

    /// The notes; empty ones where there are none, or none that can be read.
    pub fn notes(&self) -> Notes {
        let text = files::read_optional(&self.folder.join("notes.json")).ok().flatten().unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub fn keep_notes(&self, notes: &Notes) -> Result<(), Failure> {
        files::create_private_folder(&self.folder)?;
        let text = serde_json::to_string_pretty(notes)
            .map_err(|error| Failure::bug("the notes could not be written as JSON").because(&error))?;
        files::write_whole(&self.folder.join("notes.json"), format!("{text}\n").as_bytes())
    }

    /// The folder for files that packages have taken the place of.
    pub fn aside_folder(&self) -> PathBuf {
        self.folder.join("aside")
    }

    /// The folder for the edited files of a package.
    pub fn edits_folder(&self, name: &PackageName, version: &Version) -> PathBuf {
        self.aside_folder().join(format!("{name}-{version}"))
    }

    fn hashed_path(&self) -> PathBuf {
        self.folder.join("hashed")
    }

    /// What was noted with [`keep_hashed`](Self::keep_hashed); nothing where that is gone or can't be read: files are
    /// then read anew.
    pub fn hashed<T: DeserializeOwned + Default>(&self) -> T {
        let bytes = files::read_bytes(&self.hashed_path(), HASHED_LIMIT).unwrap_or_default();
        let (format, rest) = bytes.split_at_checked(HASHED.len()).unwrap_or_default();
        if format == HASHED { postcard::from_bytes(rest).unwrap_or_default() } else { T::default() }
    }

    /// Notes which files were read and right. Losing it costs the time of reading them anew.
    pub fn keep_hashed<T: Serialize>(&self, hashed: &T) -> Result<(), Failure> {
        files::create_private_folder(&self.folder)?;
        let bytes = postcard::to_extend(hashed, HASHED.to_vec())
            .map_err(|error| Failure::bug("file stamps could not be serialized").because(&error))?;
        files::write_whole(&self.hashed_path(), &bytes)
    }
}
