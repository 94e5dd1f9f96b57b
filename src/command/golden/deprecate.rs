//! `golden deprecate`: another release should be taken, from a day on.

use crate::cli::DeprecateOptions;
use crate::command::golden::{folder_of, store, today};
use crate::diag::Failure;
use crate::golden::calendar::Day;
use crate::golden::entry::Status;
use crate::output::Report;
use crate::repository::Kept;
use crate::session::Session;

pub(super) fn run(options: &DeprecateOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open(&folder_of(options.kept.repo.as_ref()), session)?;
    let today = today(session);
    if let Some(instead) = &options.instead {
        kept.release(instead, today)?;
    }
    let release = kept.release(&options.release, today)?;
    let on = options.on.map_or(today, Day);
    // One that lies ahead takes effect on its day, without a new signature.
    if on <= today {
        release.status = Status::Deprecated;
    }
    release.deprecate_on = Some(on);
    release.because = Some(options.because.clone());
    release.replaced_by = options.instead.clone().or(release.replaced_by.take());
    let text = format!("{} is deprecated from {on} on\n", release.title());
    let mut report = Report::new((), text);
    report.talk = store(&mut kept, &options.kept, session)?;
    Ok(report)
}
