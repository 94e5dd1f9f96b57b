//! One file a verb: gather facts, ask the core, return a [`Report`]. Nothing here prints.

mod add;
mod apply;
mod audit;
mod cache;
mod completions;
mod diff;
mod doctor;
mod explain;
mod export;
mod fetch;
mod fingerprint;
mod forecast;
mod golden;
mod init;
mod install_wheels;
mod lock;
mod man;
mod matrix;
pub mod plan;
mod probe;
mod record;
mod remove;
mod restore;
mod run;
mod runtime;
mod schema;
mod scrub;
#[path = "self.rs"]
mod own;
mod stage;
mod status;
mod tree;
mod upgrade;
mod verify;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::{Arguments, Verb};
use crate::core::diag::Failure;
use crate::core::log::Style;

/// Runs the verb.
pub fn run(arguments: &Arguments, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    match &arguments.verb {
        Verb::Init(options) => init::run(options, session),
        Verb::Fingerprint(options) => fingerprint::run(&options.machine.request(), session),
        Verb::Diff(options) => diff::run(options, session),
        Verb::Add(options) => add::run(options, session),
        Verb::Remove(options) => remove::run(options, session),
        Verb::Upgrade(options) => upgrade::run(options, session),
        Verb::Lock(options) => lock::run(options, session),
        Verb::Plan(options) => plan::run(options, session),
        Verb::Apply(options) => apply::run(options, session, style),
        Verb::Run(options) => run::run(options, session, style),
        Verb::Restore(options) => restore::run(options, session, style),
        Verb::Fetch(options) => fetch::run(options, session, style),
        Verb::Verify(options) => verify::run(options, session),
        Verb::Status(options) => status::run(&options.machine.request(), session),
        Verb::Forecast(options) => forecast::run(options, session),
        Verb::Golden(verb) => golden::run(verb, session),
        Verb::Export(verb) => export::run(verb, session),
        Verb::Runtime(verb) => runtime::run(verb, session),
        Verb::Matrix(verb) => matrix::run(verb, session),
        Verb::Audit(options) => audit::run(options, session),
        Verb::Doctor(options) => doctor::run(options, session),
        Verb::Probe(verb) => probe::run(verb, session),
        Verb::Stage(options) => stage::run(options, session, style),
        Verb::Record(options) => record::run(options, session),
        Verb::Scrub(options) => scrub::run(options, session),
        Verb::Tree(options) => tree::run(options, session),
        Verb::Explain(options) => explain::run(options, session),
        Verb::Cache(verb) => cache::run(verb, session),
        Verb::Completions(options) => completions::run(options),
        Verb::Man(options) => man::run(options),
        Verb::Schema(options) => schema::run(options),
        Verb::Own(verb) => Ok(own::run(verb, session)),
        Verb::InstallWheels(options) => install_wheels::run(options, session),
    }
}
