//! `requirements.txt` and the output of `pip freeze` (<https://pip.pypa.io/en/stable/reference/requirements-file-format/>): which versions
//! they pin.

use std::ops::Range;

use pep508_rs::MarkerEnvironment;

use crate::audit::Place;
use crate::diag::Source;
use crate::model::accepted::Accepted;
use crate::model::version::is_pin;
use crate::model::wheel::file_of;
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
    /// Facts that a lock of ours overrules.
    pub accepted: Vec<Accepted>,
}

/// A distribution with its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub name: PackageName,
    pub version: Version,
    /// Where it stands, in a file of lines.
    pub place: Option<Place>,
}

impl Named {
    /// Whether its line gives an address: then it need not be on an index.
    pub fn is_from_address(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.source.text[place.span.clone()].contains("://"))
    }

    pub(super) fn new(name: PackageName, version: Version) -> Self {
        Self { name, version, place: None }
    }
}

/// Reads a requirements file. `include` gives the text of the files that it names with `-r`, by their path from this one; the error says
/// which line makes no sense. What pip refuses is refused.
pub fn read_requirements(
    source: &Source,
    markers: &MarkerEnvironment,
    include: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Listed, String> {
    let mut reader = Reader { markers, include, listed: Listed::default() };
    reader.read(source, "", 0)?;
    Ok(reader.listed)
}

struct Reader<'a> {
    markers: &'a MarkerEnvironment,
    include: &'a dyn Fn(&str) -> Result<String, String>,
    listed: Listed,
}

impl Reader<'_> {
    /// `folder` is that of the file, from the first one: empty, or with a slash behind.
    fn read(&mut self, source: &Source, folder: &str, depth: usize) -> Result<(), String> {
        for (number, line) in joined_lines(&source.text) {
            let line = without_comment(&line);
            if line.contains("${") && !line.starts_with('-') {
                // pip puts in what the variable has where the file is used.
                self.listed.open.push(line.to_owned());
                continue;
            }
            let known = self.listed.named.len();
            if let Some(path) = option(line, "-r", "--requirement") {
                self.follow(path, folder, depth)?;
            } else if let Some(what) = option(line, "-e", "--editable") {
                self.listed.elsewhere.push(what.to_owned());
            } else if !line.is_empty() && !line.starts_with('-') {
                // A file that another one names may be any file of this machine: its text is not shown.
                let shown = if depth == 0 { format!("`{line}`: ") } else { String::new() };
                one(line, self.markers, &mut self.listed).map_err(|error| format!("line {number}: {shown}{error}"))?;
                for named in &mut self.listed.named[known..] {
                    named.place = Some(Place { source: source.clone(), span: span_of(&source.text, number) });
                }
            }
        }
        Ok(())
    }

    fn follow(&mut self, path: &str, folder: &str, depth: usize) -> Result<(), String> {
        if depth == DEPTH {
            return Err(format!(
                "`-r {path}` would be the {}th file that another one names; do they name each other?",
                DEPTH + 1
            ));
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("{folder}{path}") };
        let source = Source { name: path.as_str().into(), text: (self.include)(&path)?.into() };
        let folder = path.rfind('/').map_or("", |at| &path[..=at]);
        // Only the last file of a chain is named: the others lead there.
        let placed = |error: String| if error.starts_with('`') { error } else { format!("`{path}`: {error}") };
        self.read(&source, folder, depth + 1).map_err(placed)
    }
}

/// The bytes of a line, its comment and white space left out.
fn span_of(text: &str, number: usize) -> Range<usize> {
    let start: usize = text.split_inclusive('\n').take(number - 1).map(str::len).sum();
    let line = text[start..].lines().next().unwrap_or_default();
    let content = without_comment(line.trim_end_matches('\\'));
    let indent = line.len() - line.trim_start().len();
    start + indent..start + indent + content.len()
}

/// The value of an option, in any of the ways it may be written: `-r x`, `-rx`, `--requirement x`, `--requirement=x`.
fn option<'a>(line: &'a str, short: &str, long: &str) -> Option<&'a str> {
    let value = match line.strip_prefix(long) {
        Some(rest) => rest.strip_prefix(['=', ' ', '\t'])?,
        None => line.strip_prefix(short).filter(|_| !line.starts_with("--"))?,
    };
    Some(value.trim())
}

/// Lines with the number of their first one; a backslash at the end takes in the next.
fn joined_lines(text: &str) -> Vec<(usize, String)> {
    let mut joined: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let part = line.strip_suffix('\\').unwrap_or(line);
        match joined.last_mut().filter(|_| goes_on) {
            Some((_, last)) => {
                last.push(' ');
                last.push_str(part);
            }
            None => joined.push((at + 1, part.to_owned())),
        }
        goes_on = part.len() < line.len();
    }
    joined
}

/// A `#` begins a comment at the start of a line or after a blank.
fn without_comment(line: &str) -> &str {
    let comment = line.match_indices('#').find(|(at, _)| *at == 0 || line[..*at].ends_with([' ', '\t']));
    comment.map_or(line, |(at, _)| &line[..at]).trim()
}

/// Adds what one requirement says.
pub(super) fn one(line: &str, markers: &MarkerEnvironment, listed: &mut Listed) -> Result<(), String> {
    // Options behind a requirement: `--hash=sha256:…`.
    let line = line.split(" --").next().unwrap_or(line).trim();
    let bare = line.starts_with(['.', '/']) || line.contains("://") && !line.contains(" @ ");
    if bare || line.ends_with(".whl") && !line.contains(" @ ") {
        match wheel_in(line) {
            Some(named) => listed.named.push(named),
            None => listed.elsewhere.push(line.to_owned()),
        }
        return Ok(());
    }
    let requirement = Requirement::parse_strictly(line)?;
    if !requirement.applies(markers, None) {
        return Ok(());
    }
    if requirement.range.is_empty() {
        return Err("no version can be all of this".to_owned());
    }
    if requirement.url.is_some() {
        match wheel_in(line) {
            Some(named) => listed.named.push(named),
            None => listed.elsewhere.push(line.to_owned()),
        }
    } else if let Some(version) = pinned(&requirement) {
        listed.named.push(Named::new(requirement.name, version));
    } else {
        listed.open.push(line.to_owned());
    }
    Ok(())
}

/// The wheel that a line names by address or path.
fn wheel_in(line: &str) -> Option<Named> {
    let address = line.split_once(" @ ").map_or(line, |(_, address)| address);
    let address = address.split([' ', ';', '#', '?']).next()?;
    let wheel: WheelName = file_of(address).parse().ok()?;
    Some(Named::new(wheel.name, wheel.version))
}

fn pinned(requirement: &Requirement) -> Option<Version> {
    use pep440_rs::Operator::{Equal, ExactEqual};
    if !is_pin(&requirement.range) {
        return None;
    }
    let exact = requirement.specifiers.iter().find(|one| matches!(one.operator(), Equal | ExactEqual));
    exact.map(|one| one.version().clone())
}
