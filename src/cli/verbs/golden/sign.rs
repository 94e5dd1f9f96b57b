//! `golden sign`: one more signature under the index, or a statement that it is still the current one.

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::SignOptions;
use crate::cli::verbs::golden::{folder_of, today};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::golden::index_trust::freshness;
use crate::golden::repository::{FRESH_FILE, Kept, default_key, may_sign, sign};
use crate::golden::signed_text::join;
use crate::golden::signers::{FRESH, INDEX, Outcome, vouching};

#[derive(Serialize)]
struct SignReport {
    seq: u64,
    by: Vec<String>,
    wanted: usize,
}

pub(super) fn run(options: &SignOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open_alone(&folder_of(options.kept.repo.as_ref()), session)?;
    let key = options.kept.key.clone().or_else(|| default_key(session)).ok_or_else(|| {
        Failure::input("there is no key to sign with").help("pass one with --key, or set git's `user.signingkey`")
    })?;
    kept.must_be_signed(!options.fresh)?;
    if options.fresh {
        let text = freshness(&kept.catalogue, kept.digest(), today(session));
        let block = sign(session, &key, &text, FRESH)?;
        may_sign(&kept.signers()?, &text, &block, FRESH, session.now)?;
        let path = kept.folder.join(FRESH_FILE);
        files::write_whole(&path, join(&text, &[block]).as_bytes())?;
        return Ok(Report::new((), format!("{}: index {} is current\n", path.display(), kept.catalogue.seq)));
    }
    let block = sign(session, &key, &kept.text, INDEX)?;
    let signers = kept.signers()?;
    match signers.check(&kept.text, std::slice::from_ref(&block), INDEX, session.now).pop() {
        Some(Outcome::Unknown { .. }) if options.leaving => kept.blocks.push(block),
        _ => kept.sign(&signers, block, session.now)?,
    }
    kept.write()?;
    let by = vouching(&signers.check(&kept.text, &kept.blocks, INDEX, session.now));
    let wanted = kept.catalogue.signers.as_ref().map_or(1, |row| row.threshold);
    let mut text = format!("index {} is signed by {}; {wanted} required\n", kept.catalogue.seq, by.join(", "));
    let others =
        signers.check(&kept.text, &kept.blocks, INDEX, session.now).into_iter().filter_map(|outcome| match outcome {
            Outcome::Unknown { fingerprint } => Some(format!("and by {fingerprint}, which is not on the list\n")),
            _ => None,
        });
    text.extend(others);
    Ok(Report::new(SignReport { seq: kept.catalogue.seq, by, wanted }, text))
}
