//! `requirements.txt` and the output of `pip freeze`
//! (<https://pip.pypa.io/en/stable/reference/requirements-file-format/>): which versions they pin.

use std::collections::BTreeSet;
use std::ops::Range;

use pep508_rs::MarkerEnvironment;

use crate::boot::audit::Place;
use crate::boot::audit::listed_indexes::IndexRole;
use crate::boot::audit::listed_lines::{Listed, Named, RequiredLine};
use crate::boot::audit::pip_options::{OF_REQUIREMENTS, OPTIONS, option, unread_options, without_options};
use crate::boot::profile::Manner;
use crate::core::diag::Source;
use crate::core::model::requirement::marker_of;
use crate::core::model::version::is_pin;
use crate::core::model::wheel_names::file_of;
use crate::core::model::{Requirement, Sha256, Version, WheelName};

/// The longest chain of `-r` that is followed.
const DEPTH: usize = 8;

/// Gives the text of a file that another one names, by its path from there.
pub(super) type Include<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Reads a requirements file. `include` gives the text of the files that it names with `-r`, by their path from this
/// one. What pip refuses is in `refused`; the other lines are read.
pub fn read_requirements(
    source: &Source,
    markers: &MarkerEnvironment,
    include: &dyn Fn(&str) -> Result<String, String>,
) -> Listed {
    let mut reader = LineReader::new(markers, include);
    reader.read(source, "", 0);
    reader.finished()
}

/// Reads the requirements file `path` that a file of another kind names.
pub(super) fn read_included(
    path: &str,
    markers: &MarkerEnvironment,
    include: &dyn Fn(&str) -> Result<String, String>,
) -> Listed {
    let mut reader = LineReader::new(markers, include);
    reader.follow(path, "", 0);
    reader.finished()
}

/// Reads the file of constraints `path` that a file of another kind names; why it can't be used.
pub(super) fn read_constraints(
    path: &str,
    markers: &MarkerEnvironment,
    include: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Vec<Requirement>, String> {
    let mut reader = LineReader::new(markers, include);
    reader.constrain(path, "");
    let constraints = reader.constraints.into_iter().map(|(constraint, _)| constraint);
    reader.listed.refused.pop().map_or_else(|| Ok(constraints.collect()), Err)
}

struct LineReader<'a> {
    markers: &'a MarkerEnvironment,
    include: &'a dyn Fn(&str) -> Result<String, String>,
    listed: Listed,
    /// The files that are being read, each named by the one before.
    open: Vec<String>,
    /// All that were read.
    included: BTreeSet<String>,
    /// Of files that are named with `-c`: what each allows, and where that stands.
    constraints: Vec<(Requirement, String)>,
    /// Where the first line with a digest stands, and the first without.
    hashed: Option<String>,
    unhashed: Option<String>,
    /// Pre-releases count.
    pre: bool,
}

impl<'a> LineReader<'a> {
    fn new(markers: &'a MarkerEnvironment, include: &'a dyn Fn(&str) -> Result<String, String>) -> Self {
        let (open, included, constraints) = (Vec::new(), BTreeSet::new(), Vec::new());
        let listed = Listed::default();
        let (hashed, unhashed, pre) = (None, None, false);
        Self { markers, include, listed, open, included, constraints, hashed, unhashed, pre }
    }

    /// What was read, with what its lines say together.
    fn finished(self) -> Listed {
        let Self { mut listed, constraints, hashed, unhashed, pre, .. } = self;
        listed.asked.iter_mut().for_each(|line| line.manner.pre |= pre);
        let has_folder = listed.indexes.iter().any(|index| index.role == IndexRole::Links);
        if listed.forbids_indexes && !has_folder && !listed.asked.is_empty() {
            listed.refused.push("`--no-index` without `--find-links`: pip then finds nothing".to_owned());
        }
        listed.constraints = constraints.iter().map(|(constraint, _)| constraint.clone()).collect();
        for (constraint, place) in constraints {
            if let Some(one) =
                listed.named.iter().find(|one| one.name == constraint.name && !constraint.range.contains(&one.version))
            {
                listed.refused.push(format!("{place} does not allow {} {}", one.name, one.version));
            }
        }
        // https://pip.pypa.io/en/stable/topics/secure-installs/: one digest makes all required.
        if let Some((place, first)) = unhashed.zip(hashed) {
            listed.refused.push(format!(
                "{place} has no `--hash`, but {first} has one: pip then requires one for every requirement"
            ));
        }
        listed
    }

    /// `folder` is that of the file, from the first one: empty, or with a slash behind.
    fn read(&mut self, source: &Source, folder: &str, depth: usize) {
        for (number, span, line) in joined_lines(&source.text) {
            let line = without_comment(&line);
            if let Some(path) = option(line, "-r", "--requirement") {
                self.follow(path, folder, depth);
                continue;
            }
            if let Some(path) = option(line, "-c", "--constraint") {
                self.constrain(path, folder);
                continue;
            }
            let mut own = Listed::default();
            let read = if line.contains("${") && !line.starts_with('-') {
                // pip puts in what the variable has where the file is used.
                own.open.push(line.to_owned());
                Ok(())
            } else if let Some(what) = option(line, "-e", "--editable") {
                own.elsewhere.push(format!("-e {what}"));
                Ok(())
            } else if line.is_empty() || line.starts_with('-') {
                own.unread.extend(unread_options(line));
                self.listed.take_index_options(line);
                self.global(line, &format!("line {number} of `{}`", source.name))
            } else {
                one(line, self.markers, &mut own)
            };
            // A file that another one names may be any file of this machine: its text is not shown.
            let is_included = depth > 0;
            let there = || format!("`{}`, line {number}", source.name);
            if read.is_ok() && !(own.named.is_empty() && own.asked.is_empty()) {
                let first = if line.contains("--hash") { &mut self.hashed } else { &mut self.unhashed };
                first.get_or_insert_with(|| format!("line {number} of `{}`", source.name));
            }
            let shown = |text: String| if is_included { there() } else { text };
            self.listed.open.extend(own.open.into_iter().map(shown));
            self.listed.elsewhere.extend(own.elsewhere.into_iter().map(shown));
            self.listed.unread.extend(own.unread.into_iter().map(shown));
            self.listed.inapplicable.extend(own.inapplicable);
            let wheels = own.wheels.into_iter().map(|(wheel, _)| (wheel, there()));
            self.listed.wheels.extend(wheels);
            self.listed.wheel_lines.extend(own.wheel_lines.into_iter().map(shown));
            let place = Place { source: source.clone(), span, is_included, is_conditional: false };
            self.listed.named.extend(own.named.into_iter().map(|one| Named { place: Some(place.clone()), ..one }));
            self.listed
                .asked
                .extend(own.asked.into_iter().map(|one| RequiredLine { place: Some(place.clone()), ..one }));
            self.listed.refused.extend(read.err().map(|error| {
                if is_included {
                    format!("{}: it is not a requirement", there())
                } else {
                    format!("line {number}: `{}`: {error}", shown_line(line))
                }
            }));
        }
    }

    /// An option for all lines; what is wrong with it.
    fn global(&mut self, line: &str, place: &str) -> Result<(), String> {
        let name = line.split(['=', ' ', '\t']).next().unwrap_or(line);
        if name == "--require-hashes" {
            self.hashed.get_or_insert_with(|| place.to_owned());
        }
        self.pre |= name == "--pre";
        let is_short = ["-i", "-f"].iter().any(|short| line.starts_with(short));
        if line.is_empty() || is_short || OPTIONS.contains(&name) {
            return Ok(());
        }
        Err("pip knows no such option in a requirements file".to_owned())
    }

    fn follow(&mut self, path: &str, folder: &str, depth: usize) {
        let path = from(folder, path);
        let text = if self.open.contains(&path) {
            Err(format!("`{path}` includes itself"))
        } else if depth == DEPTH {
            Err(format!("`-r {path}` is nested {} levels deep; deeper files are not read", DEPTH + 1))
        } else {
            (self.include)(&path)
        };
        match text {
            // A file that several others include says nothing new the second time.
            Ok(_) if !self.included.insert(path.clone()) => {}
            Ok(text) => {
                let source = Source { name: path.as_str().into(), text: text.into() };
                let folder = path.rfind('/').map_or("", |at| &path[..=at]);
                self.open.push(path.clone());
                self.read(&source, folder, depth + 1);
                self.open.pop();
            }
            Err(error) => self.listed.refused.push(error),
        }
    }

    /// Reads a file of constraints: versions for what other lines ask for.
    fn constrain(&mut self, path: &str, folder: &str) {
        let path = from(folder, path);
        let text = match (self.include)(&path) {
            Ok(text) => text,
            Err(error) => return self.listed.refused.push(error),
        };
        for (number, _, line) in joined_lines(&text) {
            let line = without_options(without_comment(&line));
            if line.is_empty() || line.starts_with('-') {
                continue;
            }
            let place = format!("`{path}`, line {number},");
            match Requirement::parse_strictly(line) {
                Ok(one) if one.applies(self.markers, None) => self.constraints.push((one, place)),
                Ok(_) => {}
                Err(_) => self.listed.refused.push(format!("{place} is not a constraint")),
            }
        }
    }
}

/// A path that a file in `folder` names.
fn from(folder: &str, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{folder}{path}") }
}

/// A line for people. `NAME=value` is no requirement, and the value may be a password, unless it is a version.
fn shown_line(line: &str) -> String {
    match line.split_once('=') {
        Some((name, value)) if value.len() > 5 && value.starts_with(|c: char| c.is_alphabetic() || c == '"') => {
            format!("{name}=…")
        }
        _ => line.to_owned(),
    }
}

/// The digests that a line allows; why an installer refuses one.
fn hashes_of(line: &str) -> Result<Vec<Sha256>, String> {
    let given =
        line.split_whitespace().filter_map(|word| word.strip_prefix("--hash")).map(|word| word.trim_start_matches('='));
    let mut hashes = Vec::new();
    for digest in given.filter(|digest| !digest.is_empty()) {
        match digest.split_once(':') {
            Some(("sha256", hex)) => hashes.push(hex.parse().map_err(|_| format!("`{hex}` is not a SHA-256"))?),
            // They are stronger, and no index states them.
            Some(("sha384" | "sha512", _)) => return Ok(Vec::new()),
            _ => return Err("its `--hash` is not sha256, sha384 or sha512".to_owned()),
        }
    }
    Ok(hashes)
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
            Some((_, _, last)) => last.push_str(part),
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
    let hashes = hashes_of(line)?;
    let options = line.split_whitespace().filter(|word| word.starts_with("--"));
    let mut names = options.map(|word| word.split('=').next().unwrap_or(word));
    // pip passes over the others that it knows.
    if let Some(unknown) = names.find(|name| !OF_REQUIREMENTS.contains(name) && !OPTIONS.contains(name)) {
        return Err(format!("pip knows no option `{unknown}` for a requirement"));
    }
    listed.unread.extend(unread_options(line));
    let line = without_options(line);
    let is_folder = line.contains('/') && !line.contains([' ', '@', '=', '<', '>', ';']);
    let bare = line.starts_with(['.', '/']) || is_folder || line.contains("://") && !line.contains(" @ ");
    if bare || line.ends_with(".whl") && !line.contains(" @ ") {
        by_address(line, listed);
        return Ok(());
    }
    let requirement = Requirement::parse_strictly(line)?;
    let marker = marker_of(line).map(str::to_owned);
    let applies = requirement.applies(markers, None);
    let asked = RequiredLine { requirement, place: None, manner: Manner::default(), marker, command: 0 };
    if !applies {
        listed.inapplicable.push(asked);
        return Ok(());
    }
    let requirement = &asked.requirement;
    if requirement.range.is_empty() {
        return Err("no version satisfies all of its specifiers".to_owned());
    }
    if requirement.url.is_some() {
        by_address(line, listed);
    } else {
        let pinned = pinned(requirement).map(|version| Named::new(requirement.name.clone(), version));
        listed.named.extend(pinned.map(|named| Named { hashes, ..named }));
        listed.asked.push(asked);
    }
    Ok(())
}

/// Adds what a line names by address or path: a wheel by its name, else something that was not looked at.
fn by_address(line: &str, listed: &mut Listed) {
    let address = line.split_once(" @ ").map_or(line, |(_, address)| address);
    let file = address
        .split([' ', ';', '#', '?'])
        .next()
        .map(|address| file_of(address).replace("%2B", "+").replace("%2b", "+"));
    match file.and_then(|file| file.parse::<WheelName>().ok()) {
        Some(wheel) => {
            // A file of this machine is no release of an index, whatever its name.
            if address.contains("://") {
                listed.named.push(Named::new(wheel.name.clone(), wheel.version.clone()));
            }
            listed.wheels.push((wheel, String::new()));
            listed.wheel_lines.push(line.to_owned());
        }
        None => listed.elsewhere.push(line.to_owned()),
    }
}

fn pinned(requirement: &Requirement) -> Option<Version> {
    use pep440_rs::Operator::{Equal, ExactEqual};
    if !is_pin(&requirement.range) {
        return None;
    }
    let exact = requirement.specifiers.iter().find(|one| matches!(one.operator(), Equal | ExactEqual));
    exact.map(|one| one.version().clone())
}
