//! The canonical writer: fixed order of keys, sorted tables, one wheel a line.

use std::fmt::Write;

use toml::Value;

use crate::boot::lock::{Lock, LockedPackage, LockedTarget};

const HEADER: &str = "# Made by `colab-boot lock`. Do not edit; run that command again.\n";

/// The text of `lock`. The same lock gives the same bytes, whatever the order of its vectors.
pub fn write_lock(lock: &Lock) -> String {
    let mut text = String::from(HEADER);
    line(&mut text, "version", lock.version);
    line(&mut text, "requires", quoted(&lock.requires));
    line(&mut text, "matrix", quoted(&lock.matrix));
    text.push_str("\n[profile]\n");
    line(&mut text, "name", quoted(lock.profile.name.as_ref()));
    line(&mut text, "version", quoted(&lock.profile.version.to_string()));
    line(&mut text, "sha256", quoted(&lock.profile.sha256.to_string()));
    let mut targets: Vec<&LockedTarget> = lock.targets.iter().collect();
    targets.sort_by(|a, b| a.name.cmp(&b.name));
    for target in targets {
        write_target(&mut text, target);
    }
    text
}

fn write_target(text: &mut String, target: &LockedTarget) {
    text.push_str("\n[[target]]\n");
    line(text, "name", quoted(&target.name));
    if let Some(runtime) = &target.runtime {
        line(text, "runtime", quoted(runtime));
    }
    line(text, "python", quoted(&target.python.to_string()));
    line(text, "platform", quoted(&target.platform));
    if let Some(cuda) = target.cuda {
        line(text, "cuda", quoted(&cuda.to_string()));
    }
    if let Some(floor) = &target.driver_floor {
        line(text, "driver-floor", quoted(&floor.to_string()));
    }
    let mut gpus = target.gpus.clone();
    gpus.sort();
    line(text, "gpus", list(gpus.iter().map(|gpu| quoted(&gpu.to_string()))));
    let mut apt: Vec<_> = target.apt.iter().collect();
    apt.sort_by(|a, b| a.name.cmp(&b.name));
    let apt = apt.into_iter().map(|one| match &one.version {
        Some(version) => format!("{{ name = {}, version = {} }}", quoted(&one.name), quoted(version)),
        None => format!("{{ name = {} }}", quoted(&one.name)),
    });
    line(text, "apt", list(apt));
    if !target.accept.is_empty() {
        let mut accepted: Vec<_> = target.accept.iter().collect();
        accepted.sort();
        let accepted = accepted.into_iter().map(|one| {
            let (package, because) = (quoted(one.package.as_ref()), quoted(&one.because));
            format!("{{ package = {package}, code = \"{}\", because = {because} }}", one.code)
        });
        line(text, "accept", list(accepted));
    }
    let mut packages: Vec<&LockedPackage> = target.packages.iter().collect();
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    for package in packages {
        write_package(text, package);
    }
}

fn write_package(text: &mut String, package: &LockedPackage) {
    text.push_str("\n[[target.package]]\n");
    line(text, "name", quoted(package.name.as_ref()));
    line(text, "version", quoted(&package.version.to_string()));
    if let Some(wheel) = package.wheel() {
        let size = wheel.size.map(|size| format!(", size = {size}")).unwrap_or_default();
        let sha256 =
            wheel.sha256.map(|digest| format!(", sha256 = {}", quoted(&digest.to_string()))).unwrap_or_default();
        let key = if wheel.is_source() { "source" } else { "wheel" };
        let (file, index) = (quoted(&wheel.file), quoted(&wheel.index));
        let metadata = wheel.metadata.as_ref().map(|digest| format!(", metadata = {}", quoted(digest)));
        let metadata = metadata.unwrap_or_default();
        let from = wheel.from.as_ref().map(|from| format!(", from = {}", quoted(from))).unwrap_or_default();
        let commit = wheel.commit.as_ref().map(|commit| format!(", commit = {}", quoted(commit))).unwrap_or_default();
        line(text, key, format!("{{ file = {file}{sha256}{size}, index = {index}{metadata}{from}{commit} }}"));
    }
    if let Some(image) = package.image_only() {
        line(text, "image-only", quoted(image));
    }
    let mut why = package.why.clone();
    why.sort();
    line(text, "why", list(why.iter().map(|reason| quoted(reason))));
}

fn line(text: &mut String, key: &str, value: impl std::fmt::Display) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{key} = {value}");
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A TOML string, escaped as the `toml` crate escapes it; most need no escaping, and there are thousands.
fn quoted(text: &str) -> String {
    if text.bytes().all(|byte| (byte == b' ' || byte.is_ascii_graphic()) && byte != b'"' && byte != b'\\') {
        return format!("\"{text}\"");
    }
    Value::String(text.to_owned()).to_string()
}
