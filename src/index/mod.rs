//! The only networked room: which index to ask, its pages, the metadata of its wheels, the wheels themselves, and a cache of all that.
//!
//! Async stays in here. Outside, [`Online`] and [`Offline`] answer synchronously through [`crate::model::catalog::Catalog`].

mod cache;
mod client;
mod fetch;
mod location;
mod offline;
mod page;
mod remote;
mod store;

pub use cache::Cache;
pub use client::{Client, Traffic};
pub use fetch::{Download, Progress, fetch_all};
pub use location::{Locations, locate_default, redact};
pub use offline::Offline;
pub use remote::{fetch_document, inspect_address};
pub use store::{Online, Scope};
