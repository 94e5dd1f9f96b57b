//! What somebody may have meant who has misspelt a name.

/// A name that is less alike is not suggested (Jaro similarity).
const ALIKE: f64 = 0.8;

/// The one of `names` that is one slip of the fingers away from `text`, or two where that has `long` letters or more.
pub fn misspelt<T: AsRef<str> + Ord>(names: impl Iterator<Item = T>, text: &str, long: usize) -> Option<T> {
    let far = if text.len() < long { 1 } else { 2 };
    let near = names.map(|name| (strsim::osa_distance(name.as_ref(), text), name));
    near.filter(|(distance, _)| *distance <= far).min().map(|(_, name)| name)
}

/// The one of `names` that is most like `text`, where one is like it.
pub fn nearest<'a>(names: impl IntoIterator<Item = &'a str>, text: &str) -> Option<&'a str> {
    let alike = |name: &str| strsim::jaro(name, text);
    names.into_iter().max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|name| alike(name) > ALIKE)
}
