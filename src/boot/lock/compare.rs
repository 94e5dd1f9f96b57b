//! What differs between two locks, for people: one line a difference.

use std::collections::BTreeMap;

use crate::boot::lock::{Lock, LockedPackage, LockedTarget, LockedWheel};
use crate::core::model::PackageName;

/// How `new` differs from `old`, target by target; empty where nothing does.
pub fn differences(old: &Lock, new: &Lock) -> Vec<String> {
    let mut lines = Vec::new();
    if old.profile.sha256 != new.profile.sha256 {
        lines.push("the profile was edited after it was locked".to_owned());
    }
    if old.matrix != new.matrix {
        lines.push(format!("it was made with matrix {}, this colab-boot has {}", old.matrix, new.matrix));
    }
    for target in &new.targets {
        let several = new.targets.len() > 1;
        let prefix = if several { format!("{}: ", target.name) } else { String::new() };
        match old.targets.iter().find(|known| known.name == target.name) {
            None => lines.push(format!("the target `{}` is new", target.name)),
            Some(known) => lines.extend(of_target(known, target).into_iter().map(|line| format!("{prefix}{line}"))),
        }
    }
    let gone = old.targets.iter().filter(|known| !new.targets.iter().any(|target| target.name == known.name));
    lines.extend(gone.map(|known| format!("the target `{}` was removed", known.name)));
    lines
}

fn of_target(old: &LockedTarget, new: &LockedTarget) -> Vec<String> {
    let mut lines = assumptions(old, new);
    let (before, after) = (by_name(old), by_name(new));
    for (name, package) in &after {
        let line = match before.get(name) {
            None => Some(format!("{name} {} is new{}", package.version, needed(package))),
            Some(known) if known.version != package.version => {
                Some(format!("{name} moves from {} to {}{}", known.version, package.version, needed(package)))
            }
            Some(known) if known.wheel() != package.wheel() => Some(match (known.wheel(), package.wheel()) {
                (Some(_), None) => format!("{name} {} is no longer on any index", package.version),
                (Some(old), Some(wheel)) => format!("{name} {}: {}", package.version, other_file(old, wheel)),
                (None, Some(wheel)) => format!("{name} {} comes from `{}`", package.version, wheel.file),
                (None, None) => continue,
            }),
            Some(_) => None,
        };
        lines.extend(line);
    }
    let gone = before.iter().filter(|(name, _)| !after.contains_key(*name));
    lines.extend(gone.map(|(name, known)| format!("{name} {} is no longer needed", known.version)));
    if lines.is_empty() && old != new {
        lines.push("reasons, the minimum driver, or versions of apt packages differ".to_owned());
    }
    lines
}

/// How the file `new` differs from `old`.
fn other_file(old: &LockedWheel, new: &LockedWheel) -> String {
    let digest = |wheel: &LockedWheel| wheel.sha256.map_or_else(|| "none".to_owned(), |digest| digest.short());
    if old.file != new.file {
        format!("`{}` in place of `{}`", new.file, old.file)
    } else if old.sha256 != new.sha256 {
        format!("`{}` has another digest: sha256 {}… becomes {}…", new.file, digest(old), digest(new))
    } else if old.index == new.index {
        format!("`{}` is described otherwise", new.file)
    } else {
        format!("`{}` from the index `{}` in place of `{}`", new.file, new.index, old.index)
    }
}

fn by_name(target: &LockedTarget) -> BTreeMap<PackageName, LockedPackage> {
    target.packages.iter().map(|package| (package.name.clone(), package.clone())).collect()
}

fn needed(package: &LockedPackage) -> String {
    if package.why.is_empty() { String::new() } else { format!(" (for {})", package.why.join(", ")) }
}

fn assumptions(old: &LockedTarget, new: &LockedTarget) -> Vec<String> {
    let text = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let apt = |target: &LockedTarget| {
        let all: Vec<&str> = target.apt.iter().map(|one| one.name.as_str()).collect();
        if all.is_empty() { "none".to_owned() } else { all.join(", ") }
    };
    let pairs = [
        ("Python", old.python.to_string(), new.python.to_string()),
        ("platform", old.platform.clone(), new.platform.clone()),
        ("CUDA", text(old.cuda.map(|cuda| cuda.to_string())), text(new.cuda.map(|cuda| cuda.to_string()))),
        ("compute capabilities", gpus(old), gpus(new)),
        ("apt packages", apt(old), apt(new)),
    ];
    let changed = pairs.into_iter().filter(|(_, before, after)| before != after);
    changed.map(|(what, before, after)| format!("{what}: {before} becomes {after}")).collect()
}

fn gpus(target: &LockedTarget) -> String {
    let all: Vec<String> = target.gpus.iter().map(ToString::to_string).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}
