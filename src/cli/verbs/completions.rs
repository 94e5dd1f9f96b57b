//! `completions`: a script for a shell.

use clap::CommandFactory;
use clap_complete::{Shell, generate};
use serde_json::json;

use crate::boot::verdict::Report;
use crate::cli::arguments::{Arguments, CompletionsOptions};
use crate::core::diag::Failure;

/// The program without the dash, which `clap_complete` 4.6.11 takes for the start of a command in bash.
const DASHLESS: &str = "colab_boot";

pub(super) fn run(options: &CompletionsOptions) -> Result<Report, Failure> {
    let own = env!("CARGO_PKG_NAME");
    let name = if options.shell == Shell::Bash { DASHLESS } else { own };
    let mut script = Vec::new();
    generate(options.shell, &mut Arguments::command().name(name), name, &mut script);
    let script = String::from_utf8(script).map_err(|error| Failure::bug("a script is no text").because(&error))?;
    let script = script.replace(&format!(" {DASHLESS}\n"), &format!(" {own}\n"));
    Ok(Report::new(json!({ "shell": options.shell.to_string() }), String::new()).printing(Some(script)))
}
