//! `golden sign`: one more signature under the index, or a statement that it is still the current one.

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::SignOptions;
use crate::cli::verbs::golden::{folder_of, key_of, today};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::golden::index_trust::freshness;
use crate::golden::repository::{FRESH_FILE, Kept, SignerChange, may_sign, sign, sign_all};
use crate::golden::signed_text::join;
use crate::golden::signers::{FRESH, INDEX, vouching};

#[derive(Serialize)]
struct SignReport {
    seq: u64,
    by: Vec<String>,
    wanted: usize,
}

pub(super) fn run(options: &SignOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open_alone(&folder_of(options.kept.repo.as_ref()), session)?;
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
    let (signers, mut change) = (kept.signers()?, SignerChange::last(&kept)?);
    let before = kept.blocks.len();
    sign_all(&mut kept, &signers, change.as_mut(), &key, session)?;
    if let Some(change) = &change {
        change.write()?;
    }
    if kept.blocks.len() > before {
        kept.write()?;
    }
    let by = vouching(&signers.check(&kept.text, &kept.blocks, INDEX, session.now));
    let wanted = kept.catalogue.signers.as_ref().map_or(1, |row| row.threshold);
    let mut text = format!("index {} is signed by {}; {wanted} required\n", kept.catalogue.seq, by.join(", "));
    if by.is_empty() {
        text = format!("index {} has no signature yet; {wanted} required\n", kept.catalogue.seq);
    }
    let mut report = Report::new(SignReport { seq: kept.catalogue.seq, by, wanted }, text);
    report.talk.extend(change.and_then(|change| change.still_missing(&kept.folder)));
    Ok(report)
}
