//! One file a verb: gather facts, ask the core, return a [`Report`]. Nothing here prints.

mod apply;
mod audit;
mod contested;
mod evidence;
mod doubt;
mod explain;
mod fetch;
mod fetching;
mod fingerprint;
mod gather;
mod golden;
mod init;
mod lock;
mod locking;
mod lookup;
mod matrix;
mod outcome;
pub mod overlay;
mod plan;
mod remarks;
mod restore;
mod rollback;
mod state;
mod shadow;
mod status;
mod target;
mod together;
mod unmet;
mod verify;

use serde_json::Value;

use crate::cli::{Arguments, GoldenVerb, Verb};
use crate::diag::{Failure, Finding, Severity};
use crate::output::Style;

pub use gather::Session;

/// What a verb found out or did.
#[derive(Debug)]
pub struct Report {
    /// `report` of the JSON envelope.
    pub data: Value,
    /// For stdout: what was asked for.
    pub text: String,
    /// For stderr: what is worth saying besides.
    pub talk: Vec<String>,
    pub findings: Vec<Finding>,
    /// Packages that the kernel has loaded were replaced.
    pub restart: bool,
}

impl Report {
    fn new(data: Value, text: String) -> Self {
        Self { data, text, talk: Vec::new(), findings: Vec::new(), restart: false }
    }

    #[must_use]
    fn with_findings(mut self, findings: Vec<Finding>) -> Self {
        self.findings = findings;
        self
    }

    /// Whether a finding makes the answer "no".
    pub fn is_no(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// Runs the verb.
pub fn run(arguments: &Arguments, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    match &arguments.verb {
        Verb::Init(options) => init::run(options),
        Verb::Fingerprint(options) => fingerprint::run(&options.machine, session),
        Verb::Lock(options) => lock::run(options, session),
        Verb::Plan(options) => plan::run(options, session),
        Verb::Apply(options) => apply::run(options.clone(), session, style),
        Verb::Restore(options) => restore::run(options, session, style),
        Verb::Fetch(options) => fetch::run(options, session, style),
        Verb::Verify(options) => verify::run(options, session),
        Verb::Status(options) => status::run(&options.machine, session),
        Verb::Golden(GoldenVerb::Build(options)) => golden::run(options, session),
        Verb::Matrix(verb) => matrix::run(verb, session),
        Verb::Audit(options) => audit::run(options, session),
        Verb::Explain(options) => explain::run(options, session),
    }
}
