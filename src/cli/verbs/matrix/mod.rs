//! `matrix`: the facts about GPU builds, read from wheels and shown.

mod inspect;
mod show;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::MatrixVerb;
use crate::core::diag::Failure;

pub(super) fn run(verb: &MatrixVerb, session: &Session<'_>) -> Result<Report, Failure> {
    match verb {
        MatrixVerb::Show(options) => show::run(options, session),
        MatrixVerb::Inspect(options) => inspect::run(options, session),
    }
}
