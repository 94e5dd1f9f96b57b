//! `[[accept]]`: facts that the profile overrules.

use crate::boot::profile::reader::{Faults, Placed, Reader};
use crate::core::diag::Code;
use crate::core::model::accepted::Accepted;

pub(super) fn accepted(root: &mut Reader<'_, '_>, faults: &mut Faults<'_>) -> Vec<Accepted> {
    let mut all: Vec<Accepted> = Vec::new();
    for (mut table, span) in root.tables("accept", faults) {
        let (package, code) = (table.text("package", faults), table.text("code", faults));
        let because = table.text("because", faults);
        table.finish(faults);
        let (Some(package), Some(code), Some(because)) = (package, code, because) else {
            let message = "an `[[accept]]` needs `package`, `code` and `because`";
            faults.add(Code::ProfileMissingKey, span, message, "");
            continue;
        };
        let package = faults.name(&package, "a package name");
        let code = faults.value(&code, "a code that can be accepted", acceptable(&code.value));
        let because = faults.value(&because, "a reason", reason(&because));
        let (Some(package), Some(code), Some(because)) = (package, code, because) else { continue };
        if all.iter().any(|one| one.package == package && one.code == code) {
            let message = format!("`{code}` of `{package}` is accepted twice");
            faults.add(Code::ProfileConflict, span, message, "keep one of them");
            continue;
        }
        all.push(Accepted { package, code, because });
    }
    all
}

fn acceptable(text: &str) -> Result<Code, String> {
    let code = Accepted::CODES.iter().copied().find(|code| code.as_str() == text);
    code.ok_or_else(|| {
        let known: Vec<&str> = Accepted::CODES.iter().map(|code| code.as_str()).collect();
        format!("one of {}", known.join(", "))
    })
}

fn reason(place: &Placed<String>) -> Result<String, &'static str> {
    let text = place.value.trim();
    if text.is_empty() { Err("add the reason, for later readers of the profile") } else { Ok(text.to_owned()) }
}
