//! Versions alone: constraints, and the metadata of a script.

use std::fmt::Write;

use crate::boot::export::{LockView, MADE};
use crate::boot::lock::LockedPackage;
use crate::boot::machine::Runtime;
use crate::core::model::version::public;

/// Constraints of what `view` has. Labels such as `+cu128` are left out: `==2.11.0` allows them.
pub fn lock_constraints(view: &LockView<'_>) -> String {
    let mut text = view.heading("constraints");
    text.push_str("# Install with: python -m pip install -c constraints.txt PACKAGE\n");
    for package in &view.target.packages {
        let _ = match package.own_place() {
            None => writeln!(text, "{}=={}", package.name, public(&package.version)),
            Some(from) => {
                writeln!(text, "# left out, no index has it: {} {} from {from}", package.name, package.version)
            }
        };
    }
    text
}

/// Constraints of what a notebook image has, but for what it installs from an address.
pub fn image_constraints(runtime: &Runtime) -> String {
    let mut text = format!(
        "{MADE} constraints` from the notebook image {}, Python {}. Do not edit.\n\
         # Install with: python -m pip install -c constraints.txt PACKAGE\n",
        runtime.full_name(),
        runtime.python
    );
    for (name, version) in runtime.packages.iter().filter(|(name, _)| !runtime.direct_url.contains(name)) {
        let _ = writeln!(text, "{name}=={}", public(version));
    }
    text
}

/// The block of inline metadata (PEP 723) with which `uv run` and others start a script in these versions.
pub fn script_block(view: &LockView<'_>) -> String {
    let mut text = String::from("# /// script\n");
    for line in view.heading("script").lines() {
        let _ = writeln!(text, "# {line}");
    }
    let _ = writeln!(text, "# requires-python = \"{}\"\n# dependencies = [", view.requires_python());
    for package in &view.target.packages {
        let _ = writeln!(text, "#     {},", toml::Value::from(view.asked(package, "==")));
    }
    text.push_str("# ]\n");
    let is_overridden = |package: &&LockedPackage| view.profile.overrides.iter().any(|one| one.name == package.name);
    let overridden = view.target.packages.iter().filter(is_overridden).map(|package| view.asked(package, "=="));
    let overridden: Vec<toml::Value> = overridden.map(toml::Value::from).collect();
    if !overridden.is_empty() {
        let _ = writeln!(text, "# [tool.uv]\n# override-dependencies = {}", toml::Value::from(overridden));
    }
    text.push_str("# ///\n");
    text
}
