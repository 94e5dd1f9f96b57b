//! Files of other tools, and environments, become profiles.

mod profile_text;
mod script_block;

pub use profile_text::{Imported, imported, of_environment};
pub use script_block::script_block;
