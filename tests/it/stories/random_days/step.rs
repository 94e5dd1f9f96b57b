//! What a user does next, at random.

use std::collections::BTreeMap;

use crate::stories::random_days::packages::{PACKAGES, VERSIONS};
use crate::support::numbers::Numbers;

type Name = &'static str;

/// One thing that a user does. What does not apply does nothing, so that a day without some of its steps is a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Edits the profile: a range for a package, or none of it.
    Want(Name, Option<&'static str>),
    Set(&'static str, Option<&'static str>),
    /// Locks the profile and makes a cell of it.
    Lock,
    /// Runs the cell.
    Boot,
    /// Runs the cell that verifies.
    VerifyInKernel,
    Apply,
    Verify,
    Restore,
    /// Starts an apply and kills it after so many milliseconds; its installer lives on.
    KillApply(u64),
    Install(Name, &'static str, Tool),
    Uninstall(Name),
    Edit(Name),
    Remove(Name, Part),
    /// Puts a file there that Python takes first.
    Hide(Name),
    /// Puts a file of the user's own beside a package.
    AddOwn(Name),
    Touch(Name, i64),
    Import(Name),
    /// `from module import word`.
    Keep(Name),
    Reload(Name),
    RestartKernel,
    KillKernel,
    MoveFolder,
    /// Sets the clock to so many hours from the true time.
    Clock(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Pip,
    Uv,
}

/// What is removed of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    File,
    Modules,
    Metadata,
    Record,
}

pub const VARIABLES: [&str; 2] = ["MY_FLAG", "TOKENIZERS_PARALLELISM"];

/// What a day begins with.
#[derive(Clone, Debug)]
pub struct Morning {
    /// What the image has.
    pub image: BTreeMap<Name, &'static str>,
    pub wishes: BTreeMap<Name, &'static str>,
}

const RANGES: [&str; 4] = ["*", ">=2", "<2", "==1.0"];

fn name(numbers: &mut Numbers) -> Name {
    PACKAGES[numbers.below(PACKAGES.len())].name
}

pub fn morning(numbers: &mut Numbers) -> Morning {
    let (mut image, mut wishes) = (BTreeMap::new(), BTreeMap::new());
    for package in &PACKAGES {
        if numbers.below(2) == 0 {
            image.insert(package.name, numbers.choose(&VERSIONS));
        }
        if numbers.below(3) > 0 {
            wishes.insert(package.name, numbers.choose(&RANGES));
        }
    }
    wishes.entry("tool").or_insert("*");
    if !is_solvable(&wishes) {
        wishes.remove("tables");
    }
    // 2.0 of `plain` needs 2.0 of `tables`, in an image too.
    if image.get("plain") == Some(&"2.0") {
        image.insert("tables", "2.0");
    }
    Morning { image, wishes }
}

/// Whether there is an answer to `wishes`: something is wanted, and 2.0 of `plain` needs 2.0 of `tables`.
pub fn is_solvable(wishes: &BTreeMap<Name, &'static str>) -> bool {
    !wishes.is_empty()
        && (wishes.get("plain") != Some(&">=2") || !matches!(wishes.get("tables"), Some(&("<2" | "==1.0"))))
}

pub fn steps(numbers: &mut Numbers) -> Vec<Step> {
    let count = 6 + numbers.below(9);
    (0..count).map(|_| step(numbers)).collect()
}

fn step(numbers: &mut Numbers) -> Step {
    let shift = [-48, -1, 0, 0, 1, 48];
    match numbers.below(100) {
        0..22 => Step::Boot,
        22..28 => Step::Apply,
        28..31 => Step::VerifyInKernel,
        31..34 => Step::Verify,
        34..37 => Step::Restore,
        37..41 => Step::Lock,
        41..46 => {
            Step::Want(name(numbers), [None, Some("*"), Some(">=2"), Some("<2"), Some("==1.0")][numbers.below(5)])
        }
        46..49 => Step::Set(numbers.choose(&VARIABLES), [None, Some("0"), Some("1")][numbers.below(3)]),
        49..52 => Step::KillApply(numbers.choose(&[20, 60, 120, 200, 300, 500])),
        52..60 => {
            Step::Install(name(numbers), numbers.choose(&VERSIONS), numbers.choose(&[Tool::Pip, Tool::Uv, Tool::Uv]))
        }
        60..62 => Step::Uninstall(name(numbers)),
        62..66 => Step::Edit(name(numbers)),
        66..70 => {
            Step::Remove(name(numbers), numbers.choose(&[Part::File, Part::Modules, Part::Metadata, Part::Record]))
        }
        70..72 => Step::Hide(name(numbers)),
        72..73 => Step::AddOwn(name(numbers)),
        73..74 => Step::Touch(name(numbers), numbers.choose(&shift)),
        74..85 => Step::Import(name(numbers)),
        85..88 => Step::Keep(name(numbers)),
        88..91 => Step::Reload(name(numbers)),
        91..94 => Step::RestartKernel,
        94..95 => Step::KillKernel,
        95..97 => Step::MoveFolder,
        _ => Step::Clock(numbers.choose(&shift)),
    }
}
