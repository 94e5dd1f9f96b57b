//! A Dockerfile, and a devcontainer.json that builds it.

use std::fmt::Write;

use serde_json::json;

use crate::boot::export::LockView;
use crate::core::model::Libc;
use crate::core::model::platform::parse_platform;
use crate::core::model::wheel_names::WheelName;

/// The image that a Dockerfile begins with.
pub enum Base<'a> {
    Named(&'a str),
    /// Debian's Python, of a release whose glibc runs the wheels.
    Usual,
}

/// The Dockerfile; it copies the requirements.txt beside it.
///
/// Debian packages come before the wheels, each in a layer of its own. Wheels bring CUDA, so that the base need not.
/// The variables are those that NVIDIA's images set for its container toolkit.
pub fn dockerfile(view: &LockView<'_>, base: &Base<'_>) -> String {
    let mut text = view.heading("dockerfile");
    let (major, minor) = view.minor();
    let base = match base {
        Base::Named(name) => (*name).to_owned(),
        Base::Usual => format!("python:{major}.{minor}-slim-{}", debian_of(view)),
    };
    let _ = writeln!(text, "FROM {base}");
    if view.target.cuda.is_some() {
        text.push_str("ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility");
        let floor = view.target.driver_floor.as_ref();
        text.extend(floor.map(|driver| format!(" NVIDIA_REQUIRE_DRIVER=\"driver>={driver}\"")));
        text.push('\n');
    }
    let apt: Vec<&str> = view.profile.apt.iter().map(String::as_str).collect();
    if !apt.is_empty() {
        let _ = writeln!(
            text,
            "RUN apt-get update \\\n    && apt-get install --yes --no-install-recommends {} \\\n    && rm -rf /var/lib/apt/lists/*",
            apt.join(" ")
        );
    }
    text.push_str(
        "COPY requirements.txt /opt/colab-boot/requirements.txt\n\
         RUN python -m pip install --no-cache-dir --no-deps -r /opt/colab-boot/requirements.txt\n",
    );
    for (name, value) in &view.profile.environment {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$");
        let _ = writeln!(text, "ENV {name}=\"{escaped}\"");
    }
    text
}

/// The devcontainer.json beside such a Dockerfile. A GPU is used where there is one: `--gpus=all` fails without.
pub fn devcontainer(view: &LockView<'_>) -> String {
    let heading = view.heading("devcontainer");
    let comments: String = heading.lines().map(|line| format!("//{}\n", line.trim_start_matches('#'))).collect();
    let mut content = json!({ "name": view.profile.name.to_string(), "build": { "dockerfile": "Dockerfile" } });
    if view.target.cuda.is_some() {
        content["hostRequirements"] = json!({ "gpu": "optional" });
    }
    format!("{comments}{content:#}\n")
}

/// The oldest release of Debian in use whose glibc runs the wheels.
fn debian_of(view: &LockView<'_>) -> &'static str {
    let wheels = view.target.packages.iter().filter_map(|package| package.wheel()?.file.parse::<WheelName>().ok());
    let needed = wheels.filter_map(|wheel| {
        let tags = wheel.platforms.split('.').filter_map(|platform| match parse_platform(platform)?.0 {
            Libc::Glibc(major, minor) => Some((major, minor)),
            _ => None,
        });
        tags.min()
    });
    if needed.max().is_none_or(|glibc| glibc <= (2, 36)) { "bookworm" } else { "trixie" }
}
