//! `golden trust`: the keys of those who may sign a repository, pinned by hand.

use std::path::Path;

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::TrustOptions;
use crate::cli::verbs::golden::pins_here;
use crate::core::diag::{Code, Failure, Finding, Kind, counted, shell_word};
use crate::core::model::{PackageName, Sha256};
use crate::golden::catalogue::{Catalogue, LARGEST};
use crate::golden::index_trust::{Trust, vouch};
use crate::golden::repository::{
    INDEX_FILE, LARGEST_LIST, Repository, SIGNERS_FILE, TO_READ, address_of, forget_others, leads_to, lines_of,
    must_be_fingerprint, must_be_known, must_be_signed, notebook_line, remember, trust_of, write_trust,
};
use crate::golden::signed_text::split;
use crate::golden::signers::{Signer, Signers};

#[derive(Serialize)]
struct TrustReport {
    name: String,
    threshold: usize,
    keys: Vec<String>,
    pinned: bool,
}

pub(super) fn run(options: &TrustOptions, session: &Session<'_>) -> Result<Report, Failure> {
    options.key.iter().try_for_each(|key| must_be_fingerprint(key, "--key"))?;
    let repository = Repository::open(&address_of(options.repo.as_ref(), &pins_here())?, TO_READ, session)?;
    let none = |file: &str| Failure::world(format!("`{}` has no `{file}`", repository.name()));
    let index = repository.read(INDEX_FILE, LARGEST)?.ok_or_else(|| none(INDEX_FILE))?;
    let bytes = repository.read(SIGNERS_FILE, LARGEST_LIST)?.ok_or_else(|| none(SIGNERS_FILE))?;
    let signers_text = String::from_utf8(bytes).map_err(|_| none(SIGNERS_FILE))?;
    let unreadable = |why: String| Failure::answer(format!("`{}` can't be read", repository.name())).cause(why);
    let catalogue = split(&index).and_then(|signed| Catalogue::parse(signed.text)).map_err(unreadable)?;
    let signers = Signers::parse(&signers_text).map_err(unreadable)?;
    let row = catalogue.signers.as_ref();
    if row.is_some_and(|row| row.sha256 != Sha256::of(signers_text.as_bytes())) {
        return Err(Failure::answer(format!("`{SIGNERS_FILE}` does not match the index"))
            .help("it was changed without the required signatures: ask the maintainers"));
    }
    let known_keys = signers.fingerprints();
    if let Some(strange) = options.key.iter().find(|key| !known_keys.contains(*key)) {
        let all: Vec<String> = signers.all.iter().map(Signer::shown).collect();
        return Err(Failure::answer(format!("`{SIGNERS_FILE}` does not name the key {strange}")).cause(all.join(", ")));
    }
    let threshold = options.threshold.unwrap_or_else(|| catalogue.threshold());
    let (keys, all): (Vec<String>, _) = (signers.described(session.now), signers.clone());
    let known = Some(trust_of(&session.paths, &catalogue.name)?).filter(|known| known.threshold > 0);
    let is_of_old = |old: &Trust| leads_to(&repository, &index, old, (&signers, threshold), session);
    let vouched_by_old = known.as_ref().is_some_and(is_of_old);
    if let Some(old) = known.as_ref().filter(|old| options.key.is_empty() && !vouched_by_old && old.signers == signers)
    {
        must_be_signed(&index, old, session.now)?;
    }
    // Only those who were named are pinned: a list that a host has made longer is no reason to trust the rest of it.
    let (signers_text, signers) = if vouched_by_old && options.key.is_empty() {
        (signers_text, signers)
    } else {
        lines_of(&signers_text, &options.key).map_err(unreadable)?
    };
    if signers.index_keys().len() < threshold {
        let state = (options.key.is_empty(), known.is_some());
        return ask((&repository, &catalogue.name), threshold, (&all, session.now), state);
    }
    if known.is_some() && !vouched_by_old {
        must_be_known(&session.paths, &catalogue.name, &repository.name())?;
    }
    // Those who sign must be as many, with the keys that are pinned from now on.
    let name = catalogue.name.clone();
    let seen = known.as_ref().and_then(|old| old.seen_by(&signers));
    let trust = Trust { name: Some(name.clone()), signers: signers.clone(), threshold, seen, ..Trust::default() };
    let vouched = vouch(&index, None, &trust, session.now)
        .map_err(|finding| Failure::from_findings(Kind::Answer, vec![finding]))?;
    let folder = write_trust(&session.paths, (&name, &repository.name()), &signers_text, threshold)?;
    forget_others(&session.paths, &name, &signers)?;
    remember(&session.paths, &trust, &vouched);
    let mut text = format!(
        "{name}: {threshold} of {} keys must sign, pinned in {}\n",
        signers.index_keys().len(),
        folder.display()
    );
    let old = known.map(|trust| trust.signers).unwrap_or_default();
    text.extend(beyond(&signers, &old).map(|signer| format!("+ {signer}\n")));
    text.extend(beyond(&old, &signers).map(|signer| format!("- {signer}\n")));
    let unpinned = unpinned(&all, &signers, &repository);
    let report = TrustReport { name: name.to_string(), threshold, keys, pinned: true };
    Ok(Report::new(report, text).with_findings(vouched.findings.into_iter().chain(unpinned).collect()))
}

/// A warning where the repository names more signers than are pinned: readers are locked out when those sign.
fn unpinned(all: &Signers, pinned: &Signers, repository: &Repository) -> Option<Finding> {
    // No index is signed by a key that only confirms: it need not be pinned.
    let known = pinned.fingerprints();
    let rest = all.of_index().filter(|signer| !known.contains(&signer.fingerprint()));
    let rest: Vec<String> = rest.map(Signer::shown).collect();
    let [own, known] = [pinned, all].map(|signers| signers.of_index().count());
    let message = format!("only {own} of {known} keys are pinned: an index signed by the others is refused");
    let help = format!("to pin all: colab-boot golden trust --repo {} {}", repository.name(), key_flags(all));
    (!rest.is_empty()).then(|| {
        let mut finding = Finding::warning(Code::GoldenKeysUnpinned, message).with_help(help);
        finding.notes = rest.into_iter().map(|key| format!("not pinned: {key}")).collect();
        finding
    })
}

/// Who is in `these` and not in `others`.
fn beyond(these: &Signers, others: &Signers) -> impl Iterator<Item = String> {
    let others = others.fingerprints();
    these.all.iter().filter(move |signer| !others.contains(&signer.fingerprint())).map(Signer::shown)
}

/// `--key SHA256:…`, once for each of `signers` that signs an index, in their order.
fn key_flags(signers: &Signers) -> String {
    signers.of_index().map(|signer| format!("--key {}", signer.fingerprint())).collect::<Vec<_>>().join(" ")
}

/// Shows the keys, and how to pin them; an error where keys were named and too few of them can sign.
fn ask(
    (repository, name): (&Repository, &PackageName),
    threshold: usize,
    (signers, now): (&Signers, u64),
    (is_question, is_pinned): (bool, bool),
) -> Result<Report, Failure> {
    let keys = signers.described(now);
    // All of them: with fewer, a release that others have signed would be refused.
    let flags = key_flags(signers);
    if !is_question {
        return Err(Failure::answer(format!("too few of the named keys can sign (signatures required: {threshold})"))
            .cause(keys.join(", "))
            .help("ask the maintainers for the fingerprints through a channel other than the repository"));
    }
    let fingerprints: Vec<String> = signers.index_fingerprints().into_iter().collect();
    let text = format!(
        "{name}: {} required from\n  {}\n{}\nAsk the maintainers to confirm the fingerprints, then run\n  colab-boot golden trust --repo {} {flags}\nor, for a cell whose keys no longer sign, run this line above it:\n  {}\n",
        counted(threshold, "signature"),
        keys.join("\n  "),
        if is_pinned { "Keys are already pinned and were not changed." } else { "Nothing is pinned." },
        shell_word(Path::new(&repository.name())),
        notebook_line(&fingerprints),
    );
    let report = TrustReport { name: name.to_string(), threshold, keys, pinned: false };
    Ok(Report::new(report, text))
}
