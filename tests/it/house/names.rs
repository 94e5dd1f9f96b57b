//! In one wing, a type's name is the name of one type: who reads it anywhere knows which one is meant.

use std::collections::BTreeMap;

use crate::house::paths::code_of;
use crate::house::{files, read, root};

/// The types that `code` defines at the left margin.
fn types(code: &str) -> impl Iterator<Item = &str> {
    let public = ["pub ", "pub(crate) ", "pub(super) "];
    code.lines().filter_map(move |line| {
        let line = public.iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
        let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| line.strip_prefix(word))?;
        rest.split(|c: char| !c.is_alphanumeric()).next()
    })
}

/// The names that several of the texts of a wing define.
fn shared<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<&'t str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in texts.into_iter().flat_map(types) {
        *counts.entry(name).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
}

#[test]
fn a_name_is_one_type_of_its_wing() {
    for wing in ["core", "boot", "golden", "health", "cli"] {
        let files = files(&root().join("src").join(wing), ".rs");
        let code = files.iter().filter(|path| !path.ends_with("tests.rs")).map(|path| code_of(&read(path)));
        let code: Vec<String> = code.collect();
        assert!(
            shared(code.iter().map(String::as_str)).is_empty(),
            "{wing}: {:?}",
            shared(code.iter().map(String::as_str))
        );
    }
    assert_eq!(shared(["pub struct Kept {", "enum Kept<'a> {\n    struct Inner;\n"]), ["Kept"]);
}
