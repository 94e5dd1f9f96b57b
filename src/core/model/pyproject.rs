//! Tables of a pyproject.toml that several rooms read.

/// The files that setuptools reads a `field` of `[tool.setuptools.dynamic]` from
/// (<https://setuptools.pypa.io/en/latest/userguide/pyproject_config.html#dynamic-metadata>).
pub fn files_of_field(field: &toml::Value) -> Vec<&str> {
    match field.get("file") {
        Some(toml::Value::Array(files)) => files.iter().filter_map(toml::Value::as_str).collect(),
        Some(file) => file.as_str().into_iter().collect(),
        None => Vec::new(),
    }
}
