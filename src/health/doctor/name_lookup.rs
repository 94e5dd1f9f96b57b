//! What the matrix and the environment know of the names in an error line: who has a library, which releases have a
//! symbol, which distribution a module is of.

use std::collections::{BTreeMap, BTreeSet};

use pep440_rs::VersionSpecifiers;

use crate::core::inspect::symbol_hash;
use crate::core::matrix::{Matrix, Met, MinorSymbols, Slot, Symptom, SystemLibraries, carrier_for, distribution_of};
use crate::core::model::{PackageName, Version};

/// What texts are explained with.
pub struct Knowledge<'k> {
    pub matrix: &'k Matrix,
    /// The version of a package in the lock or environment that the text is about.
    pub version_of: &'k dyn Fn(&PackageName) -> Option<Version>,
}

/// `text` of a row with the words of the line for `{module}` and the like; `{package}` of a module is its distribution,
/// `NAME` where it can't be called as the module is.
pub(super) fn filled(text: &str, met: &Met) -> String {
    let mut text = text.to_owned();
    for (slot, word) in &met.held {
        text = text.replace(&format!("{{{}}}", slot.name()), word);
    }
    let package = package_of(met).map_or_else(|| "NAME".to_owned(), |name| name.to_string());
    text.replace("{package}", &package)
}

/// The distribution that the line is about.
fn package_of(met: &Met) -> Option<PackageName> {
    let module = [Slot::Module, Slot::Submodule].iter().find_map(|slot| met.held.get(slot));
    match (met.held.get(&Slot::Package), module) {
        (Some(name), _) => name.parse().ok(),
        (None, Some(module)) => package_of_module(module),
        (None, None) => None,
    }
}

fn package_of_module(module: &str) -> Option<PackageName> {
    let known = distribution_of(module).cloned();
    known.or_else(|| module.split('.').next()?.trim_start_matches('_').parse().ok())
}

/// One sentence for each name in `line` that something is known of.
pub(super) fn facts(line: &str, knowledge: &Knowledge<'_>) -> Vec<String> {
    let words = line.split(|c: char| c.is_whitespace() || "'\"`:,;()[]".contains(c)).filter(|word| !word.is_empty());
    let is_of_module = line.contains("No module named");
    let known = [Slot::CudaLibrary, Slot::SystemLibrary, Slot::TorchSymbol, Slot::Module];
    let mut facts = Vec::new();
    for word in words {
        for slot in known.into_iter().filter(|slot| *slot != Slot::Module || is_of_module) {
            let fact = slot.accept(word, knowledge.matrix).and_then(|name| fact(slot, name, knowledge));
            facts.extend(fact.filter(|fact| !facts.contains(fact)));
        }
    }
    facts
}

fn fact(slot: Slot, word: &str, knowledge: &Knowledge<'_>) -> Option<String> {
    match slot {
        Slot::CudaLibrary => cuda_library(word, knowledge),
        Slot::SystemLibrary => {
            let package = SystemLibraries::usual_package(word)?;
            Some(format!("the Debian and Ubuntu package `{package}` contains {word}"))
        }
        Slot::TorchSymbol => {
            let range = MinorSymbols::bundled().ok()?.range(&[BTreeSet::from([symbol_hash(word)])], true)?;
            let installed = (knowledge.version_of)(&"torch".parse().ok()?);
            let has = installed
                .is_some_and(|version| range.parse().is_ok_and(|range: VersionSpecifiers| range.contains(&version)));
            let other = if has { "; so has the installed one, but another torch was loaded" } else { "" };
            Some(format!("torch{range} has this symbol{other}"))
        }
        Slot::Module => {
            let name = distribution_of(word)?;
            Some(format!("the package `{name}` contains the module `{}`", word.split('.').next().unwrap_or(word)))
        }
        _ => None,
    }
}

fn cuda_library(library: &str, knowledge: &Knowledge<'_>) -> Option<String> {
    let (row, number) = knowledge.matrix.soname_of(library)?;
    let carrier = &row.carrier;
    Some(match row.cuda.get(number) {
        Some(major) => {
            format!("the package `{}` contains {library}: CUDA {major}", carrier_for(carrier, *major))
        }
        None if row.by_version => format!("version {number} of the package `{carrier}` contains {library}"),
        None => format!("the package `{carrier}` contains {library}"),
    })
}

/// The versions of the packages that `row` and the line are about.
pub(super) fn versions(row: &Symptom, met: &Met, knowledge: &Knowledge<'_>) -> BTreeMap<PackageName, String> {
    let named = row.packages.iter().filter_map(|name| name.parse().ok());
    let all = named.chain(package_of(met));
    all.filter_map(|name: PackageName| {
        let version = (knowledge.version_of)(&name)?.to_string();
        Some((name, version))
    })
    .collect()
}
