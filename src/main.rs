//! The only reader of arguments, environment, clock and terminal.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "the one place that reads environment and clock")]
fn main() -> ExitCode {
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let code = colab_boot::run(colab_boot::Ambient {
        arguments: std::env::args_os().collect(),
        environment,
        now: now.map(|elapsed| elapsed.as_secs()).unwrap_or_default(),
        terminal: std::io::stderr().is_terminal(),
        out: &mut std::io::stdout(),
        err: &mut std::io::stderr(),
    });
    ExitCode::from(code)
}
