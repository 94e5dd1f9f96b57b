//! `runtime`: which notebook images are known, and how old their descriptions are; new ones.

mod image_import;
mod image_list;
mod image_source;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::RuntimeVerb;
use crate::core::diag::Failure;

pub(super) fn run(verb: &RuntimeVerb, session: &Session<'_>) -> Result<Report, Failure> {
    match verb {
        RuntimeVerb::Import(options) => image_import::run(options, session),
        RuntimeVerb::List => image_list::run(session),
    }
}
