//! Settings of other tools that are not taken over.

/// Options and settings that replace the default index.
const REPLACING: [&str; 6] = ["-i", "--index-url", "--default-index", "--index", "index-url", "default-index"];

/// What colab-boot has in place of a setting of another tool.
pub(super) fn instead_of(line: &str) -> &'static str {
    let has = |names: &[&str]| {
        line.split([' ', '=']).any(|word| names.contains(&word.trim_start_matches("--")) || names.contains(&word))
    };
    if has(&REPLACING) || has(&["extra-index-url"]) {
        "`--index-url` of colab-boot takes it, or an `[[index]]` with the packages that come from it"
    } else if has(&["find-links", "no-index", "-f"]) {
        "`--find-links` of colab-boot takes it, or an `[[index]]` with its `path`"
    } else if has(&["no-binary", "no-binary-package"]) {
        "`build` in `[policy]` names packages to build from source"
    } else if line.starts_with("the project ") {
        "`colab-boot add -e .` in its folder installs it, too"
    } else if line.starts_with("dynamic") {
        "add them, or `--from` the file that the project reads them from"
    } else {
        "colab-boot has no such setting"
    }
}

/// What a line of an installer has in place of the default index, as written: an address, or the option where it has no
/// value, such as `--no-index`.
pub(super) fn replaced_by(line: &str) -> Option<&str> {
    let mut words = line.split([' ', '\t', '=']).map(|word| word.trim_matches(['"', '\'']));
    while let Some(word) = words.next() {
        if word.trim_start_matches('-') == "no-index" {
            return Some(word);
        }
        if REPLACING.contains(&word) {
            return words.find(|word| !word.is_empty()).or(Some(word));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::replaced_by;

    #[test]
    fn what_replaces_the_default_index_is_found_in_every_spelling() {
        for (line, index) in [
            ("--index-url https://a.example/simple", Some("https://a.example/simple")),
            ("-i \"https://a.example\"", Some("https://a.example")),
            ("--index-url=https://a.example", Some("https://a.example")),
            ("cell 2: %pip install -q a==1 --default-index https://a.example", Some("https://a.example")),
            ("--no-index", Some("--no-index")),
            ("cell 1: !pip install --no-index -f wheels a", Some("--no-index")),
            ("[tool.uv] index-url", Some("index-url")),
            ("--extra-index-url https://a.example", None),
            ("--find-links wheels", None),
        ] {
            assert_eq!(replaced_by(line), index, "{line}");
        }
    }
}
