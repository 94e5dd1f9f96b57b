//! The paths that a source file names, in every form: `crate::a::b`, `crate::{a, b::c}`, `super::super::d`, in code and
//! in tests.

/// A path from the root of the crate, as names: `["session", "index", "Asked"]`.
pub type Path = Vec<String>;

/// `text` with comments and literals blanked out; as long as before.
pub fn code_of(text: &str) -> String {
    let mut out: Vec<char> = text.chars().collect();
    for (start, end) in outside_of_code(&out) {
        out[start..end].iter_mut().filter(|c| **c != '\n').for_each(|c| *c = ' ');
    }
    out.into_iter().collect()
}

/// The strings of `text`, as they are written, each with the line that it begins in, from 1.
pub fn literals(text: &str) -> Vec<(usize, String)> {
    let chars: Vec<char> = text.chars().collect();
    let strings = outside_of_code(&chars).into_iter().filter(|(start, _)| chars[*start] == '"');
    let line = |at: usize| chars[..at].iter().filter(|c| **c == '\n').count() + 1;
    strings.map(|(start, end)| (line(start), chars[start + 1..end.max(start + 2) - 1].iter().collect())).collect()
}

/// Where comments and literals begin and end.
fn outside_of_code(chars: &[char]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let end = match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => position(chars, at, |rest| rest[0] == '\n'),
            '"' if at > 0 && is_raw(chars, at) => {
                let hashes = chars[..at].iter().rev().take_while(|c| **c == '#').count();
                let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
                position(chars, at + 1, |rest| rest.starts_with(&close)) + close.len()
            }
            '"' => end_of_string(chars, at + 1),
            '\'' if chars.get(at + 1) == Some(&'\\') => position(chars, at + 3, |rest| rest[0] == '\'') + 1,
            '\'' if chars.get(at + 2) == Some(&'\'') => at + 3,
            _ => {
                at += 1;
                continue;
            }
        };
        found.push((at, end.min(chars.len())));
        at = end.max(at + 1);
    }
    found
}

fn is_raw(bytes: &[char], at: usize) -> bool {
    let before = bytes[..at].iter().rev().find(|c| **c != '#');
    before == Some(&'r') || before == Some(&'b') && bytes.get(at.wrapping_sub(2)) == Some(&'r')
}

fn position(bytes: &[char], from: usize, found: impl Fn(&[char]) -> bool) -> usize {
    (from..bytes.len()).find(|at| found(&bytes[*at..])).unwrap_or(bytes.len())
}

fn end_of_string(bytes: &[char], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != '"' {
        at += if bytes[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The modules inside the file, by where they begin and end in `code`.
pub fn inline_modules(code: &str) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("mod ") {
        let rest = &code[at + 4..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let after = rest[name.len()..].trim_start();
        if name.is_empty() || !after.starts_with('{') || is_word(code[..at].chars().next_back()) {
            continue;
        }
        let open = at + 4 + rest.len() - rest[name.len()..].trim_start().len() - name.len() + name.len();
        let open = code[open..].find('{').map_or(open, |more| open + more);
        found.push((at, end_of_block(code, open), name));
    }
    found
}

fn end_of_block(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + at;
        }
    }
    code.len()
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// All paths of `code` that begin with `crate` or `super`, from the crate's root; `module` is the file's own.
pub fn paths(code: &str, module: &[String]) -> Vec<Path> {
    let inline = inline_modules(code);
    let mut found = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            if is_word(before) || before == Some(':') {
                continue;
            }
            let mut here: Path = module.to_vec();
            here.extend(
                inline.iter().filter(|(from, to, _)| (*from..*to).contains(&at)).map(|(.., name)| name.clone()),
            );
            let mut rest = &code[at..];
            while let Some(more) = rest.strip_prefix("super::") {
                here.pop();
                rest = more;
            }
            if let Some(more) = rest.strip_prefix("crate::") {
                (here, rest) = (Path::new(), more);
            }
            tree(rest, &here, &mut found);
        }
    }
    found
}

/// Reads `a::b`, `a::{b, c::d}` or `a as b` and adds the paths to `found`. Returns what follows.
fn tree<'a>(text: &'a str, before: &[String], found: &mut Vec<Path>) -> &'a str {
    let (mut text, mut path) = (text.trim_start(), before.to_vec());
    loop {
        if let Some(mut rest) = text.strip_prefix('{') {
            while !rest.trim_start().starts_with('}') && !rest.trim_start().is_empty() {
                rest = tree(rest, &path, found).trim_start().trim_start_matches(',');
            }
            return rest.trim_start().strip_prefix('}').unwrap_or(rest);
        }
        let name: String = text.chars().take_while(|c| is_word(Some(*c))).collect();
        text = &text[name.len()..];
        if name != "self" && !name.is_empty() {
            path.push(name);
        }
        match text.strip_prefix("::") {
            Some(rest) if !rest.starts_with('<') => text = rest.trim_start(),
            _ => break,
        }
    }
    let ends = text.find([',', '}', ';', '(', ')', ' ', '\n', '>', '<']).unwrap_or(text.len());
    found.push(path);
    let rest = &text[ends..];
    match rest.trim_start().strip_prefix("as ") {
        Some(alias) => alias.trim_start().trim_start_matches(|c| is_word(Some(c))),
        None => rest,
    }
}

/// `code` without `use` declarations that only pass names on, and those declarations.
pub fn reexports(code: &str) -> (String, Vec<String>) {
    let (mut rest, mut passed) = (String::new(), Vec::new());
    let mut at = 0;
    while let Some(start) = code[at..].find("pub").map(|found| at + found) {
        let line = code[start..].lines().next().unwrap_or_default();
        let word = line.split(" use ").next().unwrap_or_default();
        let is_use = line.contains(" use ") && (word == "pub" || word.starts_with("pub("));
        if !is_use || is_word(code[..start].chars().next_back()) {
            rest.push_str(&code[at..start + 3]);
            at = start + 3;
            continue;
        }
        rest.push_str(&code[at..start]);
        let end = code[start..].find(';').map_or(code.len(), |end| start + end);
        let what = &code[start..end];
        passed.push(what[what.find(" use ").unwrap_or(0) + 5..].to_owned());
        at = end;
    }
    rest.push_str(&code[at..]);
    (rest, passed)
}

/// The paths of a declaration that passes names on, relative to the module that it stands in, or from the root with
/// `crate`.
pub fn passed_on(declaration: &str, module: &[String]) -> Vec<Path> {
    let (text, base) = match declaration.strip_prefix("crate::") {
        Some(rest) => (rest, Path::new()),
        None => (declaration.strip_prefix("self::").unwrap_or(declaration), module.to_vec()),
    };
    let mut found = Vec::new();
    tree(text, &base, &mut found);
    found
}
