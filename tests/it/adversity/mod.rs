//! Faults from outside: hostile and broken input, full disks, signals, system calls that fail, a real dpkg.

mod broken_pages;
mod built_sources;
mod broken_server;
pub mod debian;
mod disk;
mod hostile_index;
mod hostile_profile;
mod hostile_wheels;
mod installed_trees;
mod interpreters;
mod large_wheels;
mod layers;
mod no_metadata;
mod odd_environments;
mod once_more;
mod other_build;
mod outputs;
mod property;
mod shared_files;
mod signals;
mod stored_wheels;
mod switched;
mod system_calls;
mod unsound_wheels;
mod users_files;
