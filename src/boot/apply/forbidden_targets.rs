//! Wheels that would write over what is not theirs: the interpreter, or the files of its virtual environment.
//! Installers do as they are asked, so this is found before they start.

use crate::boot::files::Downloaded;
use crate::boot::install::entry_points;
use crate::boot::state::IDENTITY;
use crate::core::diag::{Code, Finding, Subject};
use crate::core::model::PackageName;
use crate::core::model::contents::installed_path;

/// Scripts of a virtual environment that no distribution brings.
const ENVIRONMENT: &[&str] = &[
    "Activate.ps1",
    "activate",
    "activate.bat",
    "activate.csh",
    "activate.fish",
    "activate.nu",
    "activate.ps1",
    "activate_this.py",
    "deactivate",
    "deactivate.bat",
    "deactivate.nu",
    "pydoc.bat",
];

/// Distributions that install others, with what they put on disk. Nobody else may write there.
const INSTALLER_FILES: &[(&str, &[&str])] = &[
    ("pip", &["pip", "<scripts>/pip", "<scripts>/pip3"]),
    ("uv", &["uv", "<scripts>/uv", "<scripts>/uvx", "<data>/bin/uv"]),
];

/// What the wheel of `name` would write over; nothing for an honest one.
pub(super) fn overwrites(name: &PackageName, wheel: &Downloaded) -> Vec<Finding> {
    let mut paths: Vec<String> = wheel.files.members.iter().filter_map(|member| installed_path(&member.path)).collect();
    paths.extend(scripts(&wheel.entry_points).map(|(script, _)| format!("<scripts>/{script}")));
    let mut findings = Vec::new();
    if let Some(first) = paths.iter().filter(|path| is_of_python(path)).min() {
        let message =
            format!("the wheel of {name} would write `{first}`, which belongs to the interpreter or to colab-boot");
        findings.push(refused(name, message));
    }
    for (installer, places) in INSTALLER_FILES.iter().filter(|(installer, _)| name.as_ref() != *installer) {
        if let Some(first) = paths
            .iter()
            .filter(|path| {
                places
                    .iter()
                    .any(|place| path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
            })
            .min()
        {
            let message = format!("the wheel of {name} would write `{first}`, which belongs to {installer}");
            findings.push(refused(name, message));
        }
    }
    findings
}

fn refused(name: &PackageName, message: String) -> Finding {
    let finding = Finding::error(Code::WheelOverwrites, message).about(Subject::package(name));
    finding.with_help("nothing was changed; choose another release")
}

/// Scripts that an installer makes for entry points, each with the module that it calls.
pub(super) fn scripts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    entry_points(text).map(|(name, object)| (name, object.split(':').next().unwrap_or_default().trim()))
}

/// Whether a script of this name is the interpreter, or of its virtual environment.
fn is_of_environment(script: &str) -> bool {
    let is_python = ["python", "pythonw", "pypy"].iter().any(|name| {
        script.strip_prefix(name).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    });
    is_python || ENVIRONMENT.contains(&script)
}

/// Whether a path, as [`installed_path`] gives it, is the interpreter, its settings or its library.
fn is_of_python(path: &str) -> bool {
    if let Some(script) = path.strip_prefix("<scripts>/") {
        return is_of_environment(script);
    }
    // What colab-boot itself writes beside the packages.
    if path == IDENTITY || path.starts_with("colab-boot-") && path.ends_with(".pth") {
        return true;
    }
    let Some(data) = path.strip_prefix("<data>/") else {
        return false;
    };
    match data.split('/').collect::<Vec<_>>().as_slice() {
        ["pyvenv.cfg"] => true,
        ["bin" | "Scripts", script] => is_of_environment(script),
        ["lib" | "lib64", python, inner, ..] if python.starts_with("python") => {
            !matches!(*inner, "site-packages" | "dist-packages")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_python;

    #[test]
    fn the_interpreter_is_known_by_its_names() {
        for (path, expected) in [
            ("<scripts>/python", true),
            ("<scripts>/python3.12", true),
            ("<scripts>/activate", true),
            ("<scripts>/python-argcomplete-check-easy-install-script", false),
            ("<scripts>/activate-global-python-argcomplete", false),
            ("<scripts>/ipython3", false),
            ("<data>/pyvenv.cfg", true),
            ("<data>/bin/python3", true),
            ("<data>/lib/python3.12/os.py", true),
            ("<data>/lib/python3.12/site-packages/x.py", false),
            ("<data>/share/jupyter/kernels/python3/kernel.json", false),
            ("python/x.py", false),
        ] {
            assert_eq!(is_of_python(path), expected, "{path}");
        }
    }
}
