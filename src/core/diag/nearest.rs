//! What somebody may have meant who has misspelt a name.

/// A name that is less alike is not suggested (Jaro similarity).
const ALIKE: f64 = 0.8;

/// The one of `names` that is most like `text`, where one is like it.
pub fn nearest<'a>(names: impl IntoIterator<Item = &'a str>, text: &str) -> Option<&'a str> {
    let alike = |name: &str| strsim::jaro(name, text);
    names.into_iter().max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|name| alike(name) > ALIKE)
}
