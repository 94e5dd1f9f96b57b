//! What a file asks for, solved as one: whether it can be installed on the target, and all that keeps it from that.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pep440_rs::VersionSpecifier;

use crate::boot::audit::{Listed, RequiredLine};
use crate::boot::goal::Request;
use crate::boot::machine::MachineRequest;
use crate::boot::profile::{Bound, Prereleases, Profile, UpgradeStrategy, Wanted};
use crate::boot::resolve::{Cause, Caveat, HeldBack, Hindrance, Pick, Question, Rest, caveats, resolve_rest};
use crate::boot::retrieval::Asked;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind, Severity, Source, Subject, counted};
use crate::core::model::catalog::Catalog;
use crate::core::model::version::{VersionRange, range_of};
use crate::core::model::{Condition, PackageName, PythonFacts, Requirement, Version};

/// So many packages are solved together.
const MOST: usize = 1000;

/// So many other Pythons are tried.
const PYTHONS: usize = 3;

/// Of so many packages it is looked up why their newest release was not chosen.
const PASSED_OVER: usize = 3;

/// What came of solving a file.
#[derive(Debug, Default)]
pub struct Together {
    pub findings: Vec<Finding>,
    /// What would be installed or kept, without what was left out; `None` where nothing could be solved.
    pub picks: Option<Vec<Pick>>,
    /// It is the outcome of commands, one after the other, of which one that fails installs nothing. Of a list the rest
    /// counts as installed.
    pub in_order: bool,
    /// What releases that are installed require, where a later command of a notebook may break that.
    pub requires: BTreeMap<PackageName, Vec<Requirement>>,
    /// What was installed and is removed.
    pub removed: BTreeSet<PackageName>,
    /// Requirements that can't be met, and the packages that play a part in that.
    pub hindered: Vec<PackageName>,
    /// Releases that have no wheel, and would be built.
    pub built: Vec<(PackageName, Version)>,
    /// What is named by folders and repositories, and built as well.
    pub from_source: usize,
    /// All that can't be met has no wheel for the target's Python.
    pub for_want_of_wheels: bool,
    /// The file says that it is for another Python.
    pub for_other_python: bool,
    /// How many lines name a package that only an index of the file may have.
    pub unasked: usize,
}

/// That the default index does not have what is meant, where a file names indexes of its own.
pub fn maybe_elsewhere(finding: Finding) -> Finding {
    let help = "the file names other indexes, which were not queried: it may be on one of those";
    Finding { severity: Severity::Warning, ..finding }.with_help(help)
}

impl Together {
    /// Whether the solve says what `finding` does, with the line: that a package is unknown, or has no wheel here.
    pub fn says(&self, finding: &Finding) -> bool {
        self.was_solved() && matches!(finding.code, Code::AuditUnread | Code::ResolveUnknownPackage)
    }

    /// Whether there was something to solve, and time for it.
    pub fn was_solved(&self) -> bool {
        self.picks.is_some() || !self.hindered.is_empty() || !self.built.is_empty()
    }

    /// The findings of the solve with `others`, one of each cause: of one release by itself the others say more, of
    /// packages that can't be together the solve does.
    pub fn with(&mut self, others: Vec<Finding>) -> Vec<Finding> {
        let mut own = std::mem::take(&mut self.findings);
        let (doubles, rest): (Vec<Finding>, Vec<Finding>) =
            others.into_iter().partition(|other| own.iter().any(|mine| is_same(mine, other)));
        own.retain(|mine| !doubles.iter().any(|other| is_same(mine, other)));
        let rest = rest.into_iter().filter(|other| !self.explains(other));
        own.into_iter().chain(doubles).chain(rest).collect()
    }

    /// Whether `finding` is about what is known not to be installable.
    fn explains(&self, finding: &Finding) -> bool {
        let mut about = finding.about.iter().chain(&finding.against);
        finding.severity == Severity::Error
            && about.any(|one| self.hindered.iter().any(|name| name.as_ref() == one.name()))
    }

    /// Whether the requirements, but for what would be built, can be met.
    pub fn is_met(&self) -> bool {
        self.picks.is_some() && self.hindered.is_empty() && !self.for_other_python
    }

    /// Adds one cause.
    fn take(&mut self, cause: Cause, profile: &Profile, has_indexes: bool) {
        let Cause { finding, left_out, names, hindrance } = cause;
        match hindrance {
            Hindrance::Source(name, version) => self.build(name, version, &left_out, profile),
            Hindrance::Other if has_indexes && finding.code == Code::ResolveUnknownPackage => {
                self.unasked += 1;
                self.findings.push(maybe_elsewhere(finding));
            }
            Hindrance::Python | Hindrance::Other => {
                self.findings.push(finding.about(Subject::package(&left_out)));
                self.hindered.extend(names);
            }
        }
    }

    /// Adds a release that has no wheel, which `line` asks for by itself or through others.
    fn build(&mut self, name: PackageName, version: Version, line: &PackageName, profile: &Profile) {
        let message = format!("{name} {version} has no wheel for this platform: pip would build it from source");
        let built = Finding::warning(Code::ResolveFromSource, message).about(Subject::release(&name, &version));
        let whose = if name == *line { "asked for here".to_owned() } else { format!("{line} needs it") };
        let line = profile.wanted.iter().find(|one| one.name == *line);
        let file = line.and_then(|line| Some((line.file.as_ref()?, line.span.clone())));
        self.findings.push(match file {
            Some((source, span)) => built.at(source, span, whose),
            None => built,
        });
        self.built.push((name, version));
    }

    /// Adds the reason why the release that pip tries first can't be installed.
    fn take_tried_first(&mut self, cause: Option<Cause>, profile: &Profile) {
        if let Some(cause) = cause {
            self.for_want_of_wheels = self.hindered.is_empty();
            self.take(cause, profile, false);
        }
    }

    /// The same for each that was chosen.
    fn take_built(&mut self, built: Vec<Caveat>, picks: &[Pick], profile: &Profile) {
        for caveat in built {
            let Caveat::FromSource { name, version } = caveat else { continue };
            let pick = picks.iter().find(|pick| pick.name == name);
            let by = pick.filter(|pick| !pick.in_profile).and_then(|pick| pick.needed_by.first()).unwrap_or(&name);
            let by = by.clone();
            self.build(name, version, &by, profile);
        }
    }
}

impl Session<'_> {
    /// Solves what `asked`, lines of `listed`, which was read from a file called `name`, ask for on the target that was
    /// seen, as `constraints` allow. What releases require is kept if they are not all that is asked.
    pub(super) fn solve_lines(
        &self,
        (asked, constraints): (&[&RequiredLine], &[Requirement]),
        (name, listed): (&str, &Listed),
        (seen, is_only): (&Seen, bool),
        request: &Request,
    ) -> Result<Together, Failure> {
        let source = Source { name: name.into(), text: "".into() };
        let (wanted, mut findings, hindered) = merged(&asked_of(asked, listed), &source);
        if wanted.is_empty() {
            return Ok(Together { findings, hindered, ..Together::default() });
        }
        if wanted.len() > MOST {
            let message = format!("{} were not solved together: there are too many", counted(wanted.len(), "package"));
            findings.push(Finding::note(Code::AuditOpen, message));
            return Ok(Together { findings, ..Together::default() });
        }
        let profile = as_pip(&source, wanted, constraints)?;
        let target = self.target(&profile, seen)?;
        let preferred = BTreeMap::new();
        let asked = Asked { profile: &profile, target: &target, machine: &seen.machine, preferred: &preferred };
        let answer = |question: Question<'_>| {
            let rest = resolve_rest(question)?;
            let requires = if is_only { BTreeMap::new() } else { requirements(&rest, question.catalog) };
            Ok((rest, requires))
        };
        let (Rest { causes, resolution }, requires) = match self.ask(asked, &request.index, answer) {
            Ok((answer, _)) => answer,
            Err(failure) if failure.findings.is_empty() && failure.kind != Kind::Bug => {
                let message = "the requirements were not solved together";
                findings.push(Finding::warning(Code::AuditUnread, message).with_note(failure.to_string()));
                return Ok(Together { findings, ..Together::default() });
            }
            Err(failure) => return Err(failure),
        };
        let from_source = listed.elsewhere.len();
        let for_other_python = listed.other_python.is_some();
        let mut together =
            Together { findings, requires, hindered, from_source, for_other_python, ..Together::default() };
        let of_python = causes.iter().any(|cause| cause.hindrance == Hindrance::Python);
        together.for_want_of_wheels =
            of_python && together.hindered.is_empty() && causes.iter().all(|cause| cause.hindrance != Hindrance::Other);
        for cause in causes {
            together.take(cause, &profile, listed.has_indexes);
        }
        if of_python {
            let help = self.other_python(&profile, &target.python, request);
            if let Some(first) = together.findings.iter_mut().find(|one| one.severity == Severity::Error) {
                first.help.extend(help);
            }
        }
        if together.findings.len() > 1 && resolution.is_none() {
            let message = "there may be more causes: the search stopped after these";
            together.findings.push(Finding::note(Code::AuditOpen, message));
        }
        if let Some(mut resolution) = resolution {
            let (built, rest) = resolution.caveats.into_iter().partition(is_from_source);
            resolution.caveats = rest;
            together.take_built(built, &resolution.picks, &profile);
            for (name, newest) in passed_over(&resolution.caveats, &profile) {
                together.take_tried_first(self.tried_first(asked, &name, &newest, request), &profile);
            }
            together.findings.extend(self.weighed(caveats(&resolution), &[]));
            together.picks = Some(resolution.picks);
        }
        Ok(together)
    }

    /// The missing wheel for this Python because of which the newest release of `name` can't be installed. Pip tries
    /// that release first, and builds what has no wheel.
    fn tried_first(&self, asked: Asked<'_>, name: &PackageName, newest: &Version, request: &Request) -> Option<Cause> {
        let mut profile = asked.profile.clone();
        for wanted in profile.wanted.iter_mut().filter(|wanted| wanted.name == *name) {
            wanted.specifiers = VersionSpecifier::equals_version(newest.clone()).into();
        }
        let (Rest { causes, .. }, _) =
            self.ask(Asked { profile: &profile, ..asked }, &request.index, resolve_rest).ok()?;
        causes.into_iter().find(|cause| cause.hindrance == Hindrance::Python && cause.left_out == *name)
    }

    /// Another Python for which all can be met, as a runtime label.
    fn other_python(&self, profile: &Profile, own: &PythonFacts, request: &Request) -> Option<String> {
        let mut tried = vec![own.minor()];
        let names = self.runtimes().ok()?.names();
        let (images, bare): (Vec<&String>, Vec<&String>) = names
            .iter()
            .filter(|name| !name.ends_with("-tpu") && !name.ends_with("-cpu"))
            .partition(|name| name.starts_with("colab"));
        for name in images.into_iter().rev().chain(bare.into_iter().rev()) {
            let machine = MachineRequest { runtime: Some(name.clone()), ..request.machine.clone() };
            let Ok(seen) = self.machine_near(&machine, None) else { continue };
            let Ok(python) = seen.python_facts() else { continue };
            if tried.contains(&python.minor()) || tried.len() > PYTHONS {
                continue;
            }
            tried.push(python.minor());
            let Ok(target) = self.target(profile, &seen) else { continue };
            let preferred = BTreeMap::new();
            let asked = Asked { profile, target: &target, machine: &seen.machine, preferred: &preferred };
            let Ok((rest, _)) = self.ask(asked, &request.index, resolve_rest) else { continue };
            let is_built = |cause: &Cause| matches!(cause.hindrance, Hindrance::Source(..));
            if rest.resolution.is_some() && rest.causes.iter().all(is_built) {
                let (major, minor) = python.minor();
                let from_source =
                    rest.resolution.iter().flat_map(|solved| &solved.caveats).filter(|one| is_from_source(one));
                let built = match rest.causes.len() + from_source.count() {
                    0 => String::new(),
                    count => format!(", if pip builds {} from source", counted(count, "package")),
                };
                return Some(format!(
                    "on Python {major}.{minor} (`--runtime {name}`) all can be installed{built}: solved"
                ));
            }
        }
        None
    }
}

const fn is_from_source(caveat: &Caveat) -> bool {
    matches!(caveat, Caveat::FromSource { .. })
}

/// What the file names and gets an old release of, for something that newer ones require: each with the newest one.
fn passed_over(caveats: &[Caveat], profile: &Profile) -> Vec<(PackageName, Version)> {
    let is_meant = |held: &&HeldBack| held.by.is_empty() && !held.locked && profile.wants(&held.name);
    let all = caveats.iter().filter_map(|caveat| match caveat {
        Caveat::HeldBack(all) => Some(all),
        _ => None,
    });
    let meant = all.flatten().filter(is_meant);
    meant.take(PASSED_OVER).map(|held| (held.name.clone(), held.newest.clone())).collect()
}

/// A profile that wants what pip is asked for.
fn as_pip(source: &Source, wanted: Vec<Wanted>, constraints: &[Requirement]) -> Result<Profile, Failure> {
    let mut profile = Profile::of_requirements(source, wanted, bounds(constraints)).map_err(Failure::bug)?;
    profile.policy.as_pip = true;
    if profile.wanted.iter().any(|wanted| wanted.manner.pre) {
        profile.policy.prereleases = Prereleases::Allow;
    }
    profile.policy.prefer_installed &=
        !profile.wanted.iter().any(|wanted| wanted.manner.upgrade == UpgradeStrategy::All);
    Ok(profile)
}

/// The lines as the index of this machine is asked. Where the file names another index, a build with a label is on that
/// one; the public release is for the same Pythons, and asks for the same.
fn asked_of(asked: &[&RequiredLine], listed: &Listed) -> Vec<RequiredLine> {
    asked.iter().map(|line| if listed.has_indexes { line.public() } else { (*line).clone() }).collect()
}

/// What the releases require that would be installed.
fn requirements(rest: &Rest, catalog: &dyn Catalog) -> BTreeMap<PackageName, Vec<Requirement>> {
    let picks = rest.resolution.iter().flat_map(|solved| &solved.picks).filter(|pick| !pick.present);
    let known = picks.filter_map(|pick| {
        let listing = catalog.listing(&pick.name).ok()??;
        let metadata = catalog.metadata(listing.get(&pick.version)?).ok()?;
        Some((pick.name.clone(), metadata.requires.clone()))
    });
    known.collect()
}

/// What `lines` ask for, each package once; and what of it excludes itself, as findings and names.
fn merged(lines: &[RequiredLine], main: &Source) -> (Vec<Wanted>, Vec<Finding>, Vec<PackageName>) {
    let mut all: Vec<Wanted> = Vec::new();
    let mut places: HashMap<PackageName, usize> = HashMap::new();
    let (mut findings, mut excluded) = (Vec::new(), Vec::new());
    for line in lines {
        let one = wanted(line, main);
        let next = all.len();
        let at = *places.entry(one.name.clone()).or_insert(next);
        if at == next {
            all.push(one);
            continue;
        }
        let other = &mut all[at];
        let both: VersionRange = range_of(&other.specifiers).intersection(&range_of(&one.specifiers));
        if both.is_empty() {
            let message = format!("no version of {} satisfies both lines that name it", one.name);
            let finding = Finding::error(Code::ResolveConflict, message);
            let finding = finding.about(Subject::package(&one.name));
            let finding = other.file.iter().fold(finding, |finding, file| finding.at(file, other.span.clone(), ""));
            findings.push(one.file.iter().fold(finding, |finding, file| finding.at(file, one.span.clone(), "")));
            excluded.push(one.name);
            continue;
        }
        other.extras.extend(one.extras);
        other.manner.upgrade = other.manner.upgrade.max(one.manner.upgrade);
        other.manner.pre |= one.manner.pre;
        other.manner.alone &= one.manner.alone;
        if !one.specifiers.is_empty() {
            other.specifiers = other.specifiers.iter().chain(one.specifiers.iter()).cloned().collect();
            (other.file, other.span) = (one.file, one.span);
        }
    }
    all.retain(|one| !excluded.contains(&one.name));
    (all, findings, excluded)
}

/// A line as a profile would have it. The text of a file that another one names is not shown.
fn wanted(line: &RequiredLine, main: &Source) -> Wanted {
    let requirement = &line.requirement;
    let (file, span) = match &line.place {
        Some(place) if place.is_included => {
            let above = place.source.text[..place.span.start].matches('\n').count();
            let text = format!("{}(not shown)", "\n".repeat(above));
            (Source { name: place.source.name.clone(), text: text.as_str().into() }, above..text.len())
        }
        Some(place) => (place.source.clone(), place.span.clone()),
        None => (main.clone(), 0..0),
    };
    Wanted {
        name: requirement.name.clone(),
        specifiers: requirement.specifiers.clone(),
        extras: requirement.extras.clone(),
        condition: Condition::default(),
        index: None,
        direct: None,
        origin: None,
        framework: false,
        file: Some(file),
        span,
        manner: line.manner,
    }
}

/// Whether `other` has the cause of `mine`. A release that is missing, or a package that is unknown, is one cause under
/// every code.
fn is_same(mine: &Finding, other: &Finding) -> bool {
    let is_of_one = matches!(other.code, Code::AuditMissing | Code::ResolveUnknownPackage);
    let mut names = other.about.iter().map(Subject::name);
    (is_of_one || mine.code == other.code) && names.any(|name| mine.about.iter().any(|one| one.name() == name))
}

/// The constraints, each package once.
fn bounds(constraints: &[Requirement]) -> Vec<Bound> {
    let mut all: BTreeMap<PackageName, Bound> = BTreeMap::new();
    for one in constraints {
        let bound = Bound { name: one.name.clone(), specifiers: one.specifiers.clone(), span: 0..0 };
        all.entry(one.name.clone())
            .and_modify(|known| {
                known.specifiers = known.specifiers.iter().chain(one.specifiers.iter()).cloned().collect();
            })
            .or_insert(bound);
    }
    all.into_values().collect()
}
