//! Source distributions, for the packages that a profile lets be built: their metadata. It is read where the archive
//! promises that a build would give the same (PEP 643, PEP 621); otherwise pip on the target's Python is asked, which
//! runs the project's own build code.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::core::diag::Failure;
use crate::core::host::mounts::Look;
use crate::core::host::{Invocation, files};
use crate::core::inspect::Archive;
use crate::core::model::catalog::Candidate;
use crate::core::model::requirement::marker_of;
use crate::core::model::{PackageName, Sha256, Version};

/// The largest source distribution, and the largest PKG-INFO.
pub(super) const LIMIT: u64 = 512 << 20;
const TEXT_LIMIT: u64 = 16 << 20;

/// How long preparing the metadata may take; it may install a compiler's worth of build requirements first.
const AT_MOST: Duration = Duration::from_mins(10);

/// The Python that can prepare metadata.
#[derive(Clone, Debug)]
pub struct Builder {
    pub python: PathBuf,
    /// What its processes see.
    pub environment: BTreeMap<String, String>,
}

/// The metadata of the source distribution `bytes` as headers. `folder` is where it may be put for pip.
pub(super) fn headers(
    candidate: &Candidate,
    bytes: &[u8],
    builder: Option<&Builder>,
    folder: &Path,
) -> Result<String, Failure> {
    let failed = |why: String, help: &str| {
        Failure::world(format!("could not read the requirements of `{}`", candidate.file)).cause(why).help(help)
    };
    if candidate.sha256.is_some_and(|digest| Sha256::of(bytes) != digest) {
        return Err(failed("the file differs from the one that the index lists".to_owned(), "run the command again"));
    }
    if let Some(text) = package_info(&candidate.file, bytes).filter(|text| is_static(text)) {
        return Ok(text);
    }
    let project = at_top(&candidate.file, bytes, "pyproject.toml").and_then(|text| StaticProject::read(&text));
    if let Some(project) = project.filter(StaticProject::has_static_requirements) {
        return Ok(project.headers());
    }
    let Some(builder) = builder else {
        let why = "its metadata must be built with the target's Python, which is not on this machine";
        return Err(failed(
            why.to_owned(),
            "run `colab-boot lock` on the target, or name a wheel with `url` and `sha256`",
        ));
    };
    let path = folder.join(candidate.identity().to_string()).join(&candidate.file);
    files::write_whole_fast(&path, bytes).map_err(|error| failed(error.to_string(), "free some disk space"))?;
    let reported = reported(builder, &path, false).map(|metadata| metadata.headers()).or_else(|failed| {
        // A build that looks for a framework: what its authors' build said counts first.
        let authors = failed.0.contains(NO_MODULE).then(|| of_authors(&candidate.file, bytes)).flatten();
        let shared = || with_environment(builder, &path, failed).map(|metadata| metadata.headers());
        authors.map_or_else(shared, Ok)
    });
    let _ = std::fs::remove_dir_all(path.parent().unwrap_or(&path));
    reported.map_err(|(why, help)| failed(why, help))
}

/// Why pip says nothing of a project, and what helps.
type Unreported = (String, &'static str);

/// What Python says where a module that is imported is not there.
const NO_MODULE: &str = "No module named";

/// What pip says of the project at `path`, an archive or a folder; runs its own build code, which sees what is
/// installed if `shared`.
fn reported(builder: &Builder, path: &Path, shared: bool) -> Result<Metadata, Unreported> {
    let shown = path.display().to_string();
    let mut arguments = vec![
        "-I",
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--no-deps",
        "--ignore-installed",
        "--no-input",
        "--quiet",
        "--disable-pip-version-check",
        "--report",
        "-",
    ];
    arguments.extend(shared.then_some("--no-build-isolation"));
    arguments.push(&shown);
    let finished = Invocation::new(&builder.python, &arguments, &builder.environment).must_succeed(AT_MOST);
    let finished = finished.map_err(|failure| {
        let why = [vec![failure.message], failure.causes].concat().join(": ");
        let help = if why.contains(NO_MODULE) {
            "its build looks for that module, and does not ask for it: state `name`, `version` and `dependencies` in \
             `[project]` of its pyproject.toml, or install the module's package and setuptools first"
        } else {
            "install what its build needs, such as an apt package, or name a wheel with `url` and `sha256`"
        };
        (why, help)
    })?;
    let report: PipReport = serde_json::from_str(&finished.stdout)
        .map_err(|error| (format!("pip's report can't be read: {error}"), "pip 22.2 or newer is needed"))?;
    Ok(report.install.into_iter().next().map(|one| one.metadata).unwrap_or_default())
}

/// What is known of a project in a folder.
pub struct ProjectMetadata {
    pub name: PackageName,
    pub version: Version,
    /// What it requires, as headers of METADATA, where the files of the project do not state it.
    pub requirements: Option<String>,
}

/// Name and version of the project in `folder`, and, where `whole`, what it requires. They are read from its
/// pyproject.toml where that states them; otherwise `builder` builds its metadata. The error says why that is
/// impossible.
pub fn project_metadata(folder: &Path, whole: bool, builder: Option<&Builder>) -> Result<ProjectMetadata, Failure> {
    let shown = folder.display();
    let text = files::read_optional(&folder.join("pyproject.toml"))?;
    let is_project = text.is_some() || folder.join("setup.py").is_file_there();
    if !folder.is_there() {
        return Err(Failure::input(format!("there is no `{shown}`")).help("check the path"));
    }
    if !is_project {
        return Err(Failure::input(format!("`{shown}` is not a Python project"))
            .help("a project has a pyproject.toml or a setup.py; one below a repository needs `subdirectory`"));
    }
    if let Some(project) = text.as_deref().and_then(StaticProject::read)
        && (!whole || project.has_static_requirements())
        && let Some(version) = &project.version
    {
        return Ok(ProjectMetadata { name: project.name, version: version.clone(), requirements: None });
    }
    let failed = |why: String, help: &str| {
        Failure::world(format!("could not read the name and the version of the project in `{shown}`"))
            .cause(why)
            .help(help)
    };
    let Some(builder) = builder else {
        let why = "they must be built with the target's Python, which is not on this machine";
        return Err(failed(
            why.to_owned(),
            "write `version` into its pyproject.toml, or run the command on the target",
        ));
    };
    let folder = files::absolute(folder)?;
    let metadata = reported(builder, &folder, false).or_else(|failed| with_environment(builder, &folder, failed));
    let metadata = metadata.map_err(|(why, help)| failed(why, help))?;
    match (metadata.name.parse(), metadata.version.parse()) {
        (Ok(name), Ok(version)) => Ok(ProjectMetadata { name, version, requirements: Some(metadata.headers()) }),
        _ => Err(failed("pip reported none".to_owned(), "see what `pip install` says of it")),
    }
}

/// Whether the pyproject.toml in `folder` states the version, and what the project requires.
pub fn states_all(folder: &Path) -> bool {
    let text = files::read_optional(&folder.join("pyproject.toml")).ok().flatten();
    let project = text.as_deref().and_then(StaticProject::read);
    project.is_some_and(|project| project.version.is_some() && project.has_static_requirements())
}

/// PKG-INFO at the top of the `.tar.gz` at `path`.
pub fn package_info_in(path: &Path) -> Option<String> {
    let bytes = files::read_bytes(path, LIMIT).ok()?;
    at_top(&path.to_string_lossy(), &bytes, "PKG-INFO")
}

/// `[project]` of a pyproject.toml (PEP 621). A build may not change the fields that it states, except `dynamic` ones.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct StaticProject {
    name: PackageName,
    version: Option<Version>,
    requires_python: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
    #[serde(default)]
    optional_dependencies: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    dynamic: Vec<String>,
}

impl StaticProject {
    fn read(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Pyproject {
            project: StaticProject,
        }
        toml::from_str(text).ok().map(|file: Pyproject| file.project)
    }

    fn has_static_requirements(&self) -> bool {
        let open = ["dependencies", "optional-dependencies", "requires-python"];
        !self.dynamic.iter().any(|field| open.contains(&field.as_str()))
    }

    fn headers(&self) -> String {
        let mut metadata = Metadata {
            requires_dist: self.dependencies.clone(),
            requires_python: self.requires_python.clone(),
            provides_extra: self.optional_dependencies.keys().cloned().collect(),
            ..Metadata::default()
        };
        for (extra, lines) in &self.optional_dependencies {
            metadata.requires_dist.extend(lines.iter().map(|line| with_extra(line, extra)));
        }
        metadata.headers()
    }
}

/// A requirement of an extra, as METADATA has it.
fn with_extra(line: &str, extra: &str) -> String {
    match marker_of(line) {
        Some(marker) => {
            let head = line[..line.len() - marker.len()].trim_end().trim_end_matches(';');
            format!("{head}; ({marker}) and extra == '{extra}'")
        }
        None => format!("{line} ; extra == '{extra}'"),
    }
}

#[derive(Deserialize)]
struct PipReport {
    install: Vec<PipInstalled>,
}

#[derive(Deserialize)]
struct PipInstalled {
    metadata: Metadata,
}

/// As `packaging` writes METADATA in JSON (PEP 566).
#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
    version: String,
    requires_dist: Vec<String>,
    provides_extra: Vec<String>,
    requires_python: Option<String>,
}

impl Metadata {
    fn headers(&self) -> String {
        let python: Vec<String> = self.requires_python.iter().cloned().collect();
        [
            lines("Requires-Python", &python),
            lines("Requires-Dist", &self.requires_dist),
            lines("Provides-Extra", &self.provides_extra),
        ]
        .concat()
    }
}

fn lines(name: &str, values: &[String]) -> String {
    values.iter().map(|value| format!("{name}: {}\n", value.replace('\n', " "))).collect()
}

/// What pip says if the build sees what is installed, where it has `failed` because a module is missing: one that it
/// looks for and does not ask for, such as torch, may be there.
fn with_environment(builder: &Builder, path: &Path, failed: Unreported) -> Result<Metadata, Unreported> {
    if failed.0.contains(NO_MODULE) { reported(builder, path, true).map_err(|_| failed) } else { Err(failed) }
}

/// What the build of the archive's authors said: its PKG-INFO or, as older setuptools have it, `requires.txt` beside
/// another one. `None` where there is neither.
fn of_authors(file: &str, bytes: &[u8]) -> Option<String> {
    let headers = package_info(file, bytes)?;
    if values(&headers, "Requires-Dist").next().is_some() {
        return Some(headers);
    }
    member(file, bytes, &|path| path.ends_with(".egg-info/PKG-INFO"))?;
    let requires = member(file, bytes, &|path| path.ends_with(".egg-info/requires.txt")).unwrap_or_default();
    Some(format!("{headers}\n{}", of_requires_txt(&requires)))
}

/// `requires.txt` of setuptools, in sections `[extra:marker]`, as headers.
fn of_requires_txt(text: &str) -> String {
    let (mut extra, mut marker) = ("", "");
    let mut found = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            (extra, marker) = section.split_once(':').unwrap_or((section, ""));
            continue;
        }
        let line = if marker.is_empty() { line.to_owned() } else { format!("{line} ; {marker}") };
        let line = if extra.is_empty() { line } else { with_extra(&line, extra) };
        found.push(line);
    }
    lines("Requires-Dist", &found)
}

/// PKG-INFO at the top of the archive.
fn package_info(file: &str, bytes: &[u8]) -> Option<String> {
    let text = at_top(file, bytes, "PKG-INFO")?.replace('\r', "");
    Some(text.split("\n\n").next().unwrap_or_default().to_owned())
}

/// The text of the file `name` at the top of an archive.
fn at_top(file: &str, bytes: &[u8], name: &str) -> Option<String> {
    member(file, bytes, &|path| path.split_once('/').is_some_and(|(_, rest)| rest == name))
}

/// The text of the first file of an archive whose path `is_it`.
fn member(file: &str, bytes: &[u8], is_it: &dyn Fn(&str) -> bool) -> Option<String> {
    if file.ends_with(".zip") {
        let mut archive = Archive::open(std::io::Cursor::new(bytes)).ok()?;
        let member = archive.files().members.iter().find(|member| is_it(&member.path)).cloned()?;
        return archive.text(&member, TEXT_LIMIT).ok();
    }
    let mut archive = tar::Archive::new(GzDecoder::new(bytes));
    let mut entries = archive.entries().ok()?.filter_map(Result::ok);
    let entry = entries.find(|entry| entry.path().is_ok_and(|path| is_it(&path.to_string_lossy())))?;
    let mut text = String::new();
    entry.take(TEXT_LIMIT).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Whether a build would give the same requirements: Metadata-Version 2.2 or later, and these fields not among the
/// dynamic ones.
fn is_static(headers: &str) -> bool {
    let version = values(headers, "Metadata-Version").next().and_then(|version| {
        let (major, minor) = version.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    let open = ["requires-dist", "provides-extra", "requires-python"];
    version.is_some_and(|version| version >= (2, 2))
        && !values(headers, "Dynamic").any(|field| open.contains(&field.to_ascii_lowercase().as_str()))
}

/// The values of the field `wanted`, in their order.
fn values<'h>(headers: &'h str, wanted: &'static str) -> impl Iterator<Item = &'h str> {
    headers.lines().filter_map(move |line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(wanted).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::{StaticProject, is_static, of_requires_txt};

    #[test]
    fn a_project_states_what_a_build_may_not_change() {
        let text = "[project]\nname = 'a'\nversion = '1'\nrequires-python = '>=3.9'\ndependencies = ['b>1']\n\
                    [project.optional-dependencies]\nx = ['c; python_version > \"3\"', 'd[e]']\n";
        let project = StaticProject::read(text).expect("a project");
        let headers = "Requires-Python: >=3.9\nRequires-Dist: b>1\n\
                       Requires-Dist: c; (python_version > \"3\") and extra == 'x'\n\
                       Requires-Dist: d[e] ; extra == 'x'\nProvides-Extra: x\n";
        assert!(project.has_static_requirements());
        assert_eq!(project.headers(), headers);
        let open = StaticProject::read("[project]\nname = 'a'\ndynamic = ['version', 'dependencies']\n").expect("one");
        assert!(open.version.is_none() && !open.has_static_requirements());
    }

    #[test]
    fn what_setuptools_has_written_down_is_understood() {
        let text = "a>=1\n\n[:python_version < \"3.9\"]\nb\n\n[x]\nc[d]\n\n[x:os_name == \"nt\"]\ne\n";
        let headers = "Requires-Dist: a>=1\nRequires-Dist: b ; python_version < \"3.9\"\n\
                       Requires-Dist: c[d] ; extra == 'x'\n\
                       Requires-Dist: e ; (os_name == \"nt\") and extra == 'x'\n";
        assert_eq!(of_requires_txt(text), headers);
    }

    #[test]
    fn only_immutable_replies_are_kept_without_asking() {
        assert!(is_static("Metadata-Version: 2.2\nName: a"));
        assert!(is_static("Metadata-Version: 2.4\nName: a\nDynamic: License"));
        assert!(!is_static("Metadata-Version: 2.1\nName: a"));
        assert!(!is_static("Metadata-Version: 2.3\nName: a\nDynamic: Requires-Dist"));
        assert!(!is_static("Name: a"));
    }
}
