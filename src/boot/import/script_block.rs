//! Inline metadata of scripts (PEP 723), which juv and marimo also write into notebooks.

use serde::Deserialize;

/// What a block asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ScriptBlock {
    #[serde(default)]
    pub(super) dependencies: Vec<String>,
    pub(super) requires_python: Option<String>,
}

/// The first `# /// script` block of `text`; `None` where there is none. The error says what makes no sense in it.
pub(super) fn script_block(text: &str) -> Option<Result<ScriptBlock, String>> {
    let mut lines = text.lines().skip_while(|line| line.trim_end() != "# /// script").skip(1);
    let mut block = String::new();
    loop {
        let line = lines.next()?.trim_end();
        if line == "# ///" {
            break;
        }
        let content = line.strip_prefix("# ").or_else(|| line.strip_prefix('#'))?;
        block.push_str(content);
        block.push('\n');
    }
    Some(toml::from_str(&block).map_err(|error| error.message().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::script_block;

    #[test]
    fn a_block_ends_with_its_mark() {
        let text = "import x\n# /// script\n# requires-python = '>=3.11'\n# dependencies = [\n#   'rich>13',\n\
                    # ]\n# ///\nprint()\n";
        let block = script_block(text).expect("a block").expect("TOML");
        assert_eq!(
            (block.dependencies, block.requires_python),
            (vec!["rich>13".to_owned()], Some(">=3.11".to_owned()))
        );
        assert_eq!(script_block("# /// script\n# dependencies = []\nprint()\n"), None);
        assert_eq!(script_block("print()\n"), None);
        assert!(script_block("# /// script\n# dependencies = 3\n# ///\n").expect("a block").is_err());
    }
}
