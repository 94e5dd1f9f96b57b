//! Packages that the profile names or that have compiled code: whether they can be imported, in a process of their own,
//! and why not.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::boot::lock::{LockedPackage, LockedTarget};
use crate::boot::machine::{find_info, installed_modules};
use crate::boot::profile::{Profile, Wanted};
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::boot::verdict::Files;
use crate::core::diag::{Code, Finding, Subject, counted};
use crate::core::host::command::{Finished, last_lines};
use crate::core::host::{Invocation, files};
use crate::core::inspect::parse_record;
use crate::core::matrix::{SystemLibraries, distribution_of, release_of};
use crate::core::model::PackageName;

const SCRIPT: &str = include_str!("native.py");

/// For all of them.
const LIMIT: Duration = Duration::from_mins(5);

/// Folders of a package that are no modules to import.
const ASIDE: [&str; 9] = ["test", "tests", "testing", "docs", "doc", "examples", "benchmarks", "scripts", "tools"];

/// A line that the script writes.
#[derive(Deserialize)]
struct Line {
    begins: Option<String>,
    ends: Option<String>,
    error: Option<String>,
    /// A check in its code has failed, not its import.
    #[serde(default)]
    checked: bool,
}

/// Imports what the profile names and what the lock has installed with compiled code, but for what has a smoke test,
/// and says what can't be imported.
pub fn imports(
    session: &Session<'_>,
    profile: &Profile,
    seen: &Seen,
    target: &LockedTarget,
    files: &Files,
) -> Vec<Finding> {
    let Some(python) = seen.interpreter() else {
        return Vec::new();
    };
    let mut open: VecDeque<(PackageName, String)> = modules(session, profile, seen, target).into();
    let mut findings = Vec::new();
    while !open.is_empty() {
        session.say(&format!("importing {}", counted(open.len(), "package")));
        let Ok(finished) = run(session, python, &open) else { break };
        let lines: Vec<Line> = finished.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let ended = lines.iter().filter_map(|line| line.ends.as_ref()).count();
        for line in &lines {
            let name = line.ends.as_ref().and_then(|name| name.parse().ok());
            if let (Some(name), Some(error)) = (name, &line.error) {
                let kind = if line.checked { FailedAt::Check } else { FailedAt::Import };
                findings.push(finding(session, seen, (profile, target), &name, (kind, error)));
            }
        }
        let last = lines.last().and_then(|line| line.begins.as_ref()).and_then(|name| name.parse().ok());
        if let Some(name) = &last {
            let error =
                format!("the process ended with exit code {}\n{}", finished.code, last_lines(&finished.stderr, 4));
            findings.push(finding(session, seen, (profile, target), name, (FailedAt::Import, &error)));
        }
        let done = ended + usize::from(last.is_some());
        // A script that says nothing has nothing to say the next time.
        if done == 0 {
            break;
        }
        open.drain(..done.min(open.len()));
    }
    findings.into_iter().map(|finding| by_files(finding, files)).collect()
}

/// `finding`, with other help where the files of the package are not those of its wheel.
fn by_files(mut finding: Finding, files: &Files) -> Finding {
    if finding.about.iter().any(|one| files.faulty.iter().any(|name| name.as_ref() == one.name())) {
        finding.help = vec!["its files are not those of the wheel: run `colab-boot apply` first".to_owned()];
    }
    finding
}

fn run(session: &Session<'_>, python: &Path, open: &VecDeque<(PackageName, String)>) -> Result<Finished, ()> {
    let words: Vec<String> = open.iter().map(|(name, modules)| format!("{name}={modules}")).collect();
    let mut arguments = vec!["-I", "-c", SCRIPT];
    arguments.extend(words.iter().map(String::as_str));
    let mut environment: BTreeMap<String, String> = session.environment.clone();
    environment.insert("TF_CPP_MIN_LOG_LEVEL".to_owned(), "2".to_owned());
    Invocation::new(python, &arguments, &environment).output(LIMIT).map_err(drop)
}

/// The packages to import, each with its modules.
fn modules(session: &Session<'_>, profile: &Profile, seen: &Seen, target: &LockedTarget) -> Vec<(PackageName, String)> {
    let meant = target.packages.iter().filter(|package| {
        let tested = profile.smoke.contains(&package.name);
        (is_compiled(package) || profile.wants(&package.name))
            && !tested
            && !session.matrix.is_cuda_library(&package.name)
    });
    let of = meant.filter_map(|package| {
        let location = seen.machine.installed.get(&package.name)?.location.as_ref()?;
        let all = installed_modules(&package.name, location).ok()?;
        let is_link = profile.wanted.iter().any(|one| one.name == package.name && is_editable(one));
        let linked = if is_link { modules_behind(&package.name, location) } else { Vec::new() };
        let all = all.iter().chain(&linked).map(String::as_str);
        let mut own: Vec<&str> = all.filter(|name| !ASIDE.contains(name)).collect();
        if own.iter().any(|name| !name.starts_with('_')) {
            own.retain(|name| !name.starts_with('_'));
        }
        // The module of the package's own name is the one that people import; others beside it may need what is
        // optional. Of compiled ones all are tried where none has that name.
        let named = package.name.to_string().replace('-', "_");
        if own.contains(&named.as_str()) {
            own.retain(|name| *name == named);
        } else if own.len() > 1 && !is_compiled(package) && !is_link {
            own.clear();
        }
        own.extend(checks(session, seen, package));
        (!own.is_empty()).then(|| (package.name.clone(), own.join(",")))
    });
    of.collect()
}

fn is_editable(wanted: &Wanted) -> bool {
    wanted.origin.as_ref().is_some_and(|origin| origin.editable().is_some())
}

/// The modules that a link to a project's folder leads to, where its build says so (setuptools, `top_level.txt`).
fn modules_behind(name: &PackageName, site: &Path) -> Vec<String> {
    let info = find_info(site, name).ok().flatten();
    let text = info.and_then(|info| files::read_optional(&info.join("top_level.txt")).ok().flatten());
    let is_name = |line: &&str| !line.is_empty() && line.chars().all(|c| c.is_alphanumeric() || c == '_');
    text.unwrap_or_default().lines().map(str::trim).filter(is_name).map(str::to_owned).collect()
}

fn is_compiled(package: &LockedPackage) -> bool {
    package.wheel().is_some_and(|wheel| !wheel.file.ends_with("-any.whl"))
}

/// Where `package` checks in its code the version of what is installed beside it, for versions that should pass. One
/// that does not is known to the rules.
fn checks<'a>(session: &'a Session<'_>, seen: &Seen, package: &'a LockedPackage) -> impl Iterator<Item = &'a str> {
    let rows = session.matrix.overlays(&package.name, &package.version);
    rows.filter_map(|row| {
        let other = seen.machine.installed.get(&row.requirement.name)?;
        row.checked_by.as_deref().filter(|_| row.requirement.specifiers.contains(&other.version))
    })
}

/// What a package has failed at.
enum FailedAt {
    Import,
    /// A check in its code.
    Check,
}

/// What is wrong, and what is known of it: an error where the profile names the package or its compiled code does not
/// fit, else a warning.
fn finding(
    session: &Session<'_>,
    seen: &Seen,
    (profile, target): (&Profile, &LockedTarget),
    name: &PackageName,
    (kind, error): (FailedAt, &str),
) -> Finding {
    let version = target.package(name).map(|package| package.version.to_string()).unwrap_or_default();
    let what = match kind {
        FailedAt::Check => "refuses what is installed beside it",
        FailedAt::Import => "can't be imported",
    };
    let message = format!("{name} {version} {what}");
    let known = explanation(session, (seen, target), error);
    let finding = if profile.wants(name) || known.is_some() {
        Finding::error(Code::VerifyImport, message)
    } else {
        Finding::warning(Code::VerifyImport, message)
    };
    let finding = finding.about(Subject::package(name)).with_note(error.to_owned());
    known.into_iter().fold(finding, Finding::with_help)
}

/// Whether the list of the files of `package` has the module `module`.
fn is_recorded(seen: &Seen, package: &str, module: &str) -> bool {
    let folder = seen.layout().map(|layout| layout.purelib.clone()).unwrap_or_default();
    let info = package.parse().ok().and_then(|name| find_info(&folder, &name).ok().flatten());
    let Some(info) = info else { return false };
    let path = module.replace('.', "/");
    let record = files::read_optional(&info.join("RECORD")).ok().flatten().unwrap_or_default();
    let mut entries = parse_record(&record).into_iter();
    entries.any(|entry| entry.path.strip_prefix(&path).is_some_and(|rest| rest.starts_with(['.', '/'])))
}

/// What the words of a failed import mean.
fn explanation(session: &Session<'_>, (seen, target): (&Seen, &LockedTarget), error: &str) -> Option<String> {
    if let Some((before, _)) = error.split_once(": cannot open shared object file") {
        let library = before.rsplit([' ', '\n']).next().unwrap_or(before);
        let system = SystemLibraries::bundled().ok();
        let release = release_of(&seen.machine.os);
        let debian = system.as_ref().and_then(|system| system.package(library, release.as_deref()));
        return Some(match (debian, session.matrix.carrier_of(library)) {
            (Some(package), _) => format!("`{library}` is in the Debian package `{package}`: add it under `[apt]`"),
            (None, Some(package)) => format!(
                "`{library}` is in the wheels of `{package}`: add it, or choose a release for the installed CUDA"
            ),
            (None, None) => {
                format!("no package contains `{library}`; `colab-boot audit` lists other mismatches")
            }
        });
    }
    if let Some((_, rest)) = error.split_once("No module named '") {
        let module = rest.split(['\'', '.']).next().unwrap_or_default();
        let package = distribution_of(module).map_or_else(|| module.replace('_', "-"), ToString::to_string);
        // Of a submodule, another release may have none.
        let is_whole = rest.split('\'').next() == Some(module);
        let is_locked = package.parse().is_ok_and(|name| target.package(&name).is_some());
        return Some(match module {
            "pkg_resources" => "setuptools 82 has no `pkg_resources` any more: add `setuptools = \"<82\"`".to_owned(),
            _ if is_locked && is_whole => {
                format!("`{package}` is locked, but has no module `{module}`: run `colab-boot apply`")
            }
            _ if is_locked => {
                let module = rest.split('\'').next().unwrap_or_default();
                if is_recorded(seen, &package, module) {
                    format!("the module `{module}` of `{package}` is missing on disk: run `colab-boot apply`")
                } else {
                    format!("the locked `{package}` has no module `{module}`: another release may have it")
                }
            }
            _ => format!("the module `{module}` is not installed: add `{package}` to the profile"),
        });
    }
    let says = |words: &[&str]| words.iter().any(|word| error.contains(word));
    if says(&[
        "numpy.dtype size changed",
        "compiled using NumPy 1.x",
        "numpy.core.multiarray failed to import",
        "_ARRAY_API not found",
    ]) {
        return Some("it was compiled against NumPy 1: use a newer release of it, or `numpy = \"<2\"`".to_owned());
    }
    if says(&["undefined symbol: _ZN"]) && says(&["2at", "3c10", "5torch"]) {
        return Some("it was compiled against another torch: `colab-boot matrix inspect` shows which".to_owned());
    }
    if says(&["GLIBC_", "GLIBCXX_", "CXXABI_"]) && says(&["not found"]) {
        return Some("it needs a newer C or C++ library than this system has: use an older release of it".to_owned());
    }
    if says(&["undefined symbol", "invalid ELF header", "wrong ELF class", "the process ended with exit code"]) {
        return Some("its compiled code does not fit the environment; `colab-boot audit` lists mismatches".to_owned());
    }
    None
}
