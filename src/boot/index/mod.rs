//! The only networked room: which index to ask, its pages, the metadata of its wheels, the wheels themselves, and a
//! cache of all that.
//!
//! Async stays in here. Outside, [`Online`] and [`Offline`] answer synchronously through
//! [`crate::core::model::catalog::Catalog`].

mod arrival;
mod prefetch;
mod body;
mod cache;
mod client;
mod answered_at;
mod credentials;
mod download;
mod exchange;
mod folder;
mod first_connection;
mod headers;
mod in_pieces;
mod hedge;
mod limits;
mod which_index;
mod dns;
mod offline;
mod page;
mod one_stream;
mod retry;
mod room;
mod pip;
mod proxies;
mod remote;
mod catalog_base;
mod sdist;
mod index_settings;
mod online;
mod spans;
mod requested_bytes;
mod wanted_file;
mod wheel_source;
mod wheels;

pub use arrival::Arrival;
pub use body::unpack as unpack_body;
pub use cache::{Cache, Trust};
pub use catalog_base::Scope;
pub use client::Client;
pub use credentials::{Credentials, without_login};
pub use download::Downloads;
pub use folder::{LocalWheel, digest as digest_in_folder};
pub use index_settings::{IndexSettings, SOLVE_LIMIT};
pub use limits::{Limits, Traffic};
pub use offline::Offline;
pub use online::Online;
pub use page::{Buildable, Filter, read_page};
pub use remote::{Inspected, fetch_bytes, fetch_document, inspect_address};
pub use sdist::{Builder, ProjectMetadata, package_info_in, project_metadata, states_all};
pub use wanted_file::{Download, not_locked};
pub use wheel_source::{OpenWheel, WheelSource, failure_in};
pub use which_index::{
    INDEX_VARIABLES, Locations, find_links_name, is_open, is_same_index, locate_default, page, redact,
};
