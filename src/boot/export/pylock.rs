//! A pylock.toml (PEP 751).

use std::fmt::Write;
use std::path::Path;

use toml::{Table, Value};

use crate::boot::export::LockView;
use crate::boot::lock::LockedWheel;
use crate::core::model::platform::parse_platform;

/// The file: each package with the address of its file, or with its path in `folder`, which is where the lock's wheels
/// lie, seen from the file.
pub fn pylock(view: &LockView<'_>, folder: Option<&Path>) -> String {
    let architecture = parse_platform(&view.target.platform).map(|(_, architecture)| architecture).unwrap_or_default();
    let environment = format!(
        "sys_platform == 'linux' and platform_machine == '{architecture}' and implementation_name == 'cpython'"
    );
    let mut text = view.heading("pylock");
    let _ = write!(
        text,
        "lock-version = \"1.0\"\nenvironments = [{}]\nrequires-python = {}\ncreated-by = \"colab-boot\"\n",
        Value::from(environment),
        Value::from(view.requires_python())
    );
    for package in &view.target.packages {
        let Some(wheel) = package.wheel() else { continue };
        let file = Value::Table(file_table(view, wheel, folder));
        let _ = write!(
            text,
            "\n[[packages]]\nname = {}\nversion = {}\n",
            Value::from(package.name.to_string()),
            Value::from(package.version.to_string())
        );
        let line = if wheel.is_source() { format!("sdist = {file}") } else { format!("wheels = [{file}]") };
        let _ = writeln!(text, "{line}");
    }
    text
}

fn file_table(view: &LockView<'_>, wheel: &LockedWheel, folder: Option<&Path>) -> Table {
    let mut table = Table::new();
    table.insert("name".to_owned(), Value::from(wheel.file.as_str()));
    let at = match (folder, view.addresses.get(&wheel.file)) {
        (Some(folder), _) => Some(("path", folder.join(&wheel.file).display().to_string())),
        (None, Some(url)) => Some(("url", url.to_string())),
        (None, None) => None,
    };
    table.extend(at.map(|(key, value)| (key.to_owned(), Value::from(value))));
    let size = wheel.size.and_then(|size| i64::try_from(size).ok());
    table.extend(size.map(|size| ("size".to_owned(), Value::from(size))));
    let mut hashes = Table::new();
    hashes.extend(wheel.sha256.map(|sha256| ("sha256".to_owned(), Value::from(sha256.to_string()))));
    table.insert("hashes".to_owned(), Value::Table(hashes));
    table
}
