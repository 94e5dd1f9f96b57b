//! The text of `XLA_FLAGS` as XLA reads it (`xla/parse_flags_from_env.cc`): flags with blanks between them, values in
//! quotes or without, and nothing from the first word on that begins with no dash.

/// One flag.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flag<'a> {
    /// As it stands there.
    pub text: &'a str,
    /// With its dashes: `--xla_dump_to`.
    pub name: &'a str,
    /// Without quotes; `None` where there is no `=`.
    pub value: Option<String>,
}

impl Flag<'_> {
    /// What a switch is set to; `None` for what is none.
    fn switched(&self) -> Option<bool> {
        match self.value.as_deref().map(str::to_lowercase).as_deref() {
            None | Some("true" | "1") => Some(true),
            Some("false" | "0") => Some(false),
            Some(_) => None,
        }
    }

    /// Whether both set the same flag to the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same_switch = self.switched().is_some() && self.switched() == other.switched();
        self.name == other.name && (self.value == other.value || same_switch)
    }
}

/// Whether XLA takes the text for the name of a file with flags.
pub(super) fn names_a_file(text: &str) -> bool {
    !text.is_empty() && !text.trim_start().starts_with('-')
}

/// The flags of a text, and the rest of it that is not read.
pub(super) fn flags_of(text: &str) -> (Vec<Flag<'_>>, &str) {
    let mut flags = Vec::new();
    let mut rest = text.trim_start();
    while rest.starts_with('-') {
        let name =
            rest.find(|c: char| !(c == '-' || c == '_' || c.is_ascii_alphanumeric())).map_or(rest, |end| &rest[..end]);
        let given = rest[name.len()..].strip_prefix('=');
        let quoted = given.and_then(|given| Some((given, given.chars().next().filter(|c| ['"', '\''].contains(c))?)));
        let (flag, length) = match quoted {
            Some((given, quote)) => {
                let (value, inside) = unquoted(&given[1..], quote);
                let length = name.len() + 2 + inside;
                (Flag { text: &rest[..length], name, value: Some(value) }, length)
            }
            None => {
                let word = rest.split(char::is_whitespace).next().unwrap_or(rest);
                let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
                (Flag { text: word, name, value: value.map(str::to_owned) }, word.len())
            }
        };
        flags.push(flag);
        rest = rest[length..].trim_start();
    }
    (flags, rest)
}

/// The value before `quote`, or before the end where it is missing, and how many bytes it takes with it. Within double
/// quotes a backslash keeps what follows it.
fn unquoted(text: &str, quote: char) -> (String, usize) {
    let mut value = String::new();
    let mut all = text.char_indices();
    while let Some((at, c)) = all.next() {
        if c == quote {
            return (value, at + 1);
        }
        let kept = if quote == '"' && c == '\\' { all.next().map_or(c, |(_, next)| next) } else { c };
        value.push(kept);
    }
    (value, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_as_xla_reads_them() {
        let read = |text: &str| {
            let (flags, rest) = flags_of(text);
            let flags: Vec<String> =
                flags.iter().map(|one| format!("{}={}", one.name, one.value.as_deref().unwrap_or("-"))).collect();
            (flags.join(" "), rest.to_owned())
        };
        // Each was tried with jaxlib 0.12.0.1.
        for (text, flags, rest) in [
            ("--a=1 --b", "--a=1 --b=-", ""),
            ("--a=1 foo --b=2", "--a=1", "foo --b=2"),
            ("--a=\"/tmp/my dump\" --b=3", "--a=/tmp/my dump --b=3", ""),
            ("--a='/tmp/my dump'\t--b='3'", "--a=/tmp/my dump --b=3", ""),
            ("--a=\"3", "--a=3", ""),
            ("--a=3\"", "--a=3\"", ""),
            ("--a=\"3\"--b=4", "--a=3 --b=4", ""),
            ("--a=\"x\\\"y\" --b=é", "--a=x\"y --b=é", ""),
            ("-a=1", "-a=1", ""),
            ("", "", ""),
        ] {
            assert_eq!(read(text), (flags.to_owned(), rest.to_owned()), "{text}");
        }
        let is_same = |one: &str, other: &str| flags_of(one).0[0].is_same(&flags_of(other).0[0]);
        assert!(is_same("--a", "--a=True") && is_same("--a='0'", "--a=false") && is_same("--a=x", "--a=\"x\""));
        assert!(!is_same("--a=true", "--a=false") && !is_same("--a", "--b") && !is_same("--a=2", "--a=true"));
        assert!(names_a_file("flags.txt") && names_a_file(" ") && !names_a_file("") && !names_a_file(" --a"));
    }
}
