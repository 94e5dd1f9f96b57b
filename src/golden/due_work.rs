//! What a repository promises of itself, and does not keep.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::diag::{Code, Finding, counted};
use crate::core::model::PackageName;
use crate::golden::calendar::Day;
use crate::golden::catalogue::Catalogue;
use crate::golden::entry::{Release, Standing, Status};
use crate::golden::policy::Rule;

/// The index is renewed before it has fewer days than this.
const SOON: i32 = 10;
/// A release is replaced before it has fewer days than this.
const MONTH: i32 = 30;

const PUBLISH: &str = "publish a new version with `colab-boot golden publish`";

/// A repository on a day, beside what is known of the world.
#[derive(Clone, Copy, Debug)]
pub struct Due<'a> {
    pub catalogue: &'a Catalogue,
    /// The notebook images that this program knows.
    pub runtimes: &'a [String],
    /// Titles of releases whose cells don't state where to download colab-boot.
    pub without_download: &'a BTreeSet<String>,
    /// Until when the index was confirmed beside its own date.
    pub confirmed: Option<Day>,
    pub today: Day,
}

/// How many releases of a profile have each standing, in the order of [`Standing`].
pub fn standings(catalogue: &Catalogue, today: Day) -> BTreeMap<&PackageName, BTreeMap<Standing, usize>> {
    let mut all: BTreeMap<&PackageName, BTreeMap<Standing, usize>> = BTreeMap::new();
    for release in &catalogue.releases {
        *all.entry(&release.name).or_default().entry(release.standing(today)).or_default() += 1;
    }
    all
}

impl Due<'_> {
    /// What needs work today, as severe as the policy says. An index that has expired is always an error.
    pub fn findings(self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.freshness().into_iter().collect();
        findings.extend(self.without_current());
        findings.extend(self.too_many());
        for release in &self.catalogue.releases {
            match release.standing(self.today) {
                Standing::Current => {
                    findings.extend(self.ending(release));
                    findings.extend(self.images(release));
                    findings.extend(self.evidence(release));
                }
                Standing::Deprecated => {
                    findings.extend(self.ending(release));
                    findings.extend(self.replacement(release));
                }
                Standing::Expired | Standing::Yanked => {}
            }
        }
        findings.extend(self.of_current(
            Rule::Bare,
            |release| !release.runtimes.iter().any(|name| name.starts_with("bare-")),
            ("no bare target, so it works only on its images", "add `bare-3.12` to `[target] runtimes`"),
        ));
        findings.extend(self.of_current(
            Rule::Download,
            |release| self.without_download.contains(&release.title()),
            (
                "cells that do not state where to download colab-boot",
                "publish a new version with `--binary FILE`, or with `--binary-url` and its digest",
            ),
        ));
        findings
    }

    /// A finding as severe as the policy says; `None` where it is ignored.
    fn broken(self, rule: Rule, message: String, help: &str) -> Option<Finding> {
        let severity = self.catalogue.policy.level(rule).severity()?;
        let code = if rule == Rule::Download { Code::GoldenNoBinary } else { Code::GoldenCadence };
        let finding = Finding { severity, ..Finding::warning(code, message) };
        Some(finding.with_help(help))
    }

    fn freshness(self) -> Option<Finding> {
        let help = "run `colab-boot golden sign --renew` if no release needs to be withdrawn";
        let until = self.confirmed.unwrap_or(self.catalogue.fresh_until).max(self.catalogue.fresh_until);
        let left = self.today.until(until);
        // A confirmation holds for two weeks, and is renewed by a machine.
        if self.confirmed == Some(until) && left >= 0 {
            return None;
        }
        if left < 0 {
            let message = format!("the index was fresh until {}", self.catalogue.fresh_until);
            return Some(Finding::error(Code::GoldenCadence, message).with_help(help));
        }
        let message = format!("the index is fresh for {} more", counted(left, "day"));
        (left < SOON).then(|| self.broken(Rule::Freshness, message, help)).flatten()
    }

    /// Profiles of which users get no release, unless their maintainers have said that another is to be used.
    fn without_current(self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (name, standings) in standings(self.catalogue, self.today) {
            let of_name = self.catalogue.releases.iter().filter(|release| release.name == *name);
            let Some(newest) = of_name.max_by(|a, b| a.version.cmp(&b.version)) else { continue };
            if standings.contains_key(&Standing::Current) || newest.status == Status::Deprecated {
                continue;
            }
            let message = if standings.contains_key(&Standing::Deprecated) {
                format!("{name} has no current release: users must name a deprecated version")
            } else {
                format!(
                    "{name} has no release that can be added: {} is {}",
                    newest.title(),
                    newest.standing(self.today).as_str()
                )
            };
            findings.extend(self.broken(Rule::Current, message, PUBLISH));
        }
        let is_dead = !self.catalogue.releases.is_empty()
            && self.catalogue.releases.iter().all(|release| release.standing(self.today) != Standing::Current);
        if is_dead && findings.iter().all(|finding| !finding.is_error()) {
            findings.push(Finding::error(Code::GoldenCadence, "no release is current").with_help(PUBLISH));
        }
        findings
    }

    fn too_many(self) -> Vec<Finding> {
        let most = self.catalogue.policy.per_framework;
        let too_many = self.by_framework().into_iter().filter(|(_, current)| current.len() > most);
        too_many
            .filter_map(|(framework, current)| {
                let names: Vec<String> = current.iter().map(|release| release.title()).collect();
                let number = counted(current.len(), "current release");
                let message = format!("{framework} has {number}, but the policy allows {most}: {}", names.join(", "));
                self.broken(Rule::Number, message, "deprecate the oldest with `colab-boot golden withdraw`")
            })
            .collect()
    }

    /// Current releases by the first of their frameworks, `cpu` where they have none.
    fn by_framework(&self) -> BTreeMap<String, Vec<&Release>> {
        let mut all: BTreeMap<String, Vec<&Release>> = BTreeMap::new();
        let current = |release: &&Release| release.standing(self.today) == Standing::Current;
        for release in self.catalogue.releases.iter().filter(current) {
            let names = release.frameworks.keys().map(ToString::to_string);
            let first = names.min_by_key(|name| (*name != release.name.as_ref(), name.clone()));
            all.entry(first.unwrap_or_else(|| release.name.to_string())).or_default().push(release);
        }
        all
    }

    /// Whether a release ends within a month. Who has said what to use instead knows.
    fn ending(self, release: &Release) -> Option<Finding> {
        let soon = |day: Option<Day>| day.map(|day| self.today.until(day)).filter(|days| (0..MONTH).contains(days));
        let is_current = release.standing(self.today) == Standing::Current;
        let (days, what) = match soon(release.expires) {
            Some(days) => (days, "expires"),
            None => (soon(release.deprecate_on).filter(|_| is_current)?, "is deprecated"),
        };
        let message = format!("{} {what} in {}", release.title(), counted(days, "day"));
        if release.replaced_by.is_some() {
            return None;
        }
        self.broken(Rule::Ending, message, "publish a new version before that day with `colab-boot golden publish`")
    }

    /// Whether a newer release of the same profile is current.
    fn has_newer(self, release: &Release) -> bool {
        let mut others = self.catalogue.releases.iter().filter(|other| other.name == release.name);
        others.any(|other| other.version > release.version && other.standing(self.today) == Standing::Current)
    }

    fn replacement(self, release: &Release) -> Option<Finding> {
        let title = release.title();
        let message = match &release.replaced_by {
            None if self.has_newer(release) => return None,
            None => format!("{title} is deprecated, and nothing replaces it"),
            Some(other) => {
                let found = self.catalogue.find(other, self.today);
                if found.is_some_and(|other| other.standing(self.today) == Standing::Current) {
                    return None;
                }
                format!("{title} is replaced by {other}, which is not current")
            }
        };
        self.broken(Rule::Replacement, message, "name a current release with `colab-boot golden withdraw --use`")
    }

    /// Images of a release that are unknown, or older than the newest one.
    fn images(self, release: &Release) -> Vec<Finding> {
        let title = release.title();
        let is_unknown =
            |name: &&String| !self.runtimes.contains(name) && !name.starts_with("bare-") && *name != "machine";
        let unknown = release.runtimes.iter().filter(is_unknown).map(|name| {
            (
                format!("{title} was locked for `{name}`, which this colab-boot does not support"),
                "lock it for a newer image",
            )
        });
        let newest = newest_images(self.runtimes);
        let older = newest_images(&release.runtimes).into_iter().filter_map(|((family, kind), label)| {
            let newest = newest.get(&(family, kind)).filter(|newest| label < **newest)?;
            let own = format!("{family}-{label}-{kind}");
            let message = format!("{title} was locked for `{own}`, but the newest image is `{family}-{newest}-{kind}`");
            Some((message, "add it to `[target] runtimes`, lock, and publish a new version"))
        });
        unknown.chain(older).filter_map(|(message, help)| self.broken(Rule::Images, message, help)).collect()
    }

    /// GPUs that a release names and was not verified on lately; a release that needs no GPU is verified anywhere.
    fn evidence(self, release: &Release) -> Option<Finding> {
        let review = self.catalogue.policy.review;
        let recent: BTreeSet<&str> = release
            .verified
            .iter()
            .filter(|one| one.on.after(review) >= self.today)
            .map(|one| one.gpu.as_str())
            .collect();
        let lacks: Vec<&str> = release.gpus.keys().map(String::as_str).filter(|gpu| !recent.contains(gpu)).collect();
        let title = release.title();
        let message = match lacks.as_slice() {
            [] if release.gpus.is_empty() && recent.is_empty() => format!("{title} was not verified within {review}"),
            [] => return None,
            gpus => format!("{title} was not verified within {review} on compute capability {}", gpus.join(", ")),
        };
        let help = "run `colab-boot verify --record FILE` there, then publish with `--verified FILE`";
        self.broken(Rule::Evidence, message, help)
    }

    /// One finding on all current releases that break `rule`: they have `what`.
    fn of_current(
        self,
        rule: Rule,
        is_broken: impl Fn(&Release) -> bool,
        (what, help): (&str, &str),
    ) -> Option<Finding> {
        let current = self.catalogue.releases.iter().filter(|one| one.standing(self.today) == Standing::Current);
        let titles: Vec<String> = current.filter(|one| is_broken(one)).map(Release::title).collect();
        let has = if titles.len() == 1 { "has" } else { "have" };
        let message = format!("{} {has} {what}", titles.join(", "));
        (!titles.is_empty()).then(|| self.broken(rule, message, help)).flatten()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a repository with these releases on 2026-12-01.
    fn said(releases: &str, policy: &str) -> Vec<(bool, String)> {
        let head =
            "version = 1\nname = 'x'\nseq = 1\nissued = 2026-11-22\nfresh-until = 2026-12-22\ntool = '>=0.1.0'\n";
        let catalogue = Catalogue::parse(&format!("{head}{policy}\n{releases}")).expect("an index");
        let runtimes = ["bare-3.12", "colab-2026.04-gpu", "colab-2026.07-gpu", "colab-2026.07-tpu", "colab-latest-gpu"];
        let due = Due {
            catalogue: &catalogue,
            runtimes: &runtimes.map(str::to_owned),
            without_download: &BTreeSet::from(["jax@1.0.0".to_owned()]),
            confirmed: None,
            today: Day("2026-12-01".parse().expect("a day")),
        };
        due.findings().into_iter().map(|finding| (finding.is_error(), finding.message)).collect()
    }

    fn release(name: &str, version: &str, more: &str) -> String {
        let rest = "published = 2026-11-22\nframeworks = {}\npython = []\ndownload = 0\npackages = 0\nfiles = [{ name = 'verified-none.json', size = 1, sha256 = '00' }]\n"
            .replace("'00'", &format!("'{}'", "0".repeat(64)));
        let status = if more.contains("status") { "" } else { "status = 'current'\n" };
        let runtimes = if more.contains("runtimes") { "" } else { "runtimes = ['bare-3.12']\n" };
        let seen = if more.contains("verified") {
            ""
        } else {
            "verified = [{ gpu = 'none', runtime = 'x', on = 2026-11-30, file = 'verified-none.json' }]\n"
        };
        format!("[[release]]\nname = '{name}'\nversion = '{version}'\n{status}{runtimes}{seen}{rest}{more}\n")
    }

    fn has(said: &[(bool, String)], is_error: bool, words: &str) -> bool {
        said.iter().any(|(error, message)| *error == is_error && message.contains(words))
    }

    #[test]
    fn a_good_repository_has_nothing_due() {
        assert_eq!(said(&release("cpu", "1.0.0", "expires = 2027-06-01"), ""), []);
    }

    #[test]
    fn a_profile_without_a_current_release_is_an_error_also_beside_others() {
        let good = release("cpu", "1.0.0", "");
        let expired = said(&(good.clone() + &release("jax", "1.0.0", "expires = 2026-11-30")), "");
        assert!(has(&expired, true, "jax has no release that can be added: jax@1.0.0 is expired"), "{expired:?}");
        let old = said(&(good.clone() + &release("jax", "1.0.0", "deprecate-on = 2026-11-30")), "");
        assert!(has(&old, true, "users must name a deprecated version"), "{old:?}");
        let yanked = said(&(good.clone() + &release("jax", "1.0.0", "status = 'yanked'\nbecause = 'broken'")), "");
        assert!(has(&yanked, true, "jax@1.0.0 is yanked"), "{yanked:?}");
        // Its maintainers have retired it.
        let retired = release("jax", "1.0.0", "status = 'deprecated'\nbecause = 'retired'");
        let said_of_it = said(&(good + &retired), "");
        assert!(said_of_it.iter().all(|(error, _)| !error), "{said_of_it:?}");
        // But nothing else is there.
        assert!(has(&said(&retired, ""), true, "no release is current"));
    }

    #[test]
    fn a_release_for_an_older_image_is_named() {
        let of_images = |runtimes: &str| {
            let all =
                said(&release("x", "1.0.0", &format!("runtimes = {runtimes}")), "[policy.check]\nbare = 'ignore'");
            all.into_iter().map(|(_, message)| message).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(
            of_images("['colab-2026.04-gpu']"),
            "x@1.0.0 was locked for `colab-2026.04-gpu`, but the newest image is `colab-2026.07-gpu`"
        );
        assert_eq!(of_images("['colab-2026.04-gpu', 'colab-2026.07-gpu']"), "");
        assert_eq!(of_images("['bare-3.12', 'colab-latest-gpu']"), "");
        assert_eq!(of_images("['own']"), "x@1.0.0 was locked for `own`, which this colab-boot does not support");
    }

    #[test]
    fn the_policy_says_how_severe_a_broken_rule_is() {
        let jax = release("jax", "1.0.0", "verified = []\nexpires = 2026-12-20");
        let by_default = said(&jax, "");
        assert!(has(&by_default, false, "jax@1.0.0 was not verified within 90d"), "{by_default:?}");
        assert!(has(&by_default, false, "jax@1.0.0 expires in 19 days"), "{by_default:?}");
        assert!(has(&by_default, false, "jax@1.0.0 has cells that do not state where"), "{by_default:?}");
        let strict = said(&jax, "[policy.check]\nevidence = 'error'\nending = 'ignore'");
        assert!(has(&strict, true, "was not verified") && !has(&strict, false, "expires in"), "{strict:?}");
    }

    #[test]
    fn evidence_is_wanted_for_each_gpu() {
        let gpus = "gpus = { '7.5' = 'native', '8.0' = 'native' }\nverified = [{ gpu = '7.5', runtime = 'x', on = 2026-11-30, file = 'verified-none.json' }]";
        let found = said(&release("x", "1.0.0", gpus), "");
        assert!(has(&found, false, "x@1.0.0 was not verified within 90d on compute capability 8.0"), "{found:?}");
    }
}
