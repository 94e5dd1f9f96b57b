//! Plan → bash that a person can review and run without us. Every foreign value is quoted by one function; names were
//! checked when the profile was read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use url::Url;

use crate::boot::lock::{LockedPackage, LockedWheel};
use crate::boot::plan::{Kind, Plan, environment_line};
use crate::core::model::{PackageName, Sha256};

const HEAD: &str = include_str!("head.sh");
const APT: &str = include_str!("apt.sh");
const WHEELS: &str = include_str!("install_wheels.sh");
const BUILD: &str = include_str!("build.sh");
const ENVIRONMENT: &str = include_str!("environment_file.sh");
const LOADER: &str = include_str!("loader.sh");

/// The file that sets the environment, in the target's site-packages.
pub const ENVIRONMENT_FILE: &str = "colab-boot-env.pth";

/// What a script says beside its plan.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// Name and version of the profile.
    pub profile: String,
    pub lock: Sha256,
    /// Packages that lie elsewhere on the path, too, where no installer may touch them: Debian's own.
    pub beside: BTreeSet<PackageName>,
    /// The interpreter to install for, where it is known.
    pub python: Option<String>,
    pub externally_managed: bool,
    /// Addresses of the `[[index]]` tables.
    pub indexes: BTreeMap<&'a str, &'a Url>,
    /// Addresses of direct wheels, by file name.
    pub direct: BTreeMap<String, &'a Url>,
    /// The folders of editable projects.
    pub editable: BTreeMap<PackageName, &'a Path>,
}

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
            ("KEEP", if builds(plan) { "pip_index_url=${PIP_INDEX_URL:-}\n".to_owned() } else { String::new() }),
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
    let incoming = || plan.changes.iter().filter_map(|change| change.package.as_ref());
    let built: Vec<&LockedPackage> = incoming().filter(|package| is_source(package)).collect();
    sources(text, &built, context, flag);
    let mut groups: BTreeMap<(&str, bool), Vec<&LockedPackage>> = BTreeMap::new();
    for package in incoming().filter(|package| !is_source(package)) {
        if let Some(wheel) = package.wheel() {
            groups.entry((wheel.index.as_str(), context.beside.contains(&package.name))).or_default().push(package);
        }
    }
    let count: usize = groups.values().map(Vec::len).sum();
    if count == 0 {
        text.push_str(if removed.is_empty() && built.is_empty() { "" } else { "switch\n" });
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
                let from = match url.to_file_path() {
                    Ok(folder) if url.scheme() == "file" => {
                        format!("--no-index --find-links {}", quoted(&folder.to_string_lossy()))
                    }
                    _ => format!("--index-url {}", quoted(url.as_str())),
                };
                push(text, format_args!("install {flag}\"$work/{file}.txt\" {from}\n"));
            }
            None => push(text, format_args!("install {flag}\"$work/{file}.txt\"\n")),
        }
    }
    text.push_str("switch\nend wheels\n");
}

/// Whether anything is built from source.
fn builds(plan: &Plan) -> bool {
    plan.changes.iter().filter_map(|change| change.package.as_ref()).any(is_source)
}

fn is_source(package: &LockedPackage) -> bool {
    package.wheel().is_some_and(LockedWheel::is_source)
}

/// What the installer builds: pinned by digest; what its build downloads is the project's business.
fn sources(text: &mut String, packages: &[&LockedPackage], context: &Context<'_>, flag: &str) {
    if packages.is_empty() {
        return;
    }
    text.push_str(&fill(BUILD, &[("BREAK_SYSTEM", flag.to_owned())]));
    push(text, format_args!("\nbegin build \"building packages from source: {}\"\n", packages.len()));
    let is_editable = |package: &&&LockedPackage| context.editable.contains_key(&package.name);
    let built: Vec<&LockedPackage> = packages.iter().filter(|package| !is_editable(package)).copied().collect();
    requirements(text, "build", &built, |package, file| {
        context.direct.get(file).map_or_else(|| exact(package), |url| format!("{} @ {url}", package.name))
    });
    let archives = packages.iter().filter_map(|package| Some((package, package.wheel()?)));
    let archives = archives.map(|(package, source)| match context.editable.get(&package.name) {
        Some(folder) => quoted(&format!("{}=@{}", package.name, folder.display())),
        None => quoted(&format!("{}={}", package.name, source.file)),
    });
    let archives: Vec<String> = archives.collect();
    push(text, format_args!("build \"$work/build.txt\" {}\nend build\n", archives.join(" ")));
}

fn exact(package: &LockedPackage) -> String {
    format!("{}==={}", package.name, package.version)
}

/// A requirements file, as a quoted heredoc: nothing in it is expanded.
fn requirements(
    text: &mut String,
    name: &str,
    packages: &[&LockedPackage],
    line: impl Fn(&LockedPackage, &str) -> String,
) {
    push(text, format_args!("cat >\"$work/{name}.txt\" <<'END_OF_REQUIREMENTS'\n"));
    for package in packages {
        if let Some(wheel) = package.wheel() {
            // Without a digest the installer refuses, as it should.
            let hash = wheel.sha256.map(|digest| format!(" --hash=sha256:{digest}")).unwrap_or_default();
            push(text, format_args!("{}{hash}\n", line(package, &wheel.file)));
        }
    }
    text.push_str("END_OF_REQUIREMENTS\n");
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

fn fill(template: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}

fn push(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(what);
}

/// `text` as one word of bash. What cannot be quoted (a NUL) was refused with the profile.
fn quoted(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}
