//! One apply at a time in each environment: the lock of its state folder, and what an apply that was killed has left at
//! work.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::boot::machine::Layout;
use crate::boot::state::State;
use crate::boot::state::orphan::wait_for_orphan;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::locks;

/// How long another colab-boot, or the installer of a killed one, is waited for.
const AT_MOST: Duration = Duration::from_mins(5);

/// Holds an environment for one apply. Released when dropped.
pub struct Hold {
    locks: Vec<File>,
    /// The folder of its script, log and journal.
    pub folder: PathBuf,
}

impl Hold {
    /// Waits for a colab-boot with another state folder that has staged files in one of these `places`.
    pub fn also(mut self, places: &[PathBuf], say: &dyn Fn(&str)) -> Result<Self, Failure> {
        for place in places {
            self.locks.extend(locks::lock_folder(place, AT_MOST, &|| say(WAITING))?);
        }
        Ok(self)
    }
}

const WAITING: &str = "another colab-boot is changing this environment; waiting for it";

/// Waits for other applies in the environment with this `layout`, and for the installer that a killed one has left
/// behind. `folder` is the state folder of all environments; where no Python was found, it is held itself.
pub fn hold(folder: &Path, layout: Option<&Layout>, say: &dyn Fn(&str)) -> Result<Hold, Failure> {
    let help = "set COLAB_BOOT_STATE_DIR to a folder that you may write to";
    files::create_private_folder(folder).map_err(|failure| failure.help(help))?;
    files::must_be_ours(folder, "COLAB_BOOT_STATE_DIR", false)?;
    let own = layout.map_or_else(|| folder.to_owned(), |layout| State::of(folder, layout).folder);
    files::create_private_folder(&own)?;
    let lock = locks::lock_exclusively(&own.join("lock"), AT_MOST, &|| say(WAITING))?;
    wait_for_orphan(&own, AT_MOST, &mut |pid| {
        say(&format!("waiting for the installer of an earlier run (process {pid})"));
    })?;
    files::remove_temporaries(&own)?;
    files::remove_temporaries(&own.join("records"))?;
    Ok(Hold { locks: vec![lock], folder: own })
}
