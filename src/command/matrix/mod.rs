//! `matrix`: the facts about GPU builds, read from wheels, shown, compared and brought up to date.

mod inspect;
mod reading;

use crate::cli::MatrixVerb;
use crate::command::{Report, Session};
use crate::diag::Failure;

pub(super) fn run(verb: &MatrixVerb, session: &Session<'_>) -> Result<Report, Failure> {
    match verb {
        MatrixVerb::Inspect(options) => inspect::run(options, session),
    }
}
