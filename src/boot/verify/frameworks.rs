//! The frameworks of a profile: do they work, in the locked version, on the GPU that is here?

use crate::boot::lock::LockedTarget;
use crate::boot::machine::installed_modules;
use crate::boot::plan::variables_for;
use crate::boot::profile::Profile;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::boot::verify::smoke::{SmokeOutcome, SmokeTest, run_smoke, train_twice};
use crate::core::diag::{Code, Finding, Subject};
use crate::core::model::{PackageName, Version};

/// Runs the smoke tests of `profile`, each in a process of its own.
pub fn smoke_tests(
    session: &Session<'_>,
    profile: &Profile,
    seen: &Seen,
    target: &LockedTarget,
    thorough: bool,
) -> Vec<(PackageName, SmokeOutcome)> {
    let Some(python) = seen.interpreter() else {
        return Vec::new();
    };
    // A marker may keep a framework of the profile out of this target.
    profile
        .smoke
        .iter()
        .filter(|name| target.package(name).is_some())
        .map(|name| {
            session.say(&format!("testing {name}"));
            let location = seen.machine.installed.get(name).and_then(|one| one.location.as_ref());
            let modules = location.and_then(|folder| installed_modules(name, folder).ok()).unwrap_or_default();
            (
                name.clone(),
                run_smoke(
                    &SmokeTest { package: name.clone(), modules: modules.into_iter().collect(), thorough },
                    python,
                    session.environment,
                ),
            )
        })
        .collect()
}

/// Trains each framework of the target twice from the profile's seed, and compares what comes out.
pub fn repeated(session: &Session<'_>, profile: &Profile, seen: &Seen, target: &LockedTarget) -> Repeated {
    let mut repeated = Repeated::default();
    let Some(python) = seen.interpreter() else { return repeated };
    let seed = profile.seed.unwrap_or(0);
    let mut environment = session.environment.clone();
    environment.extend(variables_for(profile, target).all);
    for package in target.packages.iter().map(|package| &package.name) {
        session.log.detail(|| format!("training {package} twice"));
        let Some([one, other]) = train_twice(package, python, seed, &environment) else { continue };
        let digest = one.detail.chars().take(12).collect::<String>();
        let finding = match (one.ok && other.ok, one.detail == other.detail) {
            (false, _) => {
                let failed = if one.ok { other } else { one };
                Some(Finding::error(Code::VerifySmoke, format!("{package} could not train")).with_note(failed.detail))
            }
            (true, false) => {
                let message = format!("two trainings of {package} with the seed {seed} gave different results");
                let note = format!("{digest}… and {}…", other.detail.chars().take(12).collect::<String>());
                let help = "the cause may be a custom kernel, or a release with fewer guarantees; `colab-boot plan` shows the guarantees";
                Some(Finding::error(Code::VerifyNotDeterministic, message).with_note(note).with_help(help))
            }
            (true, true) => None,
        };
        let said = match &finding {
            None => format!("identical results: {digest}…"),
            Some(finding) if finding.code == Code::VerifySmoke => "could not train".to_owned(),
            Some(_) => "results differ".to_owned(),
        };
        repeated.rows.push((package.clone(), said));
        repeated.findings.extend(finding);
    }
    if repeated.rows.is_empty() {
        let message = "the lock has no framework that can be tested: torch, jax or tensorflow";
        repeated.findings.push(Finding::warning(Code::VerifyNotDeterministic, message));
    }
    repeated
}

/// What came of training twice.
#[derive(Debug, Default)]
pub struct Repeated {
    pub rows: Vec<(PackageName, String)>,
    pub findings: Vec<Finding>,
}

/// What is wrong with a framework, by its smoke test.
pub fn smoke_finding(
    name: &PackageName,
    outcome: &SmokeOutcome,
    target: &LockedTarget,
    seen: &Seen,
) -> Option<Finding> {
    Some(judge_smoke(name, outcome, target, seen)?.about(Subject::package(name)))
}

fn judge_smoke(name: &PackageName, outcome: &SmokeOutcome, target: &LockedTarget, seen: &Seen) -> Option<Finding> {
    let version = target.package(name).map(|package| package.version.to_string());
    if !outcome.ok {
        let message = format!("{name} did not pass its smoke test");
        return Some(Finding::error(Code::VerifySmoke, message).with_note(outcome.detail.clone()));
    }
    if let (Some(version), Some(imported)) = (&version, &outcome.version)
        && public(version) != public(imported)
    {
        let message = format!("{name} {version} is locked, but {imported} is imported");
        let installed = seen.machine.installed.get(name).map(|one| one.version.clone().without_local());
        let help = if installed == public(imported) {
            "install the locked version with `colab-boot apply`"
        } else {
            "another copy comes first on sys.path"
        };
        return Some(Finding::error(Code::VerifySmoke, message).with_help(help));
    }
    if outcome.tpu == Some(false) && has_tpu(seen) {
        let message = format!("{name} does not use this machine's TPU");
        let finding = Finding::error(Code::VerifyTpuUnused, message).with_note(outcome.detail.clone());
        return Some(finding.with_help("add libtpu to the lock (`jax[tpu]`), and check that no other process uses the TPU: `colab-boot doctor tpu-busy`"));
    }
    let has_gpu = !seen.machine.hardware.gpus.is_empty();
    let unused = has_gpu && target.cuda.is_some() && outcome.gpu == Some(false);
    unused.then(|| {
        Finding::error(Code::VerifyGpuUnused, format!("{name} does not use this machine's GPU"))
            .with_note(outcome.detail.clone())
    })
}

/// `2.20.0-rc0` is `2.20.0rc0`, and a local label may be missing from one of the two.
fn public(text: &str) -> Option<Version> {
    text.parse::<Version>().ok().map(Version::without_local)
}

/// Whether the machine says that it has a TPU.
fn has_tpu(seen: &Seen) -> bool {
    let names = ["TPU_ACCELERATOR_TYPE", "COLAB_TPU_1VM"];
    let variables = seen.observed().map(|observed| &observed.environment);
    names.iter().any(|name| variables.and_then(|all| all.get(*name)).is_some_and(|value| !value.is_empty()))
}

/// A note where frameworks were asked for a GPU and there is none.
pub fn no_gpu(smokes: &[(PackageName, SmokeOutcome)], seen: &Seen) -> Option<Finding> {
    let asked = smokes.iter().any(|(_, outcome)| outcome.gpu.is_some());
    let here = !seen.machine.hardware.gpus.is_empty();
    (asked && !here).then(|| Finding::note(Code::VerifyNoGpu, "no GPU: the frameworks were tested on the CPU"))
}
