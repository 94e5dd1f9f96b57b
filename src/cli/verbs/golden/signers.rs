//! `golden signers`: who may sign a repository. A change is a new index, which the new keys sign, and a statement that
//! those before sign.

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::SignersOptions;
use crate::cli::verbs::golden::{folder_of, signed, written};
use crate::core::diag::Failure;
use crate::core::model::Sha256;
use crate::golden::catalogue::SignersRow;
use crate::golden::repository::{Kept, SignerChange, public_key};
use crate::golden::rotation::{Change, SignerSet};
use crate::golden::signers::{Signer, Signers, signer_line};

#[derive(Serialize)]
struct SignersReport {
    seq: u64,
    threshold: usize,
    signers: Vec<String>,
    added: Vec<String>,
    removed: Vec<String>,
}

pub(super) fn run(options: &SignersOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open_alone(&folder_of(options.kept.repo.as_ref()), session)?;
    let (text, old) = kept.list_of_signers()?;
    let (new_text, removed) = changed(&text, &old, options)?;
    let new =
        Signers::parse(&new_text).map_err(|why| Failure::input("the new list of signers can't be read").cause(why))?;
    let row = kept.catalogue.signers.as_ref();
    let before = row.map_or(1, |row| row.threshold);
    let threshold = options.threshold.unwrap_or(before);
    if threshold == 0 || threshold > new.index_keys().len() {
        return Err(Failure::input(format!(
            "the threshold {threshold} is higher than the number of keys that may sign: {}",
            new.index_keys().len()
        ))
        .help("choose a smaller --threshold; nothing was changed"));
    }
    let sha256 = Sha256::of(new_text.as_bytes());
    let is_new = new.all.iter().filter(|signer| !old.all.contains(signer));
    let report = SignersReport {
        seq: kept.catalogue.seq,
        threshold,
        signers: new.all.iter().map(Signer::shown).collect(),
        added: is_new.map(Signer::shown).collect(),
        removed,
    };
    let mut text = format!("{threshold} of these keys must sign\n");
    text.extend(
        report
            .signers
            .iter()
            .map(|signer| format!("{} {signer}\n", if report.added.contains(signer) { '+' } else { ' ' })),
    );
    text.extend(report.removed.iter().map(|signer| format!("- {signer}\n")));
    if row.is_some_and(|row| row.sha256 == sha256 && row.threshold == threshold) {
        return Ok(Report::new(report, text));
    }
    let step = row.map_or(0, |row| row.step) + 1;
    kept.catalogue.signers = Some(SignersRow { threshold, sha256, step });
    kept.next(session)?;
    let before = SignerSet { signers: &old, threshold: before };
    let change = Change::new((&kept.catalogue.name, step, kept.catalogue.seq), before, (&new_text, threshold));
    let mut change = SignerChange::new(&kept.folder, step, change.map_err(Failure::bug)?);
    signed(&mut kept, &new, Some(&mut change), &options.kept, session)?;
    change.write()?;
    kept.prepare_signers(&new_text)?;
    let mut talk = written(&kept, &new, session)?;
    kept.keep_signers(&new_text)?;
    talk.extend(change.still_missing(&kept.folder));
    let mut report = Report::new(SignersReport { seq: kept.catalogue.seq, ..report }, text);
    report.talk = talk;
    Ok(report)
}

/// The new text of the list, and who is off it.
fn changed(text: &str, old: &Signers, options: &SignersOptions) -> Result<(String, Vec<String>), Failure> {
    let known = || old.all.iter().map(Signer::shown).collect::<Vec<_>>().join(", ");
    if let Some(name) = options.remove.iter().find(|name| !old.all.iter().any(|signer| is_meant(name, signer))) {
        return Err(Failure::input(format!("--remove: `{name}` is not a signer")).help(format!("it has {}", known())));
    }
    let removed: Vec<&Signer> =
        old.all.iter().filter(|signer| options.remove.iter().any(|name| is_meant(name, signer))).collect();
    let of = |line: &str| Signers::parse(line).ok().and_then(|signers| signers.all.into_iter().next());
    let mut new: String = text
        .lines()
        .filter(|line| of(line).is_none_or(|signer| !removed.contains(&&signer)))
        .map(|line| format!("{line}\n"))
        .collect();
    for file in &options.add {
        let line = signer_line(&public_key(file)?);
        let fingerprint = of(&line).map(|signer| signer.fingerprint());
        if let Some(known) = old.all.iter().find(|signer| Some(signer.fingerprint()) == fingerprint) {
            return Err(Failure::input(format!("--add: `{}` is already a signer", known.shown())));
        }
        new.push_str(&line);
    }
    Ok((new, removed.into_iter().map(Signer::shown).collect()))
}

fn is_meant(name: &String, signer: &Signer) -> bool {
    *name == signer.principal || *name == signer.fingerprint()
}
