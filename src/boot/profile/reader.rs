//! Walks a TOML table with spans, collecting every fault instead of stopping at the first.

use std::ops::Range;
use std::str::FromStr;

use pep508_rs::PackageName;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::core::diag::{Code, Finding, Source};
use crate::core::model::day::{Date, Moment, moment_in};

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Placed<T> {
    pub value: T,
    pub span: Range<usize>,
}

/// Where faults are gathered.
pub(super) struct Faults<'a> {
    pub source: &'a Source,
    pub found: Vec<Finding>,
}

impl Faults<'_> {
    pub(super) fn add(&mut self, code: Code, span: Range<usize>, message: impl Into<String>, help: &str) {
        let finding = Finding::error(code, message).at(self.source, span, "");
        self.found.push(if help.is_empty() { finding } else { finding.with_help(help) });
    }

    /// Unwraps a parsed value, or notes that it cannot be used.
    pub(super) fn value<T, E: std::fmt::Display>(
        &mut self,
        place: &Placed<String>,
        key: &str,
        parsed: Result<T, E>,
    ) -> Option<T> {
        parsed
            .map_err(|error| {
                let message = format!("`{}` can't be used as {key}: {error}", place.value);
                self.add(Code::ProfileBadValue, place.span.clone(), message, "");
            })
            .ok()
    }

    /// The name of a package, or of what is named like one (`key`). The crate that reads names takes an empty one.
    pub(super) fn name(&mut self, place: &Placed<String>, key: &str) -> Option<PackageName> {
        if place.value.is_empty() {
            self.add(Code::ProfileBadValue, place.span.clone(), format!("an empty name can't be used as {key}"), "");
            return None;
        }
        self.value(place, key, PackageName::from_str(&place.value))
    }
}

/// One table: its keys are taken one by one; what is left at the end is unknown.
pub(super) struct Reader<'t, 'i> {
    name: String,
    entries: Vec<(&'t str, Range<usize>, &'t Spanned<DeValue<'i>>)>,
    known: Vec<&'static str>,
}

impl<'t, 'i> Reader<'t, 'i> {
    /// `name` as the user would write it: `[target]`.
    pub(super) fn new(name: &str, table: &'t DeTable<'i>) -> Self {
        let entries = table.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span(), value)).collect();
        Self { name: name.to_owned(), entries, known: Vec::new() }
    }

    fn take(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'i>>> {
        self.known.push(key);
        let at = self.entries.iter().position(|(name, ..)| *name == key)?;
        Some(self.entries.remove(at).2)
    }

    /// Every entry, for tables whose keys are names.
    pub(super) fn all(&mut self) -> Vec<(Placed<String>, &'t Spanned<DeValue<'i>>)> {
        self.entries.drain(..).map(|(name, span, value)| (Placed { value: name.to_owned(), span }, value)).collect()
    }

    pub(super) fn text(&mut self, key: &'static str, faults: &mut Faults<'_>) -> Option<Placed<String>> {
        let value = self.take(key)?;
        as_text(value, &format!("`{key}`"), faults)
    }

    pub(super) fn flag(&mut self, key: &'static str, faults: &mut Faults<'_>) -> Option<bool> {
        self.placed_flag(key, faults).map(|(flag, _)| flag)
    }

    /// A flag with its place.
    pub(super) fn placed_flag(&mut self, key: &'static str, faults: &mut Faults<'_>) -> Option<(bool, Range<usize>)> {
        let value = self.take(key)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            wrong_type(value, &format!("`{key}`"), "true or false", faults);
        }
        flag.map(|flag| (flag, value.span()))
    }

    /// A seed: of so many bits is that of NumPy and of Python's hashes.
    pub(super) fn seed(&mut self, key: &'static str, faults: &mut Faults<'_>) -> Option<u64> {
        let value = self.take(key)?;
        let Some(number) = value.get_ref().as_integer() else {
            wrong_type(value, &format!("`{key}`"), "a whole number", faults);
            return None;
        };
        let seed = number.as_str().parse::<u64>().ok().filter(|seed| u32::try_from(*seed).is_ok());
        if seed.is_none() {
            let message = format!("`{key}` is a whole number from 0 to {}", u32::MAX);
            faults.add(Code::ProfileBadValue, value.span(), message, "");
        }
        seed
    }

    /// A TOML date, as `2027-02-28`.
    pub(super) fn date(&mut self, key: &'static str, faults: &mut Faults<'_>) -> Option<Date> {
        let value = self.take(key)?;
        let date = value.get_ref().as_datetime().and_then(|moment| moment.date?.to_string().parse().ok());
        if date.is_none() {
            wrong_type(value, &format!("`{key}`"), "a date without quotes, such as 2027-02-28", faults);
        }
        date
    }

    /// A TOML date or moment, as `2027-02-28` or `2027-02-28T12:00:00Z`; a date is its last moment.
    pub(super) fn moment(&mut self, key: &'static str, faults: &mut Faults<'_>) -> Option<Moment> {
        let value = self.take(key)?;
        let moment = value.get_ref().as_datetime().and_then(|moment| moment_in(&moment.to_string()));
        if moment.is_none() {
            let wanted = "a date or moment without quotes, such as 2027-02-28 or 2027-02-28T12:00:00Z";
            wrong_type(value, &format!("`{key}`"), wanted, faults);
        }
        moment
    }

    pub(super) fn texts(&mut self, key: &'static str, faults: &mut Faults<'_>) -> Vec<Placed<String>> {
        let Some(value) = self.take(key) else {
            return Vec::new();
        };
        let Some(array) = value.get_ref().as_array() else {
            wrong_type(value, &format!("`{key}`"), "a list of strings", faults);
            return Vec::new();
        };
        array.iter().filter_map(|item| as_text(item, &format!("an entry of `{key}`"), faults)).collect()
    }

    pub(super) fn table(&mut self, key: &'static str, faults: &mut Faults<'_>) -> Option<Reader<'t, 'i>> {
        let value = self.take(key)?;
        let table = value.get_ref().as_table();
        if table.is_none() {
            wrong_type(value, &format!("`{key}`"), &format!("a table, `[{key}]`"), faults);
        }
        table.map(|table| Reader::new(&format!("[{key}]"), table))
    }

    pub(super) fn tables(&mut self, key: &'static str, faults: &mut Faults<'_>) -> Vec<(Reader<'t, 'i>, Range<usize>)> {
        let Some(value) = self.take(key) else {
            return Vec::new();
        };
        let Some(array) = value.get_ref().as_array() else {
            wrong_type(value, &format!("`{key}`"), &format!("tables, `[[{key}]]`"), faults);
            return Vec::new();
        };
        array
            .iter()
            .filter_map(|item| {
                let table = item.get_ref().as_table();
                if table.is_none() {
                    wrong_type(item, &format!("an entry of `{key}`"), "a table", faults);
                }
                table.map(|table| (Reader::new(&format!("[[{key}]]"), table), item.span()))
            })
            .collect()
    }

    /// Whatever was not taken is unknown; the nearest known key is suggested.
    pub(super) fn finish(self, faults: &mut Faults<'_>) {
        for (key, span, _) in &self.entries {
            let nearest = self.known.iter().max_by(|a, b| strsim::jaro(a, key).total_cmp(&strsim::jaro(b, key)));
            let help = match nearest {
                Some(nearest) if strsim::jaro(nearest, key) > 0.7 => format!("did you mean `{nearest}`?"),
                _ => format!("known keys here: {}", self.known.join(", ")),
            };
            let message = format!("unknown key `{key}` in {}", self.name);
            faults.add(Code::ProfileUnknownKey, span.clone(), message, &help);
        }
    }
}

/// `value` as a text, or a fault that says what `what` should be.
pub(super) fn as_text(value: &Spanned<DeValue<'_>>, what: &str, faults: &mut Faults<'_>) -> Option<Placed<String>> {
    let text = value.get_ref().as_str().map(|text| Placed { value: text.to_owned(), span: value.span() });
    if text.is_none() {
        wrong_type(value, what, "a string in quotes", faults);
    }
    text
}

pub(super) fn wrong_type(value: &Spanned<DeValue<'_>>, what: &str, expected: &str, faults: &mut Faults<'_>) {
    let message = format!("{what} must be {expected}, not {}", kind(value.get_ref()));
    faults.add(Code::ProfileWrongType, value.span(), message, "");
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
