//! The frameworks of a profile: do they work, in the locked version, on the GPU that is here?

use crate::diag::{Code, Finding};
use crate::lock::LockedTarget;
use crate::machine::installed_modules;
use crate::model::{PackageName, Version};
use crate::profile::Profile;
use crate::session::{Seen, Session};
use crate::verify::smoke::{SmokeOutcome, SmokeTest, run_smoke};

/// Runs the smoke tests of `profile`, each in a process of its own.
pub fn smoke_tests(
    session: &Session<'_>,
    profile: &Profile,
    seen: &Seen,
    target: &LockedTarget,
) -> Vec<(PackageName, SmokeOutcome)> {
    let Some(python) = seen.machine.python.as_ref().and_then(|python| python.path.as_ref()) else {
        return Vec::new();
    };
    let run = |name: &PackageName| {
        session.say(&format!("testing {name}"));
        let location = seen.machine.installed.get(name).and_then(|one| one.location.as_ref());
        let modules = location.and_then(|folder| installed_modules(name, folder).ok()).unwrap_or_default();
        (
            name.clone(),
            run_smoke(
                &SmokeTest { package: name.clone(), modules: modules.into_iter().collect() },
                python,
                session.environment,
            ),
        )
    };
    // A marker may keep a framework of the profile out of this target.
    profile.smoke.iter().filter(|name| target.package(name).is_some()).map(run).collect()
}

/// What is wrong with a framework, by its smoke test.
pub fn smoke_finding(
    name: &PackageName,
    outcome: &SmokeOutcome,
    target: &LockedTarget,
    seen: &Seen,
) -> Option<Finding> {
    let version = target.package(name).map(|package| package.version.to_string());
    if !outcome.ok {
        let message = format!("{name} did not pass its smoke test");
        return Some(Finding::error(Code::VerifySmoke, message).with_note(outcome.detail.clone()));
    }
    // `2.20.0-rc0` is `2.20.0rc0`, and a local label may be missing from one of the two.
    let public = |text: &str| text.parse::<Version>().ok().map(Version::without_local);
    if let (Some(version), Some(imported)) = (&version, &outcome.version)
        && public(version) != public(imported)
    {
        let message = format!("{name} {version} is locked, but {imported} is imported");
        return Some(Finding::error(Code::VerifySmoke, message).with_help("another copy comes first on sys.path"));
    }
    let has_gpu = !seen.machine.hardware.gpus.is_empty();
    let unused = has_gpu && target.cuda.is_some() && outcome.gpu == Some(false);
    unused.then(|| {
        Finding::error(Code::VerifyGpuUnused, format!("{name} does not use the GPU that is here"))
            .with_note(outcome.detail.clone())
    })
}

/// A note where frameworks were asked for a GPU and there is none.
pub fn no_gpu(smokes: &[(PackageName, SmokeOutcome)], seen: &Seen) -> Option<Finding> {
    let asked = smokes.iter().any(|(_, outcome)| outcome.gpu.is_some());
    let here = !seen.machine.hardware.gpus.is_empty();
    (asked && !here).then(|| Finding::note(Code::VerifyNoGpu, "no GPU here: the frameworks were tested on the CPU"))
}
