//! What a repository promises of itself, and does not keep.

use std::collections::BTreeMap;

use crate::core::diag::{Code, Finding, counted};
use crate::golden::calendar::Day;
use crate::golden::catalogue::Catalogue;
use crate::golden::entry::{Release, Standing};

/// The index is renewed before it has fewer days than this.
const SOON: i32 = 10;

/// What needs work on `today`: errors for what is overdue, warnings for what will be. `runtimes` are the notebook
/// images that this program knows.
pub fn cadence(catalogue: &Catalogue, runtimes: &[String], today: Day) -> Vec<Finding> {
    let mut findings = Vec::new();
    let error = |message: String| Finding::error(Code::GoldenCadence, message);
    let warning = |message: String| Finding::warning(Code::GoldenCadence, message);
    let left = today.until(catalogue.fresh_until);
    if left < 0 {
        findings.push(error(format!("the index was fresh until {}", catalogue.fresh_until)).with_help(RENEW));
    } else if left < SOON {
        findings.push(warning(format!("the index is fresh for {} more", counted(left, "day"))).with_help(RENEW));
    }
    for (framework, current) in by_framework(catalogue, today) {
        let most = catalogue.policy.per_framework;
        if current.len() > most {
            let names: Vec<String> = current.iter().map(|release| release.title()).collect();
            let message = format!(
                "{framework} has {}, but the policy allows {most}: {}",
                counted(current.len(), "current release"),
                names.join(", ")
            );
            findings.push(error(message).with_help("deprecate the oldest with `colab-boot golden deprecate`"));
        }
    }
    if !catalogue.releases.is_empty()
        && !catalogue.releases.iter().any(|release| release.standing(today) == Standing::Current)
    {
        let message = "no release is current: users must name a version".to_owned();
        findings.push(error(message).with_help("publish a new version with `colab-boot golden publish`"));
    }
    for release in &catalogue.releases {
        findings.extend(expiring(release, today));
        findings.extend(of_release(catalogue, release, runtimes, today));
    }
    findings
}

/// A warning in the last month of a release that can still be used.
fn expiring(release: &Release, today: Day) -> Option<Finding> {
    let is_usable = matches!(release.standing(today), Standing::Current | Standing::Deprecated);
    let days = release.expires.filter(|_| is_usable).map(|day| today.until(day)).filter(|days| *days < 30)?;
    let message = format!("{} expires in {}", release.title(), counted(days, "day"));
    let help = "publish a new version before that day with `colab-boot golden publish`";
    Some(Finding::warning(Code::GoldenCadence, message).with_help(help))
}

const RENEW: &str = "run `colab-boot golden renew` if no release needs to be withdrawn";

/// Current releases by the first of their frameworks, `cpu` where they have none.
fn by_framework(catalogue: &Catalogue, today: Day) -> BTreeMap<String, Vec<&Release>> {
    let mut all: BTreeMap<String, Vec<&Release>> = BTreeMap::new();
    for release in catalogue.releases.iter().filter(|release| release.standing(today) == Standing::Current) {
        let names = release.frameworks.keys().map(ToString::to_string);
        let first = names.min_by_key(|name| (*name != release.name.as_ref(), name.clone()));
        all.entry(first.unwrap_or_else(|| release.name.to_string())).or_default().push(release);
    }
    all
}

fn of_release(catalogue: &Catalogue, release: &Release, runtimes: &[String], today: Day) -> Vec<Finding> {
    let title = release.title();
    let mut findings = Vec::new();
    let replacement = release.replaced_by.as_ref();
    let by = replacement.and_then(|other| catalogue.find(other, today));
    match release.standing(today) {
        Standing::Expired | Standing::Deprecated if replacement.is_some() => {
            let is_good = by.is_some_and(|other| other.standing(today) == Standing::Current);
            let message =
                format!("{title} is replaced by {}, which is not current", replacement.map_or("", String::as_str));
            findings.extend((!is_good).then(|| Finding::warning(Code::GoldenCadence, message)));
            return findings;
        }
        Standing::Expired | Standing::Yanked => return findings,
        Standing::Deprecated => {
            let message = format!("{title} is deprecated, and nothing replaces it");
            findings.push(
                Finding::warning(Code::GoldenCadence, message).with_help("name one with `golden deprecate --use`"),
            );
        }
        Standing::Current => {}
    }
    let soon = release.deprecate_on.map(|day| today.until(day)).filter(|days| (0..30).contains(days));
    if let Some(days) = soon {
        findings
            .push(Finding::warning(Code::GoldenCadence, format!("{title} is deprecated in {}", counted(days, "day"))));
    }
    let gone: Vec<&String> = release
        .runtimes
        .iter()
        .filter(|name| !runtimes.contains(name) && !name.starts_with("bare-") && *name != "machine")
        .collect();
    for name in gone {
        let message = format!("{title} was locked for `{name}`, which this colab-boot no longer supports");
        findings.push(Finding::warning(Code::GoldenCadence, message));
    }
    findings.extend(older_images(release, runtimes));
    if !release.runtimes.iter().any(|name| name.starts_with("bare-")) {
        let message = format!("{title} has no bare target, so it works only on its images");
        findings.push(Finding::note(Code::GoldenCadence, message).with_help("add `bare-3.12` to `[target] runtimes`"));
    }
    findings.extend(evidence(catalogue, release, today));
    findings
}

/// Kinds of images of which a release knows none as new as the newest: notebooks get that one.
fn older_images(release: &Release, runtimes: &[String]) -> Vec<Finding> {
    let newest = newest_images(runtimes);
    newest_images(&release.runtimes)
        .into_iter()
        .filter_map(|((family, kind), label)| {
            let newest = newest.get(&(family, kind)).filter(|newest| label < **newest)?;
            let message = format!(
                "{} was locked for `{family}-{label}-{kind}`, but the newest image is `{family}-{newest}-{kind}`",
                release.title()
            );
            let help = "add it to `[target] runtimes`, lock, and publish a new version";
            Some(Finding::warning(Code::GoldenCadence, message).with_help(help))
        })
        .collect()
}

/// The newest label of each family and kind of images.
fn newest_images(names: &[String]) -> BTreeMap<(&str, &str), &str> {
    let mut newest = BTreeMap::new();
    for (kind, label) in names.iter().filter_map(|name| dated(name)) {
        let known = newest.entry(kind).or_insert(label);
        *known = label.max(*known);
    }
    newest
}

/// Of `colab-2026.07-gpu` the family and the kind, and the label, which sorts by its date; `None` for other names.
fn dated(name: &str) -> Option<((&str, &str), &str)> {
    let mut parts = name.splitn(3, '-');
    let (family, label, kind) = (parts.next()?, parts.next()?, parts.next()?);
    label.starts_with(|c: char| c.is_ascii_digit()).then_some(((family, kind), label))
}

/// GPUs that a current release names, and that nobody has tried it on lately.
fn evidence(catalogue: &Catalogue, release: &Release, today: Day) -> Option<Finding> {
    let review = catalogue.policy.review;
    let without: Vec<&str> = release
        .gpus
        .keys()
        .filter(|gpu| !release.verified.iter().any(|one| one.gpu == **gpu && one.on.after(review) >= today))
        .map(String::as_str)
        .collect();
    let message =
        format!("{} was not verified within {review} on compute capability {}", release.title(), without.join(", "));
    (!without.is_empty()).then(|| {
        Finding::warning(Code::GoldenCadence, message)
            .with_help("run `colab-boot verify --record FILE` there, then publish with `--verified FILE`")
    })
}

#[cfg(test)]
mod tests {
    use super::older_images;
    use crate::golden::entry::Release;

    const REST: &str = "frameworks = {}\npython = []\ndownload = 0\npackages = 0\nfiles = []\n";

    #[test]
    fn a_release_for_an_older_image_is_named() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let known =
            names(&["bare-3.12", "colab-2026.04-gpu", "colab-2026.07-gpu", "colab-2026.07-tpu", "colab-latest-gpu"]);
        let said = |runtimes: &[&str]| {
            let release: Release = toml::from_str(&format!(
                "name = 'x'\nversion = '1.0.0'\nstatus = 'current'\npublished = 2026-11-22\nruntimes = {runtimes:?}\n{REST}"
            ))
            .expect("a release");
            older_images(&release, &known).into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        assert_eq!(
            said(&["colab-2026.04-gpu"]),
            ["x@1.0.0 was locked for `colab-2026.04-gpu`, but the newest image is `colab-2026.07-gpu`"]
        );
        assert!(said(&["colab-2026.04-gpu", "colab-2026.07-gpu"]).is_empty());
        assert!(
            said(&["bare-3.12"]).is_empty()
                && said(&["colab-latest-gpu"]).is_empty()
                && said(&["my-own-image"]).is_empty()
        );
    }
}
