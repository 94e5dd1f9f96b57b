//! `matrix`: the facts about GPU builds, read from wheels, shown, compared and brought up to date.

mod check;
mod hints;
mod inspect;
mod linking;
mod refresh;
mod show;

use crate::cli::MatrixVerb;
use crate::diag::Failure;
use crate::session::Session;
use crate::verdict::Report;

pub(super) fn run(verb: &MatrixVerb, session: &Session<'_>) -> Result<Report, Failure> {
    match verb {
        MatrixVerb::Show(options) => show::run(options, session),
        MatrixVerb::Check(options) => check::run(options, session),
        MatrixVerb::Hints(options) => hints::run(options, session),
        MatrixVerb::Refresh(options) => refresh::run(options, session),
        MatrixVerb::Linking(options) => linking::run(options, session),
        MatrixVerb::Inspect(options) => inspect::run(options, session),
    }
}
