//! How deeply a YAML text nests, by its characters alone: a parser that goes down one call a level overflows the stack,
//! and aliases of aliases grow exponentially.

/// The deepest nesting that an `environment.yml` may have; a real one has three levels.
const DEPTH: usize = 64;

/// The most aliases (`*name`); a real one has none.
const ALIASES: usize = 20;

/// An error where `text` nests deeper, or repeats more, than is read.
pub(super) fn is_shallow(text: &str) -> Result<(), String> {
    let mut indents: Vec<usize> = Vec::new();
    let (mut flow, mut aliases) = (0_usize, 0);
    for (at, line) in text.lines().enumerate() {
        let content = line.trim_start();
        let markers = content.split(' ').take_while(|word| word.is_empty() || matches!(*word, "-" | "?" | ":"));
        let markers = markers.filter(|word| !word.is_empty()).count();
        let indent = line.len() - content.len();
        indents.retain(|above| *above < indent);
        indents.push(indent);
        for byte in content.bytes() {
            match byte {
                b'[' | b'{' => flow += 1,
                b']' | b'}' => flow = flow.saturating_sub(1),
                b'*' => aliases += 1,
                _ => {}
            }
            if flow > DEPTH {
                break;
            }
        }
        if flow.max(indents.len() + markers) > DEPTH {
            return Err(format!("line {} nests deeper than {DEPTH} levels", at + 1));
        }
    }
    // `numpy=1.*` has one, too.
    let anchors = text.matches('&').count();
    if anchors > 0 && aliases > ALIASES { Err(format!("it has more than {ALIASES} aliases")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::is_shallow;

    #[test]
    fn depth_is_counted_in_every_form() {
        for text in [
            "dependencies:\n  - a\n  - pip:\n    - b==1.*\n",
            &"- a: [1, 2]\n".repeat(10_000),
            &"- a=1.*\n".repeat(100),
        ] {
            assert_eq!(is_shallow(text), Ok(()), "{}", &text[..20]);
        }
        let steps: String = (0..100).map(|at| format!("{}a:\n", " ".repeat(at))).collect();
        let laughs = format!("a: &a [x]\n{}", "b: [*a, *a]\n".repeat(20));
        for text in [&"- ".repeat(100), &"? ".repeat(100), &"[".repeat(100), &"{a: ".repeat(100), &steps, &laughs] {
            assert!(is_shallow(text).is_err(), "{}", &text[..20]);
        }
    }
}
