//! `requirements.txt` and the output of `pip freeze` (<https://pip.pypa.io/en/stable/reference/requirements-file-format/>): which versions
//! they pin.

use pep508_rs::MarkerEnvironment;

use crate::model::version::is_pin;
use crate::model::{PackageName, Requirement, Version, WheelName};

/// The longest chain of `-r` that is followed.
const DEPTH: usize = 8;

/// What a file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    pub named: Vec<Named>,
    /// Requirements that leave the version open, as written: nothing can be said about those.
    pub open: Vec<String>,
    /// Lines that name no distribution of an index: editable installs, folders, version control.
    pub elsewhere: Vec<String>,
}

/// A distribution with its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub name: PackageName,
    pub version: Version,
}

/// Reads a requirements file. `include` gives the text of the files that it names with `-r`; the error says what line makes no sense.
pub fn read_requirements(
    text: &str,
    markers: &MarkerEnvironment,
    include: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Listed, String> {
    let mut listed = Listed::default();
    read(text, (markers, include), &mut listed, 0)?;
    Ok(listed)
}

type Context<'a> = (&'a MarkerEnvironment, &'a dyn Fn(&str) -> Result<String, String>);

fn read(text: &str, context: Context<'_>, listed: &mut Listed, depth: usize) -> Result<(), String> {
    let (markers, include) = context;
    let joined = text.trim_start_matches('\u{feff}').replace("\\\r\n", " ").replace("\\\n", " ");
    for (number, line) in joined.lines().enumerate() {
        let line = without_comment(line);
        let option = |names: &[&str]| {
            names.iter().find_map(|name| {
                let rest = line.strip_prefix(name)?;
                rest.starts_with([' ', '=', '\t']).then(|| rest.trim_start_matches([' ', '=', '\t']))
            })
        };
        if let Some(path) = option(&["-r", "--requirement"]) {
            if depth == DEPTH {
                return Err(format!("`-r {path}`: files that name each other"));
            }
            read(&include(path)?, context, listed, depth + 1)?;
        } else if let Some(what) = option(&["-e", "--editable"]) {
            listed.elsewhere.push(what.to_owned());
        } else if !line.is_empty() && !line.starts_with('-') {
            one(line, markers, listed).map_err(|error| format!("line {}: {error}", number + 1))?;
        }
    }
    Ok(())
}

/// A `#` begins a comment at the start of a line or after a blank.
fn without_comment(line: &str) -> &str {
    let comment = line.match_indices('#').find(|(at, _)| *at == 0 || line[..*at].ends_with([' ', '\t']));
    comment.map_or(line, |(at, _)| &line[..at]).trim()
}

fn one(line: &str, markers: &MarkerEnvironment, listed: &mut Listed) -> Result<(), String> {
    // Options behind a requirement: `--hash=sha256:…`.
    let line = line.split(" --").next().unwrap_or(line).trim();
    if let Some(named) = wheel_in(line) {
        listed.named.push(named);
        return Ok(());
    }
    if line.starts_with(['.', '/']) || line.contains("://") && !line.contains('@') {
        listed.elsewhere.push(line.to_owned());
        return Ok(());
    }
    let requirement = Requirement::parse(line).map_err(|error| format!("`{line}`: {error}"))?;
    if !requirement.applies(markers, None) {
        return Ok(());
    }
    if requirement.url.is_some() {
        listed.elsewhere.push(line.to_owned());
    } else if let Some(version) = pinned(&requirement) {
        listed.named.push(Named { name: requirement.name, version });
    } else {
        listed.open.push(line.to_owned());
    }
    Ok(())
}

/// The wheel that a line names by address or path.
fn wheel_in(line: &str) -> Option<Named> {
    let address = line.split_once(" @ ").map_or(line, |(_, address)| address);
    let address = address.split([' ', ';', '#', '?']).next()?;
    let file = address.rsplit('/').next()?.replace("%2B", "+").replace("%2b", "+");
    let wheel: WheelName = file.parse().ok()?;
    Some(Named { name: wheel.name, version: wheel.version })
}

fn pinned(requirement: &Requirement) -> Option<Version> {
    use pep440_rs::Operator::{Equal, ExactEqual};
    if !is_pin(&requirement.range) {
        return None;
    }
    let exact = requirement.specifiers.iter().find(|one| matches!(one.operator(), Equal | ExactEqual));
    exact.map(|one| one.version().clone())
}
