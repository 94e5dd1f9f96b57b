//! Wheels that a user names, read for what they were built for: `matrix inspect`.

mod wheel_reader;
mod report;

pub use report::{BuildReport, render_reading};
pub use wheel_reader::{Spec, WheelReader, WheelRequest, wheel_target};
