//! What is true of one run of colab-boot: its environment, paths, clock and log, and the matrix. Rooms below add to it
//! what they gather.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::boot::machine::Runtimes;
use crate::boot::profile::Profile;
use crate::boot::store::Store;
use crate::core::diag::{Code, Failure, Finding, Kind, Source, byte_count, shell_word};
use crate::core::host::mounts::Look;
use crate::core::host::{Paths, files};
use crate::core::log::Log;
use crate::core::matrix::Matrix;
use crate::core::model::accepted::{Accepted, accept};

/// What files of other tools are called that somebody may take for a profile.
const OF_OTHER_TOOLS: [&str; 6] = ["pyproject.toml", "pylock.toml", "pixi.toml", "uv.lock", "Pipfile", "poetry.lock"];

/// The ambient facts of one run, and the bundled matrix.
pub struct Session<'a> {
    pub environment: &'a BTreeMap<String, String>,
    pub paths: Paths,
    pub matrix: &'a Matrix,
    /// When the run began, in seconds since 1970.
    pub now: u64,
    /// The same moment.
    pub began: Instant,
    pub log: Log,
    /// Whether the run has begun to change an environment.
    pub changed: &'a AtomicBool,
}

impl Session<'_> {
    /// Seconds since 1970 at this moment.
    pub fn time(&self) -> u64 {
        self.now + self.began.elapsed().as_secs()
    }

    /// Says what is being done.
    pub fn say(&self, line: &str) {
        self.log.say(line);
    }

    /// Reads and checks a profile. Fails with all its faults; where it is a file of another tool, with the way to a
    /// profile.
    pub fn profile(&self, path: &Path) -> Result<Profile, Failure> {
        let text = files::read_text(path, "profile").map_err(|failure| {
            if failure.kind != Kind::Input {
                return failure;
            }
            let shown = shell_word(path);
            let from = self.importable(path.parent().unwrap_or(path)).into_iter().take(4).map(|from| {
                format!("`colab-boot init {shown} --from {}` makes it of what you have", shell_word(&from))
            });
            let from: Vec<String> = from.collect();
            let starter = format!("`colab-boot init {shown}` writes a starter profile");
            let above =
                profile_above(path).map(|above| format!("`{}` is a profile: is that meant?", shell_word(&above)));
            above.into_iter().chain(from).chain([starter]).fold(failure, Failure::help)
        })?;
        self.profile_of(path, text)
    }

    /// Checks `text`, the profile that is or will be at `path`.
    pub fn profile_of(&self, path: &Path, text: String) -> Result<Profile, Failure> {
        let source = Source { name: path.display().to_string().into(), text: text.into() };
        let here = files::absolute(path)?;
        let folder = here.parent().unwrap_or(&here);
        Profile::parse(&source, folder).map_err(|findings| {
            let shown = shell_word(path);
            if is_of_other_tool(path) {
                return Failure::input(format!("{shown} is not a profile"))
                    .help(format!("to make a profile of it: `colab-boot init profile.toml --from {shown}`"));
            }
            Failure::from_findings(Kind::Input, findings)
        })
    }

    /// What `init --from` can read in `folder`, by name; and the environment that is active, or in `.venv` there.
    pub fn importable(&self, folder: &Path) -> Vec<PathBuf> {
        let is_known = |name: &str| {
            let starts =
                |start: &str, ends: &[&str]| name.starts_with(start) && ends.iter().any(|end| name.ends_with(end));
            let is_named = ["pyproject.toml", "pixi.toml", "uv.lock"].contains(&name);
            is_named
                || starts("requirements", &[".txt", ".in"])
                || starts("environment", &[".yml", ".yaml"])
                || starts("pylock", &[".toml"])
                || name.ends_with(".ipynb")
        };
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let names = files::names_if_any(here);
        let mut found: Vec<PathBuf> =
            names.into_iter().filter(|name| is_known(name)).map(|name| folder.join(name)).collect();
        found.retain(|path| path.is_file_there());
        let active = self.environment.get("VIRTUAL_ENV").map(PathBuf::from);
        let environment = active.into_iter().chain([folder.join(".venv")]).find(|path| path.is_folder_there());
        found.extend(environment);
        found
    }

    /// The one profile of this folder that has a lock beside it.
    pub fn only_locked_profile(&self) -> Option<PathBuf> {
        let names = files::names_if_any(Path::new("."));
        let mut locked = names.iter().map(PathBuf::from).filter(|path| {
            path.extension().is_some_and(|ending| ending == "toml") && path.with_extension("lock").is_there()
        });
        locked.next().filter(|_| locked.next().is_none())
    }

    /// Where `runtime import` keeps the descriptions of images.
    pub fn runtimes_folder(&self) -> PathBuf {
        self.paths.config.join("runtimes")
    }

    /// The notebook images that are known: bundled and imported ones.
    pub fn runtimes(&self) -> Result<Runtimes, Failure> {
        Runtimes::with(&self.runtimes_folder())
    }

    /// Unpacked wheels that environments share.
    pub fn store(&self) -> Result<Store, Failure> {
        let set = self.environment.get("COLAB_BOOT_STORE_LIMIT").filter(|text| !text.is_empty());
        let limit = set.map(|text| byte_count(text)).transpose();
        let limit = limit.map_err(|why| Failure::input(format!("COLAB_BOOT_STORE_LIMIT: {why}")))?;
        Ok(Store::new(&self.paths.cache, limit, self.now))
    }

    /// A warning where the cache can't be used; the work goes on without it.
    pub fn cache_finding(&self) -> Option<Finding> {
        let failure = files::create_private_folder(&self.paths.cache).err()?;
        Some(
            Finding::warning(Code::CacheUnusable, failure.to_string())
                .with_help("set another folder with COLAB_BOOT_CACHE_DIR"),
        )
    }

    /// `findings` without what a row of the matrix knows to do no harm; what the profile accepts is a note.
    pub fn weighed(&self, findings: Vec<Finding>, accepted: &[Accepted]) -> Vec<Finding> {
        accept(self.matrix.without_handed_over(findings), accepted)
    }
}

/// A `profile.toml` in a folder above the one that `path` lies in, as far as five folders up.
fn profile_above(path: &Path) -> Option<PathBuf> {
    let whole = files::absolute(path).ok()?;
    let above = whole.parent()?.ancestors().skip(1).take(5).map(|folder| folder.join("profile.toml"));
    above.into_iter().find(|above| above.is_file_there())
}

/// Whether `path` is called like a file of another tool that `init --from` reads.
fn is_of_other_tool(path: &Path) -> bool {
    let is_named = path.file_name().is_some_and(|name| OF_OTHER_TOOLS.iter().any(|known| name == *known));
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    is_named || ["txt", "in", "yml", "yaml", "ipynb", "py"].contains(&extension)
}
