//! `golden renew`: nothing was withdrawn, and the index is fresh again.

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::KeptOptions;
use crate::cli::verbs::golden::{folder_of, store};
use crate::core::diag::Failure;
use crate::golden::repository::Kept;

pub(super) fn run(options: &KeptOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open_alone(&folder_of(options.repo.as_ref()), session)?;
    let talk = store(&mut kept, options, session)?;
    let text = format!("{} is fresh until {}\n", kept.catalogue.name, kept.catalogue.fresh_until);
    let mut report = Report::new((), text);
    report.talk = talk;
    Ok(report)
}
