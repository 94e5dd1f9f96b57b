//! That Python still starts. Files such as `sitecustomize.py` and `*.pth` run before anything else: one that fails
//! locks out notebooks, installers and colab-boot alike.

use std::time::Duration;

use crate::boot::apply::prepared::Wheels;
use crate::boot::files::Downloaded;
use crate::core::diag::{Code, Finding};
use crate::core::host::Invocation;
use crate::core::host::command::last_lines;
use crate::core::model::contents::installed_path;
use crate::core::model::modules::runs_at_start;

/// As long as an interpreter is given to tell about itself.
const AT_MOST: Duration = Duration::from_mins(1);

/// What is wrong where `start`, the interpreter with nothing to do, fails with the new `wheels`.
pub(super) fn not_starting(start: &Invocation, wheels: &Wheels) -> Option<Finding> {
    let why = refusal(start)?;
    let runs = |wheel: &Downloaded| wheel.files.members.iter().any(|member| startup_file(&member.path).is_some());
    let names = wheels.iter().filter(|(_, wheel)| runs(wheel)).map(|(name, _)| name.to_string());
    let names: Vec<String> = names.collect();
    let (with, others) = match names.as_slice() {
        [] => (String::new(), "the replaced packages".to_owned()),
        names => (format!(" with {}", names.join(", ")), names.join(", ")),
    };
    let finding = Finding::error(Code::StartBroken, format!("Python no longer starts{with}")).with_note(why);
    Some(finding.with_help(format!("choose another release of {others}, or run `colab-boot restore`")))
}

/// Why the interpreter does not start; `None` where it does.
fn refusal(start: &Invocation) -> Option<String> {
    match start.output(AT_MOST) {
        Ok(finished) if finished.code == 0 => None,
        Ok(finished) => Some(finished.failure(&last_lines(&finished.stderr, 3))),
        Err(error) => Some(format!("{error:?}")),
    }
}

/// The entry of site-packages that Python looks at when it starts, which a member of a wheel is in.
fn startup_file(member: &str) -> Option<String> {
    let path = installed_path(member)?;
    let (top, is_file) = path.split_once('/').map_or((path.as_str(), true), |(top, _)| (top, false));
    (runs_at_start(top) && (is_file || !top.contains('.'))).then(|| top.to_owned())
}

#[cfg(test)]
mod tests {
    use super::startup_file;

    #[test]
    fn what_runs_when_python_starts_is_known() {
        for (member, file) in [
            ("demo.pth", Some("demo.pth")),
            ("demo-1.0.data/purelib/demo.pth", Some("demo.pth")),
            ("sitecustomize.py", Some("sitecustomize.py")),
            ("sitecustomize/__init__.py", Some("sitecustomize")),
            ("demo/sitecustomize.py", None),
            ("demo-1.0.data/data/demo.pth", None),
            ("demo-1.0.dist-info/x.pth", None),
        ] {
            assert_eq!(startup_file(member).as_deref(), file, "{member}");
        }
    }
}
