//! `golden withdraw`: another release should be used from a day on; or, with `--yank`, this one must not be used, and
//! everyone who has pinned it is stopped.

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::WithdrawOptions;
use crate::cli::verbs::golden::{folder_of, store, today};
use crate::core::diag::Failure;
use crate::golden::calendar::Day;
use crate::golden::catalogue::Catalogue;
use crate::golden::entry::{Release, Standing, Status};
use crate::golden::repository::Kept;

pub(super) fn run(options: &WithdrawOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open_alone(&folder_of(options.kept.repo.as_ref()), session)?;
    let today = today(session);
    one_version(&options.release)?;
    let title = kept.release(&options.release, today)?.title();
    if let Some(instead) = &options.instead {
        must_be_usable(&mut kept, instead, (&title, options.yank), today)?;
    }
    let release = kept.release(&options.release, today)?;
    let mut report = if options.yank {
        release.status = Status::Yanked;
        Report::new((), format!("{title} is withdrawn: {}\n", options.because))
    } else {
        let on = options.on.map_or(today, Day);
        deprecate(release, on, today)?;
        Report::new((), format!("{title} is deprecated from {on}\n"))
    };
    release.because = Some(options.because.clone());
    release.replaced_by = options.instead.clone().or(release.replaced_by.take());
    if options.yank {
        report.talk = point_elsewhere(&mut kept.catalogue, &title, options.instead.as_deref());
    }
    report.talk.extend(store(&mut kept, &options.kept, None, session)?);
    Ok(report)
}

/// An error where readers of `gone` can't use `instead`. A release that `gone` had replaced is taken again.
fn must_be_usable(kept: &mut Kept, instead: &str, (gone, is_yanked): (&str, bool), today: Day) -> Result<(), Failure> {
    one_version(instead)?;
    let other = kept.release(instead, today)?;
    let (title, standing) = (other.title(), other.standing(today));
    if title == gone {
        return Err(Failure::input(format!("--use: `{title}` can't replace itself")));
    }
    let returns = is_yanked && standing == Standing::Deprecated && other.replaced_by.as_deref() == Some(gone);
    if standing == Standing::Current || returns {
        return Ok(());
    }
    let name = other.name.clone();
    let current = kept.catalogue.find(name.as_ref(), today).map(Release::title).filter(|title| title != gone);
    let help = current.map_or_else(
        || format!("publish a new version of {name} first, or withdraw this one without --use"),
        |current| format!("the current release is {current}"),
    );
    Err(Failure::input(format!("--use: {title} is {}, so readers should not use it either", standing.as_str()))
        .help(help))
}

/// From the day `on`. One that lies ahead takes effect on its day, without a new signature.
fn deprecate(release: &mut Release, on: Day, today: Day) -> Result<(), Failure> {
    let title = release.title();
    if release.status == Status::Yanked {
        return Err(
            Failure::input(format!("{title} was withdrawn; this can't be undone")).help("publish a new version")
        );
    }
    if on < release.published || release.expires.is_some_and(|end| on > end) {
        let end = release.expires.map(|end| format!(", and expires on {end}")).unwrap_or_default();
        let published = release.published;
        return Err(Failure::input(format!("--on {on} is out of range: {title} was published on {published}{end}")));
    }
    if on <= today {
        release.status = Status::Deprecated;
    }
    release.deprecate_on = Some(on);
    Ok(())
}

/// Releases that `gone` was to replace lead to `instead`; the one that is itself taken in its place is current again.
fn point_elsewhere(catalogue: &mut Catalogue, gone: &str, instead: Option<&str>) -> Vec<String> {
    let mut talk = Vec::new();
    for release in catalogue.releases.iter_mut().filter(|release| release.replaced_by.as_deref() == Some(gone)) {
        let title = release.title();
        if instead == Some(title.as_str()) {
            (release.status, release.because, release.replaced_by) = (Status::Current, None, None);
            release.deprecate_on = None;
            talk.push(format!("{title} is current again"));
        } else {
            release.replaced_by = instead.map(str::to_owned);
            talk.push(format!("{title} is replaced by {}", instead.unwrap_or("nothing")));
        }
    }
    talk
}

/// An error for a name without its version, where the newest release is not what anybody may mean.
fn one_version(release: &str) -> Result<(), Failure> {
    if release.contains('@') {
        return Ok(());
    }
    Err(Failure::input(format!("`{release}` has no version"))
        .help("write it as `NAME@VERSION`; `colab-boot golden list --all` lists them"))
}
