//! Whether the kernel has to restart.

use serde::Serialize;

/// The decision, with its reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Restart {
    pub needed: bool,
    pub because: Vec<String>,
}
