//! Files of other tools, and environments, become profiles. Text in, text out.

mod profile_text;
mod script_block;

pub use profile_text::{AskedPackage, Imported, imported, of_environment};
pub use script_block::script_block;
