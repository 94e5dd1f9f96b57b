//! The interpreter: asked once, and remembered for as long as nothing that its answer depends on has changed. Starting
//! Python takes longer than the rest of an apply that changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::boot::machine::looker::{Looker, said};
use crate::boot::machine::python_search::{Candidate, candidates};
use crate::boot::machine::raw::{RawPython, Said};
use crate::core::host::mounts::{Look, limited, reach};
use crate::core::host::{Invocation, Paths, files};
use crate::core::model::Sha256;

const LIMIT: Duration = Duration::from_secs(20);
const PROBE: &str = include_str!("probe.py");

/// A file that is younger, in seconds, may change again without its time telling.
const SETTLED: u64 = 2;

/// Asks the interpreters that may be meant, one after the other, until one answers; and what those before it said.
pub fn observe_python(looker: Looker<'_>) -> (Option<RawPython>, Vec<Said>) {
    let (candidates, wanted) = candidates(looker);
    let mut errors = Vec::new();
    for Candidate { path, origin } in candidates {
        match ask(looker, &path) {
            Ok(python) if wanted.as_ref().is_none_or(|wanted| has_version(&python.version, wanted)) => {
                return (Some(RawPython { origin, ..python }), errors);
            }
            Ok(_) => {}
            Err(said) => {
                let (there, reached) = (path.is_there(), reach(&path));
                errors.push(said);
                // The one that is meant is behind a mount that is silent: another one is not meant.
                if reached.is_err() {
                    return (None, errors);
                }
                let python = if there { ask_without_site(looker, &path) } else { None };
                if let Some(python) =
                    python.filter(|one| wanted.as_ref().is_none_or(|wanted| has_version(&one.version, wanted)))
                {
                    return (Some(RawPython { origin, ..python }), errors);
                }
            }
        }
    }
    (None, errors)
}

/// Whether `version` is `wanted` or a more exact one.
fn has_version(version: &str, wanted: &str) -> bool {
    version == wanted || version.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(['.', 'a', 'b', 'r', '+']))
}

/// Interpreters that have let us wait in vain: in this run they would again.
static SILENT: Mutex<BTreeMap<PathBuf, Said>> = Mutex::new(BTreeMap::new());

/// Whether the interpreter at `path` did not answer when this run asked it.
pub fn is_silent(path: &Path) -> bool {
    SILENT.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
}

/// What the interpreter at `path` says of itself, now or when it was asked last.
fn ask(looker: Looker<'_>, path: &Path) -> Result<RawPython, Said> {
    let remembered = Remembered::at(looker.paths, path, looker.environment);
    if let Some(python) = remembered.as_ref().and_then(Remembered::recall) {
        return Ok(python);
    }
    if let Some((before, python)) = asked_before().get(path)
        && stamps(path, python) == *before
    {
        return Ok(python.clone());
    }
    let silent = || SILENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(said) = silent().get(path) {
        return Err(said.clone());
    }
    let python = asked(looker, path, &["-I", "-c", PROBE]).inspect_err(|said| {
        if said.timed_out {
            silent().insert(path.to_owned(), said.clone());
        }
    })?;
    if let Some(remembered) = remembered {
        remembered.keep(&python, looker.now);
    }
    asked_before().insert(path.to_owned(), (stamps(path, &python), python.clone()));
    Ok(python)
}

/// What interpreters have said to this run, and what it depended on.
fn asked_before() -> MutexGuard<'static, BTreeMap<PathBuf, (Vec<Stamp>, RawPython)>> {
    static ASKED: Mutex<BTreeMap<PathBuf, (Vec<Stamp>, RawPython)>> = Mutex::new(BTreeMap::new());
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the interpreter at `path` answers to the probe.
fn asked(looker: Looker<'_>, path: &Path, arguments: &[&str]) -> Result<RawPython, Said> {
    let mut answer = said(&Invocation::new(path, arguments, looker.environment), limited(LIMIT));
    answer.source = path.display().to_string();
    let Some(text) = answer.text.take() else {
        return Err(answer);
    };
    let line = text.rsplit('\u{1e}').next().and_then(|rest| rest.lines().next()).unwrap_or_default();
    serde_json::from_str(line)
        .map_err(|error| Said { error: Some(format!("its answer can't be read: {error}")), ..answer })
}

/// Asks without start-up files, for what can't be asked with them: a `.pth` that fails, hangs or ends the interpreter
/// must not lock us out.
fn ask_without_site(looker: Looker<'_>, path: &Path) -> Option<RawPython> {
    asked(looker, path, &["-I", "-S", "-c", PROBE]).ok()
}

/// The record of one interpreter in the cache.
struct Remembered {
    record: PathBuf,
    interpreter: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Record {
    python: RawPython,
    stamps: Vec<Stamp>,
}

/// What changes when a file, or the list of a folder's files, changes.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    path: PathBuf,
    /// Inode, size and time of the last change; `None` where there is no such file.
    data: Option<(u64, u64, i64, i64)>,
}

impl Stamp {
    fn of(path: PathBuf) -> Self {
        let data = path.look().ok().map(|data| (data.ino(), data.size(), data.mtime(), data.mtime_nsec()));
        Self { path, data }
    }

    fn is_settled(&self, now: u64) -> bool {
        let changed = self.data.map_or(0, |(_, _, seconds, _)| u64::try_from(seconds).unwrap_or(0));
        changed.saturating_add(SETTLED) <= now
    }
}

impl Remembered {
    fn at(paths: &Paths, interpreter: &Path, environment: &BTreeMap<String, String>) -> Option<Self> {
        let interpreter = files::absolute(interpreter).ok()?;
        let names = ["PYTHONPATH", "PYTHONNOUSERSITE", "PYTHONUSERBASE", "HOME"];
        let values: Vec<&str> = names.iter().map(|name| environment.get(*name).map_or("", String::as_str)).collect();
        let key = [interpreter.as_os_str().as_encoded_bytes(), PROBE.as_bytes(), values.join("\0").as_bytes()].join(&0);
        let record = paths.cache.join("python").join(format!("{}.json", Sha256::of(&key).short()));
        Some(Self { record, interpreter })
    }

    fn recall(&self) -> Option<RawPython> {
        let text = files::read_optional(&self.record).ok()??;
        let record: Record = serde_json::from_str(&text).ok()?;
        (stamps(&self.interpreter, &record.python) == record.stamps).then_some(record.python)
    }

    /// Nothing is kept of a launcher, such as pyenv's, which may start another interpreter tomorrow, nor of what has
    /// just changed.
    fn keep(&self, python: &RawPython, now: u64) {
        let (Ok(asked), Ok(answered)) = (self.interpreter.real(), python.path.real()) else {
            return;
        };
        let stamps = stamps(&self.interpreter, python);
        if asked == answered && stamps.iter().all(|stamp| stamp.is_settled(now)) {
            let record = Record { python: python.clone(), stamps };
            if let Ok(text) = serde_json::to_string(&record) {
                // A cache that can't be written costs the time of one question.
                let _ = files::write_whole_fast(&self.record, text.as_bytes());
            }
        }
    }
}

/// The module that a line of a `.pth` file imports first: `import name; …`.
fn imported_by(line: &str) -> Option<&str> {
    line.strip_prefix("import")?.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// Of the interpreter, its `pyvenv.cfg`, the folders of its `sys.path` and the `.pth` files in them, and the C library.
fn stamps(interpreter: &Path, python: &RawPython) -> Vec<Stamp> {
    let above = interpreter.ancestors().skip(1).take(2).map(|folder| folder.join("pyvenv.cfg"));
    let mut paths: BTreeSet<PathBuf> = above.collect();
    paths.extend([interpreter.to_owned(), python.path.clone(), PathBuf::from("/etc/ld.so.cache")]);
    // Of folders that a start-up file has taken off the path, too.
    for folder in python.search.iter().chain(python.layout.folders()) {
        for name in files::names_if_any(folder).iter().filter(|name| name.ends_with(".pth")) {
            let pth = folder.join(name);
            // The folders that it names count as soon as they are there.
            let text = files::read_optional(&pth).ok().flatten().unwrap_or_default();
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#']));
            // A module beside it that it imports may change the path, too.
            paths.extend(lines.map(|line| match imported_by(line) {
                Some(module) => folder.join(module).with_extension("py"),
                None => folder.join(line),
            }));
            paths.insert(pth);
        }
        paths.insert(folder.clone());
    }
    paths.extend(python.layout.folders().into_iter().cloned());
    paths.into_iter().map(Stamp::of).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::MetadataExt;
    use std::path::PathBuf;

    use super::Remembered;
    use crate::boot::machine::raw::RawPython;
    use crate::boot::machine::{Layout, PythonOrigin};
    use crate::core::host::Paths;
    use crate::core::host::files::write_whole;
    use crate::core::host::mounts::Look;

    #[test]
    fn an_answer_holds_until_something_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let (interpreter, site, pth) = (at("bin/python"), at("site"), at("site/more.pth"));
        for path in [&interpreter, &pth, &site.join("one.py")] {
            write_whole(path, b"as it was").expect("a file");
        }
        let now = u64::try_from(pth.look().expect("a file").mtime()).expect("a time");
        let long_ago = || {
            for path in [&interpreter, &pth, &site] {
                let file = std::fs::File::open(path).expect("a file");
                file.set_modified(std::time::UNIX_EPOCH).expect("a time");
            }
        };
        let layout = Layout {
            purelib: site.clone(),
            platlib: site.clone(),
            scripts: at("bin"),
            data: at(""),
            externally_managed: false,
        };
        let python = RawPython {
            path: interpreter.clone(),
            version: "3.12.1".into(),
            implementation: "cpython".into(),
            architecture: "x86_64".into(),
            libc: "glibc 2.35".into(),
            free_threaded: false,
            layout,
            prefix: at(""),
            stdlib: site.clone(),
            search: vec![site.clone()],
            before_site: Vec::new(),
            is_virtual: false,
            origin: PythonOrigin::Named,
        };
        let paths = Paths { root: PathBuf::from("/"), cache: at("cache"), state: at("state"), config: at("config") };
        let remembered = Remembered::at(&paths, &interpreter, &BTreeMap::new()).expect("a place");
        remembered.keep(&python, now);
        assert_eq!(remembered.recall(), None, "too fresh to be distinguished from what comes next");
        long_ago();
        remembered.keep(&python, now);
        assert_eq!(remembered.recall().as_ref(), Some(&python));
        write_whole(&pth, b"as it is").expect("a file");
        long_ago();
        assert_eq!(remembered.recall(), None, "another inode of the same size and time");
        remembered.keep(&python, now);
        assert!(remembered.recall().is_some());
        write_whole(&at("pyvenv.cfg"), b"").expect("a file");
        assert_eq!(remembered.recall(), None, "a virtual environment since");
        let launcher = RawPython { path: at("elsewhere"), ..python };
        write_whole(&launcher.path, b"").expect("a file");
        remembered.keep(&launcher, now);
        assert_eq!(remembered.recall(), None);
    }
}
