//! `golden search`: the releases that a word is about.

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::ListOptions;
use crate::cli::verbs::golden::list::listed;
use crate::core::diag::Failure;

pub(super) fn run(options: &ListOptions, session: &Session<'_>) -> Result<Report, Failure> {
    if options.word.is_none() {
        return Err(Failure::input("no search word is given").help("list all releases with `colab-boot golden list`"));
    }
    listed(options, session)
}
