//! Keys that a user names by their fingerprints: pinned by `golden trust`, or trusted by a variable in a notebook whose
//! own keys are lost.

use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::golden::catalogue::{Catalogue, LARGEST};
use crate::golden::index_trust::{Trust, vouch};
use crate::golden::repository::{INDEX_FILE, LARGEST_LIST, Repository, SIGNERS_FILE};
use crate::golden::signed_text::split;
use crate::golden::signers::{Signer, Signers};

/// Fingerprints that are trusted where the keys of a cell, or those that are pinned, no longer sign.
const TRUST_VARIABLE: &str = "COLAB_BOOT_GOLDEN_TRUST";

/// An error for what is no fingerprint; `option` is where the user wrote it.
pub fn must_be_fingerprint(text: &str, option: &str) -> Result<(), Failure> {
    let body = text.strip_prefix("SHA256:").unwrap_or_default();
    if body.len() == 43 && body.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/')) {
        return Ok(());
    }
    Err(Failure::input(format!("{option}: `{text}` is not a fingerprint"))
        .help("write it as `ssh-keygen -lf KEY.pub` prints it: `SHA256:` and 43 characters"))
}

/// The lines of a list whose keys have one of `fingerprints`, as a text and read.
pub fn lines_of(text: &str, fingerprints: &[String]) -> Result<(String, Signers), String> {
    let is_named = |line: &&str| {
        let one = Signers::parse(line).unwrap_or_default();
        one.all.iter().any(|signer| fingerprints.contains(&signer.fingerprint()))
    };
    let text: String = text.lines().filter(is_named).map(|line| format!("{line}\n")).collect();
    let signers = Signers::parse(&text)?;
    Ok((text, signers))
}

/// Fails where too few of the keys that are pinned, all of the repository's, have signed `index`.
pub fn must_be_signed(index: &[u8], pinned: &Trust, now: u64) -> Result<(), Failure> {
    let help =
        "these keys are pinned here already: nothing is to be changed; try again once the maintainers have signed";
    vouch(index, None, pinned, now)
        .map(drop)
        .map_err(|finding| Failure::from_findings(Kind::Answer, vec![finding.with_help(help)]))
}

/// The line to paste above a boot cell to trust these keys in its kernel.
pub fn notebook_line(fingerprints: &[String]) -> String {
    format!("%env {TRUST_VARIABLE}={}", fingerprints.join(","))
}

/// What is trusted of `repository` in place of `old`, which its index no longer satisfies, if the user has named keys
/// in [`TRUST_VARIABLE`]; with what is to be said of it. As many of them have to sign as the index and `old` say.
pub(super) fn recovered(
    repository: &Repository,
    old: &Trust,
    session: &Session<'_>,
) -> Result<Option<(Trust, Finding)>, Failure> {
    let Some(value) = session.environment.get(TRUST_VARIABLE) else { return Ok(None) };
    let fingerprints: Vec<String> =
        value.split([',', ' ']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    for one in &fingerprints {
        must_be_fingerprint(one, TRUST_VARIABLE)?;
    }
    let list = repository.read(SIGNERS_FILE, LARGEST_LIST)?.unwrap_or_default();
    let (_, signers) = lines_of(&String::from_utf8_lossy(&list), &fingerprints)
        .map_err(|why| Failure::answer(format!("`{}` has a damaged `{SIGNERS_FILE}`", repository.name())).cause(why))?;
    let index = repository.read(INDEX_FILE, LARGEST)?.unwrap_or_default();
    let catalogue = split(&index).and_then(|signed| Catalogue::parse(signed.text)).ok();
    let stated = catalogue.map_or(1, |catalogue| catalogue.threshold());
    let names: Vec<String> = signers.all.iter().map(Signer::shown).collect();
    let message = format!("{TRUST_VARIABLE} replaces the keys that were trusted before with {}", names.join(", "));
    let finding = Finding::warning(Code::GoldenSignersChanged, message)
        .with_help("use a release that was published after the change: its cell trusts the new keys by itself");
    let threshold = stated.max(old.threshold);
    Ok(Some((Trust { signers, threshold, seen: None, ..old.clone() }, finding)))
}
