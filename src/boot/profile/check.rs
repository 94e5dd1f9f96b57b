//! Raw TOML with spans → [`Profile`]. Every name and value is checked here, once; the rest of the program trusts the
//! type.

use std::collections::BTreeMap;
use std::path::Path;

use pep508_rs::PackageName;
use toml::de::DeTable;

use crate::boot::profile::accept::accepted;
use crate::boot::profile::fitness::fitness;
use crate::boot::profile::indexes::{indexes, published};
use crate::boot::profile::package_origin::beside;
use crate::boot::profile::package_tables::packages;
use crate::boot::profile::reader::{Faults, Placed, Reader, as_text};
use crate::boot::profile::values::{
    NO_VERSION, cuda_wish, debian_name, one_of, python_minor, semantic_version, snapshot_id, specifiers, variable_name,
    variable_value,
};
use crate::boot::profile::{Bound, NamedIndex, Policy, Prereleases, Profile, TargetWish, Wanted};
use crate::core::diag::{Code, Finding, Source};
use crate::core::matrix::{PublishedIndex, settings};
use crate::core::model::Sha256;
use crate::core::model::day::Date;

/// The largest profile we parse; no real profile nests deeper or has longer texts.
const SIZE_LIMIT: usize = 256 << 10;

/// What comes after so many follows from them.
const SYNTAX_ERRORS: usize = 5;

pub(super) fn check(source: &Source, folder: &Path) -> Result<Profile, Vec<Finding>> {
    let mut faults = Faults { source, found: Vec::new() };
    if source.text.len() > SIZE_LIMIT {
        let message = format!("the profile is larger than {} kB", SIZE_LIMIT >> 10);
        return Err(vec![Finding::error(Code::ProfileBadValue, message)]);
    }
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    for error in errors.into_iter().take(SYNTAX_ERRORS) {
        let span = error.span().unwrap_or(0..0);
        faults.add(Code::ProfileSyntax, span, format!("not valid TOML: {}", error.message().replace('\n', ", ")), "");
    }
    if !faults.found.is_empty() {
        return Err(faults.found);
    }
    let mut root = Reader::new("the profile", table.get_ref());
    let profile = read(&mut root, folder, &mut faults);
    root.finish(&mut faults);
    match profile {
        Some(profile) if faults.found.is_empty() => Ok(profile),
        _ => {
            // As the eye goes through the file.
            faults.found.sort_by_key(|fault| fault.labels.first().map(|label| label.span.start));
            Err(faults.found)
        }
    }
}

fn read(root: &mut Reader<'_, '_>, folder: &Path, faults: &mut Faults<'_>) -> Option<Profile> {
    let head = head(root, faults);
    let target = root.table("target", faults).map(|table| target(table, faults)).unwrap_or_default();
    let mut wanted = packages(root.table("frameworks", faults), (true, folder), faults);
    wanted.extend(packages(root.table("packages", faults), (false, folder), faults));
    let constraints = bounds(root.table("constraints", faults), faults);
    let overrides = bounds(root.table("overrides", faults), faults);
    let accepted = accepted(root, faults);
    let (apt, apt_snapshot) = root.table("apt", faults).map(|table| apt(table, faults)).unwrap_or_default();
    let EnvTable { preset, variables, spans } =
        root.table("env", faults).map(|table| environment(table, faults)).unwrap_or_default();
    let seed = root.table("determinism", faults).and_then(|mut table| {
        let seed = table.seed("seed", faults);
        table.finish(faults);
        seed
    });
    let fitness = fitness(root, faults);
    let mut indexes = indexes(root, (folder, &wanted), faults);
    indexes.extend(published(&wanted, &indexes));
    let policy = root.table("policy", faults).map(|table| policy(table, folder, faults)).unwrap_or_default();
    check_packages(&wanted, &indexes, faults);
    check_overrides(&wanted, &overrides, faults);
    let smoke = root.table("verify", faults).map(|table| smoke(table, &wanted, faults));
    let smoke =
        smoke.unwrap_or_else(|| wanted.iter().filter(|one| one.framework).map(|one| one.name.clone()).collect());
    let head = head?;
    Some(Profile {
        source: faults.source.clone(),
        digest: Sha256::of(faults.source.text.as_bytes()),
        name: head.name,
        version: head.version,
        description: head.description,
        owner: head.owner,
        review_by: head.review_by,
        target,
        wanted,
        constraints,
        overrides,
        accepted,
        apt,
        apt_snapshot,
        environment: variables,
        environment_spans: spans,
        preset,
        seed,
        indexes,
        policy,
        fitness,
        smoke,
    })
}

struct Head {
    name: PackageName,
    version: semver::Version,
    description: String,
    owner: Option<String>,
    review_by: Option<Date>,
}

fn head(root: &mut Reader<'_, '_>, faults: &mut Faults<'_>) -> Option<Head> {
    let unnamed = named_after(Path::new(&*faults.source.name));
    let Some(mut table) = root.table("profile", faults) else {
        let head =
            Head { name: unnamed?, version: NO_VERSION, description: String::new(), owner: None, review_by: None };
        return Some(head);
    };
    let name = table.text("name", faults);
    let version = table.text("version", faults);
    let description = table.text("description", faults).map(|place| place.value).unwrap_or_default();
    let owner = table.text("owner", faults).map(|place| place.value);
    let review_by = table.date("review-by", faults);
    table.finish(faults);
    let name = name.map_or(unnamed, |name| faults.name(&name, "a profile's name"));
    let version = version.map_or(Some(NO_VERSION), |version| {
        faults.value(&version, "a version (semantic, such as `2026.11.0`)", semantic_version(&version.value))
    });
    Some(Head { name: name?, version: version?, description, owner, review_by })
}

/// The name of a profile that states none: that of its file.
fn named_after(file: &Path) -> Option<PackageName> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "profile" } else { name }.parse().ok()
}

fn target(mut table: Reader<'_, '_>, faults: &mut Faults<'_>) -> TargetWish {
    let cuda = table.text("cuda", faults);
    let python = table.text("python", faults);
    let texts = |places: Vec<Placed<String>>| places.into_iter().map(|place| place.value).collect();
    let wish = TargetWish {
        cuda: cuda.and_then(|place| faults.value(&place, "a CUDA target", cuda_wish(&place.value))).unwrap_or_default(),
        python: python.and_then(|place| faults.value(&place, "a Python version", python_minor(&place.value))),
        gpus: texts(table.texts("gpus", faults)),
        runtimes: texts(table.texts("runtimes", faults)),
    };
    table.finish(faults);
    wish
}

fn apt(mut table: Reader<'_, '_>, faults: &mut Faults<'_>) -> (Vec<String>, Option<String>) {
    let places = table.texts("packages", faults);
    let snapshot = table.text("snapshot", faults);
    let snapshot = snapshot.and_then(|place| faults.value(&place, "a snapshot", snapshot_id(&place.value)));
    table.finish(faults);
    let names =
        places.into_iter().filter_map(|place| faults.value(&place, "an apt package", debian_name(&place.value)));
    (names.collect(), snapshot)
}

#[derive(Default)]
struct EnvTable {
    preset: Option<String>,
    variables: BTreeMap<String, String>,
    spans: BTreeMap<String, std::ops::Range<usize>>,
}

fn environment(mut table: Reader<'_, '_>, faults: &mut Faults<'_>) -> EnvTable {
    let mut found = EnvTable::default();
    if let Some(place) = table.text("preset", faults) {
        let rows = settings().map(|rows| rows.preset.as_slice()).unwrap_or_default();
        let mut names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        names.dedup();
        let known = names.contains(&place.value.as_str()).then(|| place.value.clone());
        let known = known.ok_or_else(|| format!("one of {}", names.join(", ")));
        found.preset = faults.value(&place, "a preset", known);
    }
    for (key, value) in table.all() {
        let Some(text) = as_text(value, &format!("`{}`", key.value), faults) else {
            continue;
        };
        let name = faults.value(&key, "a variable", variable_name(&key.value));
        let value = variable_value(&text.value).map(|()| text.value.clone());
        if let (Some(name), Some(value)) = (name, faults.value(&text, "a variable's value", value)) {
            found.spans.insert(name.clone(), key.span.start..text.span.end);
            found.variables.insert(name, value);
        }
    }
    found
}

fn policy(mut table: Reader<'_, '_>, folder: &Path, faults: &mut Faults<'_>) -> Policy {
    let mut policy = Policy::default();
    if let Some(place) = table.text("installed", faults) {
        let choice = one_of(&place.value, &[("prefer", true), ("ignore", false)]);
        policy.prefer_installed = faults.value(&place, "`installed`", choice).unwrap_or(true);
    }
    if let Some(place) = table.text("breakage", faults) {
        let choice = one_of(&place.value, &[("error", true), ("warn", false)]);
        policy.breakage_is_error = faults.value(&place, "`breakage`", choice).unwrap_or(true);
    }
    policy.one_cuda_major = table.flag("one-cuda-major", faults).unwrap_or(true);
    policy.prune = table.flag("prune", faults).unwrap_or(true);
    if let Some(place) = table.text("overwrite", faults) {
        let choice = one_of(&place.value, &[("error", false), ("keep-aside", true)]);
        policy.keeps_aside = faults.value(&place, "`overwrite`", choice).unwrap_or(false);
    }
    build_policy(&mut table, &mut policy, folder, faults);
    if let Some(place) = table.text("prereleases", faults) {
        let choices = [
            ("if-necessary", Prereleases::IfNecessary),
            ("explicit", Prereleases::Explicit),
            ("allow", Prereleases::Allow),
        ];
        let choice = faults.value(&place, "`prereleases`", one_of(&place.value, &choices));
        policy.prereleases = choice.unwrap_or(Prereleases::IfNecessary);
    }
    policy.as_of = table.moment("as-of", faults);
    table.finish(faults);
    policy
}

/// `wheels-only = false` and the packages it is for: each must be named, for a build runs whatever its authors wrote.
fn build_policy(table: &mut Reader<'_, '_>, policy: &mut Policy, folder: &Path, faults: &mut Faults<'_>) {
    let wheels_only = table.placed_flag("wheels-only", faults);
    let places = table.texts("build", faults);
    let allowed = wheels_only.as_ref().is_some_and(|(flag, _)| !flag);
    match (&wheels_only, places.first()) {
        (Some((false, span)), None) => {
            let help =
                "add `build = [\"antlr4-python3-runtime\"]` with the packages that the installer may build from source";
            faults.add(
                Code::ProfileMissingKey,
                span.clone(),
                "`wheels-only = false` needs `build`: the packages to build",
                help,
            );
        }
        (_, Some(first)) if !allowed => {
            faults.add(Code::ProfileConflict, first.span.clone(), "`build` needs `wheels-only = false`", "");
        }
        _ => {}
    }
    let names = places.iter().filter_map(|place| faults.name(place, "a package name"));
    policy.buildable = names.collect();
    let shared = table.texts("no-build-isolation", faults);
    policy.shares_environment = shared.iter().filter_map(|place| faults.name(place, "a package name")).collect();
    let kept = table.text("built-wheels", faults);
    policy.built_wheels = kept.and_then(|place| faults.value(&place, "a folder", beside(folder, &place.value)));
}

fn smoke(mut table: Reader<'_, '_>, wanted: &[Wanted], faults: &mut Faults<'_>) -> Vec<PackageName> {
    let places = table.texts("smoke", faults);
    table.finish(faults);
    let mut names = Vec::new();
    for place in places {
        let Some(name) = faults.name(&place, "a package name") else {
            continue;
        };
        if !wanted.iter().any(|one| one.name == name) {
            let message = format!("`{name}` is in `[verify] smoke`, but not in `[frameworks]` or `[packages]`");
            faults.add(Code::ProfileConflict, place.span, message, "");
        }
        names.push(name);
    }
    names
}

/// The lines of `[constraints]` or `[overrides]`.
fn bounds(table: Option<Reader<'_, '_>>, faults: &mut Faults<'_>) -> Vec<Bound> {
    let mut bounds: Vec<Bound> = Vec::new();
    for (key, value) in table.map(|mut table| table.all()).unwrap_or_default() {
        let name = faults.name(&key, "a package name");
        let text = as_text(value, &format!("`{}`", key.value), faults);
        let specifiers = text.and_then(|text| faults.value(&text, "a version", specifiers(&text.value)));
        let (Some(name), Some(specifiers)) = (name, specifiers) else { continue };
        let span = key.span.start..value.span().end;
        if bounds.iter().any(|known| known.name == name) {
            faults.add(Code::ProfileConflict, span, format!("`{name}` is listed twice"), "keep one of them");
        } else {
            bounds.push(Bound { name, specifiers, span });
        }
    }
    bounds
}

fn check_overrides(wanted: &[Wanted], overrides: &[Bound], faults: &mut Faults<'_>) {
    for bound in overrides.iter().filter(|bound| wanted.iter().any(|one| one.name == bound.name)) {
        let message = format!("`{}` is both required and overridden", bound.name);
        faults.add(Code::ProfileConflict, bound.span.clone(), message, "write the version where it is required");
    }
}

fn check_packages(wanted: &[Wanted], indexes: &[NamedIndex], faults: &mut Faults<'_>) {
    if wanted.is_empty() && faults.found.is_empty() {
        let help = "add a line such as `numpy = \"*\"` under `[packages]`";
        faults.add(Code::ProfileMissingKey, 0..0, "the profile has no packages", help);
    }
    for (at, one) in wanted.iter().enumerate() {
        if wanted[..at].iter().any(|earlier| earlier.name == one.name) {
            let message = format!("`{}` is in the profile twice", one.name);
            faults.add(Code::ProfileConflict, one.span.clone(), message, "keep one of them");
        }
        if let Some(index) = &one.index
            && !indexes.iter().any(|known| known.name == *index)
        {
            let message = format!("`{}` uses the index `{index}`, which no `[[index]]` defines", one.name);
            let known = PublishedIndex::bundled().unwrap_or_default();
            let known: Vec<String> = known.into_iter().map(|index| format!("`{}`", index.name)).collect();
            let help = format!("add an `[[index]]` with that name; built in: {}", known.join(", "));
            faults.add(Code::ProfileConflict, one.span.clone(), message, &help);
        }
    }
}
