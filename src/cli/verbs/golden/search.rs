//! `golden search`: the releases that a word is about.

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::ListOptions;
use crate::cli::verbs::golden::list::listed;
use crate::core::diag::Failure;

pub(super) fn run(options: &ListOptions, session: &Session<'_>) -> Result<Report, Failure> {
    if options.word.is_none() {
        return Err(Failure::input("there is no word to look for").help("`colab-boot golden list` shows all releases"));
    }
    listed(options, session)
}
