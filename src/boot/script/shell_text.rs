//! Pieces of bash.

use std::fmt::Write;

use url::Url;

use crate::boot::lock::LockedPackage;

pub(super) fn exact(package: &LockedPackage) -> String {
    format!("{}==={}", package.name, package.version)
}

/// A requirements file, as a quoted heredoc: nothing in it is expanded.
pub(super) fn requirements(
    text: &mut String,
    name: &str,
    packages: &[&LockedPackage],
    line: impl Fn(&LockedPackage, &str) -> String,
) {
    push(text, format_args!("cat >\"$work/{name}.txt\" <<'END_OF_REQUIREMENTS'\n"));
    for package in packages {
        if let Some(wheel) = package.wheel() {
            // Without a digest the installer refuses, as it should.
            let hash = wheel.sha256.map(|digest| format!(" --hash=sha256:{digest}")).unwrap_or_default();
            push(text, format_args!("{}{hash}\n", line(package, &wheel.file)));
        }
    }
    text.push_str("END_OF_REQUIREMENTS\n");
}

pub(super) fn fill(template: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}

pub(super) fn push(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(what);
}

/// `text` as one word of bash. What cannot be quoted (a NUL) was refused with the profile.
pub(super) fn quoted(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}

/// The options with which pip takes packages from the index or the folder at `url`; `open` if an index may have what
/// the folder lacks.
pub(super) fn place(url: &Url, open: bool) -> String {
    match url.to_file_path() {
        Ok(folder) if url.scheme() == "file" => {
            let alone = if open { "" } else { "--no-index " };
            format!("{alone}--find-links {}", quoted(&folder.to_string_lossy()))
        }
        _ => format!("--index-url {}", quoted(url.as_str())),
    }
}
