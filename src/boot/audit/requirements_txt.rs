//! `requirements.txt` and the output of `pip freeze`
//! (<https://pip.pypa.io/en/stable/reference/requirements-file-format/>): which versions they pin.

use std::ops::Range;

use pep508_rs::MarkerEnvironment;

use crate::boot::audit::Place;
use crate::core::diag::Source;
use crate::core::model::accepted::Accepted;
use crate::core::model::version::is_pin;
use crate::core::model::wheel::file_of;
use crate::core::model::{PackageName, Requirement, Version, WheelName};

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
    /// Lines that can't be read as requirements, each with its place and what is wrong with it.
    pub refused: Vec<String>,
    /// Facts that a lock of ours overrules.
    pub accepted: Vec<Accepted>,
}

impl Listed {
    /// Whether no line of it makes sense.
    pub const fn is_empty(&self) -> bool {
        self.named.is_empty() && self.open.is_empty() && self.elsewhere.is_empty()
    }
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

/// Reads a requirements file. `include` gives the text of the files that it names with `-r`, by their path from this
/// one. What pip refuses is in `refused`; the other lines are read.
pub fn read_requirements(
    source: &Source,
    markers: &MarkerEnvironment,
    include: &dyn Fn(&str) -> Result<String, String>,
) -> Listed {
    let mut reader = LineReader { markers, include, listed: Listed::default() };
    reader.read(source, "", 0);
    reader.listed
}

/// Reads the requirements file `path` that a file of another kind names.
pub(super) fn read_included(
    path: &str,
    markers: &MarkerEnvironment,
    include: &dyn Fn(&str) -> Result<String, String>,
) -> Listed {
    let mut reader = LineReader { markers, include, listed: Listed::default() };
    reader.follow(path, "", 0);
    reader.listed
}

struct LineReader<'a> {
    markers: &'a MarkerEnvironment,
    include: &'a dyn Fn(&str) -> Result<String, String>,
    listed: Listed,
}

impl LineReader<'_> {
    /// `folder` is that of the file, from the first one: empty, or with a slash behind.
    fn read(&mut self, source: &Source, folder: &str, depth: usize) {
        for (number, span, line) in joined_lines(&source.text) {
            let line = without_comment(&line);
            if let Some(path) = option(line, "-r", "--requirement") {
                self.follow(path, folder, depth);
                continue;
            }
            let mut own = Listed::default();
            let read = if line.contains("${") && !line.starts_with('-') {
                // pip puts in what the variable has where the file is used.
                own.open.push(line.to_owned());
                Ok(())
            } else if let Some(what) = option(line, "-e", "--editable") {
                own.elsewhere.push(what.to_owned());
                Ok(())
            } else if line.is_empty() || line.starts_with('-') {
                Ok(())
            } else {
                one(line, self.markers, &mut own)
            };
            // A file that another one names may be any file of this machine: its text is not shown.
            let is_included = depth > 0;
            let there = || format!("`{}`, line {number}", source.name);
            let shown = |text: String| if is_included { there() } else { text };
            self.listed.open.extend(own.open.into_iter().map(shown));
            self.listed.elsewhere.extend(own.elsewhere.into_iter().map(shown));
            let place = Place { source: source.clone(), span, is_included };
            self.listed.named.extend(own.named.into_iter().map(|one| Named { place: Some(place.clone()), ..one }));
            self.listed.refused.extend(read.err().map(|error| {
                if is_included {
                    format!("{}: it is no requirement", there())
                } else {
                    format!("line {number}: `{line}`: {error}")
                }
            }));
        }
    }

    fn follow(&mut self, path: &str, folder: &str, depth: usize) {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("{folder}{path}") };
        let text = if depth == DEPTH {
            Err(format!("`-r {path}` is the {}th nested file; do these files include each other?", DEPTH + 1))
        } else {
            (self.include)(&path)
        };
        match text {
            Ok(text) => {
                let source = Source { name: path.as_str().into(), text: text.into() };
                let folder = path.rfind('/').map_or("", |at| &path[..=at]);
                self.read(&source, folder, depth + 1);
            }
            Err(error) => self.listed.refused.push(error),
        }
    }
}

/// The value of an option, in any of the ways it may be written: `-r x`, `-rx`, `--requirement x`, `--requirement=x`.
fn option<'a>(line: &'a str, short: &str, long: &str) -> Option<&'a str> {
    let value = match line.strip_prefix(long) {
        Some(rest) => rest.strip_prefix(['=', ' ', '\t'])?,
        None => line.strip_prefix(short).filter(|_| !line.starts_with("--"))?,
    };
    Some(value.trim())
}

/// Lines with the number of their first one, and where its content stands in bytes; a backslash at the end takes in the
/// next.
fn joined_lines(text: &str) -> Vec<(usize, Range<usize>, String)> {
    let mut joined: Vec<(usize, Range<usize>, String)> = Vec::new();
    let (mut goes_on, mut start) = (false, 0);
    for (at, whole) in text.split_inclusive('\n').enumerate() {
        let line = whole.trim_end_matches('\n').trim_end_matches('\r');
        let part = line.strip_suffix('\\').unwrap_or(line);
        let bare = part.trim_start_matches('\u{feff}');
        match joined.last_mut().filter(|_| goes_on) {
            Some((_, _, last)) => {
                last.push(' ');
                last.push_str(part);
            }
            None => {
                let content = without_comment(bare);
                let from = start + part.len() - bare.trim_start().len();
                joined.push((at + 1, from..from + content.len(), bare.to_owned()));
            }
        }
        goes_on = part.len() < line.len();
        start += whole.len();
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
        return Err("no version satisfies all of these".to_owned());
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
