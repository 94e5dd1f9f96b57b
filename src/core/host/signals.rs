//! Signals that ask for the end. It comes at once; only where something was started that must not be left to itself
//! does the program first hear of them.

use std::io::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::flag::{register, register_conditional_default, register_usize};
use signal_hook::low_level::{emulate_default_handler, signal_name};

use crate::core::diag::Failure;
use crate::core::host::files;

const ASKING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// What the handlers, which can't be taken back, write to.
#[derive(Default)]
struct Handlers {
    /// Whether a signal ends the program.
    deadly: Arc<AtomicBool>,
    /// The number of the last one that did not; 0 for none.
    last: Arc<AtomicUsize>,
    /// How many keep signals now: what one starts may start something, too.
    keepers: Mutex<usize>,
}

/// While it lives, signals are kept here. A signal that was not taken by the end of the last one then does what it
/// would have done.
pub struct Deferred(&'static Handlers);

impl Deferred {
    /// Fails where the system takes no handler.
    pub fn begin() -> Result<Self, Failure> {
        static HANDLERS: OnceLock<Result<Handlers, Error>> = OnceLock::new();
        let handlers = HANDLERS
            .get_or_init(install)
            .as_ref()
            .map_err(|error| Failure::world("could not install signal handlers").because(error))?;
        let mut keepers = handlers.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        *keepers += 1;
        handlers.deadly.store(false, Ordering::SeqCst);
        Ok(Self(handlers))
    }

    /// Whether a signal has come that nobody has taken.
    pub fn is_waiting(&self) -> bool {
        self.0.last.load(Ordering::SeqCst) != 0
    }

    /// The number of the signal that has come, if one has; once.
    pub fn take(&self) -> Option<i32> {
        i32::try_from(self.0.last.swap(0, Ordering::SeqCst)).ok().filter(|number| *number != 0)
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        let mut keepers = self.0.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        *keepers -= 1;
        if *keepers > 0 {
            return;
        }
        self.0.deadly.store(true, Ordering::SeqCst);
        if let Some(signal) = self.take() {
            // It ends the process.
            let _ = emulate_default_handler(signal);
        }
    }
}

fn install() -> Result<Handlers, Error> {
    let handlers = Handlers::default();
    let ignored = ignored();
    for signal in ASKING.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
        register_conditional_default(signal, Arc::clone(&handlers.deadly))?;
        register_usize(signal, Arc::clone(&handlers.last), usize::try_from(signal).unwrap_or_default())?;
    }
    Ok(handlers)
}

/// Makes what a parent may have set no trouble for us. With SIGCHLD ignored no child could be waited for; a file that
/// reaches the limit of its size is an error of the write, not the end of the program.
pub fn prepare() {
    if ignored() >> (SIGCHLD - 1) & 1 == 1 {
        let _ = register(SIGCHLD, Arc::default());
    }
    let _ = register(SIGXFSZ, Arc::default());
}

/// The signals that our parent wants ignored, as `nohup` does: bit n-1 for signal n.
fn ignored() -> u64 {
    let status = files::read_optional(Path::new("/proc/self/status")).ok().flatten().unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// `SIGINT` for 2, and so on.
pub fn name_of(signal: i32) -> &'static str {
    signal_name(signal).unwrap_or("a signal")
}
