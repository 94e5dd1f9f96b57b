//! The only reader of arguments, environment, clock and terminal.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::panic::PanicHookInfo;
use std::process::ExitCode;
use std::sync::Arc;

#[expect(clippy::disallowed_methods, reason = "the one place that reads environment and clock")]
fn main() -> ExitCode {
    std::panic::set_hook(Box::new(ended));
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
        // A closed stderr is no reason to stop.
        progress: Arc::new(|line| drop(writeln!(std::io::stderr(), "colab-boot: {line}"))),
    });
    ExitCode::from(code)
}

/// A panic on any thread is a bug of ours: print the message and exit. Work under way survives that; unwinding could
/// wait for the thread that is gone.
#[expect(clippy::exit, reason = "see above")]
fn ended(panic: &PanicHookInfo<'_>) {
    let help =
        "this is a bug in colab-boot; please report it with the command line. To continue, run the command again";
    let _ = writeln!(std::io::stderr(), "error: {panic}\n = help: {help}");
    std::process::exit(4);
}
