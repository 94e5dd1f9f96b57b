//! What holds of every environment and every library: laws, tried on many of both.

use std::collections::BTreeSet;

use colab_boot::core::matrix::{Linkage, Matrix};
use colab_boot::core::model::{PackageName, Version};
use proptest::prelude::*;

use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::test::{Test, observed};

/// A library by the row of its name, and for which CUDA, by the place of its number among those of the row.
type Library = (usize, usize);

/// The soname and the distribution that has it.
fn library(matrix: &Matrix, (row, number): Library) -> (String, (PackageName, Version)) {
    let rows: Vec<_> = matrix.sonames.iter().filter(|row| !row.by_version && row.cuda.len() > 1).collect();
    let row = rows[row % rows.len()];
    let (number, cuda) = row.cuda.iter().nth(number % row.cuda.len()).expect("a number");
    let name = if *cuda > 12 { row.carrier.clone() } else { format!("{}-cu{cuda}", row.carrier) };
    let version = format!("{cuda}.0.1").parse().expect("a version");
    (format!("{}.{number}", row.library), (name.parse().expect("a name"), version))
}

fn missing(matrix: &Matrix, needs: &[BTreeSet<String>], all: &[(PackageName, Version)]) -> Option<String> {
    let linkage = Linkage { needs: needs.to_vec(), ..Linkage::default() };
    let app = "app".parse().expect("a name");
    matrix.missing(&app, &linkage, &all.iter().map(|(name, version)| (name, version))).map(|missing| missing.library)
}

fn libraries(most: usize) -> impl Strategy<Value = Vec<Library>> {
    prop::collection::vec((0..8_usize, 0..3_usize), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// What an environment has, it has still when more comes; and what brings the library itself ends its want.
    #[test]
    fn one_library_more_takes_none_away(here in libraries(8), more in libraries(2), needed in libraries(4)) {
        let matrix = Matrix::bundled().expect("the matrix");
        let all = |libraries: &[Library]| -> Vec<_> { libraries.iter().map(|one| library(&matrix, *one).1).collect() };
        let (before, mut after) = (all(&here), all(&here));
        after.extend(all(&more));
        for one in &needed {
            let (soname, carrier) = library(&matrix, *one);
            let needs = [BTreeSet::from([soname.clone()])];
            let is_there = before.contains(&carrier);
            prop_assert!(!is_there || missing(&matrix, &needs, &before).is_none(), "{soname} is there: {before:?}");
            prop_assert!(!is_there || missing(&matrix, &needs, &after).is_none(), "{soname} went away: {after:?}");
            let mut with = after.clone();
            with.push(carrier);
            prop_assert_eq!(missing(&matrix, &needs, &with), None);
        }
        // What is missing from a larger environment is in none of its parts.
        let needs: Vec<BTreeSet<String>> = needed.iter().map(|one| [library(&matrix, *one).0].into()).collect();
        if let Some(lacking) = missing(&matrix, &needs, &after) {
            let carrier = needed.iter().map(|one| library(&matrix, *one)).find(|(soname, _)| *soname == lacking);
            prop_assert!(!before.contains(&carrier.expect("a library").1), "{lacking}");
        }
    }

    /// One more way to be loaded makes nothing impossible.
    #[test]
    fn one_variant_more_takes_none_away(here in libraries(6), sets in prop::collection::vec(libraries(3), 1..4)) {
        let matrix = Matrix::bundled().expect("the matrix");
        let all: Vec<_> = here.iter().map(|one| library(&matrix, *one).1).collect();
        let needs: Vec<BTreeSet<String>> =
            sets.iter().map(|set| set.iter().map(|one| library(&matrix, *one).0).collect()).collect();
        for count in 1..needs.len() {
            if missing(&matrix, &needs[..count], &all).is_none() {
                prop_assert_eq!(missing(&matrix, &needs[..=count], &all), None);
            }
        }
    }
}

/// A wheel judged alone is judged as it is among others: two go together where each goes.
#[test]
fn company_changes_no_verdict() {
    let kinds: [(&str, &str, &[&str]); 5] = [
        ("of-12", "needs:libcudart.so.12", &[]),
        ("of-13", "needs:libcudart.so.13", &[]),
        ("of-none", "", &[]),
        ("numpy-1", "says:numpy.core.multiarray says:compiled+against+ABI+version", &["numpy"]),
        ("numpy-any", "says:numpy._core", &["numpy"]),
    ];
    let mut table = Table::new();
    let mut add = |name: &str, version: &str, release: Release| {
        table.entry(name.to_owned()).or_default().insert(version.to_owned(), release);
    };
    add("numpy", "2.1.0", Release::default());
    add("nvidia-cuda-runtime-cu12", "12.8.90", Release::default());
    for (name, words, requires) in kinds {
        let object = (format!("{name}/_c.so"), format!("defines:PyInit__c {words}"));
        let release = Release {
            tags: Some(vec!["cp312-cp312-manylinux_2_17_x86_64".to_owned()]),
            objects: [object].into(),
            requires: requires.iter().map(|&line| line.to_owned()).collect(),
            ..Release::default()
        };
        add(name, "1.0", release);
    }
    let server = IndexServer::start(table, Manner::Good);
    let machine = observed("laptop");
    let locks = |names: &[&str]| {
        let wanted: String = names.iter().map(|name| format!("{name} = '*'\n")).collect();
        let base = "[profile]\nname='p'\nversion='1.0.0'\n[packages]\nnumpy='*'\nnvidia-cuda-runtime-cu12='*'\n";
        let test = Test::new().file("p.toml", &format!("{base}{wanted}"));
        let outcome = test.run(&["lock", "p.toml", "--machine", &machine, "--index-url", &server.url]);
        assert!(outcome.code < 2, "{outcome:?}");
        outcome.code == 0
    };
    let alone: Vec<bool> = kinds.iter().map(|(name, _, _)| locks(&[name])).collect();
    assert_eq!(alone, [true, false, true, false, true]);
    for (at, (first, _, _)) in kinds.iter().enumerate() {
        for (other, (second, _, _)) in kinds.iter().enumerate().skip(at + 1) {
            assert_eq!(locks(&[first, second]), alone[at] && alone[other], "{first} and {second}");
        }
    }
    let good: Vec<&str> = kinds.iter().zip(&alone).filter(|(_, good)| **good).map(|((name, _, _), _)| *name).collect();
    assert!(locks(&good));
}
