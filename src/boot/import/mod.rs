//! Files of other tools, and environments, become profiles.

mod asked_packages;
mod conda;
mod shareable_address;
mod profile_text;
mod script_block;
mod installed_from;
mod asked_indexes;
mod index_answers;
mod from_environment;
mod unread_settings;
mod read_files;

pub use from_environment::of_environment;
pub use index_answers::IndexAnswers;
pub use profile_text::{Imported, ProfileHead};
pub use read_files::{of_files, profile_name};
