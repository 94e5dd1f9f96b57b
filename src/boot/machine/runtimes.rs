//! Which notebook images are known: the bundled descriptions (`runtimes/*.toml`), and those that `runtime import` has
//! written.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use include_dir::File;

use crate::boot::machine::runtime::{FILES, Runtime};
use crate::core::diag::{Code, Failure, Finding};
use crate::core::host::files;
use crate::core::model::day::Date;

static BUNDLED: LazyLock<Result<Vec<Runtime>, String>> = LazyLock::new(|| {
    let is_description = |file: &&File<'_>| file.path().extension().is_some_and(|ending| ending == "toml");
    let mut files: Vec<_> = FILES.files().filter(is_description).collect();
    files.sort_by_key(|file| file.path());
    files
        .into_iter()
        .map(|file| {
            let text = file.contents_utf8().unwrap_or_default();
            toml::from_str(text).map_err(|error| format!("runtimes/{}: {error}", file.path().display()))
        })
        .collect()
});

/// What to do about a file that describes no image.
const AGAIN: &str = "delete it, or write it again with `colab-boot runtime import`";

/// The images that are known on this machine, each once, by name.
pub struct Runtimes {
    all: Vec<(Cow<'static, Runtime>, Option<PathBuf>)>,
    /// Files that describe no image, and why.
    unread: Vec<(PathBuf, Failure)>,
}

impl Runtimes {
    /// The bundled ones alone.
    pub fn bundled() -> Result<Self, Failure> {
        let bundled = BUNDLED.as_deref().map_err(|error| Failure::bug(error.clone()))?;
        Ok(Self { all: bundled.iter().map(|one| (Cow::Borrowed(one), None)).collect(), unread: Vec::new() })
    }

    /// The bundled ones and those in `folder`. Of two with one name the newer one counts. A file that can't be read
    /// as the description of an image stops only those who ask for it.
    pub fn with(folder: &Path) -> Result<Self, Failure> {
        let Self { mut all, mut unread } = Self::bundled()?;
        let names = files::names_if_any(folder).into_iter();
        for name in names.filter(|name| name.ends_with(".toml") && !name.starts_with('.')) {
            let path = folder.join(name);
            let own = match Runtime::read(&path) {
                Ok(own) => own,
                Err(failure) => {
                    unread.push((path, failure));
                    continue;
                }
            };
            let same = all.iter().position(|(one, _)| one.full_name() == own.full_name());
            match same.map(|at| &mut all[at]) {
                Some(known) if known.0.day() <= own.day() => *known = (Cow::Owned(own), Some(path)),
                Some(_) => {}
                None => all.push((Cow::Owned(own), Some(path))),
            }
        }
        all.sort_by_cached_key(|(one, _)| one.full_name());
        Ok(Self { all, unread })
    }

    /// A warning for each file that describes no image.
    pub fn findings(&self) -> Vec<Finding> {
        let finding = |(path, failure): &(PathBuf, Failure)| {
            Finding::warning(Code::RuntimeUnread, format!("`{}` is not used", path.display()))
                .with_note(failure.to_string())
                .with_help(AGAIN)
        };
        self.unread.iter().map(finding).collect()
    }

    /// Each image with the file that `runtime import` wrote for it.
    pub fn iter(&self) -> impl Iterator<Item = (&Runtime, Option<&Path>)> {
        self.all.iter().map(|(one, path)| (one.as_ref(), path.as_deref()))
    }

    /// `colab-2026.07-gpu`, …: what `--runtime` takes.
    pub fn names(&self) -> Vec<String> {
        self.iter().map(|(one, _)| one.full_name()).collect()
    }

    /// Whether `find` knows `name`.
    pub fn has(&self, name: &str) -> bool {
        self.iter().any(|(one, _)| is_called(one, name))
    }

    /// The image `name`: `colab-2026.07` (its GPU image), `colab-2026.07-cpu`, or the path of a description. The error
    /// lists the names.
    pub fn find(&self, name: &str) -> Result<Cow<'_, Runtime>, Failure> {
        if name.ends_with(".toml") || name.contains('/') {
            return Runtime::read(Path::new(name)).map(Cow::Owned);
        }
        if let Some((_, failure)) = self.unread.iter().find(|(path, _)| is_of(path, name)) {
            return Err(failure.clone().help(AGAIN));
        }
        let found = self.iter().find(|(one, _)| is_called(one, name));
        found.map(|(one, _)| Cow::Borrowed(one)).ok_or_else(|| {
            let mut names: Vec<&str> = self.iter().map(|(one, _)| one.name.as_str()).collect();
            names.dedup();
            Failure::input(format!("unknown runtime `{name}`"))
                .help(format!(
                    "runtimes: {}; Colab runtimes may end in -gpu (the default), -cpu or -tpu",
                    names.join(", ")
                ))
                .help(
                    "for another image, see `colab-boot runtime import --help`; for a fingerprint, \
                     use `--machine FILE`",
                )
        })
    }

    /// The newest image of a host for `accelerator` on `day`, or the newest at all.
    pub fn newest(&self, host: &str, accelerator: &str, day: Date) -> Option<&Runtime> {
        let alike = self.iter().map(|(one, _)| one);
        let alike = alike.filter(|one| one.host.kind == host && one.accelerator.as_deref() == Some(accelerator));
        alike.max_by_key(|one| (one.day() <= Some(day), one.day()))
    }
}

/// Whether a file would describe the image `name`.
fn is_of(path: &Path, name: &str) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem == name || stem.strip_suffix("-gpu") == Some(name)
}

/// Whether `name` means it.
fn is_called(one: &Runtime, name: &str) -> bool {
    one.full_name() == name || (one.name == name && one.accelerator.as_deref() == Some("gpu"))
}
