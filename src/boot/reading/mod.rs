//! What a user names and no verb installs: wheels, read for what they were built for, and lists of what an image has.

mod named_wheels;
mod report;
mod image_requirements;
mod manifest;

pub use manifest::read_manifest;
pub use named_wheels::{Spec, WheelReader, WheelRequest, wheel_target};
pub use report::{BuildReport, render_reading};
