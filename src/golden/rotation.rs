//! A change of the signers: a statement in a file of its own, `signers/1.toml`, that the signers before it have signed.
//! A reader who knows these follows it to the new ones, and so from change to change, as TUF has it for its root keys
//! (<https://theupdateframework.github.io/specification/latest/#update-root>). The index is signed by the newest alone.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::model::{PackageName, Sha256};
use crate::golden::catalogue::Catalogue;
use crate::golden::index_trust::Trust;
use crate::golden::signed_text::split;
use crate::golden::signers::{Signers, keys_that_signed};

/// As many changes lie between a reader and an index at most.
const MOST: u64 = 64;

/// The most that is read of one, in bytes.
pub const LARGEST_STEP: u64 = 64 << 10;

/// Where the change with this number lies in a repository.
pub fn step_file(number: u64) -> String {
    format!("signers/{number}.toml")
}

/// Keys, by their fingerprints, and how many of them have to sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeySet {
    threshold: usize,
    keys: BTreeSet<String>,
}

impl KeySet {
    fn of(signers: &Signers, threshold: usize) -> Self {
        Self { threshold, keys: signers.index_fingerprints() }
    }
}

/// A change, as its file has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    version: u64,
    name: PackageName,
    step: u64,
    /// The number of the first index that the new signers sign.
    seq: u64,
    threshold: usize,
    /// The text of `allowed_signers` from now on.
    signers: String,
    before: KeySet,
}

impl Statement {
    /// The keys that sign from then on.
    fn after(&self) -> KeySet {
        KeySet::of(&Signers::parse(&self.signers).unwrap_or_default(), self.threshold)
    }
}

/// Who signs, and how many of them have to.
#[derive(Clone, Copy, Debug)]
pub struct SignerSet<'a> {
    pub signers: &'a Signers,
    pub threshold: usize,
}

/// The text of the change `step` of the repository `name`, to be signed by those `before`: from the index `seq` on,
/// `threshold` of those in `list`, a text of `allowed_signers`, sign.
pub fn statement(
    (name, step, seq): (&PackageName, u64, u64),
    before: SignerSet<'_>,
    (list, threshold): (&str, usize),
) -> Result<String, String> {
    let before = KeySet::of(before.signers, before.threshold);
    let said = Statement { version: 1, name: name.clone(), step, seq, threshold, signers: list.to_owned(), before };
    let text = toml::to_string(&said).map_err(|error| error.to_string())?;
    Ok(format!(
        "# Made by `colab-boot golden`: who signs this repository. Those who signed it before have signed this.\n{text}"
    ))
}

/// Those of the signers before the change `text` whose signatures are among `blocks`, and how many of them it needs.
/// An error says why it can't be read.
pub fn consent(text: &str, blocks: &[String]) -> Result<(BTreeSet<String>, usize), String> {
    let KeySet { threshold, keys } = read(text)?.before;
    Ok((keys_that_signed(text, blocks).intersection(&keys).cloned().collect(), threshold))
}

/// Fails where the change `text` is not the last one of `catalogue`, to the signers that it names: who signs it would
/// send readers elsewhere.
pub fn must_lead_to(text: &str, catalogue: &Catalogue) -> Result<(), String> {
    let said = read(text)?;
    let row = catalogue.signers.as_ref().ok_or("the index names no signers")?;
    let is_of_index = said.name == catalogue.name && said.step == row.step && said.seq <= catalogue.seq;
    let leads = said.threshold == row.threshold && Sha256::of(said.signers.as_bytes()) == row.sha256;
    if is_of_index && leads { Ok(()) } else { Err("it leads to other signers than the index".to_owned()) }
}

/// What is wrong with the changes of a repository up to the number `newest`, which lead to the text `list` of
/// `allowed_signers`; `file` has them.
pub fn faults(newest: u64, list: &str, file: &dyn Fn(u64) -> Result<Option<Vec<u8>>, Failure>) -> Vec<(u64, String)> {
    let mut faults = Vec::new();
    let mut before: Option<KeySet> = None;
    for number in 1..=newest {
        let bytes = match file(number) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                faults.push((number, "is missing".to_owned()));
                continue;
            }
            Err(failure) => {
                faults.push((number, format!("can't be read: {failure}")));
                continue;
            }
        };
        let said = split(&bytes).and_then(|signed| {
            let (by, needed) = consent(signed.text, &signed.blocks)?;
            Ok((read(signed.text)?, by.len(), needed))
        });
        let (said, by, needed) = match said {
            Ok(said) => said,
            Err(why) => {
                faults.push((number, format!("can't be read: {why}")));
                continue;
            }
        };
        if by < needed {
            faults.push((number, format!("has {by} of {needed} signatures by the signers before it")));
        }
        if before.replace(said.after()).is_some_and(|before| before != said.before) || said.step != number {
            faults.push((number, "does not follow the change before it".to_owned()));
        }
        if number == newest && said.signers != list {
            faults.push((number, "leads to other signers than the index".to_owned()));
        }
    }
    faults
}

/// Where the changes of a repository have led.
#[derive(Clone, Debug)]
pub struct Followed {
    /// What is known of it now.
    pub trust: Trust,
    /// The text of `allowed_signers`.
    pub list: String,
    /// That it changed, and how.
    pub finding: Finding,
}

/// Follows the changes of a repository up to the number `newest` from what `trust` knows; `read` has their files.
/// `None` where no change is one of the signers that `trust` knows; an error where a change from there is missing, or
/// was not signed by enough of those before it.
pub fn follow(
    trust: &Trust,
    newest: u64,
    file: &dyn Fn(u64) -> Result<Option<Vec<u8>>, Failure>,
) -> Result<Option<Followed>, Failure> {
    let own = KeySet::of(&trust.signers, trust.threshold);
    let mut steps = Vec::new();
    for number in (1..=newest).rev().take(MOST.try_into().unwrap_or(usize::MAX)) {
        let broken = |why: String| broken(number, &why);
        let bytes = file(number)?.ok_or_else(|| broken("is missing".to_owned()))?;
        let parted = split(&bytes).and_then(|signed| Ok((read(signed.text)?, signed.text.to_owned(), signed.blocks)));
        let step = parted.map_err(|why| broken(format!("can't be read: {why}")))?;
        let is_first = step.0.before == own;
        steps.push(step);
        if is_first {
            return forward(trust, newest, steps).map(Some);
        }
    }
    Ok(None)
}

/// Goes through `steps`, the newest of which is the first.
fn forward(trust: &Trust, newest: u64, steps: Vec<(Statement, String, Vec<String>)>) -> Result<Followed, Failure> {
    let mut now = trust.clone();
    let (mut list, mut by) = (String::new(), BTreeSet::new());
    let first = newest + 1 - steps.len() as u64;
    for ((said, text, blocks), number) in steps.into_iter().rev().zip(first..) {
        let broken = |why: String| broken(number, &why);
        if said.step != number || now.name.as_ref().is_some_and(|name| *name != said.name) {
            return Err(broken(format!("is change {} of `{}`", said.step, said.name)));
        }
        if said.before != KeySet::of(&now.signers, now.threshold) {
            return Err(broken("does not follow the change before it".to_owned()));
        }
        by = keys_that_signed(&text, &blocks).intersection(&said.before.keys).cloned().collect();
        if by.len() < now.threshold {
            let count = by.len();
            return Err(broken(format!("has {count} of {} signatures by the signers before it", now.threshold)));
        }
        now.signers = Signers::parse(&said.signers).map_err(|why| broken(format!("can't be read: {why}")))?;
        now.threshold = said.threshold;
        now.min_seq = now.min_seq.max(said.seq);
        now.name = Some(said.name);
        list = said.signers;
    }
    let finding = changed(trust, &now, &by);
    Ok(Followed { trust: now, list, finding })
}

fn read(text: &str) -> Result<Statement, String> {
    let said: Statement = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    if said.version != 1 {
        return Err(format!("it has format {}, but this colab-boot reads 1", said.version));
    }
    let keys = Signers::parse(&said.signers)?.index_fingerprints().len();
    if said.threshold == 0 || said.threshold > keys {
        return Err(format!("{} of {keys} keys would have to sign", said.threshold));
    }
    Ok(said)
}

fn broken(number: u64, why: &str) -> Failure {
    let message = format!("`{}`, by which the signers changed, {why}", step_file(number));
    let help = "its maintainers must restore or sign it; `colab-boot golden trust` pins today's keys by hand";
    Failure::from_findings(Kind::Answer, vec![Finding::error(Code::GoldenThreshold, message).with_help(help)])
}

fn changed(old: &Trust, new: &Trust, by: &BTreeSet<String>) -> Finding {
    let beyond = |these: &Signers, others: &Signers, sign: char| -> Vec<String> {
        let others = others.fingerprints();
        let rest = these.all.iter().filter(|signer| !others.contains(&signer.fingerprint()));
        rest.map(|signer| format!("{sign} {}", signer.shown())).collect()
    };
    let name = new.name.as_ref().map_or_else(String::new, |name| format!(" of `{name}`"));
    let message =
        format!("the signers{name} changed since their keys were pinned; the earlier ones have signed the change");
    let mut finding = Finding::note(Code::GoldenSignersChanged, message);
    finding.notes = beyond(&new.signers, &old.signers, '+');
    finding.notes.extend(beyond(&old.signers, &new.signers, '-'));
    finding.notes.push(format!("{} of {} keys must sign now", new.threshold, new.signers.index_fingerprints().len()));
    let last: Vec<&str> = by.iter().map(String::as_str).collect();
    finding.notes.push(format!("the last change is signed by {}", last.join(", ")));
    finding
}
