//! `golden sign`: one more signature under the index, a later freshness date, a statement that it is still the current
//! one, or other signers.

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::SignOptions;
use crate::cli::verbs::golden::{folder_of, key_of, signed, store, today, written};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::model::Sha256;
use crate::golden::catalogue::{Catalogue, SignersRow};
use crate::golden::index_trust::freshness;
use crate::golden::repository::{
    FRESH_FILE, Kept, SignerChange, SignerEdits, may_sign, must_be_signable, sign, sign_all,
};
use crate::golden::rotation::{Change, SignerSet, step_file};
use crate::golden::signed_text::join;
use crate::golden::signers::{FRESH, INDEX, Signers, vouching};

#[derive(Serialize)]
struct SignersReport {
    seq: u64,
    threshold: usize,
    signers: Vec<String>,
    added: Vec<String>,
    removed: Vec<String>,
}

#[derive(Serialize)]
struct SignReport {
    seq: u64,
    by: Vec<String>,
    wanted: usize,
}

pub(super) fn run(options: &SignOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open_alone(&folder_of(options.kept.repo.as_ref()), session)?;
    let accepted = if options.accept_changes { kept.accept() } else { Vec::new() };
    let mut report = if options.edits.are_given() {
        change(&mut kept, options, session)?
    } else if options.renew {
        let talk = store(&mut kept, &options.kept, None, session)?;
        let Catalogue { name, fresh_until, .. } = &kept.catalogue;
        let mut report = Report::new((), format!("{name} is fresh until {fresh_until}\n"));
        report.talk = talk;
        report
    } else {
        countersign(&mut kept, options, session)?
    };
    report.talk.extend(accepted.into_iter().map(|change| format!("accepted: {change}")));
    Ok(report)
}

/// Puts one more signature under the index, and under the last change of its signers, or confirms that it is current.
fn countersign(kept: &mut Kept, options: &SignOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let key = key_of(&options.kept, session)?;
    kept.must_be_signed(!options.fresh)?;
    if options.fresh {
        let text = freshness(&kept.catalogue, kept.digest(), today(session));
        let block = sign(session, &key, &text, FRESH)?;
        may_sign(&kept.signers()?, &text, &block, FRESH, session.now)?;
        let path = kept.folder.join(FRESH_FILE);
        files::write_whole(&path, join(&text, &[block]).as_bytes())?;
        return Ok(Report::new((), format!("{}: index {} is current\n", path.display(), kept.catalogue.seq)));
    }
    let (list, mut change) = (kept.signers()?, SignerChange::last(kept)?);
    let before = kept.blocks.len();
    sign_all(kept, &list, change.as_mut(), &key, session)?;
    change.iter().try_for_each(SignerChange::write)?;
    if kept.blocks.len() > before {
        kept.write()?;
    }
    let by = vouching(&list.check(&kept.text, &kept.blocks, INDEX, session.now));
    let wanted = kept.catalogue.threshold();
    let by_whom =
        if by.is_empty() { "has no signature yet".to_owned() } else { format!("is signed by {}", by.join(", ")) };
    let mut text = format!("index {} {by_whom}; {wanted} required\n", kept.catalogue.seq);
    text.extend(list.described(session.now).iter().map(|signer| format!("  {signer}\n")));
    let mut report = Report::new(SignReport { seq: kept.catalogue.seq, by, wanted }, text);
    report.talk.extend(change.and_then(|change| change.still_missing(&kept.folder)));
    Ok(report)
}

/// Changes who may sign `kept`, as the options say.
fn change(kept: &mut Kept, options: &SignOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let (text, old) = kept.list_of_signers()?;
    let edits =
        SignerEdits { add: &options.edits.add, add_ci_key: &options.edits.add_ci_key, remove: &options.edits.remove };
    let (new_text, removed) = edits.applied(&text, &old)?;
    let new =
        Signers::parse(&new_text).map_err(|why| Failure::input("the new list of signers can't be read").cause(why))?;
    let row = kept.catalogue.signers.as_ref();
    let before = kept.catalogue.threshold();
    let threshold = options.edits.threshold.unwrap_or(before);
    must_be_signable(&new, threshold, session.now)?;
    let sha256 = Sha256::of(new_text.as_bytes());
    let is_new = new.all.iter().filter(|signer| !old.all.contains(signer));
    let report = SignersReport {
        seq: kept.catalogue.seq,
        threshold,
        signers: new.described(session.now),
        added: is_new.map(|signer| signer.described(session.now)).collect(),
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
    let last = row.map_or(0, |row| row.step);
    if row.is_some_and(|row| row.sha256 == sha256 && row.threshold == threshold)
        && (!options.edits.start_over || last == 0)
    {
        text.push_str("nothing changed\n");
        return Ok(Report::new(report, text));
    }
    let step = if options.edits.start_over { 0 } else { last + 1 };
    kept.catalogue.signers = Some(SignersRow { threshold, sha256, step });
    kept.next(session)?;
    let mut change = if options.edits.start_over {
        None
    } else {
        let before = SignerSet { signers: &old, threshold: before };
        let change = Change::new((&kept.catalogue.name, step, kept.catalogue.seq), before, (&new_text, threshold));
        Some(SignerChange::new(&kept.folder, step, change.map_err(Failure::bug)?))
    };
    signed(kept, &new, change.as_mut(), &options.kept, session)?;
    change.iter().try_for_each(SignerChange::write)?;
    kept.prepare_signers(&new_text)?;
    let mut talk = written(kept, &new, None, session)?;
    kept.keep_signers(&new_text)?;
    if options.edits.start_over {
        // No reader follows them any more.
        (1..=last).try_for_each(|number| files::remove_if_there(&kept.folder.join(step_file(number))))?;
        talk.push(
            "readers who pinned earlier keys are stopped until they trust the new ones: `colab-boot golden trust`"
                .to_owned(),
        );
    }
    talk.extend(change.and_then(|change| change.still_missing(&kept.folder)));
    let mut report = Report::new(SignersReport { seq: kept.catalogue.seq, ..report }, text);
    report.talk = talk;
    Ok(report)
}
