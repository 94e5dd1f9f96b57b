//! Plan → bash that a person can review and run without us. Every foreign value is quoted by one function; names were
//! checked when the profile was read.

mod context;
mod shell_text;
mod source_builds;

use std::collections::BTreeMap;

use crate::boot::lock::LockedPackage;
use crate::boot::plan::{Kind, Plan, environment_line};
use crate::boot::script::shell_text::{exact, fill, place, push, quoted, requirements};
use crate::boot::script::source_builds::builds;

pub use context::{BuildContext, Context};

const HEAD: &str = include_str!("head.sh");
const APT: &str = include_str!("apt.sh");
const WHEELS: &str = include_str!("install_wheels.sh");
const ENVIRONMENT: &str = include_str!("environment_file.sh");
const LOADER: &str = include_str!("loader.sh");

/// The file that sets the environment, in the target's site-packages.
pub const ENVIRONMENT_FILE: &str = "colab-boot-env.pth";

/// The script for `plan`. The same plan gives the same bytes.
pub fn render_script(plan: &Plan, context: &Context<'_>) -> String {
    let python = context.python.as_deref().unwrap_or("python3");
    let mut text = fill(
        HEAD,
        &[
            ("PROFILE", context.profile.clone()),
            ("TARGET", plan.target.clone()),
            ("LOCK", context.lock.to_string()),
            ("TOOL", env!("CARGO_PKG_VERSION").to_owned()),
            ("PYTHON", quoted(python)),
            ("KEEP", if plan.builds() { "pip_index_url=${PIP_INDEX_URL:-}\n".to_owned() } else { String::new() }),
        ],
    );
    if !plan.apt.is_empty() {
        let lines = plan.apt.iter().map(|step| match &step.version {
            Some(version) => format!("  {}", quoted(&format!("{}={version}", step.name))),
            None => format!("  {}", quoted(&step.name)),
        });
        let snapshot = plan.apt_snapshot.as_ref().map(|id| quoted(id)).unwrap_or_default();
        text.push_str(&fill(APT, &[("PACKAGES", lines.collect::<Vec<_>>().join("\n")), ("SNAPSHOT", snapshot)]));
    }
    if !plan.changes.is_empty() {
        let flag = if context.externally_managed { " --break-system-packages" } else { "" };
        text.push_str(&fill(WHEELS, &[("BREAK_SYSTEM", flag.to_owned())]));
        wheels(&mut text, plan, context, flag);
    }
    text.push_str(LOADER);
    environment(&mut text, plan);
    text.push_str("\nend script\nsay \"done; restart the kernel if it has loaded any of the packages above\"\n");
    text
}

fn wheels(text: &mut String, plan: &Plan, context: &Context<'_>, flag: &str) {
    let removed: Vec<String> = plan.of_kind(Kind::Remove).map(|change| quoted(change.name.as_ref())).collect();
    if !removed.is_empty() {
        push(
            text,
            format_args!(
                "\nbegin remove \"removing distributions: {}\"\nremove {}\nend remove\n",
                removed.len(),
                removed.join(" ")
            ),
        );
    }
    let built: Vec<&LockedPackage> = plan.incoming().filter(|package| package.is_source()).collect();
    let mut groups: BTreeMap<(&str, bool), Vec<&LockedPackage>> = BTreeMap::new();
    for package in plan.incoming().filter(|package| !package.is_source()) {
        if let Some(wheel) = package.wheel() {
            groups.entry((wheel.index.as_str(), context.beside.contains(&package.name))).or_default().push(package);
        }
    }
    let count: usize = groups.values().map(Vec::len).sum();
    if count == 0 && built.is_empty() {
        text.push_str(if removed.is_empty() { "" } else { "switch\n" });
        return;
    }
    push(text, format_args!("\nbegin wheels \"installing wheels: {count}\"\n"));
    for ((index, beside), packages) in groups {
        let (file, flag) = if beside { (format!("{index}-beside"), "--beside ") } else { (index.to_owned(), "") };
        if index == "direct" {
            text.push_str("if [[ -z $wheels ]]; then\n");
            requirements(text, &file, &packages, |package, file| {
                context.direct.get(file).map_or_else(|| exact(package), |url| format!("{} @ {url}", package.name))
            });
            push(text, format_args!("install {flag}\"$work/{file}.txt\"\nelse\n"));
            requirements(text, &file, &packages, |package, _| exact(package));
            push(text, format_args!("install {flag}\"$work/{file}.txt\"\nfi\n"));
            continue;
        }
        requirements(text, &file, &packages, |package, _| exact(package));
        match context.indexes.get(index) {
            Some(url) => {
                let from = place(url, false);
                push(text, format_args!("install {flag}\"$work/{file}.txt\" {from}\n"));
            }
            None => push(text, format_args!("install {flag}\"$work/{file}.txt\"\n")),
        }
    }
    if built.is_empty() {
        text.push_str("switch\nend wheels\n");
        return;
    }
    // What is built may need the wheels: they are installed, or at least unpacked.
    text.push_str("end wheels\n");
    builds(text, &built, context, flag);
    text.push_str("\nbegin switch \"putting the packages in place\"\nswitch\nkeep_built\nend switch\n");
}

fn environment(text: &mut String, plan: &Plan) {
    text.push_str(ENVIRONMENT);
    let file = format!("\"$site/{ENVIRONMENT_FILE}\"");
    match environment_line(&plan.environment, &plan.earlier_variables) {
        None => push(text, format_args!("rm -f {file}\n")),
        Some(line) => {
            push(text, format_args!("cat >{file}.new <<'END_OF_LINE'\n{line}\nEND_OF_LINE\nmv {file}.new {file}\n"));
        }
    }
    text.push_str("end environment\n");
}
