//! The programs of a distribution: scripts that it brings, with the interpreter of the environment in their first
//! line, and those that are made for its entry points
//! (<https://packaging.python.org/specifications/entry-points/>).

use std::borrow::Cow;
use std::path::Path;

use shlex::try_quote;

use crate::boot::store::Template;

/// The longest first line that Linux reads (`BINPRM_BUF_SIZE` before 5.1), with its end.
const LONGEST: usize = 127;

/// The first line of a script for `python`, with its end: `#!` and the path, or, where that has blanks or is too long
/// for the system, three lines that a shell and Python both understand.
pub(super) fn first_line(python: &Path) -> Vec<u8> {
    let path = python.to_string_lossy();
    if path.len() + "#!\n".len() <= LONGEST && !path.contains(char::is_whitespace) {
        return format!("#!{path}\n").into_bytes();
    }
    let quoted = try_quote(&path).map_or_else(|_| path.to_string(), Cow::into_owned);
    // For Python the first two words are a text between three quotes; a path in single quotes would end it.
    let quoted = if quoted.starts_with('\'') { format!("\"{path}\"") } else { quoted };
    format!("#!/bin/sh\n'''exec' {quoted} \"$0\" \"$@\"\n' '''\n").into_bytes()
}

/// The script for an entry point that calls `object`, `module:attribute.attribute`; `None` where that is no object.
pub(super) fn script(python: &Path, object: &str) -> Option<Vec<u8>> {
    let (module, attribute) = object.split_once(':').map(|(module, attribute)| (module.trim(), attribute.trim()))?;
    let is_name = |name: &str| !name.is_empty() && name.split('.').all(is_identifier);
    if !is_name(module) || !is_name(attribute) {
        return None;
    }
    let imported = attribute.split('.').next()?;
    let mut text = first_line(python);
    text.extend(
        format!(
            "import sys\nfrom {module} import {imported}\nif __name__ == \"__main__\":\n    sys.exit({attribute}())\n"
        )
        .bytes(),
    );
    Some(text)
}

fn is_identifier(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// The scripts that are made for `console_scripts` and `gui_scripts` in an `entry_points.txt`: name and object. Extras
/// behind the object are passed over, as by other installers.
pub fn entry_points(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut section = "";
    text.lines().map(str::trim).filter_map(move |line| {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']).trim();
            return None;
        }
        let makes = matches!(section, "console_scripts" | "gui_scripts") && !line.starts_with(['#', ';']);
        let (name, object) = line.split_once('=').filter(|_| makes)?;
        let object = object.split('[').next().unwrap_or_default();
        Some((name.trim(), object.trim()))
    })
}

/// The first line of a script that a wheel brings, looked for as its bytes pass by: `#!python` or `#!pythonw`, with
/// whatever follows, stands for the interpreter.
#[derive(Debug)]
pub(super) struct FirstLine {
    line: Vec<u8>,
    seen: bool,
    template: Option<Template>,
}

/// The longest line that is looked at.
const LOOKED_AT: usize = 1024;

impl FirstLine {
    pub(super) const fn new() -> Self {
        Self { line: Vec::new(), seen: false, template: None }
    }

    /// What is to be written for `bytes`, and then the rest of them as it is.
    pub(super) fn take<'b>(&mut self, bytes: &'b [u8], python: &Path) -> (Vec<u8>, &'b [u8]) {
        if self.seen {
            return (Vec::new(), bytes);
        }
        let end = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let now = end.unwrap_or(bytes.len());
        self.line.extend_from_slice(&bytes[..now]);
        if end.is_none() && self.line.len() <= LOOKED_AT {
            return (Vec::new(), &[]);
        }
        (self.finish(python), &bytes[now..])
    }

    /// What is to be written of a line that was looked at, once it is whole.
    pub(super) fn finish(&mut self, python: &Path) -> Vec<u8> {
        self.seen = true;
        let line = std::mem::take(&mut self.line);
        if !line.starts_with(b"#!python") {
            return line;
        }
        let made = first_line(python);
        self.template = Some(Template { line, written: made.len() });
        made
    }

    /// What was replaced, if anything was.
    pub(super) fn into_template(self) -> Option<Template> {
        self.template
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{FirstLine, entry_points, first_line, script};

    #[test]
    fn the_interpreter_is_named_so_that_the_system_finds_it() {
        let text = |path: &str| String::from_utf8(first_line(Path::new(path))).expect("text");
        assert_eq!(text("/venv/bin/python"), "#!/venv/bin/python\n");
        let expected = "#!/bin/sh\n'''exec' \"/my venv/bin/python\" \"$0\" \"$@\"\n' '''\n";
        assert_eq!(text("/my venv/bin/python"), expected);
        let long = format!("/{}/python", "x".repeat(120));
        assert!(text(&long).starts_with("#!/bin/sh\n'''exec' /xxx"));
    }

    #[test]
    fn entry_points_become_scripts() {
        let text = "[console_scripts]\na = m.n:f.g [extra]\n# b = c:d\n[gui_scripts]\nw=m:main\n[other]\nx = y:z\n";
        let found: Vec<_> = entry_points(text).collect();
        assert_eq!(found, [("a", "m.n:f.g"), ("w", "m:main")]);
        let script = |object| script(Path::new("/p"), object).map(|text| String::from_utf8(text).expect("text"));
        let expected = "#!/p\nimport sys\nfrom m.n import f\nif __name__ == \"__main__\":\n    sys.exit(f.g())\n";
        assert_eq!(script("m.n:f.g").as_deref(), Some(expected));
        for wrong in ["m", "m:", ":f", "m:f()", "m; import os:f", "m:f g", "m:1f"] {
            assert_eq!(script(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_first_line_is_replaced_however_it_arrives() {
        for (brought, expected) in [
            ("#!python -E\nx\ny\n", "#!/p\nx\ny\n"),
            ("#!pythonw\n", "#!/p\n"),
            ("#!python", "#!/p\n"),
            ("#!/bin/sh\nx\n", "#!/bin/sh\nx\n"),
            ("\u{7f}ELF and more", "\u{7f}ELF and more"),
            ("", ""),
        ] {
            for piece in [1, 3, 1000] {
                let (mut first, mut written) = (FirstLine::new(), Vec::new());
                for bytes in brought.as_bytes().chunks(piece) {
                    let (made, rest) = first.take(bytes, Path::new("/p"));
                    written.extend(made);
                    written.extend_from_slice(rest);
                }
                written.extend(first.finish(Path::new("/p")));
                assert_eq!(String::from_utf8(written).expect("text"), expected, "{brought:?} in pieces of {piece}");
            }
        }
    }
}
