//! `golden search`: the releases that a word is about.

use crate::cli::ListOptions;
use crate::command::golden::list::listed;
use crate::diag::Failure;
use crate::session::Session;
use crate::verdict::Report;

pub(super) fn run(options: &ListOptions, session: &Session<'_>) -> Result<Report, Failure> {
    if options.word.is_none() {
        return Err(Failure::input("there is no word to look for").help("`colab-boot golden list` shows all releases"));
    }
    listed(options, session)
}
