//! Files of other tools, and environments, become profiles.

mod asked_packages;
mod conda;
mod shareable_address;
mod profile_text;
mod script_block;
mod installed_from;
mod other_index;
mod unread_settings;
mod read_files;

pub use other_index::other_index;
pub use profile_text::{Imported, ProfileHead, of_environment};
pub use read_files::{of_files, profile_name};
