//! Other files that name distributions: `pyproject.toml`, files of conda, and the install lines of a notebook.

use std::collections::BTreeMap;

use pep508_rs::MarkerEnvironment;
use serde::Deserialize;
use toml::Spanned;

use crate::boot::audit::conda_files::{environment_file, is_package_list, package_list};
use crate::boot::audit::listed_indexes::{IndexRole, ListedIndex};
use crate::boot::audit::listed_lines::Listed;
use crate::boot::audit::notebook_installs::notebook;
use crate::boot::audit::pixi::{PixiManifest, pixi};
use crate::boot::audit::requirements_txt::{Include, one, read_included};
use crate::boot::audit::uv_settings::{UvSettings, place};
use crate::core::diag::Source;
use crate::core::model::PackageName;
use crate::core::model::pyproject::files_of_field;
use crate::core::model::requirement::lenient_specifiers;
use crate::core::model::version::range_of;

/// Reads `source` if it is one of these files; `None` for any other. The error says what makes no sense.
pub fn read_other(
    source: &Source,
    markers: &MarkerEnvironment,
    include: Include<'_>,
) -> Option<Result<Listed, String>> {
    let text = source.text.trim_start_matches('\u{feff}').trim_start();
    let name = source.name.to_ascii_lowercase();
    let file = name.rsplit('/').next().unwrap_or_default();
    if let Some((_, instead)) = OTHERS.iter().find(|(other, _)| *other == file) {
        Some(Err(format!("colab-boot does not read it: {instead}")))
    } else if name.ends_with(".ipynb") || text.starts_with('{') && text.contains("\"nbformat\"") {
        Some(notebook(source, markers, include))
    } else if name.ends_with("pixi.toml") {
        Some(pixi(source, markers))
    } else if name.ends_with("pyproject.toml") || name.ends_with(".toml") && is_pyproject(text) {
        Some(pyproject(source, markers, include))
    } else if name.ends_with(".yml") || name.ends_with(".yaml") {
        Some(environment_file(source, markers, include))
    } else if is_package_list(text) {
        Some(Ok(package_list(source, markers, include)))
    } else {
        None
    }
}

/// Files that no line of a requirements.txt is in, and what gives one.
const OTHERS: [(&str, &str); 4] = [
    ("setup.cfg", "write what it installs to a requirements.txt"),
    ("pipfile", "`pipenv requirements` writes a requirements.txt"),
    ("pipfile.lock", "`pipenv requirements` writes a requirements.txt"),
    ("poetry.lock", "`poetry export` writes a requirements.txt"),
];

/// Whether the TOML `text` describes a project (PEP 621), whatever its file is called.
fn is_pyproject(text: &str) -> bool {
    text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("project") || table.contains_key("build-system"))
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Pyproject {
    project: Option<Project>,
    /// With it, the project itself is installed, too.
    build_system: Option<toml::Value>,
    #[serde(default, rename = "dependency-groups")]
    groups: toml::Table,
    #[serde(default)]
    tool: Tool,
}

/// `[tool]`, of the tools that are read.
#[derive(Default, Deserialize)]
struct Tool {
    pixi: Option<PixiManifest>,
    #[serde(default)]
    uv: UvSettings,
    #[serde(default)]
    poetry: toml::Table,
    #[serde(default)]
    setuptools: Setuptools,
    #[serde(flatten)]
    others: toml::Table,
}

/// Where setuptools reads dynamic fields from
/// (<https://setuptools.pypa.io/en/latest/userguide/pyproject_config.html#dynamic-metadata>).
#[derive(Default, Deserialize)]
struct Setuptools {
    #[serde(default)]
    dynamic: toml::Table,
}

impl Setuptools {
    /// The files that the field `dependencies` is read from.
    fn files(&self) -> Vec<&str> {
        self.dynamic.get("dependencies").map(files_of_field).unwrap_or_default()
    }
}

impl Tool {
    /// What poetry takes from folders, repositories and addresses.
    fn places_of_poetry(&self) -> BTreeMap<PackageName, toml::Value> {
        let all = self.poetry.get("dependencies").and_then(toml::Value::as_table).into_iter().flatten();
        let is_place = |value: &toml::Value| ["path", "git", "url"].iter().any(|key| value.get(key).is_some());
        all.filter(|(_, value)| is_place(value))
            .filter_map(|(name, value)| Some((name.parse().ok()?, value.clone())))
            .collect()
    }

    /// The `source` of poetry and pdm
    /// (<https://python-poetry.org/docs/repositories/>, <https://pdm-project.org/latest/usage/config/>).
    fn sources(&self) -> impl Iterator<Item = ListedIndex> {
        let of_pdm = self.others.get("pdm").and_then(toml::Value::as_table);
        let tables = of_pdm.into_iter().chain([&self.poetry]).filter_map(|table| table.get("source")?.as_array());
        tables.flatten().filter_map(|source| {
            let text = |key: &str| source.get(key).and_then(toml::Value::as_str);
            let role = match text("priority") {
                Some("explicit") => IndexRole::Alone,
                Some("supplemental" | "secondary") => IndexRole::Beside,
                _ => IndexRole::InPlace,
            };
            let name = text("name")?;
            let of_poetry = self.poetry.get("dependencies").and_then(toml::Value::as_table).into_iter().flatten();
            let own = of_poetry.filter(|(_, value)| value.get("source").and_then(toml::Value::as_str) == Some(name));
            let packages = own.filter_map(|(package, _)| package.parse().ok()).collect();
            Some(ListedIndex { name: Some(name.to_owned()), url: text("url")?.to_owned(), packages, role })
        })
    }

    /// The tables by which other tools choose packages.
    fn unread(&self) -> impl Iterator<Item = String> {
        let chooses = |key: &str| key.ends_with("dependencies") || ["group", "envs"].contains(&key);
        let others = self.others.iter().filter_map(|(tool, table)| Some((tool.as_str(), table.as_table()?)));
        others.chain([("poetry", &self.poetry)]).flat_map(move |(tool, table)| {
            table.keys().filter(move |key| chooses(key)).map(move |key| format!("[tool.{tool}] {key}"))
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Project {
    name: Option<String>,
    requires_python: Option<String>,
    #[serde(default)]
    dependencies: Vec<Spanned<String>>,
    #[serde(default)]
    optional_dependencies: toml::Table,
    #[serde(default)]
    dynamic: Vec<String>,
}

fn pyproject(source: &Source, markers: &MarkerEnvironment, include: Include<'_>) -> Result<Listed, String> {
    let file: Pyproject = toml::from_str(&source.text).map_err(|error| error.message().to_owned())?;
    let (groups, tool, is_built) = (file.groups, file.tool, file.build_system.is_some());
    let project = match file.project {
        Some(project) => project,
        None if tool.pixi.is_some() => Project::default(),
        None => return Err("it has no `[project]` with `dependencies`; other tables are not read".to_owned()),
    };
    let mut listed = Listed::default();
    let python = &markers.python_full_version().version;
    let wanted = project.requires_python.as_deref().and_then(|text| Some((text, lenient_specifiers(text)?)));
    if let Some((text, _)) = wanted.filter(|(_, wanted)| !range_of(wanted).contains(&python.only_release())) {
        listed.other_python = Some(text.to_owned());
    }
    for dependency in &project.dependencies {
        let known = listed.sizes();
        let line = dependency.get_ref();
        let read = one(line, markers, &mut listed);
        listed.refused.extend(read.err().map(|error| format!("`{line}`: {error}")));
        listed.place(known, source, dependency.span());
    }
    listed.open.extend(project.optional_dependencies.keys().map(|extra| format!("[{extra}]")));
    listed.open.extend(groups.keys().map(|group| format!("[dependency-groups] {group}")));
    tool.pixi.iter().for_each(|manifest| manifest.read_into(&mut listed, source, markers));
    let files = tool.setuptools.files();
    for file in &files {
        listed.merge(read_included(file, markers, include));
    }
    let is_open = |field: &str| field.ends_with("dependencies") && (field != "dependencies" || files.is_empty());
    let dynamic = project.dynamic.iter().filter(|field| is_open(field));
    listed.unread.extend(dynamic.map(|field| format!("dynamic = [\"{field}\"]")));
    listed.unread.extend(tool.unread());
    listed.unread.extend(project.name.filter(|_| is_built).map(|name| format!("the project {name} itself")));
    place(&tool.places_of_poetry(), &mut listed);
    listed.indexes.extend(tool.sources());
    // It counts more than the project's own table.
    if let Ok(text) = include("uv.toml") {
        let settings: UvSettings = toml::from_str(&text).map_err(|error| format!("uv.toml: {}", error.message()))?;
        settings.read_into(&mut listed, markers);
    }
    tool.uv.read_into(&mut listed, markers);
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::read_other;
    use crate::boot::audit::Listed;
    use crate::core::diag::Source;
    use crate::core::model::{Libc, PythonFacts};

    fn read(name: &str, text: &str) -> Result<Listed, String> {
        let python = PythonFacts {
            version: "3.12.3".parse().expect("a version"),
            architecture: "x86_64".to_owned(),
            libc: Libc::Glibc(2, 35),
            free_threaded: false,
        };
        let markers = python.marker_environment().expect("an environment");
        let source = Source { name: name.into(), text: text.into() };
        let include = |path: &str| if path == "more.txt" { Ok("c==3\n".to_owned()) } else { Err("none".to_owned()) };
        read_other(&source, &markers, &include).expect("a known file")
    }

    fn named(listed: &Listed) -> Vec<String> {
        let place = |one: &crate::boot::audit::Named| {
            one.place.as_ref().map(|place| place.source.text[place.span.clone()].to_owned())
        };
        listed
            .named
            .iter()
            .map(|one| format!("{} {} at {}", one.name, one.version, place(one).unwrap_or_default()))
            .collect()
    }

    #[test]
    fn a_pyproject_names_its_dependencies() {
        let text = "[project]\nname = 'x'\ndependencies = [\n  'a==1',\n  'b>=2',\n]\n[project.optional-dependencies]\ndev = ['z']\n";
        let listed = read("pyproject.toml", text).expect("a file");
        assert_eq!(named(&listed), ["a 1 at 'a==1'"]);
        assert_eq!((listed.open, listed.asked.len()), (vec!["[dev]".to_owned()], 2));
        assert!(read("pyproject.toml", "[tool.x]\n").is_err());
        assert_eq!(read("pyproject.toml", "[project]\ndependencies = ['a=1']\n").expect("a table").refused.len(), 1);
    }

    #[test]
    fn a_pyproject_may_leave_its_dependencies_to_files() {
        let text =
            "[project]\nname = 'x'\ndynamic = ['dependencies', 'optional-dependencies']\n[tool.setuptools.dynamic]\n";
        for files in ["'more.txt'", "['more.txt']"] {
            let listed =
                read("pyproject.toml", &format!("{text}dependencies = {{ file = {files} }}\n")).expect("a file");
            assert_eq!(
                (named(&listed).len(), &listed.unread[..]),
                (1, &["dynamic = [\"optional-dependencies\"]".to_owned()][..])
            );
        }
        let gone = read("pyproject.toml", &format!("{text}dependencies = {{ file = 'gone.txt' }}\n")).expect("a file");
        assert_eq!(gone.refused.len(), 1);
        assert_eq!(read("pyproject.toml", text).expect("a file").unread.len(), 2);
    }

    #[test]
    fn lists_of_conda_are_read() {
        let head = "# This file may be used to create an environment using:\n# platform: linux-64\n";
        let listed = format!("{head}_libgcc_mutex=0.1=main\nnumpy=1.26.4=py312h64a7726_0\na=1.0=pypi_0\n");
        let listed = read("spec.txt", &listed).expect("a list");
        assert_eq!(listed.conda, ["_libgcc_mutex=0.1=main", "numpy=1.26.4=py312h64a7726_0"]);
        assert_eq!(named(&listed), ["a 1.0 at a==1.0"]);
        let place = "https://conda.example/conda-forge/linux-64";
        let explicit = format!("@EXPLICIT\n{place}/typing-extensions-4.9.0-py_0.conda#0123\n{place}/b-1-0.tar.bz2\n");
        let explicit = read("spec.txt", &explicit).expect("a list");
        assert_eq!(explicit.conda, ["typing-extensions=4.9.0=py_0", "b=1=0"]);
    }

    #[test]
    fn an_environment_file_names_what_pip_installs() {
        let text =
            "name: x\ndependencies:\n  - python=3.12\n  - numpy=1.26\n  - pip:\n      - a==1\n      - -r more.txt\n";
        let listed = read("environment.yml", text).expect("a file");
        assert_eq!(named(&listed), ["a 1 at a==1", "c 3 at c==3"]);
        assert_eq!(listed.conda, ["python=3.12", "numpy=1.26"]);
        assert!(read("environment.yml", "a: [").is_err());
    }

    /// The last installer has the last word; values that a cell gives are put in; lists after short options; calls.
    #[test]
    fn the_lines_of_a_notebook_are_read_in_their_order() {
        let text = r#"{"nbformat": 4, "cells": [
            {"cell_type": "code", "source": "!pip install a==1 'b>=1'\nV = '3'\n"},
            {"cell_type": "code", "source": "!pip install -qr more.txt\n!pip install c=={V}.1 b\nimport os\nos.system('pip install d==4 -q')\n"},
            {"cell_type": "code", "source": "%pip install -U a==2 --extra-index-url https://i.example/cu118\n"}]}"#;
        let listed = read("x.ipynb", text).expect("a notebook");
        let asked: Vec<String> =
            listed.asked.iter().map(|one| format!("{}{}", one.requirement.name, one.requirement.specifiers)).collect();
        assert_eq!(asked, ["a==1", "b>=1", "c==3", "c==3.1", "b", "d==4", "a==2"]);
        assert_eq!(listed.asked.iter().map(|one| one.command).collect::<Vec<_>>(), [0, 0, 1, 2, 2, 3, 4]);
        assert_eq!(listed.named.len(), 3, "{:?}", named(&listed));
        assert_eq!(listed.indexes[0].url, "https://i.example/cu118");
    }

    #[test]
    fn a_notebook_names_what_its_cells_install() {
        let text = r#"{"nbformat": 4, "cells": [
            {"cell_type": "markdown", "source": "%pip install no==1"},
            {"cell_type": "code", "source": ["import x\n", "%pip install -q a==1 \"b>=2\" --index-url https://i.example # why\n"]},
            {"cell_type": "code", "source": "!uv pip install --system c==3 && echo done\n!pip install -r more.txt\n!ls install\n"},
            {"cell_type": "code", "source": "!pip install d==4 > /dev/null 2>&1\n!pip install e==5; ls\n!pip install {name} -r gone.txt\n"},
            {"cell_type": "code", "source": "%%bash\nset -e\npip install f==6\npython3 -m pip install g==7\n# pip install no==1\n"},
            {"cell_type": "code", "source": "%pip install -q \\\n  h==8 \\\n  i==9\n"},
            {"cell_type": "code", "source": "print('pip install no==1')\n"}]}"#;
        let listed = read("x.ipynb", text).expect("a notebook");
        let line = "%pip install -q a==1 \"b>=2\" --index-url https://i.example # why";
        assert_eq!(named(&listed)[0], format!("a 1 at {line}"));
        assert_eq!(listed.named.len(), 8, "{:?}", named(&listed));
        assert_eq!(listed.asked.len(), 10, "{:?}", listed.asked);
        assert_eq!(listed.open, ["cell 4: {name}", "cell 4: gone.txt"]);
        assert!(listed.named[2].place.as_ref().is_some_and(|place| place.source.name.ends_with("cell 4")));
    }
}
