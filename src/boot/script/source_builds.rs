//! The part of a script that builds packages from source.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::boot::lock::{LockedFrom, LockedPackage, LockedTarget, LockedWheel};
use crate::boot::script::context::{BuildContext, Context};
use crate::boot::script::shell_text::{exact, fill, push, quoted, requirements};
use crate::core::model::Sha256;

const BUILD: &str = include_str!("build.sh");

/// The functions that build, and the steps for `packages`.
pub(super) fn builds(text: &mut String, packages: &[&LockedPackage], context: &Context<'_>, flag: &str) {
    let of_target = &context.builds;
    let frameworks: Vec<&str> = of_target.frameworks.iter().map(AsRef::as_ref).collect();
    let locked: Vec<&str> = of_target.target.packages.iter().map(|package| package.name.as_ref()).collect();
    text.push_str(&fill(
        BUILD,
        &[
            ("BREAK_SYSTEM", flag.to_owned()),
            ("FRAMEWORKS", quoted(&frameworks.join("|"))),
            ("LOCKED", quoted(&locked.join(" "))),
        ],
    ));
    architectures(text, of_target.target);
    let mode = |package: &LockedPackage| if of_target.shared.contains(&package.name) { "shared" } else { "alone" };
    let is_editable = |package: &&LockedPackage| context.editable.contains_key(&package.name);
    let (editable, archives): (Vec<&LockedPackage>, Vec<&LockedPackage>) =
        packages.iter().partition(|one| is_editable(one));
    for package in editable {
        let (name, mode) = (&package.name, mode(package));
        let folder = quoted(&context.editable[name].display().to_string());
        push(text, format_args!("\nbegin {} \"building {name} from source\"\n", quoted(&format!("build {name}"))));
        push(text, format_args!("editable {name} {folder} {mode}\nend {}\n", quoted(&format!("build {name}"))));
    }
    if archives.is_empty() {
        return;
    }
    text.push_str("\nif [[ -n $own ]]; then\n");
    for (package, source) in archives.iter().filter_map(|package| Some((package, package.wheel()?))) {
        let (name, mode) = (&package.name, mode(package));
        let key = key(package, of_target).to_string();
        let file = quoted(&source.file);
        push(text, format_args!("begin \"build {name}\" \"building {name} from source\"\n"));
        push(text, format_args!("build {key} {name} {file} {mode}\nend \"build {name}\"\n"));
    }
    text.push_str("else\n");
    for (mode_of, flag) in [("alone", ""), ("shared", " --no-build-isolation")] {
        let of_mode: Vec<&LockedPackage> = archives.iter().filter(|one| mode(one) == mode_of).copied().collect();
        if of_mode.is_empty() {
            continue;
        }
        let names: Vec<&str> = of_mode.iter().map(|package| package.name.as_ref()).collect();
        let file = format!("build-{mode_of}");
        push(text, format_args!("begin build \"building from source: {}\"\n", names.join(", ")));
        requirements(text, &file, &of_mode, |package, file| {
            context.direct.get(file).map_or_else(|| exact(package), |url| format!("{} @ {url}", package.name))
        });
        push(text, format_args!("build_and_install \"$work/{file}.txt\"{flag}\nend build\n"));
    }
    text.push_str("fi\n");
}

/// Builds are for the GPUs of the target, unless somebody wants others.
fn architectures(text: &mut String, target: &LockedTarget) {
    let gpus: BTreeSet<String> = target.gpus.iter().map(ToString::to_string).collect();
    if gpus.is_empty() {
        return;
    }
    let dotted: Vec<&str> = gpus.iter().map(String::as_str).collect();
    for (name, list) in [("TORCH_CUDA_ARCH_LIST", dotted.join(";")), ("CUDAARCHS", dotted.join(";").replace('.', ""))] {
        push(text, format_args!("export {name}=${{{name}:-{}}}\n", quoted(&list)));
    }
}

/// What the wheel built from the source of `package` depends on: the source, the Python, the platform, the GPUs, and
/// the frameworks. The name of the folder that keeps it.
fn key(package: &LockedPackage, context: &BuildContext<'_>) -> Sha256 {
    let mut text = String::from("colab-boot build 1\n");
    let digest = |package: &LockedPackage| match &package.from {
        LockedFrom::Wheel(wheel) => wheel.sha256.map_or_else(|| wheel.file.clone(), |digest| digest.to_string()),
        LockedFrom::ImageOnly(image) => image.clone(),
    };
    let target = context.target;
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{} {}", package.name, digest(package));
    let release = target.python.release();
    let _ = writeln!(text, "{:?} {} {:?}", &release[..release.len().min(2)], target.platform, target.gpus);
    for one in target.packages.iter().filter(|one| context.frameworks.contains(&one.name)) {
        let _ = writeln!(text, "{} {} {}", one.name, one.version, digest(one));
    }
    Sha256::of(text.as_bytes())
}

/// Whether the package is built from source.
pub(super) fn is_source(package: &LockedPackage) -> bool {
    package.wheel().is_some_and(LockedWheel::is_source)
}
