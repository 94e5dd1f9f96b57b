//! Why there is no solution, in the user's terms; and why a package is in one at its version.

mod conflict;
mod contradiction;
mod built_for_cuda;
mod elsewhere;
mod explanation;
mod fixes;
mod hindrance;
pub(in crate::boot::resolve) mod derivation;
mod why;
mod wording;

pub use conflict::{Conflict, Unsolved};
pub(in crate::boot::resolve) use contradiction::{contradiction, shortest};
pub use elsewhere::Elsewhere;
pub use explanation::explain;
pub use hindrance::Hindrance;
pub use why::{Asker, Newer, Why, why};
