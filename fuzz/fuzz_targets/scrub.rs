//! Secrets in files: whatever the text, an answer; what is written is what was there but for the secrets. JSON is read
//! again and differs in strings alone. The first byte chooses what the file is called.

#![no_main]

use colab_boot::core::model::json_text::strict;
use colab_boot::core::secrets::{Baseline, scan, scrubbed};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const NAMES: [&str; 4] = ["a.ipynb", "a.jsonl", "a.py", "LOG"];
const MARK: &str = "REMOVED-";

/// Whether the two differ in nothing but strings and names of members.
fn is_alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(_), Value::String(_)) => true,
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_alike(one, other))
        }
        // Two names may have become one.
        (Value::Object(one), Value::Object(other)) => {
            let is_like_other = |(name, value)| other.get(name).is_none_or(|it| is_alike(value, it));
            one.len() >= other.len() && one.iter().all(is_like_other)
        }
        _ => one == other,
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let name = NAMES[usize::from(*kind) % NAMES.len()];
    for secret in scan(text).expect("formats") {
        assert!(!text[secret.span].is_empty());
    }
    let known = Baseline::default();
    let (sightings, clean) = scrubbed(name, text, &known).expect("formats");
    let Some(clean) = clean else { return };
    assert!(!sightings.is_empty() && clean.contains(MARK));
    // The bytes before the first mark are as they were.
    let (first, _) = clean.split_once(MARK).expect("a mark");
    assert!(text.starts_with(first) || text.contains(MARK));
    let (before, after) = (strict(text), strict(&clean));
    let values = |text: &str| serde_json::from_str::<Value>(text).ok();
    if let Some(before) = values(&before).filter(|one| one.is_object() || one.is_array()) {
        let after = values(&after).expect("JSON");
        assert!(is_alike(&before, &after));
    }
    // Once a secret is replaced, a rule may find the same one elsewhere in the text; after some runs none finds any.
    let mut text = clean;
    for _ in 0..8 {
        match scrubbed(name, &text, &known).expect("formats").1 {
            Some(clean) => text = clean,
            None => return,
        }
    }
    panic!("there is always one more");
});
