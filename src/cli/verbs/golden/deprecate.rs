//! `golden deprecate`: another release should be taken, from a day on.

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::DeprecateOptions;
use crate::cli::verbs::golden::yank::one_version;
use crate::cli::verbs::golden::{folder_of, store, today};
use crate::core::diag::Failure;
use crate::golden::calendar::Day;
use crate::golden::entry::{Standing, Status};
use crate::golden::repository::Kept;

pub(super) fn run(options: &DeprecateOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open_alone(&folder_of(options.kept.repo.as_ref()), session)?;
    let today = today(session);
    one_version(&options.release, options.instead.as_deref())?;
    if let Some(instead) = &options.instead {
        let standing = kept.release(instead, today)?.standing(today);
        if standing != Standing::Current {
            return Err(Failure::input(format!("--use: {instead} is {}", standing.as_str())));
        }
    }
    let release = kept.release(&options.release, today)?;
    if release.status == Status::Yanked {
        let title = release.title();
        return Err(
            Failure::input(format!("{title} was withdrawn; this can't be undone")).help("publish a new version")
        );
    }
    let on = options.on.map_or(today, Day);
    if on < release.published || release.expires.is_some_and(|end| on > end) {
        let end = release.expires.map(|end| format!(", and expires on {end}")).unwrap_or_default();
        return Err(Failure::input(format!(
            "--on {on} is out of range: {} was published on {}{end}",
            release.title(),
            release.published
        )));
    }
    // One that lies ahead takes effect on its day, without a new signature.
    if on <= today {
        release.status = Status::Deprecated;
    }
    release.deprecate_on = Some(on);
    release.because = Some(options.because.clone());
    release.replaced_by = options.instead.clone().or(release.replaced_by.take());
    let text = format!("{} is deprecated from {on}\n", release.title());
    let mut report = Report::new((), text);
    report.talk = store(&mut kept, &options.kept, session)?;
    Ok(report)
}
