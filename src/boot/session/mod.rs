//! What several verbs gather before they decide: the profile, the machine, the index, the lock, what the kernel has
//! loaded, the plan; and the refusal of a Python that may not be changed.

mod answer;
mod before;
mod retrieval;
mod distributions;
mod index;
mod findings;
mod held_code;
mod kernel;
mod kept_libraries;
mod listed;
mod lock;
mod edited;
mod file_check;
mod machine;
mod outlook;
mod overlay;
mod owners;
mod planned;
mod relock;
mod goal;
mod shadow;
mod lacking;
mod situation;
mod start_up;
mod target;
mod pages;
mod pinned;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::boot::profile::Profile;
use crate::core::diag::{Code, Failure, Finding, Kind, Source};
use crate::core::host::{Paths, files};
use crate::core::log::Log;
use crate::core::matrix::Matrix;

pub use answer::{Answer, answer};
pub use before::wheels_of;
pub use distributions::{installed, recorded_files, surroundings};
pub use file_check::{FileCheck, Reading, Scene, held, is_of_another_script};
pub use findings::verdicts;
pub use goal::{Goal, ProfileRequest, Request, Upgrade};
pub use index::{Asked, find_links};
pub use kernel::{loaded, modules, modules_of, other_kernels};
pub use lacking::{lacking, with_apt};
pub use listed::{not_pinned, read_listed, refused_lines};
pub use lock::{missing_lock, stale_lock};
pub use machine::{PythonReport, Seen};
pub use outlook::{Outlook, gpus_of, outlook};
pub use overlay::matrix;
pub use owners::{entry, hidden, hidden_by_user};
pub use planned::{Planned, decided, make, script_of};
pub use relock::Made;
pub use retrieval::{Retrieval, direct_addresses, enough_space};
pub use shadow::InFront;
pub use start_up::Importable;

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

    /// Reads and checks a profile.
    pub fn profile(&self, path: &Path) -> Result<Profile, Failure> {
        let text = files::read_text(path, "profile").map_err(|failure| {
            if failure.kind == Kind::Input {
                failure.help("`colab-boot init` writes a starter profile")
            } else {
                failure
            }
        })?;
        let source = Source { name: path.display().to_string().into(), text: text.into() };
        let here = files::absolute(path)?;
        let folder = here.parent().unwrap_or(&here);
        Profile::parse(&source, folder).map_err(|findings| Failure::from_findings(Kind::Input, findings))
    }

    /// A warning where the cache can't be used; the work goes on without it.
    pub fn cache_finding(&self) -> Option<Finding> {
        let failure = files::create_private_folder(&self.paths.cache).err()?;
        Some(
            Finding::warning(Code::CacheUnusable, failure.to_string())
                .with_help("name another folder with COLAB_BOOT_CACHE_DIR"),
        )
    }
}
