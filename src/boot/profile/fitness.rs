//! `[doctor]`: what the work is like, which checks are not asked, other thresholds, checks of the team's own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::DeValue;

use crate::boot::profile::reader::{Faults, Placed, Reader, as_text, wrong_type};
use crate::core::diag::{Code, nearest};
use crate::core::matrix::{Amount, Check, Unit, checks, credential_places};
use crate::core::model::PackageName;

/// What a profile says to `doctor`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fitness {
    /// Checks that are not asked.
    pub ignore: Vec<Code>,
    /// By check and by the name of the limit.
    pub thresholds: BTreeMap<Code, BTreeMap<String, Amount>>,
    /// What a person does about it here, in place of our own words.
    pub remedies: BTreeMap<Code, String>,
    /// Where the data lies.
    pub data: Vec<PathBuf>,
    /// Services whose credentials the work needs.
    pub needs: Vec<String>,
    /// Seconds that the work takes.
    pub long: Option<f64>,
    /// Distributions whose own checks may run.
    pub plugins: Vec<PackageName>,
    pub checks: Vec<OwnCheck>,
}

/// `[[doctor.check]]`: a command that says whether all is well.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnCheck {
    pub name: String,
    /// The program and its arguments; no shell.
    pub command: Vec<String>,
    /// Seconds.
    pub timeout: f64,
}

/// How long a command may take that does not say.
const TIMEOUT: f64 = 20.0;

pub(super) fn fitness(root: &mut Reader<'_, '_>, faults: &mut Faults<'_>) -> Fitness {
    let Some(mut table) = root.table("doctor", faults) else { return Fitness::default() };
    let rows = checks().unwrap_or_default();
    let mut fitness = Fitness::default();
    for place in table.texts("ignore", faults) {
        fitness.ignore.extend(faults.value(&place, "a check", check_of(rows, &place.value)).map(|row| row.id));
    }
    fitness.data = table.texts("data", faults).into_iter().map(|place| place.value.into()).collect();
    let services = credential_places().map(|(places, _)| places).unwrap_or_default();
    for place in table.texts("needs", faults) {
        let known = services.iter().find(|one| one.service.eq_ignore_ascii_case(&place.value));
        let known = known.map(|one| one.service.clone()).ok_or_else(|| {
            format!("one of {}", services.iter().map(|one| one.service.as_str()).collect::<Vec<_>>().join(", "))
        });
        fitness.needs.extend(faults.value(&place, "a service", known));
    }
    let long = table.text("for", faults);
    fitness.long = long.and_then(|place| amount(&place, Unit::Seconds, faults)).map(|amount| amount.0);
    for place in table.texts("plugins", faults) {
        let name = place.value.parse::<PackageName>().map_err(|_| "write the name of a distribution");
        fitness.plugins.extend(faults.value(&place, "a distribution", name));
    }
    if let Some(mut thresholds) = table.table("thresholds", faults) {
        for (key, value) in thresholds.all() {
            let Some(row) = faults.value(&key, "a check", check_of(rows, &key.value)) else { continue };
            let limits = limits(row, value, faults);
            fitness.thresholds.insert(row.id, limits);
        }
    }
    if let Some(mut remedies) = table.table("remedies", faults) {
        for (key, value) in remedies.all() {
            let row = faults.value(&key, "a check", check_of(rows, &key.value));
            let text = as_text(value, &format!("`{}`", key.value), faults);
            fitness.remedies.extend(row.zip(text).map(|(row, text)| (row.id, text.value)));
        }
    }
    for (own, span) in table.tables("check", faults) {
        own_check(own, span, &mut fitness.checks, faults);
    }
    table.finish(faults);
    fitness
}

fn check_of<'r>(rows: &'r [Check], name: &str) -> Result<&'r Check, String> {
    rows.iter().find(|row| row.id.as_str() == name).ok_or_else(|| {
        let near = nearest(rows.iter().map(|row| row.id.as_str()), name);
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        format!("{near}`colab-boot doctor --list` lists all checks")
    })
}

fn amount(place: &Placed<String>, unit: Unit, faults: &mut Faults<'_>) -> Option<Amount> {
    faults.value(place, "an amount", Amount::of(&place.value, unit))
}

/// `{ low = "20GB" }`, or the amount alone where the check has one limit.
fn limits(row: &Check, value: &Spanned<DeValue<'_>>, faults: &mut Faults<'_>) -> BTreeMap<String, Amount> {
    let names: Vec<&str> = row.limits.keys().map(String::as_str).collect();
    let unit = |name: &str| row.limits.get(name).map_or(Unit::Number, |own| own.1);
    let mut limits = BTreeMap::new();
    match (value.get_ref(), names.as_slice()) {
        (DeValue::String(_), [name]) => {
            let amount = as_text(value, "a threshold", faults).and_then(|place| amount(&place, unit(name), faults));
            limits.extend(amount.map(|amount| ((*name).to_owned(), amount)));
        }
        (DeValue::Table(table), _) => {
            let mut table = Reader::new(&format!("`{}`", row.id), table);
            for (key, value) in table.all() {
                let known = names
                    .iter()
                    .find(|name| **name == key.value)
                    .ok_or_else(|| format!("its limits are: {}", names.join(", ")));
                let Some(name) = faults.value(&key, "a limit of this check", known) else { continue };
                let amount = as_text(value, "a threshold", faults).and_then(|place| amount(&place, unit(name), faults));
                limits.extend(amount.map(|amount| ((*name).to_owned(), amount)));
            }
        }
        _ => {
            let wanted = if names.is_empty() {
                "remove it: this check has no limits".to_owned()
            } else {
                format!("a table of {}", names.join(", "))
            };
            wrong_type(value, &format!("`{}`", row.id), &wanted, faults);
        }
    }
    limits
}

fn own_check(
    mut table: Reader<'_, '_>,
    span: std::ops::Range<usize>,
    all: &mut Vec<OwnCheck>,
    faults: &mut Faults<'_>,
) {
    let before = faults.found.len();
    let name = table.text("name", faults);
    let command: Vec<String> = table.texts("command", faults).into_iter().map(|place| place.value).collect();
    let timeout = table.text("timeout", faults).and_then(|place| {
        let amount = Amount::of(&place.value, Unit::Seconds).ok().filter(|amount| (0.1..=600.0).contains(&amount.0));
        faults.value(&place, "a time", amount.ok_or("write `0.1s` to `10min`"))
    });
    table.finish(faults);
    if faults.found.len() > before {
        return;
    }
    let Some(name) = name.filter(|_| !command.is_empty()) else {
        let help = "command = [\"python\", \"check.py\"]: a program and its arguments, without a shell";
        faults.add(Code::ProfileMissingKey, span, "a `[[doctor.check]]` needs `name` and `command`", help);
        return;
    };
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let taken = all.iter().any(|one| one.name == name.value) || Code::find(&name.value).is_some();
    let checked = match () {
        () if !is_name(&name.value) => Err("lower-case letters, digits and dashes"),
        () if taken => Err("another check has this name"),
        () => Ok(name.value.clone()),
    };
    let timeout = timeout.map_or(TIMEOUT, |amount| amount.0);
    all.extend(faults.value(&name, "a check's name", checked).map(|name| OwnCheck { name, command, timeout }));
}
