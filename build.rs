//! Build script: the files of `matrix/` as JSON, which a program reads ten times faster than TOML, and every verb waits
//! for them. The TOML files are what people and `upkeep refresh` edit; the JSON is made of them whenever they change.
//! The rows of builds lie by package, so that a plan reads those that it needs.

#![expect(clippy::disallowed_methods, reason = "a build script talks to cargo this way")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=matrix");
    let packed = Path::new(&std::env::var("OUT_DIR")?).join("matrix");
    // A row file that is gone is not to stay in the program.
    let _ = std::fs::remove_dir_all(&packed);
    pack(Path::new("matrix"), &packed)?;
    pack(Path::new("matrix/metadata"), &packed.join("metadata"))?;
    pack(Path::new("matrix/linking"), &packed.join("linking"))?;
    pack_builds(Path::new("matrix"), &packed.join("builds"))
}

/// Writes the rows of `builds-*.toml`, a file for each package.
fn pack_builds(folder: &Path, packed: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(packed)?;
    let mut packages: BTreeMap<String, Vec<toml::Value>> = BTreeMap::new();
    let files = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?.into_iter().map(|entry| entry.path());
    let mut files: Vec<_> = files.filter(|path| is_builds(path)).collect();
    files.sort();
    for path in files {
        let mut table: toml::Table = toml::from_str(&std::fs::read_to_string(&path)?)?;
        for row in table.remove("build").and_then(|rows| rows.try_into::<Vec<toml::Value>>().ok()).unwrap_or_default() {
            let package = row.get("package").and_then(toml::Value::as_str).ok_or("a row of no package")?.to_owned();
            packages.entry(package).or_default().push(row);
        }
    }
    for (package, rows) in packages {
        std::fs::write(packed.join(package).with_extension("json"), serde_json::to_string(&rows)?)?;
    }
    Ok(())
}

fn is_builds(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml")
        && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("builds-"))
}

/// Writes each TOML file of `folder` into `packed`, as JSON.
fn pack(folder: &Path, packed: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(packed)?;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "toml") && !is_builds(&path) {
            let table: toml::Table = toml::from_str(&std::fs::read_to_string(&path)?)?;
            let name = path.file_stem().unwrap_or_default();
            std::fs::write(packed.join(name).with_extension("json"), serde_json::to_string(&table)?)?;
        }
    }
    Ok(())
}
