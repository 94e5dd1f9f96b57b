//! A change of the signers as keepers make it: written beside the index, and signed by those before it as they sign.

use std::path::{Path, PathBuf};

use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::host::files;
use crate::golden::repository::repository_changes::{Kept, may_sign};
use crate::golden::repository::ssh_keygen::sign;
use crate::golden::repository::{Repository, SIGNERS_FILE, repo_option};
use crate::golden::rotation::{LARGEST_STEP, consent, faults, must_lead_to, step_file};
use crate::golden::signed_text::{join, split};
use crate::golden::signers::{INDEX, Outcome, Signers};

/// A change with its signatures.
pub struct SignerChange {
    path: PathBuf,
    text: String,
    blocks: Vec<String>,
}

impl SignerChange {
    /// The change with this number and `text`, which nobody has signed yet.
    pub fn new(folder: &Path, number: u64, text: String) -> Self {
        Self { path: folder.join(step_file(number)), text, blocks: Vec::new() }
    }

    /// The last one of a repository; `None` where its signers never changed.
    pub fn last(kept: &Kept) -> Result<Option<Self>, Failure> {
        let number = kept.catalogue.signers.as_ref().map_or(0, |row| row.step);
        if number == 0 {
            return Ok(None);
        }
        let path = kept.folder.join(step_file(number));
        let text = files::read_text(&path, "change of the signers")?;
        let signed = split(text.as_bytes())
            .and_then(|signed| must_lead_to(signed.text, &kept.catalogue).map(|()| signed))
            .map_err(|why| {
                let message = format!("`{}` can't be used; nothing was signed", path.display());
                let finding = Finding::error(Code::GoldenFileDiffers, message).with_note(why);
                Failure::from_findings(Kind::Answer, vec![finding.with_help("restore it from version control")])
            })?;
        Ok(Some(Self { path, text: signed.text.to_owned(), blocks: signed.blocks }))
    }

    pub fn write(&self) -> Result<(), Failure> {
        files::write_whole(&self.path, join(&self.text, &self.blocks).as_bytes())
    }

    /// How many of the signers before it have to sign it still.
    pub fn missing(&self) -> usize {
        consent(&self.text, &self.blocks).map_or(0, |(by, needed)| needed.saturating_sub(by.len()))
    }

    /// What is to be said while some are missing.
    pub fn still_missing(&self, folder: &Path) -> Option<String> {
        let missing = self.missing();
        (missing > 0).then(|| {
            format!(
                "{missing} more of the earlier signers must sign the change; until then, readers who pinned their keys can't \
                 follow it: `colab-boot golden sign{}` with a key of before",
                repo_option(folder)
            )
        })
    }

    /// Adds `block`, if it is of one of the signers before the change who has not signed it.
    fn take(&mut self, block: String) -> bool {
        let is_of_one = consent(&self.text, std::slice::from_ref(&block)).is_ok_and(|(by, _)| !by.is_empty());
        let is_new = is_of_one && !self.blocks.contains(&block);
        if is_new {
            self.blocks.push(block);
        }
        is_new
    }
}

/// Signs with `key` what it may sign: the index of `kept` in memory, as one of `signers`, and the `change` of the
/// signers, as one of those before it. An error where it is neither.
pub fn sign_all(
    kept: &mut Kept,
    signers: &Signers,
    change: Option<&mut SignerChange>,
    key: &Path,
    session: &Session<'_>,
) -> Result<(), Failure> {
    let has_signed = match change {
        Some(change) => change.take(sign(session, key, &change.text, INDEX)?),
        None => false,
    };
    let block = sign(session, key, &kept.text, INDEX)?;
    let is_signer = signers.check(&kept.text, std::slice::from_ref(&block), INDEX, session.now);
    if has_signed && matches!(is_signer.as_slice(), [Outcome::Unknown { .. }]) {
        return Ok(());
    }
    may_sign(signers, &kept.text, &block, INDEX, session.now)?;
    if !kept.blocks.contains(&block) {
        kept.blocks.push(block);
    }
    Ok(())
}

/// What is wrong with the changes of the signers of `kept`, which a reader with earlier keys has to follow.
pub fn change_findings(kept: &Kept, repository: &Repository) -> Result<Vec<Finding>, Failure> {
    let newest = kept.catalogue.signers.as_ref().map_or(0, |row| row.step);
    let list = files::read_text(&kept.folder.join(SIGNERS_FILE), "list of signers")?;
    let found = faults(newest, &list, &|number| repository.read(&step_file(number), LARGEST_STEP));
    let help = format!(
        "earlier signers sign the last change with `colab-boot golden sign{}`; other files come back from version control",
        repo_option(&kept.folder)
    );
    let finding = |(number, why): (u64, String)| {
        let message = format!("`{}` {why}: readers who pinned earlier keys are stopped", step_file(number));
        Finding::error(Code::GoldenThreshold, message).with_help(help.clone())
    };
    Ok(found.into_iter().map(finding).collect())
}
