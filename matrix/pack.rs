//! Build script: the files of `matrix/` as JSON, which a program reads ten times faster than TOML, and every verb waits for them. The TOML
//! files are what people and `matrix refresh` edit; the JSON is made of them whenever they change.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a build script talks to cargo this way")]

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=matrix");
    let packed = Path::new(&std::env::var("OUT_DIR")?).join("matrix");
    pack(Path::new("matrix"), &packed)?;
    pack(Path::new("matrix/metadata"), &packed.join("metadata"))?;
    Ok(())
}

/// Writes each TOML file of `folder` into `packed`, as JSON.
fn pack(folder: &Path, packed: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(packed)?;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let table: toml::Table = toml::from_str(&std::fs::read_to_string(&path)?)?;
            let name = path.file_stem().unwrap_or_default();
            std::fs::write(packed.join(name).with_extension("json"), serde_json::to_string(&table)?)?;
        }
    }
    Ok(())
}
