//! What dpkg has installed, from its status file. That of an image has a megabyte, and few ask, so it is parsed when
//! somebody does.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Installed Debian packages with their versions. A record writes them as a table.
#[derive(Clone, Debug, Default)]
pub struct Debian {
    status: Rc<String>,
    packages: OnceCell<BTreeMap<String, String>>,
}

impl Debian {
    /// From the text of `/var/lib/dpkg/status`.
    pub fn of_status(text: String) -> Self {
        Self { status: Rc::new(text), packages: OnceCell::new() }
    }

    /// By name.
    pub fn packages(&self) -> &BTreeMap<String, String> {
        self.packages.get_or_init(|| parse(&self.status))
    }
}

impl From<BTreeMap<String, String>> for Debian {
    fn from(packages: BTreeMap<String, String>) -> Self {
        Self { status: Rc::default(), packages: packages.into() }
    }
}

impl PartialEq for Debian {
    fn eq(&self, other: &Self) -> bool {
        self.packages() == other.packages()
    }
}

impl Eq for Debian {}

impl Serialize for Debian {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.packages().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Debian {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(deserializer).map(Self::from)
    }
}

/// Names and versions of the packages that dpkg counts as installed, and the virtual names that they provide.
fn parse(status: &str) -> BTreeMap<String, String> {
    let mut packages = BTreeMap::new();
    let mut provided = Vec::new();
    let (mut name, mut version, mut virtual_names, mut installed) = (None, None, "", false);
    // One pass: the file of an image has a megabyte. The empty line at the end closes the last entry.
    for line in status.lines().chain([""]) {
        match line.as_bytes().first() {
            Some(b'P') => {
                name = line.strip_prefix("Package: ").or(name);
                virtual_names = line.strip_prefix("Provides: ").unwrap_or(virtual_names);
            }
            Some(b'V') => version = line.strip_prefix("Version: ").or(version),
            // "install ok installed", and "hold ok installed" for what an image has marked to stay.
            Some(b'S') => installed |= line.starts_with("Status: ") && line.ends_with(" ok installed"),
            None => {
                if let (Some(name), Some(version), true) = (name, version, installed) {
                    let names = virtual_names.split(',').filter_map(|one| one.split_whitespace().next());
                    provided.extend(names.map(|one| (one.to_owned(), version.to_owned())));
                    packages.insert(name.to_owned(), version.to_owned());
                }
                (name, version, virtual_names, installed) = (None, None, "", false);
            }
            _ => {}
        }
    }
    for (name, version) in provided {
        packages.entry(name).or_insert(version);
    }
    packages
}

#[cfg(test)]
mod tests {
    use super::Debian;

    #[test]
    fn installed_is_what_dpkg_calls_so() {
        let status = "Package: a\nStatus: install ok installed\nVersion: 1\nProvides: v (= 1), w\n\n\
            Package: b\nStatus: hold ok installed\nVersion: 2\n\n\
            Package: c\nStatus: deinstall ok config-files\nVersion: 3\n\n\
            Package: d\nStatus: install ok half-configured\nVersion: 4\n";
        let names: Vec<String> = Debian::of_status(status.to_owned()).packages().keys().cloned().collect();
        assert_eq!(names, ["a", "b", "v", "w"]);
    }
}
