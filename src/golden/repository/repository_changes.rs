//! A repository as its keepers change it: a folder, its index with a new number, signatures by those who have a key
//! here.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind, counted, shell_word};
use crate::core::host::files;
use crate::core::host::locks;
use crate::core::host::mounts::Look;
use crate::core::model::Sha256;
use crate::golden::calendar::Day;
use crate::golden::catalogue::{Catalogue, LARGEST};
use crate::golden::entry::Release;
use crate::golden::index_trust::Behind;
use crate::golden::repository::trusted::{record_of, trust_of};
use crate::golden::repository::unexpected::{signed_here, unexpected};
use crate::golden::repository::{FRESH_FILE, INDEX_FILE, SIGNERS_FILE};
use crate::golden::signed_text::{join, split, way_back};
use crate::golden::signers::{INDEX, Outcome, Signers};

/// A repository that is changed.
pub struct Kept {
    pub folder: PathBuf,
    pub catalogue: Catalogue,
    /// The text of the index, without signatures.
    pub text: String,
    pub blocks: Vec<String>,
    /// Held while it is changed: keepers who publish at once take turns.
    alone: Option<File>,
    /// Why nobody should build on it: none of those who may has signed it as it is.
    doubt: Option<Doubt>,
    /// The index that was signed on this machine last.
    signed_here: Option<Catalogue>,
    /// How it differed from that when it was read, as no release and no renewal does.
    unexpected: Vec<String>,
}

/// How an index came to be without a signature of those who may sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    /// Nobody has signed it, as `--no-sign` leaves it.
    Unsigned,
    /// It was changed after it was signed.
    Changed,
}

/// What to do about a list that the index does not name.
pub const OTHER_LIST: &str =
    "restore it from version control; change it with `colab-boot golden sign --add` and `--remove`";

/// The list that is about to become the one of the index.
const NEXT_SIGNERS: &str = ".allowed_signers.next";

/// How long a keeper waits for another.
const WAIT: Duration = Duration::from_mins(2);

impl Kept {
    /// The one in `folder`, to be changed: nobody else changes it meanwhile.
    pub fn open_alone(folder: &Path, session: &Session<'_>) -> Result<Self, Failure> {
        let wait = || session.say("another process is changing the repository; waiting");
        let alone = locks::lock_folder(folder, WAIT, &wait)?;
        if alone.is_none() && folder.is_folder_there() {
            return Err(Failure::world(format!(
                "another process has been changing `{}` for two minutes",
                folder.display()
            )));
        }
        let mut kept = Self { alone, ..Self::open(folder, session)? };
        kept.doubt = kept.doubt(session)?;
        kept.signed_here = signed_here(folder, &kept.catalogue, &session.paths);
        kept.unexpected = kept.unlike_signed();
        Ok(kept)
    }

    /// Whether any of those who may sign it, by its own list or by the keys that are pinned here, has signed it as it
    /// is. An index without releases promises nothing yet.
    fn doubt(&self, session: &Session<'_>) -> Result<Option<Doubt>, Failure> {
        if self.catalogue.releases.is_empty() || self.catalogue.signers.is_none() {
            return Ok(None);
        }
        let pinned = trust_of(&session.paths, &self.catalogue.name)?.signers;
        let knows = |signers: &Signers| {
            let outcomes = signers.check(&self.text, &self.blocks, INDEX, session.now);
            outcomes.iter().any(|outcome| matches!(outcome, Outcome::Good { .. } | Outcome::NotAllowed { .. }))
        };
        let is_known = knows(&self.signers()?) || knows(&pinned);
        let doubt = if self.blocks.is_empty() { Doubt::Unsigned } else { Doubt::Changed };
        Ok((!is_known).then_some(doubt))
    }

    /// An error where a signature would vouch for what somebody without a key may have written. `golden sign` is for
    /// an index that was left unsigned: who runs it has looked at that index.
    pub fn must_be_signed(&self, is_sign: bool) -> Result<(), Failure> {
        let folder = shell_word(&self.folder);
        let (what, help) = match self.doubt {
            None => return self.must_be_expected(),
            Some(Doubt::Unsigned) if is_sign => return self.must_be_expected(),
            Some(Doubt::Unsigned) => (
                "has no trusted signature",
                format!("review its changes, then run `colab-boot golden sign --repo {folder}` and this command again"),
            ),
            Some(Doubt::Changed) => (
                "was changed after it was signed",
                format!(
                    "restore `{INDEX_FILE}` from version control, then run the command again; change the file only with colab-boot"
                ),
            ),
        };
        let message = format!("the index in `{folder}` {what}; nothing was signed");
        let finding = Finding::error(Code::GoldenThreshold, message).with_help(help);
        Err(Failure::from_findings(Kind::Answer, vec![finding]))
    }

    /// An error where others have changed what a signature vouches for, until the user has agreed with
    /// [`accept`](Self::accept).
    fn must_be_expected(&self) -> Result<(), Failure> {
        // What the change itself puts right, such as a withdrawal that was lost in a merge, is not asked about.
        let now = self.unlike_signed();
        let unexpected: Vec<&String> = self.unexpected.iter().filter(|change| now.contains(change)).collect();
        if unexpected.is_empty() {
            return Ok(());
        }
        let message = "the index changed since it was signed here; nothing was signed";
        let help = format!(
            "ask the other maintainers; if they, or you, made or undid these changes, run `colab-boot golden sign --accept-changes --repo {}`, otherwise restore the folder from version control",
            shell_word(&self.folder)
        );
        let finding = Finding::error(Code::GoldenThreshold, message).with_help(help);
        let finding = unexpected.into_iter().cloned().fold(finding, Finding::with_note);
        Err(Failure::from_findings(Kind::Answer, vec![finding]))
    }

    /// How it differs from what was signed here, as no release and no renewal does.
    fn unlike_signed(&self) -> Vec<String> {
        self.signed_here.as_ref().map_or_else(Vec::new, |before| unexpected(before, &self.catalogue))
    }

    /// Takes what others have changed. Returns it.
    pub fn accept(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unexpected)
    }

    /// The one in `folder`, to be looked at. An index that goes back behind one that was seen here is refused:
    /// something was undone.
    pub fn open(folder: &Path, session: &Session<'_>) -> Result<Self, Failure> {
        let path = folder.join(INDEX_FILE);
        let none = || {
            let name = folder.display().to_string();
            if name.contains("://") {
                return Failure::input(format!("`{name}` is an address, but this command needs the folder"))
                    .help("clone or copy the repository, and name its folder with --repo");
            }
            Failure::input(format!("`{name}` is not a golden repository: it has no `{INDEX_FILE}`"))
                .help("create one with `colab-boot golden init`, or name another folder with --repo")
        };
        if !files::is_file(&path)? {
            return Err(none());
        }
        let unreadable = |why: String, help: &str| {
            let message = format!("`{}` can't be used", path.display());
            let finding = Finding::error(Code::GoldenUnreadable, message).with_note(why);
            Failure::from_findings(Kind::Answer, vec![finding.with_help(help)])
        };
        let bytes = files::read_bytes(&path, LARGEST).map_err(|error| unreadable(error.to_string(), way_back(&[])))?;
        let signed = split(&bytes).map_err(|why| unreadable(why, way_back(&bytes)))?;
        let catalogue = Catalogue::parse(signed.text).map_err(|why| unreadable(why, way_back(&bytes)))?;
        let kept = Self {
            folder: folder.to_owned(),
            catalogue,
            text: signed.text.to_owned(),
            blocks: signed.blocks,
            alone: None,
            doubt: None,
            signed_here: None,
            unexpected: Vec::new(),
        };
        let trust = trust_of(&session.paths, &kept.catalogue.name)?;
        let (place, own) = (folder.display(), kept.catalogue.seq);
        let message = match trust.behind(own, kept.digest()) {
            None => return Ok(kept),
            Some(Behind::Older(seq)) => {
                format!("the index in `{place}` has sequence number {own}, but {seq} was seen before")
            }
            Some(Behind::Another) => {
                format!("the index in `{place}` has sequence number {own}, like a different index seen before")
            }
        };
        let finding = Finding::error(Code::GoldenRolledBack, message)
            .with_help("download the newest index from where it is published, then change that one")
            .with_help(format!(
                "if the newer one was never published, remove `{}`, which remembers it",
                record_of(&session.paths, &kept.catalogue.name)?.display()
            ));
        Err(Failure::from_findings(Kind::Answer, vec![finding]))
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
        self.catalogue
            .releases
            .iter_mut()
            .find(|release| release.name == name && release.version == version)
            .ok_or_else(|| Failure::bug("a release was lost"))
    }

    /// The next index: its number, the days that follow from `session`'s clock, what has changed. It is not on the disk
    /// yet, and has no signature.
    pub fn next(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        let today = Day::at(session.now);
        self.catalogue.seq += 1;
        self.catalogue.issued = today;
        self.catalogue.fresh_until = today.after(self.catalogue.policy.fresh);
        self.text = self.catalogue.to_text().map_err(Failure::bug)?;
        self.blocks.clear();
        if self.text.len() as u64 > LARGEST {
            return Err(
                Failure::answer("the index would have more than 1 MiB").help("remove releases that expired long ago")
            );
        }
        // What readers would refuse is never written.
        let refused = |why: String| Failure::input("the new index could not be read").cause(why);
        Catalogue::parse(&self.text).map(drop).map_err(refused)
    }

    /// Writes the index with its signatures.
    pub fn write(&self) -> Result<(), Failure> {
        self.store()?;
        files::remove_if_there(&self.folder.join(FRESH_FILE))
    }

    /// Those who may sign, by the list that the index names.
    pub fn signers(&self) -> Result<Signers, Failure> {
        Ok(self.list_of_signers()?.1)
    }

    /// The list that the index names, as a text and read. Any other is an error: a user who can write to the folder
    /// could add a key to it, and the next change would sign that.
    pub fn list_of_signers(&self) -> Result<(String, Signers), Failure> {
        let path = self.folder.join(SIGNERS_FILE);
        let mut text = self.list_text()?;
        if let Some(row) = &self.catalogue.signers {
            let is_named = |text: &String| Sha256::of(text.as_bytes()) == row.sha256;
            // A change that was killed between its two files goes on.
            let next = || files::read_optional(&self.folder.join(NEXT_SIGNERS)).ok().flatten();
            if !is_named(&text) {
                text = next().filter(is_named).ok_or_else(|| other_list(&path))?;
                if self.alone.is_some() {
                    self.keep_signers(&text)?;
                }
            }
        }
        let signers = self.signers_in(&text)?;
        Ok((text, signers))
    }

    /// The list that lies here, whatever the index names.
    pub fn list_text(&self) -> Result<String, Failure> {
        let restored = |failure: Failure| failure.help(way_back(&[]));
        files::read_text(&self.folder.join(SIGNERS_FILE), "list of signers").map_err(restored)
    }

    /// Who is in `text`, a list of signers.
    pub fn signers_in(&self, text: &str) -> Result<Signers, Failure> {
        let unreadable = || Failure::input(format!("`{}` can't be read", self.folder.join(SIGNERS_FILE).display()));
        Signers::parse(text).map_err(|why| unreadable().cause(why).help(way_back(text.as_bytes())))
    }

    /// Writes what becomes the list once the index that names it is there.
    pub fn prepare_signers(&self, text: &str) -> Result<(), Failure> {
        files::write_whole(&self.folder.join(NEXT_SIGNERS), text.as_bytes())
    }

    /// Makes the list that the index names the one that people see.
    pub fn keep_signers(&self, text: &str) -> Result<(), Failure> {
        files::write_whole(&self.folder.join(SIGNERS_FILE), text.as_bytes())?;
        files::remove_if_there(&self.folder.join(NEXT_SIGNERS))
    }

    /// Puts one more signature under the index in memory, if it is by somebody who may.
    pub fn sign(&mut self, signers: &Signers, block: String, now: u64) -> Result<(), Failure> {
        may_sign(signers, &self.text, &block, INDEX, now)?;
        if !self.blocks.contains(&block) {
            self.blocks.push(block);
        }
        Ok(())
    }

    fn store(&self) -> Result<(), Failure> {
        files::write_whole(&self.folder.join(INDEX_FILE), join(&self.text, &self.blocks).as_bytes())
    }
}

fn other_list(path: &Path) -> Failure {
    let message = format!("`{}` does not match the signed index", path.display());
    let finding = Finding::error(Code::GoldenFileDiffers, message);
    Failure::from_findings(Kind::Answer, vec![finding.with_help(OTHER_LIST)])
}

/// An error where `threshold` signatures of `signers` can't be made at `now`: users would refuse such a repository.
pub fn must_be_signable(signers: &Signers, threshold: usize, now: u64) -> Result<(), Failure> {
    let able = signers.able(now).len();
    if threshold > 0 && threshold <= able {
        return Ok(());
    }
    let message = match threshold {
        0 => "the threshold is 0: anyone could change the index".to_owned(),
        _ => format!(
            "{} required, but only {} can sign the index",
            counted(threshold, "signature"),
            counted(able, "key")
        ),
    };
    let failure = signers.described(now).into_iter().fold(Failure::input(message), Failure::cause);
    Err(failure.help("name a public key for each person who signs, or choose another --threshold; nothing was changed"))
}

/// An error where `block` is no signature of `text` by somebody whom `signers` allow it.
pub fn may_sign(signers: &Signers, text: &str, block: &str, namespace: &str, now: u64) -> Result<(), Failure> {
    match signers.check(text, &[block.to_owned()], namespace, now).pop() {
        Some(Outcome::Good { .. }) => Ok(()),
        Some(Outcome::NotAllowed { principal, why }) => Err(Failure::answer(format!("{principal} can't sign: {why}"))),
        Some(Outcome::Unknown { fingerprint }) => {
            Err(Failure::answer(format!("`{SIGNERS_FILE}` does not name the key {fingerprint}"))
                .help("a signer adds it with `colab-boot golden sign --add`"))
        }
        Some(Outcome::OtherKind(why)) => Err(Failure::input(format!("the key can't sign here: {why}"))
            .help("create one with `ssh-keygen -t ed25519`, and add it with `colab-boot golden sign --add`")),
        other => Err(Failure::bug(format!("ssh-keygen's signature is wrong: {other:?}"))),
    }
}
