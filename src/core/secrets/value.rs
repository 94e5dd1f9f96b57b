//! Whether a value looks like a secret: random, and no name of a variable, a class, a file or a model.

use std::collections::BTreeMap;

use crate::core::matrix::SecretFormat;

/// Characters that a secret has at least.
pub(super) const SHORTEST: usize = 8;

/// Whether `value`, which a row has found, looks like a secret.
pub(super) fn is_secret(row: &SecretFormat, value: &str) -> bool {
    entropy(value) >= row.entropy
        && (!row.generic || is_random(value) && !is_name(value) && !has_variable(value))
        && (!row.bare || is_no_word(value))
}

/// No name of a variable, no call, no version: digits with letters of both cases, or a long hexadecimal number.
fn is_no_word(value: &str) -> bool {
    let has = |is: fn(&char) -> bool| value.chars().any(|c| is(&c));
    let is_hexadecimal = value.len() >= 32 && value.chars().all(|c| c.is_ascii_hexdigit());
    let is_mixed = has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase) && !value.split('.').all(is_compound);
    has(char::is_ascii_digit) && (is_hexadecimal || is_mixed)
}

/// `OAuth2Token`, `S3SecretKey`, `conf`: a name that is put together from words, with few letters and digits beside
/// them.
pub(super) fn is_compound(name: &str) -> bool {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return false;
    }
    let is_word = |word: &&str| word.len() >= 3 && word[1..].bytes().all(|byte| byte.is_ascii_lowercase());
    let begins = name.char_indices().filter(|(at, c)| *at == 0 || !c.is_ascii_lowercase()).map(|(at, _)| at);
    let begins: Vec<usize> = begins.chain([name.len()]).collect();
    let words = begins.windows(2).map(|ends| &name[ends[0]..ends[1]]).filter(is_word).map(str::len).sum::<usize>();
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    digits <= 4 && words * 4 >= (name.len() - digits) * 3
}

/// `$TOKEN` in it, or `$(pass show token)`: a shell puts the secret there.
fn has_variable(value: &str) -> bool {
    let is_one = |rest: &str| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let is_of = |is: fn(&char) -> bool| rest[..end].chars().filter(char::is_ascii_alphabetic).all(|c| is(&c));
        rest.starts_with(['(', '{']) || end > 2 && (is_of(char::is_ascii_lowercase) || is_of(char::is_ascii_uppercase))
    };
    value.starts_with('$') || value.match_indices('$').any(|(at, _)| is_one(&value[at + 1..]))
}

/// `Qwen2TokenizerFast`: words, and hardly a digit.
fn is_class(value: &str) -> bool {
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let longest = value.split(|c: char| !c.is_ascii_lowercase()).map(str::len).max().unwrap_or_default();
    value.starts_with(|c: char| c.is_ascii_uppercase())
        && value.chars().all(|c| c.is_ascii_alphanumeric())
        && digits <= 2
        && longest >= 5
}

/// Paths, addresses, digests, versions, names of models, of code and of classes: `/content/x.json`,
/// `meta-llama/Llama-3.1-8B-Instruct`, `1:4.13+dfsg1`, `AutoTokenizer.from_pretrained`.
fn is_name(value: &str) -> bool {
    let is_version = value.starts_with(|c: char| c.is_ascii_digit())
        && value.contains('.')
        && value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || ".:+~-".contains(c));
    if is_time(value) {
        return true;
    }
    let is_code = value.contains('.')
        && value.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphabetic() || c == '_'));
    if is_version || is_code || is_class(value) {
        return true;
    }
    let starts =
        ["/", "./", "../", "~/", "http:", "https:", "gs:", "s3:", "arn:", "sha256:", "sha256-", "sha512-", "md5:"];
    let model =
        value.split_once('/').is_some_and(|(owner, name)| is_word(owner) && is_word(name) && name.contains('-'));
    model || starts.iter().any(|start| value.starts_with(start))
}

/// `2026-01-02T03:04:05Z`: when a password was changed is none.
fn is_time(value: &str) -> bool {
    let day = value.get(..10).map(|day| day.split('-').map(str::len).collect::<Vec<_>>());
    day == Some(vec![4, 2, 2])
        && value[..10].chars().all(|c: char| c.is_ascii_digit() || c == '-')
        && value[10..].chars().all(|c| c.is_ascii_digit() || "TZ:.+- ".contains(c))
}

fn is_word(part: &str) -> bool {
    part.len() > 1 && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// Bits a character (Shannon).
#[expect(clippy::cast_precision_loss, reason = "counts of characters")]
fn entropy(text: &str) -> f64 {
    let (mut of_ascii, mut of_others) = ([0_u32; 128], BTreeMap::new());
    for c in text.chars() {
        *of_ascii.get_mut(c as usize).unwrap_or_else(|| of_others.entry(c).or_insert(0)) += 1;
    }
    let length = text.chars().count() as f64;
    let counts = of_ascii.iter().chain(of_others.values()).filter(|count| **count > 0);
    -counts.map(|count| f64::from(*count) / length).map(|share| share * share.log2()).sum::<f64>()
}

/// 1 to 3 for a small letter, a capital one and a digit, else 0.
fn kind_of(c: char) -> u8 {
    match c {
        'a'..='z' => 1,
        'A'..='Z' => 2,
        '0'..='9' => 3,
        _ => 0,
    }
}

/// Letters and digits, or both cases, change places as words do not: names of models and files are none.
fn is_random(text: &str) -> bool {
    let kinds = text.chars().map(kind_of);
    let changes = kinds.clone().zip(kinds.skip(1)).filter(|(one, next)| one != next && *one != 0 && *next != 0);
    // `Word` is one change, and no sign of anything.
    changes.count() >= 3
}
