//! JSON as programs write it.

/// `text` with what JSON does not have in the place of what programs write all the same, byte for byte as long: a mark
/// of the byte order, `NaN` and `Infinity`, halves of surrogate pairs, and control characters in strings.
pub fn strict(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if text.starts_with('\u{feff}') {
        bytes[..3].fill(b' ');
    }
    let mut at = 0;
    let mut in_string = false;
    while at < bytes.len() {
        let step = match (in_string, bytes[at]) {
            (_, b'"') => {
                in_string = !in_string;
                1
            }
            (true, b'\\') => escape(&mut bytes, at),
            (true, byte) if byte < b' ' => {
                bytes[at] = b' ';
                1
            }
            (false, b'N' | b'I') => number(&mut bytes, at),
            _ => 1,
        };
        at += step;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Puts a number in the place of a word for one that JSON does not have. Returns how many bytes it takes.
fn number(bytes: &mut [u8], at: usize) -> usize {
    for (word, instead) in [(&b"NaN"[..], &b"0.0"[..]), (b"Infinity", b"1.000000")] {
        if bytes[at..].starts_with(word) {
            bytes[at..at + word.len()].copy_from_slice(instead);
            return word.len();
        }
    }
    1
}

/// Puts the sign for what can't be shown in the place of half a pair. Returns how many bytes the escape takes.
fn escape(bytes: &mut [u8], at: usize) -> usize {
    let unit = |bytes: &[u8], at: usize| {
        let digits = bytes.get(at..at + 6).filter(|unit| unit.starts_with(b"\\u"))?;
        u16::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    match unit(bytes, at) {
        Some(0xd800..=0xdbff) if matches!(unit(bytes, at + 6), Some(0xdc00..=0xdfff)) => 12,
        Some(0xd800..=0xdfff) => {
            bytes[at..at + 6].copy_from_slice(b"\\ufffd");
            6
        }
        Some(_) => 6,
        None => 2,
    }
}
