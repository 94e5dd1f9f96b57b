//! Values every other room speaks in: versions, names, wheels, tags, CUDA numbers. It names no other room, and has no
//! input or output.

pub mod accepted;
pub mod build;
pub mod catalog;
pub mod environment_marker;
pub mod contents;
pub mod cuda;
pub mod day;
pub mod digest;
pub mod ipynb;
pub mod json_text;
pub mod linking;
pub mod modules;
pub mod platform;
pub mod pyproject;
pub mod requirement;
pub mod metadata;
pub mod stated_digest;
pub mod version;
pub mod wheel_names;

pub use cuda::{Architecture, ComputeCapability, CudaVersion, DriverVersion};
pub use digest::{Hasher, Sha256};
pub use environment_marker::Condition;
pub use pep440_rs::Version;
pub use pep508_rs::{ExtraName, PackageName};
pub use platform::{Libc, PythonFacts, Tags};
pub use requirement::{Requirement, bracketed};
pub use version::VersionRange;
pub use wheel_names::WheelName;
