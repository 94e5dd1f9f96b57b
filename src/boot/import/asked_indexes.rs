//! The indexes that files name, as `[[index]]` of a profile.

use std::fmt::Write;

use crate::boot::audit::{IndexRole, ListedIndex};
use crate::boot::profile::is_index_name;
use crate::core::model::PackageName;

/// What is known of an address that a file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexKind {
    /// The default index.
    Usual,
    /// A framework publishes its builds there; the solver chooses among them.
    Published,
    Other,
}

/// Who knows indexes.
pub(super) trait KnownIndexes {
    fn kind(&self, address: &str) -> IndexKind;

    /// Which of `asked` the index called `name` has; the error says why that is unknown.
    fn packages(&self, name: &str, address: &str, asked: &[PackageName]) -> Result<Vec<PackageName>, String>;
}

/// A table `[[index]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    name: String,
    /// An address, or the path of a folder.
    place: String,
    is_default: bool,
    packages: Vec<PackageName>,
    /// Its packages were looked up.
    is_looked_up: bool,
}

/// The tables of a profile, as they are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IndexTables {
    tables: Vec<Table>,
}

/// Whether `place` is a folder of this machine, and no address.
pub(super) fn is_folder(place: &str) -> bool {
    !place.contains("://")
}

impl IndexTables {
    /// Adds what `listed` stands for where files ask for `asked`; what of it is left to the user.
    pub(super) fn add(
        &mut self,
        listed: &ListedIndex,
        asked: &[PackageName],
        indexes: &dyn KnownIndexes,
    ) -> Option<String> {
        let place = listed.url.as_str();
        let bare = place.trim_end_matches('/');
        if self.tables.iter().any(|table| table.place.trim_end_matches('/') == bare) {
            return None;
        }
        if is_folder(place) {
            self.push(listed, "wheels", false);
            return None;
        }
        let known = indexes.kind(place);
        let has_default = self.tables.iter().any(|table| table.is_default);
        match (listed.role, known) {
            (_, IndexKind::Published) if listed.packages.is_empty() => {
                Some("colab-boot chooses the build for the CUDA of the target".to_owned())
            }
            (IndexRole::Links, _) => {
                Some("a page of wheels is no index: download them to a folder, and name that with `path`".to_owned())
            }
            (IndexRole::Alone, _) => {
                if !listed.packages.is_empty() {
                    self.push(listed, "own", false);
                }
                None
            }
            (IndexRole::Beside, IndexKind::Usual) => None,
            (IndexRole::InPlace, IndexKind::Usual) if !has_default => None,
            (IndexRole::InPlace, IndexKind::Usual | IndexKind::Other) if !has_default => {
                self.push(listed, "main", true);
                None
            }
            (_, IndexKind::Published) => {
                self.push(listed, "own", false);
                None
            }
            _ => self.look_up(listed, asked, indexes),
        }
    }

    /// Makes the first folder of wheels the only place of what no other table lists (`--no-index`); whether there is
    /// one.
    pub(super) fn forbid_others(&mut self) -> bool {
        self.tables.retain(|table| is_folder(&table.place));
        if self.tables.is_empty() {
            let listed =
                ListedIndex { name: None, url: "wheels".to_owned(), packages: Vec::new(), role: IndexRole::Alone };
            self.push(&listed, "wheels", true);
            return false;
        }
        self.tables[0].is_default = true;
        true
    }

    /// Adds an index with those of `asked` that it has: with uv, the first index that has a package is the only one;
    /// with pip, it is one of several. One that can't be asked has none, so that no command goes on.
    fn look_up(&mut self, listed: &ListedIndex, asked: &[PackageName], indexes: &dyn KnownIndexes) -> Option<String> {
        let at = self.tables.len();
        self.push(listed, "extra", false);
        let table = &mut self.tables[at];
        let found = indexes.packages(&table.name, &table.place, asked);
        let why =
            found.as_ref().err().map(|why| format!("list in `packages` what comes from it: it can't be asked ({why})"));
        table.packages.extend(found.unwrap_or_default());
        table.packages.sort();
        table.packages.dedup();
        table.is_looked_up = why.is_none();
        if table.is_looked_up && table.packages.is_empty() {
            self.tables.pop();
            return Some("it has none of the packages".to_owned());
        }
        why
    }

    fn push(&mut self, listed: &ListedIndex, usual: &str, is_default: bool) {
        let wanted = listed.name.as_deref().filter(|name| is_index_name(name)).unwrap_or(usual);
        let is_free = |name: &str| self.tables.iter().all(|table| table.name != name);
        let mut name = wanted.to_owned();
        for number in 2.. {
            if is_free(&name) {
                break;
            }
            name = format!("{wanted}-{number}");
        }
        let packages = if is_default { Vec::new() } else { listed.packages.clone() };
        let table = Table { name, place: listed.url.clone(), is_default, packages, is_looked_up: false };
        self.tables.push(table);
    }

    /// As text of a profile.
    pub(super) fn write(&self, text: &mut String) {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        for Table { name, place, is_default, packages, is_looked_up } in &self.tables {
            let comment = if *is_looked_up { "   # what these require comes from the default index" } else { "" };
            let key = if is_folder(place) { "path" } else { "url" };
            let _ = write!(text, "\n[[index]]{comment}\nname = {}\n{key} = {}\n", quoted(name), quoted(place));
            let packages: Vec<String> = packages.iter().map(|name| quoted(name.as_ref())).collect();
            if *is_default {
                text.push_str("default = true\n");
            } else if !packages.is_empty() || key == "url" {
                let _ = writeln!(text, "packages = [{}]", packages.join(", "));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{IndexKind, IndexTables, KnownIndexes};
    use crate::boot::audit::{IndexRole, ListedIndex};
    use crate::core::model::PackageName;

    /// One usual index, one of a framework, and others that have `own`.
    struct Indexes;

    impl KnownIndexes for Indexes {
        fn kind(&self, address: &str) -> IndexKind {
            match address {
                "https://usual.example" => IndexKind::Usual,
                "https://torch.example" => IndexKind::Published,
                _ => IndexKind::Other,
            }
        }

        fn packages(&self, _: &str, address: &str, asked: &[PackageName]) -> Result<Vec<PackageName>, String> {
            if address.contains("down") {
                return Err("no answer".to_owned());
            }
            let has = |name: &&PackageName| name.as_ref() == "own" && !address.contains("empty");
            Ok(asked.iter().filter(has).cloned().collect())
        }
    }

    #[test]
    fn each_index_is_a_table_or_left_to_the_user() {
        use IndexRole::{Alone, Beside, InPlace, Links};
        let asked: Vec<PackageName> = ["own", "numpy"].iter().map(|name| name.parse().expect("a name")).collect();
        let bound = |name: &str| name.parse().expect("a name");
        for (listed, expected, said) in [
            (vec![(InPlace, "https://usual.example", None)], "", ""),
            (vec![(InPlace, "https://torch.example", None)], "", "the CUDA of the target"),
            (vec![(InPlace, "https://a.example", Some("own"))], "url = \"https://a.example\"\ndefault = true\n", ""),
            (vec![(Beside, "https://a.example", None)], "packages = [\"own\"]\n", ""),
            (vec![(Beside, "https://a.example", Some("numpy"))], "packages = [\"numpy\", \"own\"]\n", ""),
            (vec![(Beside, "https://down.example", None)], "packages = []\n", "no answer"),
            (vec![(Alone, "https://a.example", None)], "", ""),
            (vec![(Alone, "https://torch.example", Some("own"))], "packages = [\"own\"]\n", ""),
            (vec![(Beside, "https://empty.example", None)], "", "it has none of the packages"),
            (vec![(Links, "https://a.example/page.html", None)], "", "a page of wheels is no index"),
            (vec![(Links, "wheels", None)], "name = \"wheels\"\npath = \"wheels\"\n", ""),
            (
                vec![(InPlace, "https://a.example", None), (InPlace, "https://b.example", None)],
                "default = true\n\n[[index]]   # what these require comes from the default index\nname = \"extra\"\n",
                "",
            ),
        ] {
            let (mut tables, mut left) = (IndexTables::default(), Vec::new());
            for (role, url, package) in &listed {
                let packages = package.map(bound).into_iter().collect();
                let one = ListedIndex { name: None, url: (*url).to_owned(), packages, role: *role };
                left.extend(tables.add(&one, &asked, &Indexes));
            }
            let mut text = String::new();
            tables.write(&mut text);
            assert!(text.contains(expected) && text.is_empty() == expected.is_empty(), "{listed:?}: {text}");
            assert!(left.concat().contains(said) && left.is_empty() == said.is_empty(), "{listed:?}: {left:?}");
        }
    }

    #[test]
    fn without_indexes_a_folder_has_everything() {
        let mut tables = IndexTables::default();
        assert!(!tables.clone().forbid_others());
        let folder = ListedIndex { name: None, url: "w".to_owned(), packages: Vec::new(), role: IndexRole::Links };
        assert_eq!(tables.add(&folder, &[], &Indexes), None);
        assert!(tables.forbid_others());
        let mut text = String::new();
        tables.write(&mut text);
        assert_eq!(text, "\n[[index]]\nname = \"wheels\"\npath = \"w\"\ndefault = true\n");
    }
}
