//! What a repository promises: how long its releases, evidence and index count, how many releases a framework has, and
//! which broken promise fails `golden check`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::core::diag::Severity;
use crate::golden::calendar::Days;

/// The table `[policy]` of an index; what it leaves out has its default.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Policy {
    /// Current releases that a framework may have.
    pub per_framework: usize,
    /// Evidence may be this old.
    pub review: Days,
    /// After publishing.
    pub deprecate: Days,
    pub expire: Days,
    /// How long an index is fresh.
    pub fresh: Days,
    /// Levels that differ from the defaults.
    pub check: BTreeMap<Rule, Level>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            per_framework: 2,
            review: Days(90),
            deprecate: Days(120),
            expire: Days(180),
            fresh: Days(30),
            check: BTreeMap::new(),
        }
    }
}

/// What `golden check` looks at beside files and signatures, which are always errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A profile has no current release.
    Current,
    /// A framework has more current releases than `per-framework`.
    Number,
    /// A deprecated release has no current successor.
    Replacement,
    /// A release is deprecated, or expires, within 30 days.
    Ending,
    /// A release was not verified within `review` on a GPU that it names.
    Evidence,
    /// A release was locked for an image that is older than the newest one, or unknown.
    Images,
    /// A release has no bare target.
    Bare,
    /// The cells of a release don't state where to download colab-boot.
    Download,
    /// The index expires within 10 days.
    Freshness,
}

impl Rule {
    pub const ALL: [Self; 9] = [
        Self::Current,
        Self::Number,
        Self::Replacement,
        Self::Ending,
        Self::Evidence,
        Self::Images,
        Self::Bare,
        Self::Download,
        Self::Freshness,
    ];

    /// As an index and the command line write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Number => "number",
            Self::Replacement => "replacement",
            Self::Ending => "ending",
            Self::Evidence => "evidence",
            Self::Images => "images",
            Self::Bare => "bare",
            Self::Download => "download",
            Self::Freshness => "freshness",
        }
    }

    /// What breaks it, for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Current => "a profile has no current release",
            Self::Number => "a framework has more current releases than `per-framework`",
            Self::Replacement => "a deprecated release has no current successor",
            Self::Ending => "a release is deprecated or expires within 30 days",
            Self::Evidence => "a release was not verified within `review` on a GPU that it names",
            Self::Images => "a release was not locked for the newest notebook image",
            Self::Bare => "a release has no bare target",
            Self::Download => "cells don't state where to download colab-boot",
            Self::Freshness => "the index expires within 10 days",
        }
    }

    const fn default_level(self) -> Level {
        match self {
            Self::Current | Self::Number => Level::Error,
            Self::Bare => Level::Note,
            _ => Level::Warning,
        }
    }
}

/// How much a broken rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Ignore,
    Note,
    Warning,
    Error,
}

impl Level {
    const ALL: [Self; 4] = [Self::Ignore, Self::Note, Self::Warning, Self::Error];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// As the severity of a finding; `None` where it is not reported.
    pub const fn severity(self) -> Option<Severity> {
        match self {
            Self::Ignore => None,
            Self::Note => Some(Severity::Note),
            Self::Warning => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }
}

impl Policy {
    pub fn level(&self, rule: Rule) -> Level {
        self.check.get(&rule).copied().unwrap_or(rule.default_level())
    }

    /// Its keys with their values and meanings, as [`set`](Self::set) takes them.
    pub fn rows(&self) -> Vec<(&'static str, String, &'static str)> {
        let periods = [
            ("per-framework", self.per_framework.to_string(), "current releases that a framework may have"),
            ("review", self.review.to_string(), "how old verification records may be"),
            ("deprecate", self.deprecate.to_string(), "after publishing, for new releases"),
            ("expire", self.expire.to_string(), "after publishing, for new releases"),
            ("fresh", self.fresh.to_string(), "how long an index is fresh after each change"),
        ];
        let rules = Rule::ALL.into_iter().map(|rule| (rule.name(), self.level(rule).name().to_owned(), rule.meaning()));
        periods.into_iter().chain(rules).collect()
    }

    /// Applies `KEY=VALUE`; the reason where it can't be meant.
    pub fn set(&mut self, change: &str) -> Result<(), String> {
        let (key, value) = change.split_once('=').ok_or_else(|| format!("`{change}` is not KEY=VALUE"))?;
        let days = || {
            let number = value.strip_suffix('d').unwrap_or(value).parse().ok();
            number.filter(|days| *days > 0).map(Days).ok_or_else(|| format!("`{value}` is not a number of days: `90d`"))
        };
        match key {
            "per-framework" => {
                let number = value.parse().ok().filter(|number| *number > 0);
                self.per_framework = number.ok_or_else(|| format!("`{value}` is not a number of releases"))?;
            }
            "review" => self.review = days()?,
            "deprecate" => self.deprecate = days()?,
            "expire" => self.expire = days()?,
            "fresh" => self.fresh = days()?,
            _ => {
                let rule = Rule::ALL.into_iter().find(|rule| rule.name() == key);
                let rule = rule.ok_or_else(|| format!("`{key}` is not a key of the policy"))?;
                let level = Level::ALL.into_iter().find(|level| level.name() == value);
                let level = level.ok_or_else(|| format!("`{value}` is not `error`, `warning`, `note` or `ignore`"))?;
                if level == rule.default_level() {
                    self.check.remove(&rule);
                } else {
                    self.check.insert(rule, level);
                }
            }
        }
        if self.deprecate > self.expire {
            return Err(format!(
                "releases would expire ({}) before they are deprecated ({})",
                self.expire, self.deprecate
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, Policy, Rule};

    #[test]
    fn a_policy_is_changed_by_its_keys_alone() {
        let mut policy = Policy::default();
        for change in ["expire=365", "review=30d", "evidence=error", "per-framework=3"] {
            policy.set(change).expect(change);
        }
        assert_eq!((policy.expire.0, policy.review.0, policy.per_framework), (365, 30, 3));
        assert_eq!(policy.level(Rule::Evidence), Level::Error);
        policy.set("evidence=warning").expect("its default");
        assert!(policy.check.is_empty());
        for (change, why) in [
            ("evidence", "KEY=VALUE"),
            ("colour=error", "not a key"),
            ("evidence=loud", "not `error`"),
            ("review=soon", "number of days"),
            ("review=0", "number of days"),
            ("per-framework=0", "number of releases"),
            ("deprecate=400d", "before they are deprecated"),
        ] {
            let said = policy.clone().set(change).expect_err(change);
            assert!(said.contains(why), "{change}: {said}");
        }
        // The rows are what `set` takes.
        for (key, value, _) in Policy::default().rows() {
            Policy::default().set(&format!("{key}={value}")).expect(key);
        }
    }
}
