//! The part of a script that builds packages from source.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::lock::{LockedFrom, LockedPackage, LockedTarget};
use crate::boot::script::context::{BuildContext, Context};
use crate::boot::script::shell_text::{exact, fill, place, push, quoted, requirements};
use crate::core::model::Sha256;

const BUILD: &str = include_str!("build.sh");

/// The functions that build, and the steps for `packages`.
pub(super) fn builds(text: &mut String, packages: &[&LockedPackage], context: &Context<'_>, flag: &str) {
    let of_target = &context.builds;
    let frameworks: Vec<&str> = of_target.frameworks.iter().map(AsRef::as_ref).collect();
    let lines: Vec<String> = of_target.target.packages.iter().map(line).collect();
    text.push_str(&fill(
        BUILD,
        &[
            ("BREAK_SYSTEM", flag.to_owned()),
            ("FRAMEWORKS", quoted(&frameworks.join("|"))),
            ("LINES", lines.concat()),
            ("ARCHITECTURES", architectures(of_target.target)),
        ],
    ));
    let mode = |package: &LockedPackage| if of_target.shared.contains(&package.name) { "shared" } else { "alone" };
    let is_editable = |package: &&LockedPackage| context.editable.contains_key(&package.name);
    let (editable, archives): (Vec<&LockedPackage>, Vec<&LockedPackage>) =
        packages.iter().partition(|one| is_editable(one));
    for package in editable {
        let (name, mode) = (&package.name, mode(package));
        let folder = quoted(&context.editable[name].display().to_string());
        push(text, format_args!("\neditable {name} {folder} {mode}\n"));
    }
    if archives.is_empty() {
        return;
    }
    text.push_str("\nif [[ -n $own ]]; then\n");
    for (package, source) in archives.iter().filter_map(|package| Some((package, package.wheel()?))) {
        let (name, mode) = (&package.name, mode(package));
        let (key, file) = (key(package, of_target, mode), quoted(&source.file));
        push(text, format_args!("build {key} {name} {file} {mode}\n"));
    }
    text.push_str("else\n");
    let mut groups: BTreeMap<(&str, &str), Vec<&LockedPackage>> = BTreeMap::new();
    for (package, source) in archives.iter().filter_map(|package| Some((package, package.wheel()?))) {
        groups.entry((mode(package), source.index.as_str())).or_default().push(package);
    }
    for ((mode_of, index), of_mode) in groups {
        let flag = if mode_of == "shared" { " --no-build-isolation" } else { "" };
        let from = context.indexes.get(index).map(|url| format!(" {}", place(url, true))).unwrap_or_default();
        let names: Vec<&str> = of_mode.iter().map(|package| package.name.as_ref()).collect();
        let file = format!("build-{mode_of}-{index}");
        push(text, format_args!("begin build \"building from source: {}\"\n", names.join(", ")));
        requirements(text, &file, &of_mode, |package, file| {
            context.direct.get(file).map_or_else(|| exact(package), |url| format!("{} @ {url}", package.name))
        });
        push(text, format_args!("build_and_install \"$work/{file}.txt\"{flag}{from}\nend build\n"));
    }
    text.push_str("fi\n");
}

/// Builds are for the GPUs of the target, unless somebody wants others.
fn architectures(target: &LockedTarget) -> String {
    let gpus: BTreeSet<String> = target.gpus.iter().map(ToString::to_string).collect();
    if gpus.is_empty() {
        return String::new();
    }
    let list = gpus.into_iter().collect::<Vec<_>>().join(";");
    let export = |name: &str, list: &str| format!("export {name}=${{{name}:-{}}}\n", quoted(list));
    export("TORCH_CUDA_ARCH_LIST", &list) + &export("CUDAARCHS", &list.replace('.', ""))
}

/// A package as a build sees it: name, version, and which file that is.
fn line(package: &LockedPackage) -> String {
    let file = match &package.from {
        LockedFrom::Wheel(wheel) => wheel.sha256.map_or_else(|| wheel.file.clone(), |digest| digest.to_string()),
        LockedFrom::ImageOnly(image) => image.clone(),
    };
    format!("{} {} {file}\n", package.name, package.version)
}

/// What the wheel built from the source of `package` depends on before its build has said what it sees: the source, the
/// Python, the platform, the GPUs, and whether it sees the environment at once. The name of the folder that keeps it.
fn key(package: &LockedPackage, context: &BuildContext<'_>, mode: &str) -> Sha256 {
    let target = context.target;
    let release = target.python.release();
    let (python, platform, gpus) = (&release[..release.len().min(2)], &target.platform, &target.gpus);
    let text = format!("colab-boot build 1\n{}{python:?} {platform} {gpus:?} {mode}\n", line(package));
    Sha256::of(text.as_bytes())
}
