//! Answers questions about versions, specifiers, requirements and wheels as colab-boot answers them, for
//! `benches/conformance.py` to hold against Python's `packaging`. One JSON document on stdin, one on stdout.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a program for benches")]

use std::collections::BTreeMap;
use std::io::Read;

use colab_boot::core::model::requirement::lenient_specifiers;
use colab_boot::core::model::version::range_of;
use colab_boot::core::model::{PythonFacts, Requirement, Tags, Version, WheelName};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Questions {
    versions: Vec<String>,
    /// Specifiers, and versions to look for in them.
    contains: Vec<(String, Vec<String>)>,
    requirements: Vec<String>,
    /// Extras to ask each requirement with, by its line.
    extras: BTreeMap<String, Vec<String>>,
    pythons: Vec<PythonFacts>,
    wheels: Vec<String>,
}

#[derive(Serialize)]
struct Answers {
    /// The normal form, or null for what is no version.
    versions: Vec<Option<String>>,
    /// Places of the valid ones, in order.
    order: Vec<usize>,
    contains: Vec<Option<Vec<bool>>>,
    requirements: Vec<Option<Parsed>>,
    /// For each Python, the rank of each wheel: smaller is better.
    ranks: Vec<Vec<Option<(u32, u32)>>>,
}

#[derive(Serialize)]
struct Parsed {
    name: String,
    extras: Vec<String>,
    /// For each Python, for no extra and then for each extra.
    applies: Vec<Vec<bool>>,
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("questions");
    let questions: Questions = serde_json::from_str(&text).expect("questions");
    let parsed: Vec<Option<Version>> = questions.versions.iter().map(|text| text.parse().ok()).collect();
    let mut order: Vec<usize> = (0..parsed.len()).filter(|at| parsed[*at].is_some()).collect();
    order.sort_by(|a, b| parsed[*a].cmp(&parsed[*b]));
    let environments: Vec<_> =
        questions.pythons.iter().map(|python| python.marker_environment().expect("an environment")).collect();
    let requirement = |line: &String| {
        let parsed = Requirement::parse(line).ok()?;
        let extras = questions.extras.get(line).cloned().unwrap_or_default();
        let extras: Vec<_> = extras.iter().filter_map(|extra| extra.parse().ok()).collect();
        let applies = |environment| {
            let with = extras.iter().map(|extra| parsed.applies(environment, Some(extra)));
            std::iter::once(parsed.applies(environment, None)).chain(with).collect()
        };
        Some(Parsed {
            name: parsed.name.to_string(),
            extras: parsed.extras.iter().map(ToString::to_string).collect(),
            applies: environments.iter().map(applies).collect(),
        })
    };
    let contains = |(specifiers, versions): &(String, Vec<String>)| {
        let range = range_of(&lenient_specifiers(specifiers)?);
        versions.iter().map(|text| Some(range.contains(&text.parse().ok()?))).collect()
    };
    let rank = |python: &PythonFacts| {
        let tags = Tags::of(python);
        questions.wheels.iter().map(|wheel| tags.rank(&wheel.parse::<WheelName>().ok()?)).collect()
    };
    let answers = Answers {
        versions: parsed.iter().map(|version| version.as_ref().map(ToString::to_string)).collect(),
        order,
        contains: questions.contains.iter().map(contains).collect(),
        requirements: questions.requirements.iter().map(requirement).collect(),
        ranks: questions.pythons.iter().map(rank).collect(),
    };
    println!("{}", serde_json::to_string(&answers).expect("answers"));
}
