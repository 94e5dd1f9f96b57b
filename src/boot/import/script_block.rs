//! Inline metadata of scripts (PEP 723), which juv and marimo also write into notebooks.

use toml::{Table, Value};

/// The first `# /// script` block of `text`, as the pyproject.toml of a project that asks for the same; `None` where
/// there is none. The error says what makes no sense in it.
pub(super) fn script_block(text: &str) -> Option<Result<String, String>> {
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
    Some(as_project(&block))
}

fn as_project(block: &str) -> Result<String, String> {
    let mut block: Table = block.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    let mut project = Table::new();
    project.insert("name".to_owned(), Value::from("script"));
    for key in ["dependencies", "requires-python"] {
        project.extend(block.remove_entry(key));
    }
    let mut whole = Table::new();
    whole.insert("project".to_owned(), Value::Table(project));
    whole.extend(block.remove_entry("tool"));
    Ok(whole.to_string())
}

#[cfg(test)]
mod tests {
    use super::script_block;

    #[test]
    fn a_block_ends_with_its_mark() {
        let text = "import x\n# /// script\n# requires-python = '>=3.11'\n# dependencies = [\n#   'rich>13',\n\
                    # ]\n# [tool.uv.sources]\n# rich = { path = 'x' }\n# ///\nprint()\n";
        let project: toml::Table =
            script_block(text).expect("a block").expect("TOML").parse().expect("the TOML of a project");
        assert_eq!(project["project"]["dependencies"][0].as_str(), Some("rich>13"));
        assert_eq!(project["project"]["requires-python"].as_str(), Some(">=3.11"));
        assert_eq!(project["tool"]["uv"]["sources"]["rich"]["path"].as_str(), Some("x"));
        assert_eq!(script_block("# /// script\n# dependencies = []\nprint()\n"), None);
        assert_eq!(script_block("print()\n"), None);
        assert!(script_block("# /// script\n# dependencies = \n# ///\n").expect("a block").is_err());
    }
}
