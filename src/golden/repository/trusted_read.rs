//! A repository that is read and believed: whom the user names, or has pinned.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind, shell_word};
use crate::core::host::mounts::Look;
use crate::core::model::PackageName;
use crate::golden::index_trust::{Trust, Vouched, vouch};
use crate::golden::pin::Pins;
use crate::golden::repository::INDEX_FILE;
use crate::golden::repository::named_keys::recovered;
use crate::golden::repository::pin_holder::Read;
use crate::golden::repository::repository_address::Repository;
use crate::golden::repository::source_request::SourceRequest;
use crate::golden::repository::trusted::{name_at, pin_anew, remember, seen_of, trust_of};
use crate::golden::repository::withdrawn::remember_withdrawn;
use crate::golden::rotation::{LARGEST_STEP, follow, step_file};
use crate::golden::signers::Signers;

/// The folder of the repository: the one that is named, this one, or `golden-cells`.
pub fn folder_of(named: Option<&PathBuf>) -> PathBuf {
    let here = PathBuf::from(".");
    match named {
        // Some name the index itself.
        Some(named) if named.ends_with(INDEX_FILE) => here.join(named.parent().unwrap_or(&here)),
        Some(named) => named.clone(),
        None if here.join(INDEX_FILE).is_file_there() => here,
        None => PathBuf::from("golden-cells"),
    }
}

/// The option that names `folder` where a verb would not find it without one.
pub fn repo_option(folder: &Path) -> String {
    let is_found = |path: PathBuf| match (path.real(), folder.real()) {
        (Ok(one), Ok(other)) => one == other,
        _ => path == folder,
    };
    if is_found(folder_of(None)) { String::new() } else { format!(" --repo {}", shell_word(folder)) }
}

/// The repository that is `named`, else the one of `pins`, else the usual folder.
///
/// Fails where none is named and there is none here.
pub fn address_of(named: Option<&String>, pins: &Pins) -> Result<String, Failure> {
    let pinned = || pins.all.first().map(|pin| pin.from.clone());
    let here = folder_of(None);
    named.cloned().or_else(pinned).or_else(|| here.is_folder_there().then(|| here.display().to_string())).ok_or_else(
        || {
            Failure::input("no repository is named, and there is none in this folder")
                .help("name its folder or URL with --repo")
        },
    )
}

/// Reads the repository that `source` names, else the one of `pins`, else the usual folder, in so much `time`. Findings
/// of the index come with it.
pub fn read_believed(
    source: &SourceRequest,
    pins: &Pins,
    time: Duration,
    session: &Session<'_>,
) -> Result<Read, Failure> {
    let pin = pins.all.first();
    let repository = Repository::open(&address_of(source.repo.as_ref(), pins)?, time, session)?;
    let known = name_at(&session.paths, &repository.name());
    let pinned = pin.filter(|_| source.repo.is_none()).map(|pin| pin.repository.clone());
    // The number of the index that a pin is from: a new machine remembers no other.
    let pinned_seq = pins.all.iter().filter(|_| source.repo.is_none()).map(|pin| pin.seq).max().unwrap_or_default();
    let mut trust = trust_in(source, known.or(pinned), session)?;
    if trust.threshold > 0 {
        trust.min_seq = trust.min_seq.max(pinned_seq);
    }
    let is_pinned = source.trusted_key.is_empty();
    let (mut trust, mut vouched) = believed_or_recovered(&repository, &trust, is_pinned, session)?;
    if trust.threshold == 0 {
        // A copy somewhere else of what is pinned by its name: those who sign that have to sign this.
        let by_name = trust_of(&session.paths, &vouched.catalogue.name)?;
        if by_name.threshold > 0 {
            let by_name = Trust { min_seq: trust.min_seq, ..by_name };
            (trust, vouched) = believed_or_recovered(&repository, &by_name, is_pinned, session)?;
        }
    }
    if let Some(day) = vouched.frozen_since.filter(|_| !source.allow_stale) {
        let name = &vouched.catalogue.name;
        let message =
            format!("the index of `{name}` expired on {day}, more than a month ago: later withdrawals are unknown");
        let finding = Finding::error(Code::GoldenStale, message)
            .with_help("its maintainers renew it with `colab-boot golden sign --renew`")
            .with_help("to use it anyway, pass --allow-stale or set COLAB_BOOT_ALLOW_STALE=1");
        return Err(Failure::from_findings(Kind::Answer, vec![finding]));
    }
    if trust.threshold > 0 {
        remember(&session.paths, &trust, &vouched);
        remember_withdrawn(&session.paths, &vouched.catalogue);
    }
    Ok(Read { repository, vouched })
}

/// The index as [`believed`] has it, or by the keys that the user has named where those of `trust` are lost.
fn believed_or_recovered(
    repository: &Repository,
    trust: &Trust,
    is_pinned: bool,
    session: &Session<'_>,
) -> Result<(Trust, Vouched), Failure> {
    let failure = match believed(repository, trust.clone(), is_pinned, session) {
        Ok(found) => return Ok(found),
        Err(failure) => failure,
    };
    if !failure.findings.iter().any(|finding| finding.code == Code::GoldenThreshold) {
        return Err(failure);
    }
    if !is_pinned && let Some(found) = pinned_instead(repository, trust, session)? {
        return Ok(found);
    }
    let Some((trust, finding)) = recovered(repository, trust, session)? else {
        return Err(with_way_back(failure, repository));
    };
    let mut vouched = repository.vouched(&trust, session.now)?;
    vouched.findings.insert(0, finding);
    Ok((trust, vouched))
}

/// The index by the keys that `golden trust` has pinned on this machine, in place of those of a cell, `old`; `None`
/// where none are pinned for this address, or they do not sign it either. As many have to sign as the cell says.
fn pinned_instead(
    repository: &Repository,
    old: &Trust,
    session: &Session<'_>,
) -> Result<Option<(Trust, Vouched)>, Failure> {
    let Some(name) = name_at(&session.paths, &repository.name()) else { return Ok(None) };
    let pinned = trust_of(&session.paths, &name)?;
    if pinned.threshold == 0 {
        return Ok(None);
    }
    let threshold = pinned.threshold.max(old.threshold);
    let trust = Trust { threshold, min_seq: pinned.min_seq.max(old.min_seq), ..pinned };
    let Ok((trust, mut vouched)) = believed(repository, trust, true, session) else { return Ok(None) };
    let message = "the keys that are pinned on this machine replace those of the cell, which no longer sign the index";
    vouched.findings.insert(0, Finding::warning(Code::GoldenSignersChanged, message));
    Ok(Some((trust, vouched)))
}

/// `failure` with what a user does whose keys no longer sign the index.
pub fn with_way_back(mut failure: Failure, repository: &Repository) -> Failure {
    let place = shell_word(Path::new(&repository.name()));
    let help = format!(
        "if the maintainers confirm by another channel that they replaced lost keys, `colab-boot golden trust --repo {place}` shows how to trust the new ones"
    );
    failure.findings.iter_mut().for_each(|finding| finding.help.push(help.clone()));
    failure
}

/// The index, judged by what `trust` knows, or by what the changes of the signers since then lead to. Where `trust`
/// `is_pinned` on this machine, the new keys are pinned in place of the old ones.
pub fn believed(
    repository: &Repository,
    trust: Trust,
    is_pinned: bool,
    session: &Session<'_>,
) -> Result<(Trust, Vouched), Failure> {
    let failure = match repository.vouched(&trust, session.now) {
        Ok(vouched) => return Ok((trust, vouched)),
        Err(failure) => failure,
    };
    if trust.threshold == 0 || !failure.findings.iter().any(|finding| finding.code == Code::GoldenThreshold) {
        return Err(failure);
    }
    let file = |number: u64| repository.read(&step_file(number), LARGEST_STEP);
    let Some(mut followed) = follow(&trust, repository.steps()?, &file)? else { return Err(failure) };
    if is_pinned && let Some(name) = &followed.trust.name {
        let seen = seen_of(&session.paths, name, &followed.trust.signers)?;
        followed.trust.seen = seen.into_iter().chain(trust.seen).max_by_key(|(seq, _)| *seq);
    }
    let mut vouched = repository.vouched(&followed.trust, session.now)?;
    vouched.findings.insert(0, followed.finding);
    if is_pinned {
        pin_anew(&session.paths, &vouched.catalogue.name, &followed.list, followed.trust.threshold);
    }
    Ok((followed.trust, vouched))
}

/// Whether what `old` knows leads to these signers: they have signed `index`, which names them, or the changes up to
/// them.
pub fn leads_to(
    repository: &Repository,
    index: &[u8],
    old: &Trust,
    (signers, threshold): (&Signers, usize),
    session: &Session<'_>,
) -> bool {
    let is_theirs = |now: &Trust| now.threshold == threshold && now.signers == *signers;
    vouch(index, None, old, session.now).is_ok()
        || believed(repository, old.clone(), false, session).is_ok_and(|(now, _)| is_theirs(&now))
}

fn trust_in(source: &SourceRequest, name: Option<PackageName>, session: &Session<'_>) -> Result<Trust, Failure> {
    let min_seq = source.min_seq;
    if !source.trusted_key.is_empty() {
        let signers = Signers::of_keys(&source.trusted_key)
            .map_err(|why| Failure::input("--trusted-key can't be read").cause(why))?;
        return Ok(Trust { name, signers, threshold: source.threshold, min_seq, seen: None });
    }
    let known = name.map(|name| trust_of(&session.paths, &name)).transpose()?;
    Ok(Trust { min_seq, ..known.unwrap_or_default() })
}
