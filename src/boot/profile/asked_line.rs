//! One package as a user names it, and as a profile asks for it.

use std::path::Path;

use toml_edit::{Array, InlineTable, Item, TableLike, Value, value};

use crate::boot::profile::package_origin::beside;
use crate::core::model::requirement::{bracketed, marker_of};
use crate::core::model::wheel_names::{file_of, is_distribution, sdist_stem};
use crate::core::model::{PackageName, Requirement, WheelName};

/// What a line of a profile asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedLine {
    pub name: PackageName,
    /// PEP 440 specifiers; `*` for any version.
    pub version: String,
    /// Where it comes from, if from no index: keys of a package and their values.
    pub place: Vec<(&'static str, String)>,
    pub extras: Vec<String>,
    pub marker: Option<String>,
}

/// Keys of a package that say where it comes from, each with a text.
const PLACE: [&str; 7] = ["index", "url", "sha256", "path", "git", "rev", "subdirectory"];

impl AskedLine {
    /// Reads a requirement as pip takes it: `torch==2.11.*`, `uvicorn[standard]>=0.30; python_version < "3.13"`.
    /// Or a place: `../lib`, `x-1.0-py3-none-any.whl`, `git+https://host/x@main`, alone or behind `NAME @`. `name_in`
    /// tells the name of the project in a folder. The error says what is wrong with it.
    pub fn parse(text: &str, name_in: &dyn Fn(&str) -> Result<PackageName, String>) -> Result<Self, String> {
        if let Some(placed) = Self::of_place(text, name_in) {
            return placed;
        }
        let asked = Requirement::parse_strictly(text).map_err(|why| match text.split_once('=') {
            // As conda writes it.
            Some((name, version)) if name.parse::<PackageName>().is_ok() && version.starts_with(char::is_numeric) => {
                format!("{why}; did you mean `{name}=={version}`?")
            }
            _ => why,
        })?;
        let mut place = Vec::new();
        if let Some(url) = &asked.url {
            let Some((url, digest)) = url.split_once("#sha256=").filter(|(_, digest)| digest.len() == 64) else {
                let name = &asked.name;
                return Err(format!("write it to the profile as `{name} = {{ url = \"{url}\", sha256 = \"…\" }}`"));
            };
            place = vec![("url", url.to_owned()), ("sha256", digest.to_owned())];
        }
        let marker = marker_of(text).map(str::to_owned);
        let specifiers = asked.specifiers.to_string().replace(", ", ",");
        Ok(Self {
            version: if specifiers.is_empty() { "*".to_owned() } else { specifiers },
            place,
            extras: asked.extras.iter().map(ToString::to_string).collect(),
            name: asked.name,
            marker,
        })
    }

    /// That of a folder, a file or a repository; `None` for any other line.
    fn of_place(text: &str, name_in: &dyn Fn(&str) -> Result<PackageName, String>) -> Option<Result<Self, String>> {
        let (text, marker) = text.split_once(" ;").map_or((text, None), |(text, marker)| (text, Some(marker.trim())));
        let (text, editable) = match text.strip_prefix("-e ").or_else(|| text.strip_prefix("--editable ")) {
            Some(rest) => (rest.trim(), true),
            None => (text.trim(), false),
        };
        let (head, place) = match text.split_once('@') {
            Some((head, place)) if !head.contains(['/', '+', ':']) && !head.trim().is_empty() => (head, place.trim()),
            _ => ("", text),
        };
        let path = place.strip_prefix("file://").unwrap_or(place);
        // As `pip freeze` writes it; the lock has its own digest.
        let path = path.split_once("#sha256=").map_or(path, |(path, _)| path);
        // `.[dev]`
        let (path, of_path) = path.strip_suffix(']').and_then(|path| path.rsplit_once('[')).unwrap_or((path, ""));
        let is_file = is_distribution(path) && !path.contains("://");
        let is_path = path.starts_with(['.', '/']) || is_file || editable && !place.starts_with("git+");
        let keys = match place.strip_prefix("git+") {
            Some(repository) => git_keys(repository),
            None if is_path => vec![("path", path.to_owned())],
            None => return None,
        };
        let of_path = || of_path.split(',').map(|extra| extra.trim().to_owned()).filter(|extra| !extra.is_empty());
        let (name, extras) = match head.trim() {
            "" => (name_of_place(place, &keys, name_in), of_path().collect()),
            head => match Requirement::parse_strictly(head) {
                Ok(asked) => (Ok(asked.name), asked.extras.iter().map(ToString::to_string).collect()),
                Err(why) => (Err(why), Vec::new()),
            },
        };
        let mut place = keys;
        place.extend((editable && is_path && !is_file).then(|| ("editable", "true".to_owned())));
        Some(name.map(|name| Self { name, version: "*".to_owned(), place, extras, marker: marker.map(str::to_owned) }))
    }

    /// The same with its relative path below the folder `base`.
    #[must_use]
    pub fn below(mut self, base: &Path) -> Self {
        for (key, text) in &mut self.place {
            let is_path = *key == "path" || *key == "git" && text.starts_with('.');
            if let Some(path) = Some(()).filter(|()| is_path).and_then(|()| beside(base, text).ok()) {
                *text = path.display().to_string();
            }
        }
        self
    }

    /// Whether it is a name, with extras or without: what a profile says of its version stays.
    pub(super) fn is_bare(&self) -> bool {
        self.version == "*" && self.place.is_empty()
    }

    /// The same with the version and the place that `item` of a profile has.
    pub(super) fn keeping(&self, item: &Item) -> Self {
        let text = |key: &str| item.get(key).and_then(Item::as_str);
        let version = item.as_str().or_else(|| text("version")).unwrap_or("*").to_owned();
        let place = PLACE.into_iter().filter_map(|key| Some((key, text(key)?.to_owned())));
        let editable = item.get("editable").and_then(Item::as_bool) == Some(true);
        let place = place.chain(editable.then(|| ("editable", "true".to_owned()))).collect();
        Self { version, place, ..self.clone() }
    }

    /// As a value of a profile.
    pub fn value(&self) -> Value {
        if self.extras.is_empty() && self.marker.is_none() && self.place.is_empty() {
            return Value::from(self.version.as_str());
        }
        let mut table = InlineTable::new();
        self.set(&mut table);
        Value::InlineTable(table)
    }

    /// Sets the keys of `table`; one that this line leaves open stays as it is.
    pub(super) fn set(&self, table: &mut dyn TableLike) {
        if self.place.is_empty() {
            table.insert("version", value(self.version.as_str()));
        } else {
            for key in PLACE.into_iter().chain(["version", "editable"]) {
                table.remove(key);
            }
        }
        for (key, text) in &self.place {
            table.insert(key, if *key == "editable" { value(true) } else { value(text.as_str()) });
        }
        if !self.extras.is_empty() {
            table.insert("extras", value(self.extras.iter().map(String::as_str).collect::<Array>()));
        }
        if let Some(marker) = &self.marker {
            table.insert("marker", value(marker.as_str()));
        }
    }

    /// As pip writes it.
    pub fn written(&self) -> String {
        let version = if self.version == "*" { "" } else { self.version.as_str() };
        let from = self.place.first().map(|(_, place)| format!(" from {place}")).unwrap_or_default();
        format!("{}{}{version}{from}", self.name, bracketed(&self.extras))
    }
}

/// The keys of `ADDRESS@REVISION#subdirectory=PATH`.
fn git_keys(text: &str) -> Vec<(&'static str, String)> {
    let (address, fragment) = text.split_once('#').unwrap_or((text, ""));
    // In `ssh://git@host/x` and `git@host:x` the first one belongs to the address.
    let at = address.rfind('@').filter(|at| *at > address.find("://").map_or(0, |scheme| scheme + 3));
    let at = at.filter(|at| {
        address[..*at].rfind('/').is_some_and(|slash| slash > address.find("://").map_or(0, |scheme| scheme + 2))
    });
    let (address, revision) = at.map_or((address, None), |at| (&address[..at], Some(&address[at + 1..])));
    let subdirectory = fragment.split('&').find_map(|part| part.strip_prefix("subdirectory="));
    let keys = [("git", Some(address)), ("rev", revision), ("subdirectory", subdirectory)];
    keys.into_iter().filter_map(|(key, text)| Some((key, text?.to_owned()))).collect()
}

/// The package of a wheel or a source distribution, by its file name; `None` for the path of a folder.
fn name_of_file(path: &str) -> Option<PackageName> {
    let file = file_of(path);
    let wheel = file.parse::<WheelName>().ok().map(|wheel| wheel.name);
    wheel.or_else(|| sdist_stem(&file)?.rsplit_once('-')?.0.parse().ok())
}

/// The name of what lies at `place`, whose keys are known: of the egg, the repository, the file or the project.
fn name_of_place(
    place: &str,
    keys: &[(&'static str, String)],
    name_in: &dyn Fn(&str) -> Result<PackageName, String>,
) -> Result<PackageName, String> {
    let key = |name: &str| keys.iter().find(|(key, _)| *key == name).map(|(_, text)| text.as_str());
    let egg = place.split_once("egg=").map(|(_, egg)| egg.split(['&', '[']).next().unwrap_or(egg));
    let last = key("git").map(|address| address.trim_end_matches('/').trim_end_matches(".git"));
    let last = last.map(|address| address.rsplit(['/', ':']).next().unwrap_or(address));
    if let Some(text) = egg.or(last) {
        return text.parse().map_err(|_| format!("`{text}` is no name of a package; write `NAME @ {place}`"));
    }
    let path = key("path").unwrap_or(place);
    name_of_file(path).map_or_else(|| name_in(path), Ok)
}

#[cfg(test)]
mod tests {
    use super::AskedLine;

    #[test]
    fn places_are_read_as_pip_and_uv_write_them() {
        let name_in =
            |path: &str| if path == "../lib" { Ok("lib".parse().expect("a name")) } else { Err("none".into()) };
        for (text, expected) in [
            ("../lib", "lib = { path = \"../lib\" }"),
            ("-e ../lib[dev, gpu]", "lib = { path = \"../lib\", editable = true, extras = [\"dev\", \"gpu\"] }"),
            ("lib @ ./elsewhere", "lib = { path = \"./elsewhere\" }"),
            ("a-1.0-py3-none-any.whl", "a = { path = \"a-1.0-py3-none-any.whl\" }"),
            ("./b-1.0.tar.gz", "b = { path = \"./b-1.0.tar.gz\" }"),
            ("c @ file:///x/c-1.0-py3-none-any.whl", "c = { path = \"/x/c-1.0-py3-none-any.whl\" }"),
            (
                "git+https://h.example/o/d.git@v1#subdirectory=py",
                "d = { git = \"https://h.example/o/d.git\", rev = \"v1\", subdirectory = \"py\" }",
            ),
            (
                "e[x] @ git+ssh://git@h.example/o/e ; python_version > '3'",
                "e = { git = \"ssh://git@h.example/o/e\", extras = [\"x\"], marker = \"python_version > '3'\" }",
            ),
            ("git+https://h.example/o/odd#egg=f", "f = { git = \"https://h.example/o/odd\" }"),
        ] {
            let line = AskedLine::parse(text, &name_in).expect(text);
            assert_eq!(format!("{} = {}", line.name, line.value()), expected, "{text}");
        }
        for (text, words) in [
            ("x @ https://x.example/x.whl", "write it to the profile as `x ="),
            ("./none", "none"),
            ("git+https://h.example/o/_", "no name of a package"),
        ] {
            let why = AskedLine::parse(text, &name_in).expect_err(text);
            assert!(why.contains(words), "{text}: {why}");
        }
    }
}
