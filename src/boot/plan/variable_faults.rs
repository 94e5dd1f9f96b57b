//! What is wrong with variables for the releases of a lock: not read, not known, or with a value that ends the process.

use std::collections::BTreeMap;

use crate::boot::plan::xla_text::{Flag, flags_of, names_a_file};
use crate::core::diag::{Code, Finding, Severity, Subject, nearest};
use crate::core::matrix::{AllocatorOption, FlagKnown, Setting, Settings, is_between, xla_flag, xla_value};
use crate::core::model::{PackageName, Version};

/// Variables with the releases that read them.
pub struct About<'a> {
    pub all: &'a BTreeMap<String, String>,
    /// The version of a package, where it is there.
    pub version: &'a dyn Fn(&str) -> Option<&'a Version>,
    /// A finding at the place where a variable is set; `None` where it is not the user's doing.
    pub at: &'a dyn Fn(Code, &str, String) -> Option<Finding>,
}

impl About<'_> {
    /// What is wrong with them.
    pub fn refusals(&self, rows: &Settings) -> Vec<Finding> {
        let mut findings = self.settings(rows);
        findings.extend(self.values(rows));
        findings.extend(self.allocator(rows));
        findings.extend(self.xla_flags());
        findings
    }

    fn at(&self, code: Code, variable: &str, message: String) -> Option<Finding> {
        Some((self.at)(code, variable, message)?.about(Subject::variable(variable)))
    }

    fn version(&self, package: &PackageName) -> Option<&Version> {
        (self.version)(package.as_ref())
    }

    fn settings(&self, rows: &Settings) -> Vec<Finding> {
        rows.setting.iter().filter_map(|row| self.setting(row)).collect()
    }

    fn setting(&self, row: &Setting) -> Option<Finding> {
        // An empty one is none to the libraries that these rows are about.
        let value = self.all.get(&row.variable).filter(|value| !value.is_empty())?;
        let version = self.version(&row.package)?;
        let same = row.beside.as_ref().is_some_and(|name| self.all.get(name) == Some(value));
        let lonely = row.with.as_ref().is_some_and(|name| self.all.get(name).is_none_or(String::is_empty));
        if same || lonely || !is_between(version, row.from.as_ref(), row.before.as_ref()) {
            return None;
        }
        let code = if row.severity == Severity::Error { Code::EnvRefused } else { Code::EnvIgnored };
        let message = format!("`{}` with {} {version}: {}", row.variable, row.package, row.says);
        let mut finding = self.at(code, &row.variable, message)?.with_help(format!("use {}", row.instead));
        finding.severity = row.severity;
        Some(finding)
    }

    fn values(&self, rows: &Settings) -> Vec<Finding> {
        self.all.iter().filter_map(|(name, value)| self.value(rows, name, value)).collect()
    }

    fn value(&self, rows: &Settings, name: &str, value: &str) -> Option<Finding> {
        let row = rows.value.iter().find(|row| row.variables.iter().any(|one| one == name))?;
        let unread = row.package.as_ref().is_some_and(|package| self.version(package).is_none());
        let excused = row.unless.as_ref().is_some_and(|other| self.all.contains_key(other));
        let stranger = row.stranger(value).filter(|_| !unread && !excused)?;
        let near = nearest(row.values.iter().map(String::as_str), &stranger.trim().to_lowercase());
        let help = match near.filter(|near| *near != stranger) {
            Some(near) => format!("did you mean `{near}`?"),
            None => row.described(),
        };
        let severity = if row.open && near.is_none() { Severity::Warning } else { row.severity };
        let code = if severity == Severity::Error { Code::EnvRefused } else { Code::EnvIgnored };
        let mut finding = self.at(code, name, format!("`{name}` does not support the value `{stranger}`"))?;
        finding.severity = severity;
        finding.notes.extend(row.says.clone());
        Some(finding.with_help(help))
    }

    /// Options that the release of torch does not know end the process at its first allocation; two values contradict
    /// each other.
    fn allocator(&self, rows: &Settings) -> Vec<Finding> {
        let allocator = &rows.allocator;
        let Some(version) = self.version(&allocator.package) else { return Vec::new() };
        let mut findings = Vec::new();
        let set: Vec<(&String, &String)> =
            allocator.variables.iter().filter_map(|name| self.all.get_key_value(name)).collect();
        if let [(one, a), (other, b)] = set.as_slice()
            && a != b
        {
            let message = format!("`{one}` and `{other}` have different values; torch {version} uses the first");
            let help = "set both to the same value, or remove the second";
            findings.extend(self.at(Code::EnvIgnored, other, message).map(|one| as_warning(one.with_help(help))));
        }
        for (variable, value) in set {
            let options = options_of(value);
            // c10/cuda/CUDAAllocatorConfig.cpp: `backend:cudaMallocAsync ignores max_split_size_mb, …`; segments are of
            // the native one alone.
            let native = [
                "max_split_size_mb",
                "garbage_collection_threshold",
                "roundup_power2_divisions",
                "expandable_segments",
            ];
            let is_other = options.contains(&("backend", "cudaMallocAsync"));
            if let Some((name, _)) = options.iter().find(|(name, _)| is_other && native.contains(name)) {
                let message = format!("`backend:cudaMallocAsync` in `{variable}` ignores `{name}`");
                findings.extend(self.at(Code::EnvIgnored, variable, message).map(as_warning));
            }
            for (option, given) in options {
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
                findings.extend(finding.map(|one| one.with_note("torch fails at its first allocation")));
            }
        }
        findings
    }

    fn xla_flags(&self) -> Vec<Finding> {
        let Some(flags) = self.all.get("XLA_FLAGS") else { return Vec::new() };
        let Some(version) = (self.version)("jaxlib") else { return Vec::new() };
        if names_a_file(flags) {
            let is_path = flags.contains('/');
            let message = format!("XLA reads `{flags}` as a file name, because it does not begin with a dash");
            return self.at_xla_flags(message).filter(|_| !is_path).into_iter().collect();
        }
        let (flags, unread) = flags_of(flags);
        let mut findings: Vec<Finding> = flags.iter().filter_map(|flag| self.xla_flag(flag, version)).collect();
        if !unread.is_empty() {
            let message = format!("XLA reads `XLA_FLAGS` only up to `{unread}`, which does not begin with a dash");
            let help = "quote a value that contains spaces: `--name=\"a b\"`";
            findings.extend(self.at(Code::EnvIgnored, "XLA_FLAGS", message).map(|one| as_warning(one.with_help(help))));
        }
        findings
    }

    fn at_xla_flags(&self, message: String) -> Option<Finding> {
        let finding = self.at(Code::EnvRefused, "XLA_FLAGS", message)?;
        Some(finding.with_note("the process ends at the first use of JAX, without a traceback"))
    }

    fn xla_flag(&self, Flag { text, name, value }: &Flag<'_>, version: &Version) -> Option<Finding> {
        let Some(name) = name.strip_prefix("--") else {
            let help = "flags have the form `--name=value` and end at a space";
            return Some(self.at_xla_flags(format!("`{text}` is not an XLA flag"))?.with_help(help));
        };
        let value = value.as_deref();
        let (known, near) = xla_flag(name, version).ok()?;
        let (message, severity) = match known {
            FlagKnown::Yes => {
                let wanted = xla_value(name, value)?;
                let given = value.unwrap_or_default();
                return self.at_xla_flags(format!("the flag `{name}` does not accept `{given}`: it needs {wanted}"));
            }
            FlagKnown::No => (format!("jaxlib {version} does not know the flag `{name}`"), Severity::Error),
            FlagKnown::Unread => (
                format!("no known release of jaxlib has the flag `{name}` (jaxlib {version} was not checked)"),
                Severity::Warning,
            ),
        };
        let mut finding = self.at_xla_flags(message)?;
        finding.severity = severity;
        finding.help.extend(near.map(|near| format!("did you mean `{near}`?")));
        Some(finding)
    }
}

fn as_warning(mut finding: Finding) -> Finding {
    finding.severity = Severity::Warning;
    finding
}

/// The options of an allocator's setting with their values: `name:value`, with commas between them; a value in brackets
/// has commas of its own.
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
        return Some(format!("torch {version} does not support `{option}`, which {from} introduced"));
    }
    if given.is_empty() {
        return Some(format!("the option `{option}` has no value"));
    }
    let wanted = row.value.as_ref()?.check(given).err()?;
    Some(format!("the option `{option}` does not accept `{given}`: it needs {wanted}"))
}
