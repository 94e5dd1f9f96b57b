//! Two channels for trouble. A [`Finding`] is about the user's profile or machine: many, coded, with a place.
//! A [`Failure`] means that the work could not be done: one, with its cause and the next step.

mod finding_code;
mod envelope;
mod failure;
mod finding;
mod nearest;
mod secret;
mod phrases;
mod subject;

pub use envelope::envelope;
pub use failure::{Failure, Kind};
pub use finding::{Finding, Label, Severity, Source, count_errors, grouped};
pub use finding_code::Code;
pub use nearest::{misspelt, nearest};
pub use phrases::{byte_count, bytes, counted, few, first_of, harmless, harmless_in_place, listed, others, shell_word};
pub use secret::{presentable, without_secrets};
pub use subject::Subject;
