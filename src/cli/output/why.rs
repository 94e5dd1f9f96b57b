//! Why a package is in the lock at its version, and what a newer one would take.

use std::fmt::Write;

use serde::Serialize;

use crate::boot::profile::Profile;
use crate::boot::resolve::{Asker, Newer, Why};
use crate::core::diag::{Finding, few};
use crate::core::model::version::range_of;
use crate::core::model::{PackageName, Version};

/// Moves that are listed one by one.
const SHOWN: usize = 8;

/// The answer to `explain PACKAGE`.
#[derive(Clone, Copy)]
pub struct ShownWhy<'a> {
    pub name: &'a PackageName,
    pub why: &'a Why,
    pub profile: &'a Profile,
    /// The target has this version already.
    pub kept: bool,
    /// What stands in the way of the newest release.
    pub conflict: Option<&'a Finding>,
}

#[derive(Serialize)]
pub struct WhyReport<'a> {
    name: &'a PackageName,
    version: &'a Version,
    chain: Vec<PackageVersion<'a>>,
    askers: Vec<AskerReport<'a>>,
    newest: Option<&'a Version>,
    moves: Option<Vec<MoveReport<'a>>>,
    conflict: Option<&'a str>,
}

#[derive(Serialize)]
struct PackageVersion<'a> {
    name: &'a PackageName,
    version: &'a Version,
}

#[derive(Serialize)]
struct AskerReport<'a> {
    /// `null`: the profile.
    package: Option<PackageVersion<'a>>,
    range: &'a str,
    caps: bool,
}

impl<'a> AskerReport<'a> {
    fn of(asker: &'a Asker) -> Self {
        let package = asker.package.as_ref().map(|(name, version)| PackageVersion { name, version });
        Self { package, range: &asker.range, caps: asker.caps }
    }
}

#[derive(Serialize)]
struct MoveReport<'a> {
    name: &'a PackageName,
    from: Option<&'a Version>,
    to: Option<&'a Version>,
}

fn asker_of(asker: &Asker) -> String {
    match &asker.package {
        Some((package, version)) => format!("{package} {version}"),
        None => "your profile".to_owned(),
    }
}

impl ShownWhy<'_> {
    /// A table for people.
    pub fn render(&self) -> String {
        let Self { name, why, profile, kept, conflict } = *self;
        let mut text = format!("{name} {}\n", why.version);
        let chain: Vec<String> = why.chain.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let _ = writeln!(text, "  why       your profile -> {}", chain.join(" -> "));
        if kept {
            text.push_str("  kept      the target has this version\n");
        }
        for asker in &why.askers {
            let verb = if asker.package.is_some() { "needs" } else { "asks for" };
            let cap = if asker.caps { ": this holds it back" } else { "" };
            let _ = writeln!(text, "  asked     {} {verb} {name} {}{cap}", asker_of(asker), asker.range);
        }
        if let Some(bound) = profile.constraint_of(name) {
            let _ = writeln!(text, "  bound     your profile's [constraints] allow only {}", bound.specifiers);
        }
        let Some(newest) = &why.newest else {
            text.push_str("  newest    yes: no newer release fits the target\n");
            return text;
        };
        let _ = writeln!(text, "  newest    no: {newest} is available");
        match &why.newer {
            Newer::No => {}
            Newer::Moves(moves) => {
                let own = profile.wanted.iter().find(|one| one.name == *name).map(|one| &one.specifiers);
                match own.filter(|own| !range_of(own).contains(newest)) {
                    Some(own) => {
                        let _ = writeln!(text, "  with it   blocked only by your profile's `{own}`");
                    }
                    None if kept => {
                        text.push_str("  with it   blocked only by the version on the target\n");
                    }
                    None => moved(&mut text, name, newest, moves),
                }
            }
            Newer::Impossible(_) => {
                let _ = writeln!(text, "  with it   there is no solution");
                let places = conflict.iter().flat_map(|finding| finding.labels.iter().map(|label| label.text.clone()));
                let message = conflict.iter().map(|finding| finding.message.clone());
                let notes = conflict.iter().flat_map(|finding| finding.notes.iter().cloned());
                for line in message.chain(places.filter(|text| text != "asked for here")).chain(notes).take(SHOWN) {
                    let _ = writeln!(text, "            {line}");
                }
            }
        }
        text
    }

    /// The same for programs.
    pub fn report(&self) -> WhyReport<'_> {
        let Self { name, why, conflict, .. } = *self;
        let moves = match &why.newer {
            Newer::Moves(moves) => {
                let moves =
                    moves.iter().map(|(name, from, to)| MoveReport { name, from: from.as_ref(), to: to.as_ref() });
                Some(moves.collect())
            }
            _ => None,
        };
        WhyReport {
            name,
            version: &why.version,
            chain: why.chain.iter().map(|(name, version)| PackageVersion { name, version }).collect(),
            askers: why.askers.iter().map(AskerReport::of).collect(),
            newest: why.newest.as_ref(),
            moves,
            conflict: conflict.map(|finding| finding.message.as_str()),
        }
    }
}

type Move = (PackageName, Option<Version>, Option<Version>);

fn moved(text: &mut String, name: &PackageName, newest: &Version, moves: &[Move]) {
    let others: Vec<&Move> = moves.iter().filter(|(other, ..)| other != name).collect();
    if others.is_empty() {
        let _ = writeln!(text, "  with it   nothing else changes: `lock --upgrade-package {name}` selects {newest}");
        return;
    }
    for line in few(&others.into_iter().map(shown_move).collect::<Vec<_>>()) {
        let _ = writeln!(text, "  with it   {line}");
    }
}

/// A package that would have another version.
fn shown_move((other, from, to): &Move) -> String {
    match (from, to) {
        (Some(from), Some(to)) => format!("{other} moves from {from} to {to}"),
        (None, Some(to)) => format!("{other} {to} is added"),
        (Some(from), None) => format!("{other} {from} is removed"),
        (None, None) => String::new(),
    }
}
