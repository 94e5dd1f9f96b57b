//! Whether an index is to be believed: signed by enough of those who may, not older than one that was seen before, and
//! still fresh.

use serde::Deserialize;

use crate::core::diag::{Code, Finding, counted};
use crate::core::model::{PackageName, Sha256};
use crate::golden::calendar::{Day, Days};
use crate::golden::catalogue::Catalogue;
use crate::golden::signed_text::{split, way_back};
use crate::golden::signers::{FRESH, INDEX, Outcome, Signers, vouching};

/// A statement that an index is current holds no longer than this.
const FRESH_DAYS: i32 = 14;

/// So long an index is used after the day that it was fresh until. A keeper who is away must not stop every notebook.
const GRACE: Days = Days(30);

/// What a reader knows of a repository before it reads it.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// What the repository calls itself; `None` where that is still to be learned.
    pub name: Option<PackageName>,
    pub signers: Signers,
    /// As many of them have to sign. Zero: nobody is trusted, and nobody asked for.
    pub threshold: usize,
    /// No index with a lower number is taken.
    pub min_seq: u64,
    /// The number and the digest of the newest index that was seen.
    pub seen: Option<(u64, Sha256)>,
}

/// How an index is not the newest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// This number was seen, or has to be reached.
    Older(u64),
    /// Another one with its number was seen.
    Another,
}

impl Trust {
    /// How the index with the number `seq` and this digest is behind what is known.
    pub fn behind(&self, seq: u64, digest: Sha256) -> Option<Behind> {
        let floor = self.min_seq.max(self.seen.map(|(seq, _)| seq).unwrap_or_default());
        if seq < floor {
            return Some(Behind::Older(floor));
        }
        self.seen.is_some_and(|(seen, other)| seen == seq && other != digest).then_some(Behind::Another)
    }

    /// The newest index that was seen, if these keys signed it: no older one is believed of the same keys, and new keys
    /// begin anew.
    pub fn seen_by(&self, signers: &Signers) -> Option<(u64, Sha256)> {
        self.seen.filter(|_| self.signers.fingerprints() == signers.fingerprints())
    }
}

/// An index that was judged.
#[derive(Clone, Debug)]
pub struct Vouched {
    pub catalogue: Catalogue,
    /// Who signed it.
    pub by: Vec<String>,
    /// Of its text without signatures.
    pub digest: Sha256,
    /// Warnings and notes; an index with an error is none.
    pub findings: Vec<Finding>,
    /// The day that it was fresh until, where the grace after it is over: what was withdrawn since is not known.
    pub frozen_since: Option<Day>,
}

/// `fresh.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Freshness {
    version: u64,
    name: PackageName,
    /// Of the text of the index without signatures.
    index: Sha256,
    seq: u64,
    until: Day,
}

/// What says that an index is still the current one.
#[derive(Clone, Copy, Debug)]
pub struct Confirmation<'a> {
    /// The file `fresh.toml`.
    pub statement: &'a [u8],
    /// The file `allowed_signers`, believed if the signed index names its digest: keys that may only confirm are in no
    /// cell.
    pub list: &'a [u8],
}

/// Why a statement confirms nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unconfirmed {
    /// It is of another index, or not signed by who may.
    Wrong,
    /// Its last day is over.
    Over,
}

/// Judges the file `golden.toml` with what `trust` knows at `now`, seconds since 1970, and a confirmation, if there is
/// one. Returns the index, or the one finding that forbids to use it.
pub fn vouch(file: &[u8], fresh: Option<Confirmation<'_>>, trust: &Trust, now: u64) -> Result<Vouched, Finding> {
    let unreadable = |why: String| {
        let code = if file.contains(&b'\r') { Code::GoldenLineEnds } else { Code::GoldenUnreadable };
        let finding = Finding::error(code, "the index of the golden repository can't be used").with_note(why);
        finding.with_help(format!("its maintainers: {}", way_back(file)))
    };
    let signed = split(file).map_err(unreadable)?;
    let outcomes = trust.signers.check(signed.text, &signed.blocks, INDEX, now);
    let by = vouching(&outcomes);
    let mut findings = Vec::new();
    if trust.threshold == 0 {
        findings.push(unsigned(signed.blocks.len()));
    } else if by.len() < trust.threshold {
        return Err(too_few(&by, trust, &outcomes));
    } else {
        findings.extend(outcomes.iter().filter_map(not_counted));
    }
    let catalogue = Catalogue::parse(signed.text).map_err(unreadable)?;
    let digest = Sha256::of(signed.text.as_bytes());
    if let Some(name) = trust.name.as_ref().filter(|name| **name != catalogue.name) {
        let message = format!("this is the index of `{}`, not of `{name}`", catalogue.name);
        return Err(Finding::error(Code::GoldenThreshold, message));
    }
    rolled_back(&catalogue, digest, trust).map_or(Ok(()), Err)?;
    let today = Day::at(now);
    // A day for time zones.
    if today.until(catalogue.issued) > 1 {
        let message = format!("the index of `{}` is dated {}, but today is {today}", catalogue.name, catalogue.issued);
        let finding = Finding::warning(Code::GoldenStale, message);
        findings.push(finding.with_help("correct the clock of this machine: expiry and freshness depend on it"));
    }
    let is_confirmed = || fresh.is_some_and(|fresh| confirmed_until(fresh, &catalogue, digest, trust, now).is_ok());
    let is_stale = catalogue.fresh_until < today && !is_confirmed();
    if is_stale {
        let message = format!("the index of `{}` expired on {}", catalogue.name, catalogue.fresh_until);
        let finding = Finding::warning(Code::GoldenStale, message);
        findings.push(finding.with_help("its maintainers can renew it with `colab-boot golden sign --renew`"));
    }
    let is_frozen = is_stale && trust.threshold > 0 && catalogue.fresh_until.after(GRACE) < today;
    let frozen_since = is_frozen.then_some(catalogue.fresh_until);
    Ok(Vouched { catalogue, by, digest, findings, frozen_since })
}

fn unsigned(blocks: usize) -> Finding {
    let message = match blocks {
        0 => "this index is not signed".to_owned(),
        blocks => format!("no keys are pinned here: the index has {}, unverified", counted(blocks, "signature")),
    };
    Finding::warning(Code::GoldenUnsigned, message)
}

fn too_few(by: &[String], trust: &Trust, outcomes: &[Outcome]) -> Finding {
    let wanted = counted(trust.threshold, "trusted signature");
    let message = match by {
        [] => format!("the index has none of {wanted} required"),
        by => format!("the index has {} of {wanted} required: {}", by.len(), by.join(", ")),
    };
    let notes = outcomes.iter().filter_map(said);
    let finding = notes.fold(Finding::error(Code::GoldenThreshold, message), Finding::with_note);
    if by.is_empty() {
        return finding.with_help("the index or its keys were changed: ask its maintainers for their fingerprints");
    }
    finding.with_help("its maintainers may not have finished signing it, or have lost keys: ask them")
}

/// What a signature that does not count says.
fn said(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Good { .. } => None,
        Outcome::Unknown { fingerprint } => Some(format!("a signature is from an untrusted key: {fingerprint}")),
        Outcome::NotAllowed { principal, why } => Some(format!("the signature of {principal} is ignored: {why}")),
        Outcome::Wrong(why) | Outcome::OtherKind(why) => Some(format!("a signature is wrong: {why}")),
    }
}

fn not_counted(outcome: &Outcome) -> Option<Finding> {
    let code = match outcome {
        Outcome::Good { .. } => return None,
        Outcome::Unknown { .. } | Outcome::Wrong(_) | Outcome::OtherKind(_) => Code::GoldenSignerUnknown,
        Outcome::NotAllowed { .. } => Code::GoldenSignerExpired,
    };
    said(outcome).map(|message| Finding::note(code, message))
}

fn rolled_back(catalogue: &Catalogue, digest: Sha256, trust: &Trust) -> Option<Finding> {
    let (name, seq) = (&catalogue.name, catalogue.seq);
    let message = match trust.behind(seq, digest)? {
        Behind::Older(floor) => {
            format!("this index of `{name}` has sequence number {seq}, but {floor} was seen before")
        }
        Behind::Another => {
            format!("this index of `{name}` has sequence number {seq}, like a different index seen before")
        }
    };
    let finding = Finding::error(Code::GoldenRolledBack, message);
    Some(finding.with_help("the server or a cache serves an outdated index, possibly on purpose: use another address"))
}

/// Until when `fresh` says of this very index that it is still the current one; else why it says nothing.
pub fn confirmed_until(
    fresh: Confirmation<'_>,
    catalogue: &Catalogue,
    digest: Sha256,
    trust: &Trust,
    now: u64,
) -> Result<Day, Unconfirmed> {
    let signed = split(fresh.statement).map_err(|_| Unconfirmed::Wrong)?;
    let is_named = catalogue.signers.as_ref().is_some_and(|row| row.sha256 == Sha256::of(fresh.list));
    let listed = is_named.then(|| Signers::parse(&String::from_utf8_lossy(fresh.list)).ok()).flatten();
    let signers = [Some(&trust.signers), listed.as_ref().filter(|_| trust.threshold > 0)];
    let outcomes = signers.into_iter().flatten().flat_map(|one| one.check(signed.text, &signed.blocks, FRESH, now));
    let by = vouching(&outcomes.collect::<Vec<_>>());
    let said: Freshness = toml::from_str(signed.text).map_err(|_| Unconfirmed::Wrong)?;
    let today = Day::at(now);
    let is_of_it = said.name == catalogue.name && said.index == digest && said.seq == catalogue.seq;
    if by.is_empty() || said.version != 1 || !is_of_it || today.until(said.until) > FRESH_DAYS {
        return Err(Unconfirmed::Wrong);
    }
    if said.until < today { Err(Unconfirmed::Over) } else { Ok(said.until) }
}

/// The text of `fresh.toml` for an index, to be signed.
pub fn freshness(catalogue: &Catalogue, digest: Sha256, today: Day) -> String {
    let until = today.after(crate::golden::calendar::Days(14));
    format!(
        "# Made by `colab-boot golden sign --fresh`: the index of this number is still the current one.\nversion = 1\nname = \"{}\"\nindex = \"{digest}\"\nseq = {}\nuntil = {until}\n",
        catalogue.name, catalogue.seq
    )
}
