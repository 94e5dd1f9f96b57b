//! A change of the signers as keepers make it: written beside the index, and signed by those before it as they sign.

use std::path::{Path, PathBuf};

use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::host::files;
use crate::golden::repository::repository_changes::Kept;
use crate::golden::repository::ssh_keygen::sign;
use crate::golden::repository::unexpected::remember_signed;
use crate::golden::repository::{Repository, repo_option};
use crate::golden::rotation::{Change, LARGEST_STEP, faults, step_file};
use crate::golden::signers::{INDEX, Outcome, Signers};

/// A change with its place in a repository.
pub struct SignerChange {
    path: PathBuf,
    change: Change,
}

impl SignerChange {
    /// The change with this number, which is not in the repository yet.
    pub fn new(folder: &Path, number: u64, change: Change) -> Self {
        Self { path: folder.join(step_file(number)), change }
    }

    /// The last one of a repository; `None` where its signers never changed.
    pub fn last(kept: &Kept) -> Result<Option<Self>, Failure> {
        let number = kept.catalogue.signers.as_ref().map_or(0, |row| row.step);
        if number == 0 {
            return Ok(None);
        }
        let path = kept.folder.join(step_file(number));
        let text = files::read_optional(&path)?;
        let change = Change::read(text.as_ref().map(String::as_bytes))
            .and_then(|change| change.must_lead_to(&kept.catalogue).map(|()| change))
            .map_err(|why| {
                let message = format!("`{}` {why}; nothing was signed", path.display());
                let finding = Finding::error(Code::GoldenFileDiffers, message);
                Failure::from_findings(Kind::Answer, vec![finding.with_help("restore it from version control")])
            })?;
        Ok(Some(Self { path, change }))
    }

    pub fn write(&self) -> Result<(), Failure> {
        files::write_whole(&self.path, self.change.file().as_bytes())
    }

    /// What is to be said while some are missing.
    pub fn still_missing(&self, folder: &Path) -> Option<String> {
        let missing = self.change.missing();
        (missing > 0).then(|| {
            format!(
                "{missing} more of the earlier signers must sign the change; until then, readers who pinned their \
                 keys can't follow it: `colab-boot golden sign{}` with an earlier key. If those keys are lost, \
                 `--start-over` makes every reader trust the new ones by hand",
                repo_option(folder)
            )
        })
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
        Some(own) => own.change.add(sign(session, key, own.change.text(), INDEX)?),
        None => false,
    };
    let block = sign(session, key, &kept.text, INDEX)?;
    let is_signer = signers.check(&kept.text, std::slice::from_ref(&block), INDEX, session.now);
    let remember = |kept: &Kept| remember_signed(&kept.folder, &kept.text, &session.paths);
    if has_signed && matches!(is_signer.as_slice(), [Outcome::Unknown { .. }]) {
        remember(kept);
        return Ok(());
    }
    kept.sign(signers, block, session.now)?;
    remember(kept);
    Ok(())
}

/// What is wrong with the changes of the signers of `kept`, which a reader with earlier keys has to follow.
pub fn change_findings(kept: &Kept, repository: &Repository) -> Vec<Finding> {
    let found = faults(&kept.catalogue, &|number| repository.read(&step_file(number), LARGEST_STEP));
    let help = format!(
        "if you made the last change, earlier signers sign it with `colab-boot golden sign{}`; other files come back from version control",
        repo_option(&kept.folder)
    );
    let last = kept.catalogue.signers.as_ref().map_or(0, |row| row.step);
    let names = files::names_if_any(&kept.folder.join("signers"));
    let strange =
        names.into_iter().filter(|name| !(1..=last).any(|number| step_file(number) == format!("signers/{name}")));
    let strange = strange.map(|name| {
        Finding::warning(Code::GoldenFileDiffers, format!("`signers/{name}` is not in the index"))
            .with_help("remove it")
    });
    let finding = |(number, why): (u64, String)| {
        let message = format!("`{}` {why}: readers who pinned earlier keys are stopped", step_file(number));
        Finding::error(Code::GoldenThreshold, message).with_help(help.clone())
    };
    found.into_iter().map(finding).chain(strange).collect()
}
