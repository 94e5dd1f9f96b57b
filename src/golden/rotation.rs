//! A change of the signers: a statement in a file of its own, `signers/1.toml`, that the signers before it have signed.
//! A reader who knows these follows it to the new ones, and so from change to change, as TUF has it for its root keys
//! (<https://theupdateframework.github.io/specification/latest/#update-root>). The index is signed by the newest alone.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::model::{PackageName, Sha256};
use crate::golden::catalogue::Catalogue;
use crate::golden::index_trust::Trust;
use crate::golden::signed_text::{join, split};
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

/// A change with its signatures.
#[derive(Clone, Debug)]
pub struct Change {
    said: Statement,
    text: String,
    blocks: Vec<String>,
}

impl Change {
    /// The change `step` of the repository `name`, without signatures: from the index `seq` on, `threshold` of those in
    /// `list`, a text of `allowed_signers`, sign in place of those `before`.
    pub fn new(
        (name, step, seq): (&PackageName, u64, u64),
        before: SignerSet<'_>,
        (list, threshold): (&str, usize),
    ) -> Result<Self, String> {
        let before = KeySet::of(before.signers, before.threshold);
        let said = Statement { version: 1, name: name.clone(), step, seq, threshold, signers: list.to_owned(), before };
        let rest = toml::to_string(&said).map_err(|error| error.to_string())?;
        let text = format!("# Made by `colab-boot golden`: new signers. The earlier signers sign this file.\n{rest}");
        Ok(Self { said, text, blocks: Vec::new() })
    }

    /// Reads a file, `None` where there is none. An error continues its name.
    pub fn read(file: Option<&[u8]>) -> Result<Self, String> {
        let parts = split(file.ok_or("is missing")?).and_then(|signed| Ok((said_in(signed.text)?, signed)));
        let (said, signed) = parts.map_err(|why| format!("can't be read: {why}"))?;
        Ok(Self { said, text: signed.text.to_owned(), blocks: signed.blocks })
    }

    /// As its file has it.
    pub fn file(&self) -> String {
        join(&self.text, &self.blocks)
    }

    /// What its signers sign.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds `block`, if one of the earlier signers has made it and has not signed yet.
    pub fn add(&mut self, block: String) -> bool {
        let is_new = !self.blocks.contains(&block) && !self.signed_by(std::slice::from_ref(&block)).is_empty();
        if is_new {
            self.blocks.push(block);
        }
        is_new
    }

    /// How many of the earlier signers have to sign it still.
    pub fn missing(&self) -> usize {
        self.said.before.threshold.saturating_sub(self.signed_by(&self.blocks).len())
    }

    /// Fails where this is not the last change of `catalogue`, to the signers that it names: a signature would send
    /// readers elsewhere.
    pub fn must_lead_to(&self, catalogue: &Catalogue) -> Result<(), String> {
        let (said, row) = (&self.said, catalogue.signers.as_ref().ok_or("is of an index without signers")?);
        let is_of_index = said.name == catalogue.name && said.step == row.step && said.seq <= catalogue.seq;
        let leads = said.threshold == row.threshold && Sha256::of(said.signers.as_bytes()) == row.sha256;
        if is_of_index && leads { Ok(()) } else { Err("leads to other signers than the index".to_owned()) }
    }

    /// Those of the earlier signers who have made `blocks`.
    fn signed_by(&self, blocks: &[String]) -> BTreeSet<String> {
        keys_that_signed(&self.text, blocks).intersection(&self.said.before.keys).cloned().collect()
    }

    /// The earlier signers who have signed it; an error where they are too few.
    fn must_be_signed(&self) -> Result<BTreeSet<String>, String> {
        let (by, needed) = (self.signed_by(&self.blocks), self.said.before.threshold);
        if by.len() < needed {
            return Err(format!("has {} of {needed} signatures by the signers before it", by.len()));
        }
        Ok(by)
    }
}

/// What is wrong with the changes of the signers of `catalogue`; `file` has them.
pub fn faults(catalogue: &Catalogue, file: &dyn Fn(u64) -> Result<Option<Vec<u8>>, Failure>) -> Vec<(u64, String)> {
    let newest = catalogue.signers.as_ref().map_or(0, |row| row.step);
    let mut faults = Vec::new();
    let mut before: Option<KeySet> = None;
    for number in 1..=newest {
        let bytes = file(number).map_err(|failure| format!("can't be read: {failure}"));
        let change = match bytes.and_then(|bytes| Change::read(bytes.as_deref())) {
            Ok(change) => change,
            Err(why) => {
                faults.push((number, why));
                continue;
            }
        };
        let said = &change.said;
        let follows = before.replace(said.after()).is_none_or(|before| before == said.before) && said.step == number;
        let all = [
            change.must_be_signed().err(),
            (!follows).then(|| NO_FOLLOWER.to_owned()),
            change.must_lead_to(catalogue).err().filter(|_| number == newest),
        ];
        faults.extend(all.into_iter().flatten().map(|why| (number, why)));
    }
    faults
}

const NO_FOLLOWER: &str = "does not follow the change before it";

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

/// Follows the changes of a repository up to the number `newest` from what `trust` knows; `file` has them.
/// `None` where no change is one of the signers that `trust` knows; an error where a change from there is missing, or
/// was not signed by enough of those before it.
pub fn follow(
    trust: &Trust,
    newest: u64,
    file: &dyn Fn(u64) -> Result<Option<Vec<u8>>, Failure>,
) -> Result<Option<Followed>, Failure> {
    let own = KeySet::of(&trust.signers, trust.threshold);
    let mut changes = Vec::new();
    for number in (1..=newest).rev().take(MOST.try_into().unwrap_or(usize::MAX)) {
        let change = Change::read(file(number)?.as_deref()).map_err(|why| broken(number, &why))?;
        let is_first = change.said.before == own;
        changes.push(change);
        if is_first {
            return forward(trust, newest, changes).map(Some);
        }
    }
    Ok(None)
}

/// Goes through `changes`, the newest of which is the first.
fn forward(trust: &Trust, newest: u64, changes: Vec<Change>) -> Result<Followed, Failure> {
    let mut now = trust.clone();
    let (mut list, mut by) = (String::new(), BTreeSet::new());
    let first = newest + 1 - changes.len() as u64;
    for (change, number) in changes.into_iter().rev().zip(first..) {
        let broken = |why: String| broken(number, &why);
        let said = &change.said;
        if said.step != number || now.name.as_ref().is_some_and(|name| *name != said.name) {
            return Err(broken(format!("is change {} of `{}`", said.step, said.name)));
        }
        if said.before != KeySet::of(&now.signers, now.threshold) {
            return Err(broken(NO_FOLLOWER.to_owned()));
        }
        by = change.must_be_signed().map_err(broken)?;
        let Statement { name, seq, threshold, signers, .. } = change.said;
        now.signers = Signers::parse(&signers).map_err(|why| broken(format!("can't be read: {why}")))?;
        now.threshold = threshold;
        now.min_seq = now.min_seq.max(seq);
        now.name = Some(name);
        list = signers;
    }
    let finding = changed(trust, &now, &by);
    Ok(Followed { trust: now, list, finding })
}

fn said_in(text: &str) -> Result<Statement, String> {
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
    let message = format!("the change of the signers `{}` {why}", step_file(number));
    let help = "its maintainers must restore or sign it; `colab-boot golden trust` pins today's keys by hand";
    Failure::from_findings(Kind::Answer, vec![Finding::error(Code::GoldenThreshold, message).with_help(help)])
}

fn changed(old: &Trust, new: &Trust, by: &BTreeSet<String>) -> Finding {
    // Keys that sign nothing but confirmations are in no cell.
    let beyond = |these: &Signers, others: &Signers, sign: char| -> Vec<String> {
        let others = others.fingerprints();
        let rest = these.of_index().filter(|signer| !others.contains(&signer.fingerprint()));
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
