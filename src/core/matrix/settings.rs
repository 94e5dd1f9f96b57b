//! What variables mean for the releases of a lock (`settings.toml`), and the flags that XLA knows (`xla-flags.toml`).

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::core::diag::Severity;
use crate::core::matrix::parse;
use crate::core::model::{PackageName, Version};

/// The file `settings.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub setting: Vec<Setting>,
    pub value: Vec<Allowed>,
    pub allocator: Allocator,
    pub preset: Vec<Preset>,
    pub determinism: Vec<Determinism>,
}

/// A variable that releases of a package do not read, or that ends them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub variable: String,
    pub package: PackageName,
    #[serde(default)]
    pub from: Option<Version>,
    #[serde(default)]
    pub before: Option<Version>,
    /// Nothing is said where this variable has the same value.
    #[serde(default)]
    pub beside: Option<String>,
    /// It is said only where this variable is set as well.
    #[serde(default)]
    pub with: Option<String>,
    #[serde(deserialize_with = "severity")]
    pub severity: Severity,
    pub says: String,
    pub instead: String,
    pub source: String,
}

/// The values that variables may have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowed {
    pub variables: Vec<String>,
    /// What reads them; nothing is said where it is not there.
    #[serde(default)]
    pub package: Option<PackageName>,
    #[serde(default)]
    pub values: Vec<String>,
    #[serde(default)]
    pub kind: Option<NamedKind>,
    /// Capitals and blanks count.
    #[serde(default)]
    pub exact: bool,
    /// Several, with commas between them.
    #[serde(default)]
    pub list: bool,
    /// There may be more than are known: what is not near to one of them is a warning.
    #[serde(default)]
    pub open: bool,
    /// Nothing is said where this variable is set as well.
    #[serde(default)]
    pub unless: Option<String>,
    #[serde(default = "error", deserialize_with = "severity")]
    pub severity: Severity,
    /// What follows from any other value.
    #[serde(default)]
    pub says: Option<String>,
    pub source: String,
}

impl Allowed {
    /// The part of `value` that is not allowed.
    pub fn stranger<'v>(&self, value: &'v str) -> Option<&'v str> {
        let parts: Vec<&str> = if self.list { value.split(',').collect() } else { vec![value] };
        let parts = parts.into_iter().map(|part| if self.exact { part } else { part.trim() });
        let is_known = |part: &str| {
            let named =
                self.values.iter().any(|one| if self.exact { one == part } else { one.eq_ignore_ascii_case(part) });
            named || self.kind.is_some_and(|kind| kind.fits(part))
        };
        parts.into_iter().find(|part| !is_known(part))
    }

    /// What is allowed, for people.
    pub fn described(&self) -> String {
        let named: Vec<&str> = self.values.iter().map(String::as_str).filter(|one| !one.is_empty()).collect();
        match self.kind {
            Some(kind) => kind.described().to_owned(),
            None => format!("one of {}", named.join(", ")),
        }
    }
}

const fn error() -> Severity {
    Severity::Error
}

/// The options of torch's allocator.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allocator {
    pub variables: Vec<String>,
    pub package: PackageName,
    /// The releases whose options were read.
    pub oldest: Version,
    pub newest: Version,
    pub source: String,
    pub options: Vec<AllocatorOption>,
}

/// One of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllocatorOption {
    pub name: String,
    #[serde(default)]
    pub from: Option<Version>,
    /// What its value may be; anything where nothing is known of it.
    #[serde(default)]
    pub value: Option<ValueKind>,
}

/// What a value may be.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ValueKind {
    /// `whole`, `fraction`, `switch`.
    Named(NamedKind),
    /// One of these.
    OneOf(Vec<String>),
}

/// A kind of value that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamedKind {
    /// A whole number.
    Whole,
    /// A whole number above 0.
    Positive,
    /// A number.
    Number,
    /// A number between 0 and 1, neither of them.
    Fraction,
    /// A number above 0, and at most 1.
    Share,
    /// `True` or `False`.
    Switch,
}

impl NamedKind {
    fn fits(self, text: &str) -> bool {
        let number = text.parse::<f64>();
        match self {
            Self::Whole => text.parse::<i64>().is_ok(),
            Self::Positive => text.parse::<u32>().is_ok_and(|value| value > 0),
            Self::Number => number.is_ok(),
            Self::Fraction => number.is_ok_and(|value| value > 0.0 && value < 1.0),
            Self::Share => number.is_ok_and(|value| value > 0.0 && value <= 1.0),
            Self::Switch => ["True", "False"].contains(&text),
        }
    }

    const fn described(self) -> &'static str {
        match self {
            Self::Whole => "a whole number",
            Self::Positive => "a whole number above 0",
            Self::Number => "a number",
            Self::Fraction => "a number between 0 and 1",
            Self::Share => "a number above 0 and at most 1, such as .9",
            Self::Switch => "True or False",
        }
    }
}

impl ValueKind {
    /// Whether `text` is one. The error says what one is.
    pub fn check(&self, text: &str) -> Result<(), String> {
        match self {
            Self::Named(kind) if kind.fits(text) => Ok(()),
            Self::Named(kind) => Err(kind.described().to_owned()),
            Self::OneOf(all) if all.iter().any(|one| one == text) => Ok(()),
            Self::OneOf(all) => Err(all.join(" or ")),
        }
    }
}

/// A variable of a preset.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Preset {
    pub name: String,
    pub package: PackageName,
    #[serde(default)]
    pub from: Option<Version>,
    #[serde(default)]
    pub before: Option<Version>,
    /// Only where the lock has CUDA.
    #[serde(default)]
    pub gpu: bool,
    /// Only where another framework stands beside it.
    #[serde(default)]
    pub beside_others: bool,
    pub variable: String,
    pub value: String,
    pub why: String,
    pub source: String,
}

/// What makes a framework deterministic, and what nothing does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Determinism {
    pub package: PackageName,
    #[serde(default)]
    pub from: Option<Version>,
    #[serde(default)]
    pub before: Option<Version>,
    /// For locks with CUDA, or without; both where it is absent.
    #[serde(default)]
    pub gpu: Option<bool>,
    #[serde(default)]
    pub variable: Option<String>,
    #[serde(default)]
    pub value: Option<String>,
    /// Values that do as well, in lower case.
    #[serde(default)]
    pub also: Vec<String>,
    /// Added to `XLA_FLAGS`.
    #[serde(default)]
    pub flag: Option<String>,
    /// What the program calls.
    pub call: String,
    /// What is not promised.
    pub not: String,
    pub source: String,
}

fn severity<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Severity, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "error" => Ok(Severity::Error),
        "warning" => Ok(Severity::Warning),
        "note" => Ok(Severity::Note),
        other => Err(serde::de::Error::custom(format!("`{other}` is not error, warning or note"))),
    }
}

/// Whether `version` lies from `from` on and before `before`.
pub fn is_between(version: &Version, from: Option<&Version>, before: Option<&Version>) -> bool {
    from.is_none_or(|from| version >= from) && before.is_none_or(|before| version < before)
}

/// The file `xla-flags.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct XlaFile {
    /// The first and the last release that was read.
    oldest: Version,
    newest: Version,
    flags: Vec<XlaFlags>,
    values: XlaValues,
}

/// Flags by what their values may be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct XlaValues {
    switch: Vec<String>,
    whole: Vec<String>,
    number: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct XlaFlags {
    /// The last release before that does not have them.
    #[serde(default)]
    after: Option<Version>,
    /// The first release after that does not have them.
    #[serde(default)]
    before: Option<Version>,
    names: Vec<String>,
}

/// Whether a release of jaxlib knows a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagKnown {
    Yes,
    /// It ends the process.
    No,
    /// The release is older or newer than those that were read, and none of them has it.
    Unread,
}

static SETTINGS: LazyLock<Result<Settings, String>> = LazyLock::new(|| parse("settings.toml"));
static WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let files = ["settings.toml", "xla-flags.toml"].map(|name| parse::<serde_json::Value>(name).unwrap_or_default());
    let texts = files.into_iter().map(|file| file.to_string());
    texts.flat_map(|text| text.split(is_between_words).map(str::to_owned).collect::<Vec<_>>()).collect()
});
static XLA: LazyLock<Result<XlaFile, String>> = LazyLock::new(|| parse("xla-flags.toml"));

/// The rows. Fails only if the file is wrong, which a test rules out.
pub fn settings() -> Result<&'static Settings, String> {
    SETTINGS.as_ref().map_err(Clone::clone)
}

/// Whether a row says something of the variable `name`.
pub fn is_judged(name: &str) -> bool {
    let Ok(rows) = settings() else { return false };
    let of_values = rows.value.iter().flat_map(|row| &row.variables).chain(&rows.allocator.variables);
    name == "XLA_FLAGS"
        || rows.setting.iter().any(|row| row.variable == name)
        || of_values.clone().any(|one| one == name)
}

/// Whether `character` stands between words of settings.
pub fn is_between_words(character: char) -> bool {
    !(character.is_ascii_alphanumeric() || "._-".contains(character))
}

/// Whether the rows of settings have the word `word`: a variable, an option, a flag, or one of their values.
pub fn is_setting_word(word: &str) -> bool {
    WORDS.contains(word)
}

/// Whether jaxlib `version` knows the flag `name` (without dashes), and the nearest that it does know. Fails as
/// [`settings`] does.
pub fn xla_flag(name: &str, version: &Version) -> Result<(FlagKnown, Option<&'static str>), String> {
    let file = XLA.as_ref().map_err(Clone::clone)?;
    let rows = file.flags.iter().filter(|row| {
        row.after.as_ref().is_none_or(|after| version > after)
            && row.before.as_ref().is_none_or(|before| version < before)
    });
    let known = rows.flat_map(|row| &row.names).map(String::as_str);
    if known.clone().any(|one| one == name) {
        return Ok((FlagKnown::Yes, None));
    }
    let read = *version >= file.oldest && *version <= file.newest;
    let state = if read { FlagKnown::No } else { FlagKnown::Unread };
    Ok((state, crate::core::diag::nearest(known, name)))
}

/// What is wrong with the value of a flag of XLA; `None` also of one that nothing is known of. `value` is without
/// quotes, and absent where there is no `=`.
pub fn xla_value(name: &str, value: Option<&str>) -> Option<&'static str> {
    let values = &XLA.as_ref().ok()?.values;
    let is_among = |all: &[String]| all.iter().any(|one| one == name);
    if is_among(&values.switch) {
        let known = ["true", "false", "1", "0"];
        let fits = value.is_none_or(|value| known.iter().any(|one| value.eq_ignore_ascii_case(one)));
        return (!fits).then_some("true or false");
    }
    let value = value.unwrap_or_default().trim_start();
    if is_among(&values.whole) {
        return value.parse::<i64>().is_err().then_some("a whole number");
    }
    (is_among(&values.number) && value.parse::<f64>().is_err()).then_some("a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_sources_and_flags_their_releases() {
        let all = settings().expect("settings.toml");
        assert!(all.setting.iter().all(|row| row.source.len() > 10 && !row.instead.is_empty()));
        assert!(all.preset.iter().all(|row| row.source.len() > 10 && row.why.len() > 20));
        assert!(
            all.determinism.iter().all(|row| row.source.len() > 10 && row.variable.is_some() == row.value.is_some())
        );
        assert!(all.value.iter().all(|row| row.source.len() > 10 && !row.values.is_empty() || row.kind.is_some()));
        assert!(all.allocator.options.len() > 15);
        let version = |text: &str| text.parse::<Version>().expect("a version");
        let known = |name: &str, release: &str| xla_flag(name, &version(release)).expect("xla-flags.toml").0;
        assert_eq!(known("xla_gpu_deterministic_ops", "0.7.2"), FlagKnown::Yes);
        assert_eq!(known("xla_gpu_graph_level", "0.7.2"), FlagKnown::No);
        assert_eq!(known("xla_gpu_enable_triton_hopper", "0.7.2"), FlagKnown::Yes);
        assert_eq!(known("xla_gpu_enable_triton_hopper", "0.10.0"), FlagKnown::No);
        assert_eq!(known("xla_gpu_of_tomorrow", "0.99"), FlagKnown::Unread);
        let near = xla_flag("xla_gpu_deterministic_op", &version("0.9.0")).expect("xla-flags.toml").1;
        assert_eq!(near, Some("xla_gpu_deterministic_ops"));
    }
}
