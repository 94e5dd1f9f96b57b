//! One apply at a time: the lock of the state folder, and what an apply that was killed has left at work.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::diag::Failure;
use crate::host::files;
use crate::state::State;
use crate::state::orphan::wait_for_orphan;

/// How long another colab-boot, or the installer of a killed one, is waited for.
const AT_MOST: Duration = Duration::from_mins(5);

/// Holds the machine for one apply. Released when dropped.
pub struct Hold {
    _lock: File,
    pub folder: PathBuf,
}

/// Waits for other applies, and for the installer that a killed one has left behind.
pub fn hold(folder: &Path, say: &dyn Fn(&str)) -> Result<Hold, Failure> {
    files::create_private_folder(folder)?;
    files::must_be_ours(folder)?;
    let waiting = || say("another colab-boot is at work on this machine; waiting for it");
    let lock = files::lock_exclusively(&folder.join("lock"), AT_MOST, &waiting)?;
    wait_for_orphan(folder, AT_MOST, &mut |pid| {
        say(&format!("waiting for the installer of an earlier run (process {pid})"));
    })?;
    files::remove_temporaries(folder)?;
    for state in State::all(folder)? {
        files::remove_temporaries(&state.folder)?;
        files::remove_temporaries(&state.folder.join("records"))?;
    }
    Ok(Hold { _lock: lock, folder: folder.to_owned() })
}
