//! What a user names and no verb installs: wheels, read for what they were built for, and lists of what an image has.

mod wheel_reader;
mod report;
mod image_requirements;
mod manifest;

pub use manifest::read_manifest;
pub use report::{BuildReport, render_reading};
pub use wheel_reader::{Spec, WheelReader, WheelRequest, wheel_target};
