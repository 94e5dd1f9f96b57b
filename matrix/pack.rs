//! Build script: the rows of `matrix/builds-*.toml` as one JSON document, which a program reads ten times faster than TOML, and every verb
//! waits for. The TOML files are what people and `matrix refresh` edit; the document is made of them whenever they change.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a build script talks to cargo this way")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=matrix");
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir("matrix")? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if name.starts_with("builds-") && name.ends_with(".toml") {
            let rows: toml::Table = toml::from_str(&std::fs::read_to_string(&path)?)?;
            files.insert(name, rows);
        }
    }
    let folder = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&folder).join("builds.json"), serde_json::to_string(&files)?)?;
    Ok(())
}
