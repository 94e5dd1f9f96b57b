//! Rows of `matrix/system.toml`: which Debian or Ubuntu package has a shared library that wheels need from the system.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemLibraries {
    library: BTreeMap<String, Packages>,
}

/// The package that has a library.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Packages {
    /// In every release.
    Everywhere(String),
    /// By release, `ubuntu 24.04`.
    ByRelease(BTreeMap<String, String>),
}

static BUNDLED: LazyLock<SystemLibraries> = LazyLock::new(|| SystemLibraries::bundled().unwrap_or_default());

impl SystemLibraries {
    /// The package that most releases have `library` in. A file that can't be read knows none (a test reads it).
    pub fn usual_package(library: &str) -> Option<&'static str> {
        BUNDLED.package(library, None)
    }

    /// Reads the bundled table. Fails only if the file is wrong, which a test rules out.
    pub fn bundled() -> Result<Self, String> {
        super::parse("system.toml")
    }

    /// The package that has `library` in a release of Debian or Ubuntu, as [`release_of`] calls it; without a release,
    /// or in one that is not known, what most have. `None` for a library of no system.
    pub fn package(&self, library: &str, release: Option<&str>) -> Option<&str> {
        match self.library.get(library)? {
            Packages::Everywhere(name) => Some(name),
            Packages::ByRelease(names) => {
                let own = release.and_then(|release| names.get(release));
                own.or_else(|| names.values().next_back()).map(String::as_str)
            }
        }
    }

    /// Whether the release has a package with `library`.
    pub fn has(&self, library: &str, release: &str) -> bool {
        match self.library.get(library) {
            Some(Packages::Everywhere(_)) => true,
            Some(Packages::ByRelease(names)) => names.contains_key(release),
            None => false,
        }
    }
}

/// `ubuntu 22.04` of `Ubuntu 22.04.4 LTS`, `debian 12` of `Debian GNU/Linux 12 (bookworm)`.
pub fn release_of(os: &str) -> Option<String> {
    let lower = os.to_ascii_lowercase();
    let name = ["ubuntu", "debian"].into_iter().find(|name| lower.starts_with(name))?;
    let number = lower.split(|c: char| c != '.' && !c.is_ascii_digit()).find(|word| !word.is_empty())?;
    let parts: Vec<&str> = number.split('.').collect();
    let count = if name == "ubuntu" { 2 } else { 1 };
    Some(format!("{name} {}", parts.get(..count)?.join(".")))
}

#[cfg(test)]
mod tests {
    use super::{SystemLibraries, release_of};

    #[test]
    fn a_library_has_the_package_of_its_release() {
        let table = SystemLibraries::bundled().expect("a table");
        assert_eq!(table.package("libGL.so.1", None), Some("libgl1"));
        assert_eq!(table.package("libglib-2.0.so.0", Some("ubuntu 22.04")), Some("libglib2.0-0"));
        assert_eq!(table.package("libglib-2.0.so.0", Some("ubuntu 24.04")), Some("libglib2.0-0t64"));
        assert_eq!(table.package("libcudart.so.12", None), None);
        // Debian's libtorch-dev has one; no wheel is linked against that.
        assert_eq!(table.package("libtorch.so", Some("debian 12")), None);
        assert!(table.has("libavcodec.so.59", "debian 12") && !table.has("libavcodec.so.59", "debian 13"));
    }

    #[test]
    fn releases_are_known_by_what_os_release_calls_them() {
        for (os, release) in [
            ("Ubuntu 22.04.4 LTS", Some("ubuntu 22.04")),
            ("Debian GNU/Linux 12 (bookworm)", Some("debian 12")),
            ("Alpine Linux v3.20", None),
            ("Debian GNU/Linux trixie/sid", None),
            ("", None),
        ] {
            assert_eq!(release_of(os).as_deref(), release, "{os}");
        }
    }
}
