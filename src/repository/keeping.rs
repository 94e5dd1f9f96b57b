//! A repository as its keepers change it: a folder, its index with a new number, signatures by those who have a key here.

use std::path::{Path, PathBuf};

use crate::diag::{Code, Failure, Finding, Kind};
use crate::golden::calendar::Day;
use crate::golden::catalogue::{Catalogue, LARGEST};
use crate::golden::entry::Release;
use crate::golden::signed_text::{join, split};
use crate::host::files;
use crate::model::Sha256;
use crate::model::day::day_of;
use crate::repository::trusted::trust_of;
use crate::repository::{FRESH_FILE, INDEX_FILE};
use crate::session::Session;

/// A repository that is changed.
pub struct Kept {
    pub folder: PathBuf,
    pub catalogue: Catalogue,
    /// The text of the index, without signatures.
    pub text: String,
    pub blocks: Vec<String>,
}

impl Kept {
    /// The one in `folder`. An index that goes back behind one that was seen here is refused: something was undone.
    pub fn open(folder: &Path, session: &Session<'_>) -> Result<Self, Failure> {
        let path = folder.join(INDEX_FILE);
        let none = || {
            Failure::input(format!("`{}` is no golden repository: it has no `{INDEX_FILE}`", folder.display()))
                .help("`colab-boot golden init` makes one; name another folder with --repo")
        };
        if !files::is_file(&path)? {
            return Err(none());
        }
        let unreadable = |why: String| {
            let message = format!("`{}` can't be used", path.display());
            Failure::from_findings(Kind::Answer, vec![Finding::error(Code::GoldenUnreadable, message).with_note(why)])
        };
        let bytes = files::read_bytes(&path, LARGEST).map_err(|error| unreadable(error.to_string()))?;
        let signed = split(&bytes).map_err(unreadable)?;
        let catalogue = Catalogue::parse(signed.text).map_err(unreadable)?;
        let kept = Self { folder: folder.to_owned(), catalogue, text: signed.text.to_owned(), blocks: signed.blocks };
        let seen = trust_of(&session.paths, &kept.catalogue.name)?.seen;
        match seen.filter(|(seq, _)| *seq > kept.catalogue.seq) {
            None => Ok(kept),
            Some((seq, _)) => {
                let message = format!(
                    "the index in `{}` has the number {}, and {seq} was seen before",
                    folder.display(),
                    kept.catalogue.seq
                );
                let finding = Finding::error(Code::GoldenRolledBack, message);
                let finding = finding.with_help("take the newest one from where it is published before you change it");
                Err(Failure::from_findings(Kind::Answer, vec![finding]))
            }
        }
    }

    /// Of its text.
    pub fn digest(&self) -> Sha256 {
        Sha256::of(self.text.as_bytes())
    }

    /// The release called `title`, to be changed.
    pub fn release(&mut self, title: &str, today: Day) -> Result<&mut Release, Failure> {
        let found = self.catalogue.find(title, today).map(|release| (release.name.clone(), release.version.clone()));
        let (name, version) = found.ok_or_else(|| {
            let known: Vec<String> = self.catalogue.releases.iter().map(Release::title).collect();
            Failure::input(format!("there is no release `{title}`")).help(format!("there are {}", known.join(", ")))
        })?;
        let is_it = |release: &&mut Release| release.name == name && release.version == version;
        self.catalogue.releases.iter_mut().find(is_it).ok_or_else(|| Failure::bug("a release was lost"))
    }

    /// Writes the index with the next number and the days that follow from `session`'s clock. Signatures of the one before fall off.
    pub fn write(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        let today = Day(day_of(session.now));
        self.catalogue.seq += 1;
        self.catalogue.issued = today;
        self.catalogue.fresh_until = today.after(self.catalogue.policy.fresh);
        self.text = self.catalogue.to_text().map_err(Failure::bug)?;
        self.blocks.clear();
        if self.text.len() as u64 > LARGEST {
            return Err(Failure::answer("the index would have more than 1 MiB")
                .help("remove releases that have expired long ago"));
        }
        self.store()?;
        files::remove_if_there(&self.folder.join(FRESH_FILE))
    }

    /// Puts one more signature under the index; one with the same key takes the place of the one before.
    pub fn add_signature(&mut self, block: String) -> Result<(), Failure> {
        if !self.blocks.contains(&block) {
            self.blocks.push(block);
        }
        self.store()
    }

    fn store(&self) -> Result<(), Failure> {
        files::write_whole(&self.folder.join(INDEX_FILE), join(&self.text, &self.blocks).as_bytes())
    }
}
