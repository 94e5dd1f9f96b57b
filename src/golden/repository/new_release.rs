//! A release from a profile and its lock: its files, and the row that names them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::boot::lock::{Lock, LockedPackage, LockedTarget};
use crate::boot::profile::Profile;
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::host::files;
use crate::core::matrix::{Hardware, InstalledGpu, ptx_only};
use crate::core::model::day::day_of;
use crate::core::model::{ComputeCapability, Sha256};
use crate::core::secrets::scan;
use crate::golden::calendar::Day;
use crate::golden::cell::{Binary, Golden, Home, render_notebook, render_script};
use crate::golden::entry::{Release, ReleaseFile, Status};
use crate::golden::policy::Policy;

/// A release that is not in an index yet.
pub struct Made {
    pub release: Release,
    /// By name.
    pub files: Vec<(String, Vec<u8>)>,
    pub lock: Lock,
}

/// A profile with its lock, which must be fresh and hold all that the profile asks for.
pub fn with_lock(session: &Session<'_>, profile: &Path, lock: &Path) -> Result<(Profile, Lock, String), Failure> {
    let no = |finding: Finding| Failure::from_findings(Kind::Answer, vec![finding]);
    let shown = profile.display().to_string();
    let (profile, read) = session.with_fresh_lock(profile, lock)?;
    if let Some(day) = profile.review_by.filter(|day| day_of(session.now) > *day) {
        return Err(Failure::answer(format!("`{shown}` is overdue for review since {day}"))
            .help("review it, then set a later `review-by`"));
    }
    let text = files::read_text(lock, "lock")?;
    for (what, text) in [("profile", &*profile.source.text), ("lock", &text)] {
        if let Some(secret) = scan(text)?.first() {
            let line = text[..secret.span.start].matches('\n').count() + 1;
            let message = format!("the {what} of `{}` has a {} in line {line}", profile.name, secret.rule);
            let help = "remove it: users keep credentials in netrc or a keyring; if it is not a credential, add `# colab-boot: allow` to the line";
            return Err(no(Finding::error(Code::GoldenSecret, message).with_help(help)));
        }
    }
    from_no_folder(&profile, &read)?;
    Ok((profile, read, text))
}

/// An error where a lock takes packages from a folder: a cell has the profile and the lock with it, and nothing else.
fn from_no_folder(profile: &Profile, lock: &Lock) -> Result<(), Failure> {
    let packages = lock.targets.iter().flat_map(|target| &target.packages);
    let mut of_here =
        packages.filter_map(|one| one.wheel().filter(|file| file.is_of_one_machine()).map(|file| (one, file)));
    if let Some((package, file)) = of_here.next() {
        let from = file.from.as_deref().unwrap_or_default();
        return Err(Failure::answer(format!("`{}` comes from `{from}`, which a cell can't include", package.name))
            .help("name its repository with `git`, or a wheel of it with `url` and `sha256`"));
    }
    let folders = profile.indexes.iter().filter(|index| index.url.scheme() == "file");
    for index in folders {
        let packages = lock.targets.iter().flat_map(|target| &target.packages);
        let mut of_it = packages.filter(|one| one.wheel().is_some_and(|wheel| wheel.index == index.name));
        if let Some(first) = of_it.next() {
            return Err(Failure::answer(format!(
                "`{}` comes from the folder of the index `{}`, which a cell can't include",
                first.name, index.name
            ))
            .help("serve the folder at an address, or name the package with `url` and `sha256`"));
        }
    }
    Ok(())
}

/// The release that `profile` makes today, with its cells.
pub fn make_release(
    session: &Session<'_>,
    profile: &Path,
    (binary, home, offline): (Option<&Binary>, Option<&Home>, bool),
    policy: &Policy,
) -> Result<Made, Failure> {
    let (profile, lock, text) = with_lock(session, profile, &profile.with_extension("lock"))?;
    must_be_had(&profile, &lock)?;
    let golden = Golden { profile: &profile, lock: &text, binary, home, offline };
    let named = |suffix: &str, content: String| (format!("{}.{suffix}", profile.name), content.into_bytes());
    let mut files = vec![
        named("ipynb", render_notebook(golden)),
        named("lock", text.clone()),
        named("py", render_script(golden)),
        named("toml", profile.source.text.to_string()),
    ];
    files.sort();
    let row = |(name, bytes): &(String, Vec<u8>)| ReleaseFile {
        name: name.clone(),
        size: bytes.len() as u64,
        sha256: Sha256::of(bytes),
    };
    let published = Day::at(session.now);
    let targets = &lock.targets;
    let pythons: BTreeSet<String> = targets.iter().map(|target| target.python.to_string()).collect();
    let floors = targets.iter().filter_map(|target| target.driver_floor.clone());
    let release = Release {
        name: profile.name.clone(),
        version: profile.version.clone(),
        status: Status::Current,
        published,
        deprecate_on: Some(published.after(policy.deprecate)),
        expires: Some(published.after(policy.expire)),
        replaced_by: None,
        because: None,
        description: profile.description.clone(),
        frameworks: frameworks(&profile, targets),
        python: pythons.into_iter().collect(),
        cuda: targets.iter().filter_map(|target| target.cuda).max(),
        driver_floor: floors.max(),
        runtimes: targets.iter().map(|target| target.name.clone()).collect(),
        gpus: gpus(session, targets),
        download: targets.iter().map(LockedTarget::wheel_bytes).max().unwrap_or_default(),
        fetch: targets.iter().map(|target| (target.name.clone(), to_fetch(session, target))).collect(),
        packages: targets.iter().map(|target| target.packages.len()).max().unwrap_or_default(),
        files: files.iter().map(row).collect(),
        verified: Vec::new(),
    };
    Ok(Made { release, files, lock })
}

/// Bytes of the wheels that `apply` downloads on a fresh machine of the target.
fn to_fetch(session: &Session<'_>, target: &LockedTarget) -> u64 {
    let runtimes = session.runtimes().ok();
    let image = runtimes.as_ref().and_then(|all| all.find(&target.name).ok());
    let is_kept = |package: &&LockedPackage| {
        image.as_ref().is_some_and(|image| image.packages.get(&package.name) == Some(&package.version))
    };
    let changed = target.packages.iter().filter(|package| !is_kept(package));
    changed.filter_map(|package| package.wheel()?.size).sum()
}

/// An error where a lock needs an image that nobody but its maker has.
fn must_be_had(profile: &Profile, lock: &Lock) -> Result<(), Failure> {
    let own = lock.targets.iter().find(|target| target.runtime.is_none() && !target.image_only().is_empty());
    let Some(target) = own else { return Ok(()) };
    let packages: Vec<String> = target.image_only().into_values().flatten().map(|one| one.name.to_string()).collect();
    Err(Failure::answer(format!("the lock of `{}` needs files that only this machine has", profile.name))
        .cause(format!("the target `{}` has {}, for which no index has a digest", target.name, packages.join(", ")))
        .help("add a notebook image or a bare target such as `bare-3.12` to `[target] runtimes`, then run `colab-boot lock`"))
}

/// The versions of what the profile calls frameworks, by its first target.
fn frameworks(
    profile: &Profile,
    targets: &[LockedTarget],
) -> BTreeMap<crate::core::model::PackageName, crate::core::model::Version> {
    let wanted = profile.wanted.iter().filter(|one| one.framework);
    let version = |name| targets.iter().find_map(|target| Some(target.package(name)?.version.clone()));
    wanted.filter_map(|one| Some((one.name.clone(), version(&one.name)?.without_local()))).collect()
}

/// How its builds run on each GPU that the lock was checked against; nothing where none is for GPUs.
fn gpus(session: &Session<'_>, targets: &[LockedTarget]) -> BTreeMap<String, String> {
    let targets: Vec<&LockedTarget> = targets.iter().filter(|target| target.cuda.is_some()).collect();
    let all: BTreeSet<ComputeCapability> = targets.iter().flat_map(|target| target.gpus.iter().copied()).collect();
    all.into_iter()
        .map(|capability| {
            let gpus = vec![InstalledGpu { name: capability.to_string(), capability }];
            let hardware = Hardware { gpus, ..Hardware::default() };
            let packages = targets.iter().flat_map(|target| &target.packages);
            let mut builds = packages.filter_map(|package| session.matrix.build(&package.name, &package.version));
            let compiled =
                builds.any(|build| build.is_gpu() && ptx_only(session.matrix, build, &hardware).next().is_some());
            (capability.to_string(), if compiled { "ptx-jit" } else { "native" }.to_owned())
        })
        .collect()
}
