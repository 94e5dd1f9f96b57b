//! `golden`: the repository that a team publishes its profiles in.

mod add;
mod check;
mod init;
mod list;
mod policy;
mod publish;
mod sign;
mod trust;
mod update;
mod verify;
mod withdraw;

use std::path::PathBuf;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::{GoldenVerb, KeptOptions, PolicyVerb};
use crate::core::diag::{Failure, Finding};
use crate::golden::calendar::Day;
use crate::golden::index_trust::Vouched;
use crate::golden::pin::Pins;
use crate::golden::repository::{
    Holder, INDEX_FILE, Kept, SignerChange, default_key, folder_of, read_believed, refresh_page, repo_option, sign_all,
};
use crate::golden::signers::{INDEX, Signer, Signers, vouching};

pub(super) fn run(verb: &GoldenVerb, session: &Session<'_>) -> Result<Report, Failure> {
    match verb {
        GoldenVerb::List(options) => list::run(options, session),
        GoldenVerb::Add(options) => add::run(options, session),
        GoldenVerb::Update(options) => update::run(options, session),
        GoldenVerb::Verify(options) => verify::run(options, session),
        GoldenVerb::Trust(options) => trust::run(options, session),
        GoldenVerb::Init(options) => init::run(options, session),
        GoldenVerb::Publish(options) => publish::run(options, session),
        GoldenVerb::Withdraw(options) => withdraw::run(options, session),
        GoldenVerb::Sign(options) => sign::run(options, session),
        GoldenVerb::Check(options) => check::run(options, session),
        GoldenVerb::Policy(PolicyVerb::Show(options)) => policy::show(options, session),
        GoldenVerb::Policy(PolicyVerb::Set(options)) => policy::set(options, session),
    }
}

/// The day that decides on standings.
fn today(session: &Session<'_>) -> Day {
    Day::at(session.now)
}

/// What this folder pins; nothing where that can't be read, for who only looks.
fn pins_here() -> Pins {
    Holder::at(std::path::Path::new(".")).pins().unwrap_or_default()
}

/// Signs a changed index where there is a key, then writes it with its page, whose links lead to `place`, and says who
/// has to sign still. Where the key can't sign the old index stays.
fn store(
    kept: &mut Kept,
    options: &KeptOptions,
    place: Option<&str>,
    session: &Session<'_>,
) -> Result<Vec<String>, Failure> {
    let signers = kept.signers()?;
    let earlier = kept.catalogue.issued;
    kept.next(session)?;
    signed(kept, &signers, None, options, session)?;
    let mut talk = written(kept, &signers, place, session)?;
    talk.extend(clock_is_behind(earlier, kept.catalogue.issued));
    Ok(talk)
}

/// Says that an index is dated before the one that it replaces. Which of two clocks was wrong is not known.
fn clock_is_behind(earlier: Day, issued: Day) -> Option<String> {
    let said = format!(
        "the index is dated {issued}, but the previous one {earlier}. If the clock of this machine is behind, set it and run `colab-boot golden sign --renew`"
    );
    (issued.until(earlier) > 1).then_some(said)
}

/// Puts the signature of the user's key under an index, and under a `change` of the signers, that are not on the disk
/// yet.
fn signed(
    kept: &mut Kept,
    signers: &Signers,
    change: Option<&mut SignerChange>,
    options: &KeptOptions,
    session: &Session<'_>,
) -> Result<(), Failure> {
    if options.no_sign {
        return Ok(());
    }
    kept.must_be_signed(false)?;
    let key = key_of(options, session)?;
    sign_all(kept, signers, change, &key, session)
}

/// The key of the user.
fn key_of(options: &KeptOptions, session: &Session<'_>) -> Result<PathBuf, Failure> {
    options.key.clone().or_else(|| default_key(session)).ok_or_else(|| {
        Failure::input("there is no key to sign with; nothing was changed")
            .help("pass one with --key, set git's `user.signingkey`, or use --no-sign")
    })
}

/// Writes an index with its signatures and the page, and says who has to sign still.
fn written(kept: &Kept, signers: &Signers, place: Option<&str>, session: &Session<'_>) -> Result<Vec<String>, Failure> {
    kept.write()?;
    let wanted = kept.catalogue.signers.as_ref().map(|row| row.threshold).unwrap_or_default();
    let mut talk = vec![format!("{}: index {}", kept.folder.join(INDEX_FILE).display(), kept.catalogue.seq)];
    let by = vouching(&signers.check(&kept.text, &kept.blocks, INDEX, session.now));
    let missing = wanted.saturating_sub(by.len());
    if missing > 0 {
        let able = signers.able(session.now).into_iter().filter(|signer| !by.contains(&signer.principal));
        let names: Vec<String> = able.map(Signer::shown).collect();
        talk.push(format!(
            "{missing} more required, of {}: `colab-boot golden sign{} --key KEY`. \
             Serve the repository to its users after that",
            names.join(", "),
            repo_option(&kept.folder)
        ));
    }
    talk.extend(refresh_page(kept, place, session));
    Ok(talk)
}

/// The findings of an index, and those of one release, as one answer.
fn with_findings(report: Report, vouched: &Vouched, more: Vec<Finding>) -> Report {
    report.with_findings(vouched.findings.iter().cloned().chain(more).collect())
}
