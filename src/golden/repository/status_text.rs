//! What is to be said of a release on a day: of one that is shown, of one that is pinned.

use crate::core::diag::{Code, Finding};
use crate::golden::calendar::Day;
use crate::golden::entry::{Release, Standing};
use crate::golden::pin::Pin;
use crate::golden::repository::pin_holder::Read;

/// What is to be said of a release on `today`; what was withdrawn or has expired is an error, unless it is `allowed`.
pub fn standing_findings(release: &Release, today: Day, allowed: bool) -> Vec<Finding> {
    let why = release.because.as_ref().map(|because| format!(": {because}")).unwrap_or_default();
    let title = release.title();
    let finding = match release.standing(today) {
        Standing::Current => return Vec::new(),
        Standing::Deprecated => {
            let until = release.expires.map(|day| format!(", and expires on {day}")).unwrap_or_default();
            Finding::warning(Code::GoldenDeprecated, format!("{title} is deprecated{until}{why}"))
        }
        Standing::Expired => {
            let on = release.expires.map(|day| format!(" on {day}")).unwrap_or_default();
            Finding::warning(Code::GoldenExpired, format!("{title} has expired{on}{why}"))
        }
        Standing::Yanked if allowed => Finding::warning(Code::GoldenYanked, format!("{title} was withdrawn{why}")),
        Standing::Yanked => Finding::error(Code::GoldenYanked, format!("{title} was withdrawn{why}")),
    };
    let help = release.replaced_by.as_ref().map(|other| format!("use {other}"));
    vec![help.into_iter().fold(finding, Finding::with_help)]
}

/// What the repository says of a release today that is pinned where the option `into` says.
pub fn pin_findings((pin, into): (&Pin, &str), found: &Read, today: Day, allowed: bool) -> Vec<Finding> {
    let title = format!("{}@{}", pin.name, pin.version);
    let Some(release) = found.vouched.catalogue.find(&title, today) else {
        let message = format!("{title} is no longer in the index");
        return vec![
            Finding::error(Code::GoldenFileDiffers, message).with_note("releases are never removed from a repository"),
        ];
    };
    let mut findings = standing_findings(release, today, allowed);
    if release.file("lock").is_none_or(|lock| lock.sha256 != pin.sha256) {
        let message = format!("the index lists a different lock for {title} than the pinned one");
        findings.push(Finding::error(Code::GoldenFileDiffers, message));
    }
    let newest = found.vouched.catalogue.find(pin.name.as_ref(), today);
    let newer = newest.filter(|newest| newest.version > pin.version);
    findings.extend(newer.map(|newest| {
        Finding::note(Code::GoldenNewer, format!("{} is newer than {title}", newest.title()))
            .with_help(format!("update with `colab-boot golden update{into}`"))
    }));
    findings
}
