//! What was noticed while solving, as findings.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::resolve::{Caveat, HeldBack, Resolution, Unfound};
use crate::core::diag::{Code, Finding, Subject, counted, few, listed};
use crate::core::model::contents::{Clash, Hiding};
use crate::core::model::{PackageName, Version};

/// Two packages that overwrite each other's files.
pub fn collision_finding(first: &PackageName, second: &PackageName, clash: &Clash) -> Finding {
    if let Some(finding) = never_imported(first, second, clash) {
        return finding;
    }
    let message = format!("`{first}` and `{second}` both own {} with different content", clash.count());
    let finding = if clash.is_serious() {
        Finding::warning(Code::FilesCollide, message)
    } else {
        Finding::note(Code::FilesCollide, message)
    };
    let finding = finding.about(Subject::package(first)).against(Subject::package(second));
    let libraries = clash.libraries();
    let rest = clash.paths.iter().filter(|path| !libraries.contains(path));
    let paths: Vec<String> = libraries.iter().copied().chain(rest).cloned().collect();
    finding.with_note(listed(&paths)).with_help("the package installed last wins; remove one of the two if you can")
}

/// An error where one of two packages has modules that Python always takes from the other.
pub fn never_imported(first: &PackageName, second: &PackageName, clash: &Clash) -> Option<Finding> {
    let Hiding { imported, hidden, by_first } = clash.hidden.first()?;
    let (winner, loser) = if *by_first { (first, second) } else { (second, first) };
    let message = format!("Python imports `{imported}` of {winner} instead of `{hidden}` of {loser}");
    let all: Vec<String> = clash.hidden.iter().map(|one| one.hidden.clone()).collect();
    let finding = Finding::error(Code::FilesCollide, message);
    let finding = finding.about(Subject::package(loser)).against(Subject::package(winner));
    let finding = if all.len() > 1 { finding.with_note(format!("never imported: {}", listed(&all))) } else { finding };
    Some(finding.with_help(format!("{loser} and {winner} can't be used together: remove one of them")))
}

/// A build that the driver compiles on these GPUs.
pub fn compiled_on_use(name: &PackageName, version: &Version, gpus: &[String]) -> Finding {
    let message =
        format!("`{name}` {version} has no machine code for {}: the driver compiles its kernels", gpus.join(", "));
    Finding::warning(Code::GpuPtxOnly, message)
        .about(Subject::release(name, version))
        .with_note("the first launch of each kernel takes minutes, and again when the compiler's cache is empty")
        .with_help("a release with machine code for this GPU starts at once: `colab-boot matrix show --gpu` lists them")
}

/// A release that its authors have withdrawn.
pub fn yanked(name: &PackageName, version: &Version, reason: &str) -> Finding {
    let finding = Finding::warning(Code::ResolveYanked, format!("`{name}` {version} was yanked by its authors"))
        .about(Subject::release(name, version));
    if reason.is_empty() { finding } else { finding.with_note(reason.to_owned()) }
}

/// Caveats on a solution as findings.
pub fn caveats(resolution: &Resolution) -> Vec<Finding> {
    let one_by_one = resolution.caveats.iter().filter(|caveat| shared_init(caveat).is_none());
    one_by_one.map(finding_of).chain(shared_inits(resolution)).collect()
}

fn finding_of(caveat: &Caveat) -> Finding {
    match caveat {
        Caveat::Yanked { name, version, reason } => yanked(name, version, reason),
        Caveat::Prerelease { name, version } => {
            Finding::warning(Code::ResolvePrerelease, format!("`{name}` {version} is a pre-release"))
                .about(Subject::release(name, version))
        }
        Caveat::PtxOnly { name, version, gpus } => compiled_on_use(name, version, gpus),
        Caveat::BuildUnknown { name, version, why } => {
            Finding::warning(Code::BuildUnknown, format!("which GPUs `{name}` {version} runs on is unknown"))
                .about(Subject::release(name, version))
                .with_note(format!("the matrix has no row for it; {why}"))
        }
        Caveat::FilesCollide { first, second, clash } => collision_finding(first, second, clash),
        Caveat::FilesUnchecked { count } => Finding::note(
            Code::FilesUnchecked,
            format!("{} could not be checked for files that collide with other wheels", counted(*count, "wheel")),
        ),
        Caveat::ExtraUnknown { name, version, extra, known } => {
            let message = format!("`{name}` {version} has no extra `{extra}`, but {known}");
            Finding::warning(Code::ResolveExtraUnknown, message)
                .about(Subject::release(name, version))
                .with_note("it is installed without the extra, as pip and uv do")
        }
        Caveat::HeldBack(all) => held_back(all),
        Caveat::CudaUnfound(unfound) => cuda_unfound(unfound),
        Caveat::LinkingUnread { name, version, why } => {
            let message = format!("the library dependencies of `{name}` {version} are unknown");
            Finding::note(Code::LinkingUnread, message).about(Subject::release(name, version)).with_note(why.clone())
        }
        Caveat::Unreadable { name, count, line } => {
            let message = format!("{} of `{name}` ignored: invalid requirements", counted(count, "release"));
            let finding = Finding::note(Code::ResolveSkipped, message).about(Subject::package(name));
            finding.with_note(format!("for example `{line}`"))
        }
        Caveat::NamesUnreadable { count } => Finding::note(
            Code::ResolveSkipped,
            format!("{} ignored: no valid version in the name", counted(count, "wheel")),
        ),
        Caveat::FromSource { name, version } => {
            let message = format!("`{name}` {version} will be built from source, as the profile allows");
            Finding::warning(Code::ResolveFromSource, message).about(Subject::release(name, version)).with_help(
                "a wheel that you built once (`url` and `sha256`) installs in seconds and is the same everywhere",
            )
        }
        Caveat::TwoSources { name, version, index, alone } => two_sources((name, version), index, alone),
        Caveat::Weak { name, version, kind } => {
            let message = format!("the index has only a {} digest of `{name}` {version}", kind.as_str());
            Finding::note(Code::LockWeak, message).about(Subject::release(name, version))
        }
        Caveat::Unhashed { name, version, why } => {
            Finding::warning(Code::LockUnhashed, format!("`{name}` {version} has no digest"))
                .about(Subject::release(name, version))
                .with_note(format!("the index has no sha256 of it; {why}"))
                .with_help("`apply` refuses this lock; use an index with digests")
        }
        Caveat::VariantsSkipped { count } => {
            Finding::note(Code::ResolveVariantsSkipped, format!("{} ignored", counted(count, "wheel variant")))
        }
    }
}

/// A name that a folder and an index have; the release was taken from `index`.
fn two_sources((name, version): (&PackageName, &Version), index: &str, (other, folder): &(Version, String)) -> Finding {
    let message = format!("both `{folder}` and the default index have `{name}`, with different releases");
    let taken = if index == folder {
        format!("{version} of `{folder}` was chosen; anybody can publish a newer one on the index")
    } else {
        format!("{version} of the index was chosen, not {other} of `{folder}`")
    };
    Finding::warning(Code::ResolveTwoSources, message)
        .about(Subject::release(name, version))
        .with_note(taken)
        .with_help(format!(
            "write where it comes from: `{name} = {{ path = \"FILE.whl\" }}`, or an `[[index]]` with the `path` \
             of the folder and `packages = [\"{name}\"]`"
        ))
}

/// What looks for a CUDA library when it runs that nothing brings.
fn cuda_unfound(unfound: &Unfound) -> Finding {
    let Unfound { name, version, absent, carrier, bringer, without, here } = unfound;
    let libraries = listed(absent);
    let message = format!("{name} {version} loads {libraries} at run time, which no package contains");
    let finding = Finding::warning(Code::LibraryMissing, message)
        .about(Subject::release(name, version))
        .with_note(format!("without that library, {without}"));
    let help = if let Some(bringer) = bringer.clone().filter(|_| here.is_empty()) {
        bringer
    } else if here.is_empty() {
        format!("add `{carrier}` to the profile")
    } else {
        let majors: Vec<String> = here.iter().map(ToString::to_string).collect();
        format!(
            "the profile's CUDA libraries are for CUDA {}; to have {libraries} too, add `{carrier}` and set `one-cuda-major = false`",
            listed(&majors)
        )
    };
    finding.with_help(help)
}

/// Releases that are a major version behind, each with who holds it there.
fn held_back(all: &[HeldBack]) -> Finding {
    let message = format!("{} behind the newest release", counted(all.len(), "package"));
    let finding = match all.iter().find(|held| held.is_fallback) {
        Some(HeldBack { name, newest, .. }) => {
            let bound = newest.release().first().map(|major| format!("`{name} = \">={major}\"`")).unwrap_or_default();
            let help =
                format!("if that is too old, name what you need, such as {bound}: the conflict is then explained");
            Finding::warning(Code::ResolveHeldBack, message).with_help(help)
        }
        None => Finding::note(Code::ResolveHeldBack, message),
    };
    let finding = all.iter().fold(finding, |finding, held| finding.about(Subject::release(&held.name, &held.version)));
    few(&all
        .iter()
        .map(|held| {
            let by: Vec<&str> = held.by.iter().map(AsRef::as_ref).take(3).collect();
            let by = match by.as_slice() {
                [] if held.locked => "kept from the earlier lock".to_owned(),
                [] => "held back by the requirements of its newer releases".to_owned(),
                by => format!("held back by {}", by.join(", ")),
            };
            format!("{} {} ({} exists; {by})", held.name, held.version, held.newest)
        })
        .collect::<Vec<_>>())
    .into_iter()
    .fold(finding, Finding::with_note)
}

/// The path and its owners, where two packages share nothing but the `__init__.py` of a folder, as NVIDIA's do: empty
/// in one, a licence in the other.
fn shared_init(caveat: &Caveat) -> Option<(&str, [&PackageName; 2])> {
    match caveat {
        Caveat::FilesCollide { first, second, clash } => match clash.paths.as_slice() {
            [path] if path.ends_with("/__init__.py") && clash.hidden.is_empty() => Some((path, [first, second])),
            _ => None,
        },
        _ => None,
    }
}

/// One finding for each such path, however many pairs of packages share it.
fn shared_inits(resolution: &Resolution) -> Vec<Finding> {
    let mut owners: BTreeMap<&str, BTreeSet<&PackageName>> = BTreeMap::new();
    for (path, pair) in resolution.caveats.iter().filter_map(shared_init) {
        owners.entry(path).or_default().extend(pair);
    }
    owners
        .into_iter()
        .map(|(path, owners)| {
            let named = listed(&owners.iter().map(ToString::to_string).collect::<Vec<_>>());
            let message = format!("`{path}` is in {} packages, with different content", owners.len());
            let finding = if owners.len() > 2 {
                Finding::note(Code::FilesCollide, message)
            } else {
                Finding::warning(Code::FilesCollide, message)
            };
            let finding = owners.into_iter().fold(finding, |finding, owner| finding.about(Subject::package(owner)));
            finding.with_note(format!("{named}; the package installed last wins"))
        })
        .collect()
}
