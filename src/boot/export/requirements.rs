//! A requirements.txt with digests, for pip and uv.

use std::fmt::Write;

use crate::boot::export::LockView;
use crate::boot::lock::LockedWheel;

/// The file. A package of another index than the default one stands there with its address.
///
/// `===` and not `==`: with `==1.0`, pip and uv also take a build `1.0+cu128` that another index offers, and then fail
/// at its digest. `--no-deps` can't stand in such a file, so that it is in the command.
pub fn requirements(view: &LockView<'_>) -> String {
    let mut text = view.heading("requirements");
    text.push_str(
        "# Install: python -m pip install --no-deps -r requirements.txt\n--require-hashes\n--only-binary :all:\n",
    );
    for package in &view.target.packages {
        if package.wheel().is_some_and(LockedWheel::is_source) {
            let _ = writeln!(text, "--no-binary {}", package.name);
        }
    }
    for package in &view.target.packages {
        let Some(wheel) = package.wheel() else { continue };
        let Some(sha256) = wheel.sha256 else { continue };
        let asked = view.asked(package, "===");
        let _ = writeln!(text, "{asked} --hash=sha256:{sha256}");
    }
    text
}
