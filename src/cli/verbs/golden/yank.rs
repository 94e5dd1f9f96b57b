//! `golden yank`: a release is withdrawn, and who has pinned it is stopped.

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::YankOptions;
use crate::cli::verbs::golden::{folder_of, store, today};
use crate::core::diag::Failure;
use crate::golden::catalogue::Catalogue;
use crate::golden::entry::{Standing, Status};
use crate::golden::repository::Kept;

pub(super) fn run(options: &YankOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let mut kept = Kept::open_alone(&folder_of(options.kept.repo.as_ref()), session)?;
    let today = today(session);
    one_version(&options.release, options.instead.as_deref())?;
    let gone = kept.release(&options.release, today)?.title();
    if let Some(instead) = &options.instead {
        let other = kept.release(instead, today)?;
        let standing = other.standing(today);
        let returns = standing == Standing::Deprecated && other.replaced_by.as_ref() == Some(&gone);
        if standing != Standing::Current && !returns {
            return Err(Failure::input(format!("--use: {instead} is {}", standing.as_str())));
        }
    }
    let release = kept.release(&options.release, today)?;
    release.status = Status::Yanked;
    release.because = Some(options.because.clone());
    release.replaced_by = options.instead.clone().or(release.replaced_by.take());
    let title = release.title();
    let mut report = Report::new((), format!("{title} is withdrawn: {}\n", options.because));
    report.talk = point_elsewhere(&mut kept.catalogue, &title, options.instead.as_deref());
    report.talk.extend(store(&mut kept, &options.kept, session)?);
    Ok(report)
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

/// An error for a name without its version, where the newest release is not what anybody may mean; and for one that
/// would take its own place.
pub(super) fn one_version(release: &str, instead: Option<&str>) -> Result<(), Failure> {
    if !release.contains('@') {
        return Err(Failure::input(format!("`{release}` has no version"))
            .help("write it as `NAME@VERSION`; `colab-boot golden list --all` lists them"));
    }
    if instead == Some(release) {
        return Err(Failure::input(format!("--use: `{release}` can't replace itself")));
    }
    Ok(())
}
