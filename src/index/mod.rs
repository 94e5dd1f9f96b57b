//! The only networked room: which index to ask, its pages, the metadata of its wheels, the wheels themselves, and a cache of all that.
//!
//! Async stays in here. Outside, [`Online`] and [`Offline`] answer synchronously through [`crate::model::catalog::Catalog`].

mod ahead;
mod cache;
mod client;
mod credentials;
mod fetch;
mod folder;
mod gate;
mod headers;
mod hedge;
mod limits;
mod location;
mod names;
mod offline;
mod page;
mod patience;
mod pip;
mod remote;
mod shelf;
mod source;
mod store;
mod wheels;

pub use cache::{Cache, Trust};
pub use client::Client;
pub use credentials::Credentials;
pub use fetch::{Download, Progress, fetch_all};
pub use folder::LocalWheel;
pub use limits::{Limits, Traffic};
pub use location::{Locations, find_links_name, is_open, locate_default, redact};
pub use offline::Offline;
pub use page::{Filter, read_page};
pub use remote::{fetch_document, inspect_address};
pub use shelf::Scope;
pub use source::Builder;
pub use store::Online;
