//! The options of pip in a requirements file (<https://pip.pypa.io/en/stable/reference/requirements-file-format/>).

use crate::core::diag::without_secrets;

/// Options that a requirements file may have on a line of their own, besides `-r`, `-c`, `-e`, `-i` and `-f`
/// (<https://pip.pypa.io/en/stable/reference/requirements-file-format/#global-options>).
pub(super) const OPTIONS: [&str; 13] = [
    "--index-url",
    "--pypi-url",
    "--extra-index-url",
    "--no-index",
    "--find-links",
    "--no-binary",
    "--only-binary",
    "--prefer-binary",
    "--require-hashes",
    "--pre",
    "--trusted-host",
    "--use-feature",
    "--process-dependency-links",
];

/// Those by which pip and uv choose or build otherwise than without them, and which nothing here reads.
const UNREAD: [&str; 11] = [
    "--no-binary",
    "--trusted-host",
    "--use-feature",
    "--config-settings",
    "--config-setting",
    "--global-option",
    "--override",
    "--overrides",
    "--build-constraint",
    "--exclude-newer",
    "--resolution",
];

/// Options behind a requirement.
pub(super) const OF_REQUIREMENTS: [&str; 4] = ["--hash", "--config-settings", "--config-setting", "--global-option"];

/// The value of an option, in any of the ways it may be written: `-r x`, `-rx`, `--requirement x`, `--requirement=x`.
pub(super) fn option<'a>(line: &'a str, short: &str, long: &str) -> Option<&'a str> {
    let value = match line.strip_prefix(long) {
        Some(rest) => rest.strip_prefix(['=', ' ', '\t'])?,
        None => line.strip_prefix(short).filter(|_| !line.starts_with("--"))?,
    };
    Some(value.trim())
}

/// A line that has options of [`UNREAD`].
pub(super) fn unread_options(line: &str) -> Option<String> {
    let mut names = line.split_whitespace().map(|word| word.split('=').next().unwrap_or(word));
    names.any(|name| UNREAD.contains(&name)).then(|| without_secrets(line))
}

/// A requirement without the options behind it, `--hash=sha256:…`.
pub(super) fn without_options(line: &str) -> &str {
    line.split(" --").next().unwrap_or(line).trim()
}
