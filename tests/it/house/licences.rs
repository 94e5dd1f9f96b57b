//! SPDX expressions, as far as crates write them.

use std::collections::BTreeSet;

/// Whether an expression, with `/` for `OR` as older crates write it, can be met by `allowed` licences.
pub fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "\u{0}");
    let words: Vec<&str> = text.split_whitespace().collect();
    any(&words, &mut 0, allowed)
}

fn any(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut good = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        good |= all(words, at, allowed);
    }
    good
}

fn all(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut good = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        good &= one(words, at, allowed);
    }
    good
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let word = words.get(*at).copied().unwrap_or_default();
    *at += 1;
    if word != "(" {
        return allowed.contains(&word.replace('\u{0}', " WITH "));
    }
    let good = any(words, at, allowed);
    *at += 1;
    good
}
