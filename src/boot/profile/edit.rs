//! A profile changed as a text: comments, order and line ends stay.

use std::collections::BTreeSet;

use toml_edit::{Array, DocumentMut, Item, TableLike, TomlError, table, value};

use crate::boot::profile::asked_line::AskedLine;
use crate::boot::profile::{Profile, Wanted};
use crate::core::diag::Failure;
use crate::core::model::PackageName;

/// The tables that packages stand in.
const TABLES: [&str; 2] = ["frameworks", "packages"];

/// `text`, a profile, with `lines`: where a package stands there already its version changes, new ones go to the end of
/// their table, `[frameworks]` where `is_framework` says so.
pub fn with_packages(
    text: &str,
    lines: &[AskedLine],
    is_framework: &dyn Fn(&PackageName) -> bool,
) -> Result<String, Failure> {
    changed(text, |document| {
        for line in lines {
            let known = TABLES.into_iter().find_map(|table| Some((table, key_of(document.get(table)?, &line.name)?)));
            let (table, key) = known.unwrap_or_else(|| {
                let table = if is_framework(&line.name) { "frameworks" } else { "packages" };
                (table, line.name.to_string())
            });
            let all = tables(document, table)?;
            let kept = all.get(&key).filter(|_| line.is_bare()).map(|item| line.keeping(item));
            let line = kept.as_ref().unwrap_or(line);
            match all.get_mut(&key) {
                Some(item) if item.is_table_like() => {
                    item.as_table_like_mut().into_iter().for_each(|own| line.set(own));
                }
                Some(item) => {
                    let decor = item.as_value().map(|old| old.decor().clone());
                    *item = Item::Value(line.value());
                    item.as_value_mut().zip(decor).into_iter().for_each(|(new, old)| *new.decor_mut() = old);
                }
                None => drop(all.insert(&key, Item::Value(line.value()))),
            }
        }
        Ok(())
    })
}

/// `text`, that of `profile`, without the lines of `names`. Comments above them stay.
pub fn without_packages(profile: &Profile, names: &BTreeSet<PackageName>) -> Result<String, Failure> {
    let mut text = profile.source.text.to_string();
    // From the last one, so that the places of those before stay right.
    let mut gone: Vec<&Wanted> = profile.wanted.iter().filter(|one| names.contains(&one.name)).collect();
    gone.sort_by_key(|one| std::cmp::Reverse(one.span.start));
    for one in gone {
        let start = text[..one.span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[one.span.end..].find('\n').map_or(text.len(), |at| one.span.end + at + 1);
        let (before, after) = (text[start..one.span.start].trim(), text[one.span.end..end].trim());
        let is_line = ["", "\"", "'"].contains(&before) && (after.is_empty() || after.starts_with('#'));
        if is_line {
            text.replace_range(start..end, "");
        } else {
            text = without_key(&text, &one.name)?;
        }
    }
    Ok(text)
}

/// `text` without the key `name`, which shares its line with others.
fn without_key(text: &str, name: &PackageName) -> Result<String, Failure> {
    changed(text, |document| {
        for table in TABLES {
            if let Some(key) = document.get(table).and_then(|item| key_of(item, name)) {
                tables(document, table)?.remove(&key);
            }
        }
        Ok(())
    })
}

/// `text`, a profile, with `packages` in its `[apt]`.
pub fn with_apt(text: &str, packages: &BTreeSet<String>) -> Result<String, Failure> {
    changed(text, |document| {
        let list = tables(document, "apt")?.entry("packages").or_insert_with(|| value(Array::new()));
        let list = list.as_array_mut().ok_or_else(|| failed("`packages` is not a list"))?;
        let named = list.iter().filter_map(|one| Some(one.as_str()?.split('=').next()?.to_owned()));
        let known: BTreeSet<String> = named.collect();
        for package in packages.difference(&known) {
            list.push(package.as_str());
        }
        Ok(())
    })
}

/// `text` as `change` makes it, with its own line ends.
fn changed(text: &str, change: impl FnOnce(&mut DocumentMut) -> Result<(), Failure>) -> Result<String, Failure> {
    // A byte order mark is no part of the document.
    let (mark, body) = text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 });
    let mut document: DocumentMut = body.parse().map_err(|error: TomlError| failed(&error.to_string()))?;
    change(&mut document)?;
    let changed = mark.to_owned() + &document.to_string();
    let is_dos = text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count();
    Ok(if is_dos { changed.replace("\r\n", "\n").replace('\n', "\r\n") } else { changed })
}

fn failed(why: &str) -> Failure {
    Failure::input(format!("the profile can't be changed: {why}"))
}

/// The table of this name, which is there from now on.
fn tables<'d>(document: &'d mut DocumentMut, name: &str) -> Result<&'d mut dyn TableLike, Failure> {
    let item = document.entry(name).or_insert_with(table);
    item.as_table_like_mut().ok_or_else(|| failed(&format!("`{name}` is not a table")))
}

/// How `table` spells the package `name`.
fn key_of(table: &Item, name: &PackageName) -> Option<String> {
    let mut keys = table.as_table_like()?.iter().map(|(key, _)| key);
    keys.find(|key| key.parse::<PackageName>().is_ok_and(|own| own == *name)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::core::diag::Source;

    const TEXT: &str = "[profile]\nname = 'p'\n\n[frameworks] # fast\n# why\ntorch = \"2.10.*\" # pinned\n\n\
                        [packages]\n# tables\npandas = { version = '*', index = 'x' }\n'ruamel.yaml' = '*'\n\n\
                        [[index]]\nname = 'x'\nurl = 'https://x.example'\npackages = ['pandas']\n";

    fn profile(text: &str) -> Profile {
        let source = Source { name: "p.toml".into(), text: text.into() };
        Profile::parse(&source, Path::new("/work")).unwrap_or_else(|faults| panic!("{faults:#?}"))
    }

    fn added(text: &str, lines: &[&str]) -> String {
        let lines: Vec<AskedLine> =
            lines.iter().map(|line| AskedLine::parse(line, &|_| Err(String::new())).expect(line)).collect();
        let text = with_packages(text, &lines, &|name| name.as_ref() == "jax").expect("a text");
        profile(&text);
        text
    }

    fn removed(text: &str, names: &[&str]) -> String {
        let names = names.iter().map(|name| name.parse().expect("a name")).collect();
        without_packages(&profile(text), &names).expect("a text")
    }

    #[test]
    fn what_is_added_leaves_the_rest_as_it_is() {
        assert_eq!(
            added(TEXT, &["torch>=2.11,<3", "Pandas==2.3.*", "ruamel_yaml<1"]),
            TEXT.replace("\"2.10.*\"", "\">=2.11,<3\"")
                .replace("version = '*'", "version = \"==2.3.*\"")
                .replace("'ruamel.yaml' = '*'", "'ruamel.yaml' = \"<1\"")
        );
        let more = added(TEXT, &["jax[cuda12]", "rich; sys_platform == 'linux'"]);
        assert!(more.contains("# pinned\njax = { version = \"*\", extras = [\"cuda12\"] }\n\n[packages]"), "{more}");
        assert!(more.contains("'*'\nrich = { version = \"*\", marker = \"sys_platform == 'linux'\" }\n\n"), "{more}");
        let dos = added(&TEXT.replace('\n', "\r\n"), &["rich"]);
        assert_eq!(dos.matches('\n').count(), dos.matches("\r\n").count());
        assert!(added(&format!("\u{feff}{TEXT}"), &["rich"]).starts_with('\u{feff}'));
        let bare =
            added("[profile]\nname = 'p'\npackages.a = '*'\n".replace("packages.a = '*'\n", "").as_str(), &["a"]);
        assert_eq!(bare, "[profile]\nname = 'p'\n\n[packages]\na = \"*\"\n");
    }

    #[test]
    fn what_is_removed_takes_its_line_along() {
        assert_eq!(
            removed(TEXT, &["torch", "ruamel-yaml"]),
            TEXT.replace("torch = \"2.10.*\" # pinned\n", "").replace("'ruamel.yaml' = '*'\n", "")
        );
        let line = "packages = { a = '*', b = '*' }\n[profile]\nname = 'p'\n";
        assert_eq!(removed(line, &["a"]), line.replace(" a = '*',", ""));
    }

    #[test]
    fn debian_packages_are_added() {
        let add = |text: &str| with_apt(text, &["libgl1".to_owned(), "libx11-6".to_owned()].into()).expect("a profile");
        assert_eq!(
            add("# mine\n[profile]\nname = \"p\" # yes\n"),
            "# mine\n[profile]\nname = \"p\" # yes\n\n[apt]\npackages = [\"libgl1\", \"libx11-6\"]\n"
        );
        assert_eq!(
            add("[apt]\n# sound\npackages = [\"libgl1\", \"sox\"]\n\n[env]\nA = \"1\"\n"),
            "[apt]\n# sound\npackages = [\"libgl1\", \"sox\", \"libx11-6\"]\n\n[env]\nA = \"1\"\n"
        );
        assert_eq!(add("[apt]\r\npackages = []\r\n"), "[apt]\r\npackages = [\"libgl1\", \"libx11-6\"]\r\n");
    }
}
