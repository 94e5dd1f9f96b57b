//! The command line: arguments, one file a verb, the text for people.
//!
//! It uses every other wing, and none uses it. A room names only rooms above it in this list.

// Text for people: findings with carets, plans, tables.
pub mod output;
// The command line: syntax only.
pub mod arguments;
// One file a verb: gather → decide → do → report.
pub mod verbs;
// What a run ends with.
pub mod exit_code;
// What was meant by a command line that can't be read.
pub mod suggestions;
// A whole run: arguments in, exit code out.
pub mod run;
