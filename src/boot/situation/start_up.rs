//! What runs when Python starts, and which modules it then finds elsewhere than where they were installed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::boot::files::looks;
use crate::boot::machine::Layout;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::diag::{Code, Finding, Subject};
use crate::core::host::mounts::{Look, limited, reach};
use crate::core::host::stamps::Stamp;
use crate::core::host::{Invocation, files};
use crate::core::model::PackageName;
use crate::core::model::modules::runs_at_start;

/// Prints where `import` finds the modules that are its arguments, and the files of what Python has loaded to start, as
/// JSON; runs none of the modules, nor the packages above them.
const FIND: &str = "import json, sys
def find(name):
    if name in sys.modules:
        return getattr(sys.modules[name], '__file__', None)
    path, spec = None, None
    for at in range(name.count('.') + 1):
        part = '.'.join(name.split('.')[:at + 1])
        for finder in sys.meta_path:
            spec = finder.find_spec(part, path) if hasattr(finder, 'find_spec') else None
            if spec:
                break
        if not spec:
            return None
        path = getattr(spec.submodule_search_locations, '_path', spec.submodule_search_locations)
    return spec.origin if spec.has_location else None
found, loaded = {}, {getattr(one, '__file__', None) for one in list(sys.modules.values())}
for name in sys.argv[1:]:
    try:
        found[name] = find(name)
    except Exception:
        found[name] = None
loaded = [one for one in loaded if isinstance(one, str) and one.startswith('/')]
print('\\n\\x1e' + json.dumps({'found': found, 'loaded': loaded}))";

/// As long as an interpreter is given to tell about itself.
const AT_MOST: Duration = Duration::from_secs(20);

/// A distribution whose modules `import` should find.
#[derive(Debug)]
pub struct Importable {
    pub name: PackageName,
    pub modules: BTreeSet<String>,
    /// The folder that it is installed in.
    pub location: PathBuf,
}

/// What that program prints.
#[derive(Default, Deserialize)]
struct Finds {
    found: BTreeMap<String, Option<PathBuf>>,
    loaded: BTreeSet<PathBuf>,
}

/// A start of Python.
#[derive(Debug, Default)]
pub struct Start {
    /// An error for each module that it finds elsewhere.
    pub findings: Vec<Finding>,
    /// The files that what runs then has imported, outside of the standard library; `None` where Python did not start.
    pub imported: Option<BTreeSet<PathBuf>>,
}

impl Session<'_> {
    /// The files that Python runs when it starts, by their names: in site-packages, wherever `.pth` files lead, and in
    /// what comes before. What is on a mount that does not answer is left out.
    pub fn startup_files(&self, seen: &Seen, layout: &Layout) -> BTreeMap<PathBuf, Stamp> {
        let home = seen.home();
        let first = home.map(|home| self.before_site(home)).unwrap_or_default();
        let search = home.into_iter().flat_map(|home| &home.search).map(PathBuf::as_path);
        let folders: BTreeSet<&Path> =
            first.into_iter().chain(search).chain(layout.folders().into_iter().map(PathBuf::as_path)).collect();
        let reached = folders.into_iter().filter(|folder| reach(folder).is_ok());
        let files = reached.flat_map(|folder| {
            files::names_if_any(folder).into_iter().filter(|name| runs_at_start(name)).map(|name| folder.join(name))
        });
        looks(&files.collect::<Vec<_>>())
    }

    /// An error for each module of `wanted` that Python, started as a kernel's is, finds elsewhere; `suspects` run when
    /// it starts. Nothing where it does not start: that is reported elsewhere.
    pub fn found_elsewhere<'a>(
        &self,
        seen: &Seen,
        wanted: &[Importable],
        suspects: impl Iterator<Item = &'a Path>,
    ) -> Start {
        let python = seen.machine.python.as_ref();
        let Some(path) = python.and_then(|python| python.path.as_ref()) else { return Start::default() };
        let standard = python.and_then(|python| Some(python.home.as_ref()?.stdlib.clone()));
        let modules: Vec<&str> = wanted.iter().flat_map(|one| one.modules.iter().map(String::as_str)).collect();
        if modules.is_empty() {
            return Start { imported: Some(BTreeSet::new()), ..Start::default() };
        }
        let arguments: Vec<&str> = ["-c", FIND].into_iter().chain(modules).collect();
        let Ok(finished) = Invocation::new(path, &arguments, self.environment).output(limited(AT_MOST)) else {
            return Start::default();
        };
        let line = finished.stdout.rsplit('\u{1e}').next().unwrap_or_default();
        let Ok(Finds { found, mut loaded }) = serde_json::from_str(line.trim()) else { return Start::default() };
        loaded.retain(|file| !standard.as_ref().is_some_and(|standard| file.starts_with(standard)));
        let suspects: Vec<String> = suspects.map(|path| format!("`{}`", path.display())).collect();
        let note = format!("startup files: {}", suspects.join(", "));
        let hidden = wanted.iter().flat_map(|one| one.modules.iter().map(move |module| (one, module)));
        let hidden = hidden.filter_map(|(one, module)| {
            let file =
                found.get(module)?.as_ref().filter(|file| !is_meant(file, &one.location, standard.as_deref()))?;
            let message = format!("Python finds `{module}` in `{}` before the locked {}", file.display(), one.name);
            let help = "remove that copy, or the setting that puts it first; then run the command again";
            let finding = Finding::error(Code::KernelShadowed, message).about(Subject::package(&one.name));
            let finding = finding.about(Subject::module(module)).against(Subject::file(file));
            Some(finding.with_note(note.clone()).with_help(help))
        });
        Start { findings: hidden.collect(), imported: Some(loaded) }
    }
}

/// Whether `file` lies where it was installed to, or belongs to Python itself.
fn is_meant(file: &Path, location: &Path, standard: Option<&Path>) -> bool {
    file.starts_with(location)
        || real(file).starts_with(real(location))
        || standard.is_some_and(|standard| file.starts_with(standard))
}

fn real(path: &Path) -> PathBuf {
    path.real().unwrap_or_else(|_| path.to_owned())
}
