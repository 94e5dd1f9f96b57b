//! What no package owns, where a wheel would write: somebody made it, and installers would write over it without a
//! word.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::boot::apply::forbidden_targets::scripts;
use crate::boot::apply::moved_aside::is_kept;
use crate::boot::apply::one_apply::Work;
use crate::boot::apply::prepared::{InTheWay, What, Wheels};
use crate::boot::apply::proof_of_owner::{all_are, is_generated};
use crate::boot::files::{Claims, Downloaded, place, placed};
use crate::boot::machine::Layout;
use crate::core::diag::{Code, Failure, Finding, Subject};
use crate::core::host::digests::{digest, has_digest};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::{PackageName, Sha256};

/// What each of several wheels would write.
pub(super) type AllWritten<'a> = BTreeMap<&'a PackageName, Vec<Written>>;

/// What a wheel would write.
pub(super) struct Written {
    pub(super) place: PathBuf,
    /// `None` for a script, which gets another first line, or is made by the installer.
    pub(super) sha256: Option<Sha256>,
    /// The member, or what the script that is made has to call.
    from: From,
}

enum From {
    Member(String),
    EntryPoint(String),
}

impl Work<'_> {
    /// What `wheels` would write over and no package owns.
    pub(super) fn in_the_way(&self, wheels: &Wheels, written: &AllWritten<'_>) -> Result<Vec<InTheWay>, Failure> {
        let mut listings = Listings::default();
        let mut found = Vec::new();
        for (name, files) in written {
            let there =
                files.iter().filter_map(|one| listings.in_place_of(&one.place).map(|place| (*name, one, place)));
            found.extend(there);
        }
        // Most is what the package itself has put there.
        self.keep_unclaimed(&mut found, &|name| wheels.contains_key(name))?;
        self.keep_unclaimed(&mut found, &|_| true)?;
        self.keep_unknown(&mut found)?;
        let mut ways: BTreeMap<PathBuf, InTheWay> = BTreeMap::new();
        for (name, one, place) in found {
            if let Some(what) = Self::what_lies(one, &place, &wheels[name]) {
                ways.insert(place.clone(), InTheWay { name: name.clone(), place, what });
            }
        }
        Ok(ways.into_values().collect())
    }

    /// Leaves out of `found` what belongs to distributions that are `meant`.
    fn keep_unclaimed(
        &self,
        found: &mut Vec<Unowned<'_>>,
        meant: &dyn Fn(&PackageName) -> bool,
    ) -> Result<(), Failure> {
        if found.is_empty() {
            return Ok(());
        }
        let claims = Claims::of(self.layout, meant)?;
        found.retain(|(name, _, place)| !claims.is_unlisted(name) && !all_are(place, &|file| claims.has(file)));
        Ok(())
    }

    /// Leaves out of `found` what colab-boot has put there, or has known as a package's, though no list has it any
    /// more.
    fn keep_unknown(&self, found: &mut Vec<Unowned<'_>>) -> Result<(), Failure> {
        if found.is_empty() {
            return Ok(());
        }
        let ledger = &self.planned.seen.ledger;
        let stripped = self.stripped_files()?;
        let mut written: HashMap<PathBuf, Vec<Sha256>> = HashMap::new();
        let mut installed: HashSet<PathBuf> = HashSet::new();
        for (name, entry) in &ledger.distributions {
            let Some(digest) = entry.sha256 else { continue };
            let is_installed =
                self.planned.seen.machine.installed.get(name).is_some_and(|one| one.version == entry.version);
            let kept = self.state.record(&digest)?.unwrap_or_default();
            for (place, sha256) in placed(&kept, self.layout) {
                if is_installed {
                    installed.insert(place);
                } else if let Some(sha256) = sha256 {
                    written.entry(place).or_default().push(sha256);
                }
            }
        }
        // Once a package is gone, its places prove nothing: what lies there now may be the user's.
        let is_proven = |file: &Path| {
            installed.contains(file)
                || self.planned.files.knows(file)
                || written.get(file).is_some_and(|all| digest(file).is_ok_and(|(own, _)| all.contains(&own)))
                || stripped.has(file)
        };
        // What was to be moved aside, and was not.
        let is_still_there = |at: &Path| ledger.aside.get(at).is_some_and(|aside| !is_kept(aside));
        found.retain(|(_, _, place)| !all_are(place, &is_proven) || is_still_there(place));
        Ok(())
    }

    /// What lies at `place`, where `wheel` would write `one`; `None` for what an installer has left there of
    /// the same wheel.
    fn what_lies(one: &Written, place: &Path, wheel: &Downloaded) -> Option<What> {
        let data = place.look_at_entry().ok()?;
        if data.is_dir() {
            return Some(What::Folder);
        }
        if !data.is_file() || place != one.place {
            return Some(What::File);
        }
        let here = || files::read_optional(place).ok().flatten().unwrap_or_default();
        let is_left = match (&one.from, one.sha256) {
            (From::Member(_), Some(sha256)) => {
                return Some(if has_digest(place, sha256) { What::Same(sha256) } else { What::File });
            }
            (From::Member(path), None) => {
                wheel.text_of(path, SCRIPT_LIMIT).is_some_and(|own| body(&own) == body(&here()))
            }
            (From::EntryPoint(module), _) => is_generated(&here(), module),
        };
        (!is_left).then_some(What::File)
    }

    /// Why what is `in_the_way` forbids the apply.
    pub(super) fn refused_for(&self, in_the_way: &[InTheWay]) -> Vec<Finding> {
        let files = in_the_way.iter().filter(|one| one.what == What::File && !self.planned.wish.keeps_aside);
        let mut refused: HashSet<&Path> = files.map(|one| one.place.as_path()).collect();
        leave_out_debian(&mut refused, &self.session.paths.root);
        let mut by_name: BTreeMap<&PackageName, Vec<&InTheWay>> = BTreeMap::new();
        for one in in_the_way.iter().filter(|one| one.what == What::Folder || refused.contains(one.place.as_path())) {
            by_name.entry(&one.name).or_default().push(one);
        }
        by_name.into_iter().map(|(name, all)| refusal(name, &all)).collect()
    }
}

fn body(text: &str) -> Option<String> {
    text.split_once('\n').map(|(_, rest)| rest.to_owned())
}

type Unowned<'a> = (&'a PackageName, &'a Written, PathBuf);

/// The longest script that is compared.
const SCRIPT_LIMIT: u64 = 16 << 20;

fn refusal(name: &PackageName, all: &[&InTheWay]) -> Finding {
    let first = all.iter().find(|one| one.what == What::Folder).unwrap_or(&all[0]);
    let (what, whose, help) = match first.what {
        What::Folder => ("folder", "has files that no package owns", "move the folder away, then run this again"),
        _ => (
            "file",
            "belongs to no package",
            "move it, or set `overwrite = \"keep-aside\"` in `[policy]` to keep a copy that `restore` puts back",
        ),
    };
    let message = format!("the wheel of {name} would overwrite the {what} `{}`, which {whose}", first.place.display());
    let others = all.iter().filter(|one| one.place != first.place).map(|one| one.place.as_path());
    let finding = Finding::error(Code::WheelOverwrites, message).about(Subject::package(name));
    finding.with_others(others).with_help(help)
}

/// What an installer makes of `wheel`, but for the list and the notes that it writes itself.
pub(super) fn written<'a>(wheel: &'a Downloaded, layout: &'a Layout) -> impl Iterator<Item = Written> + 'a {
    let entries = wheel.entries().iter();
    let digests: HashMap<&str, Sha256> = entries.filter_map(|one| Some((one.path.as_str(), one.sha256?))).collect();
    let site = if wheel.is_pure() { &layout.purelib } else { &layout.platlib };
    let paths = wheel.files.members.iter().map(|member| member.path.as_str()).filter(|path| {
        let top = path.split('/').next().unwrap_or_default();
        !path.ends_with('/') && !top.ends_with(".dist-info") && !path.contains("__pycache__/")
    });
    let members = paths.filter_map(move |path| {
        let (place, rewritten) = place(path, site, layout)?;
        let sha256 = digests.get(path).filter(|_| !rewritten).copied();
        Some(Written { place, sha256, from: From::Member(path.to_owned()) })
    });
    let made = scripts(&wheel.entry_points).map(|(name, module)| Written {
        place: layout.scripts.join(name),
        sha256: None,
        from: From::EntryPoint(module.to_owned()),
    });
    members.chain(made)
}

/// The names in folders, each listed once.
#[derive(Default)]
struct Listings(HashMap<PathBuf, Listing>);

enum Listing {
    Names(HashSet<String>),
    /// Something that is no folder lies here, or above.
    Blocked(PathBuf),
    Missing,
}

impl Listings {
    /// What a file at `place` would have to replace: what has its name, or a file where one of its folders has to be.
    fn in_place_of(&mut self, place: &Path) -> Option<PathBuf> {
        let (folder, name) = (place.parent()?, place.file_name()?.to_str()?);
        match self.of(folder) {
            Listing::Names(names) => names.contains(name).then(|| place.to_owned()),
            Listing::Blocked(at) => Some(at.clone()),
            Listing::Missing => None,
        }
    }

    fn of(&mut self, folder: &Path) -> &Listing {
        if !self.0.contains_key(folder) {
            let listing = if folder.is_folder_there() {
                Listing::Names(files::names_if_any(folder).into_iter().collect())
            } else if folder.look_at_entry().is_ok() {
                Listing::Blocked(folder.to_owned())
            } else {
                match folder.parent().map(|above| self.of(above)) {
                    Some(Listing::Blocked(at)) => Listing::Blocked(at.clone()),
                    _ => Listing::Missing,
                }
            };
            self.0.insert(folder.to_owned(), listing);
        }
        &self.0[folder]
    }
}

/// Leaves out of `places` what dpkg has installed.
fn leave_out_debian(places: &mut HashSet<&Path>, root: &Path) {
    let folder = root.join("var/lib/dpkg/info");
    for list in files::names_if_any(&folder).into_iter().filter(|name| name.ends_with(".list")) {
        if places.is_empty() {
            return;
        }
        let text = files::read_optional(&folder.join(list)).ok().flatten().unwrap_or_default();
        for line in text.lines() {
            places.remove(Path::new(line));
        }
    }
}
