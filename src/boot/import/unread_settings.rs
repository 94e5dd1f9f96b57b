//! Settings of other tools that are not taken over.

/// What colab-boot has in place of a setting of another tool.
pub(super) fn instead_of(line: &str) -> &'static str {
    let has = |names: &[&str]| line.split([' ', '=']).any(|word| names.contains(&word.trim_start_matches("--")));
    if has(&["no-binary", "no-binary-package"]) {
        "`build` in `[policy]` names packages to build from source"
    } else if line.starts_with("the project ") {
        "`colab-boot add -e .` in its folder installs it, too"
    } else if line.starts_with("dynamic") {
        "add them, or `--from` the file that the project reads them from"
    } else {
        "colab-boot has no such setting"
    }
}
