//! What is wrong with variables for the releases of a lock: not read, not known, or with a value that ends the process.

use std::collections::BTreeMap;

use crate::diag::{Code, Finding, Severity, nearest};
use crate::lock::LockedTarget;
use crate::matrix::{AllocatorOption, FlagKnown, Setting, Settings, is_between, xla_flag, xla_value};
use crate::model::Version;
use crate::plan::xla_text::{Flag, flags_of, names_a_file};
use crate::profile::Profile;

/// Findings about `all`, the variables that `profile` means for `target`.
pub(super) fn refusals(
    profile: &Profile,
    target: &LockedTarget,
    all: &BTreeMap<String, String>,
    rows: &Settings,
) -> Vec<Finding> {
    let about = About { profile, target, all };
    let mut findings = about.settings(rows);
    findings.extend(about.values(rows));
    findings.extend(about.allocator(rows));
    findings.extend(about.xla_flags());
    findings
}

/// Variables with the releases that read them.
struct About<'a> {
    profile: &'a Profile,
    target: &'a LockedTarget,
    all: &'a BTreeMap<String, String>,
}

impl About<'_> {
    /// A finding at the variable's place in the profile; what a preset or a seed has set is not the user's fault.
    fn at(&self, code: Code, variable: &str, message: String) -> Option<Finding> {
        let span = self.profile.environment_spans.get(variable)?;
        Some(Finding::error(code, message).at(&self.profile.source, span.clone(), ""))
    }

    fn settings(&self, rows: &Settings) -> Vec<Finding> {
        let judge = |row: &Setting| {
            let value = self.all.get(&row.variable)?;
            let version = self.target.version(&row.package)?;
            let same = row.beside.as_ref().is_some_and(|name| self.all.get(name) == Some(value));
            let lonely = row.with.as_ref().is_some_and(|name| !self.all.contains_key(name));
            if same || lonely || !is_between(version, row.from.as_ref(), row.before.as_ref()) {
                return None;
            }
            let code = if row.severity == Severity::Error { Code::EnvRefused } else { Code::EnvIgnored };
            let message = format!("`{}` with {} {version}: {}", row.variable, row.package, row.says);
            let mut finding = self.at(code, &row.variable, message)?.with_help(format!("take {}", row.instead));
            finding.severity = row.severity;
            Some(finding)
        };
        rows.setting.iter().filter_map(judge).collect()
    }

    fn values(&self, rows: &Settings) -> Vec<Finding> {
        let judge = |(name, value): (&String, &String)| {
            let row = rows.value.iter().find(|row| row.variables.contains(name))?;
            let lower = value.to_lowercase();
            if row.values.contains(&lower) {
                return None;
            }
            let near = nearest(row.values.iter().map(String::as_str), &lower);
            let help = near
                .map_or_else(|| format!("one of {}", row.values.join(", ")), |near| format!("did you mean `{near}`?"));
            let message = format!("`{name}` does not know the value `{value}`");
            Some(self.at(Code::EnvRefused, name, message)?.with_help(help))
        };
        self.all.iter().filter_map(judge).collect()
    }

    /// Options that the release of torch does not know end the process at its first allocation; two values contradict each other.
    fn allocator(&self, rows: &Settings) -> Vec<Finding> {
        let allocator = &rows.allocator;
        let Some(version) = self.target.version(&allocator.package) else { return Vec::new() };
        let mut findings = Vec::new();
        let set: Vec<(&String, &String)> =
            allocator.variables.iter().filter_map(|name| self.all.get_key_value(name)).collect();
        if let [(one, a), (other, b)] = set.as_slice()
            && a != b
        {
            let message = format!("`{one}` and `{other}` have two values, and torch {version} takes the first");
            findings.extend(self.at(Code::EnvRefused, other, message).map(|finding| {
                let mut finding = finding.with_help("give both the same value, or leave the second out");
                finding.severity = Severity::Warning;
                finding
            }));
        }
        for (variable, value) in set {
            for (option, given) in options_of(value) {
                let row = allocator.options.iter().find(|row| row.name == option);
                let read = is_between(version, Some(&allocator.oldest), None);
                let finding = match row {
                    None if !read => None,
                    None => {
                        let names = allocator.options.iter().map(|row| row.name.as_str());
                        let near = nearest(names, option).map(|near| format!("did you mean `{near}`?"));
                        let message = format!("torch {version} does not know the option `{option}`");
                        let finding = self.at(Code::EnvRefused, variable, message);
                        finding.map(|finding| near.into_iter().fold(finding, Finding::with_help))
                    }
                    Some(row) => option_refused(row, version, given)
                        .and_then(|message| self.at(Code::EnvRefused, variable, message)),
                };
                findings.extend(finding.map(|one| one.with_note("it ends at the first allocation")));
            }
        }
        findings
    }

    fn xla_flags(&self) -> Vec<Finding> {
        let Some(flags) = self.all.get("XLA_FLAGS") else { return Vec::new() };
        let Some(version) =
            self.target.packages.iter().find(|one| one.name.as_ref() == "jaxlib").map(|one| &one.version)
        else {
            return Vec::new();
        };
        let ends =
            |finding: Finding| finding.with_note("it ends the process at the first use of JAX, without a traceback");
        let at = |message: String| self.at(Code::EnvRefused, "XLA_FLAGS", message).map(ends);
        if names_a_file(flags) {
            let is_path = flags.contains('/');
            let message = format!("XLA reads `{flags}` as the name of a file, for it does not begin with a dash");
            return at(message).filter(|_| !is_path).into_iter().collect();
        }
        let judge = |Flag { text, name, value }: &Flag<'_>| {
            let Some(name) = name.strip_prefix("--") else {
                let help = "a flag is `--name=value`, and a blank ends it";
                return Some(at(format!("`{text}` is no flag of XLA"))?.with_help(help));
            };
            let value = value.as_deref();
            let (known, near) = xla_flag(name, version).ok()?;
            let (message, severity) = match known {
                FlagKnown::Yes => {
                    let wanted = xla_value(name, value)?;
                    let given = value.unwrap_or_default();
                    return at(format!("the flag `{name}` does not take `{given}`: it wants {wanted}"));
                }
                FlagKnown::No => (format!("jaxlib {version} does not know the flag `{name}`"), Severity::Error),
                FlagKnown::Unread => (
                    format!("no release of jaxlib that was read knows the flag `{name}`; {version} was not"),
                    Severity::Warning,
                ),
            };
            let mut finding = at(message)?;
            finding.severity = severity;
            finding.help.extend(near.map(|near| format!("did you mean `{near}`?")));
            Some(finding)
        };
        let (flags, unread) = flags_of(flags);
        let mut findings: Vec<Finding> = flags.iter().filter_map(judge).collect();
        if !unread.is_empty() {
            let message = format!("XLA reads `XLA_FLAGS` up to `{unread}`, which begins with no dash");
            findings.extend(self.at(Code::EnvIgnored, "XLA_FLAGS", message).map(|finding| {
                let mut finding = finding.with_help("a value with blanks stands in quotes: `--name=\"a b\"`");
                finding.severity = Severity::Warning;
                finding
            }));
        }
        findings
    }
}

/// The options of an allocator's setting with their values: `name:value`, with commas between them; a value in brackets has commas of its own.
fn options_of(setting: &str) -> Vec<(&str, &str)> {
    let mut depth = 0_usize;
    let parts = setting.split(|c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let parts = parts.map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once(':').unwrap_or((part, "")))
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect()
}

/// Why a release of torch ends at an option with this value.
fn option_refused(row: &AllocatorOption, version: &Version, given: &str) -> Option<String> {
    let option = &row.name;
    if !is_between(version, row.from.as_ref(), None) {
        let from = row.from.as_ref().map(ToString::to_string).unwrap_or_default();
        return Some(format!("torch {version} does not know `{option}`, which came with {from}"));
    }
    if given.is_empty() {
        return Some(format!("the option `{option}` has no value"));
    }
    let wanted = row.value.as_ref()?.check(given).err()?;
    Some(format!("the option `{option}` does not take `{given}`: it wants {wanted}"))
}
