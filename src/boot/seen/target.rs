//! What is solved for: the machine that was seen, as it would be without colab-boot.

use std::collections::BTreeMap;

use crate::boot::ledger::{Before, Original};
use crate::boot::machine::{Installed, Recorded, resolve_gpus};
use crate::boot::profile::Profile;
use crate::boot::resolve::{Present, Target};
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::model::PackageName;

impl Seen {
    /// Whether a version that counts as present is there, or may come from an index.
    pub fn has_or_can_have(&self, name: &PackageName, present: &Present) -> bool {
        let installed = self.machine.installed.get(name).map(|one| &one.version);
        installed == Some(&present.version) || !(present.direct || present.version.is_local())
    }
}

impl Session<'_> {
    /// What `profile` is to be solved for on the machine that was seen.
    pub fn target(&self, profile: &Profile, seen: &Seen) -> Result<Target, Failure> {
        let machine = &seen.machine;
        let python =
            seen.python("install Python 3, or pass one with --python; to plan for another machine, use --runtime")?;
        if let Some((major, minor)) = profile.target.python.filter(|wanted| *wanted != python.facts.minor()) {
            let message = format!("the profile is for Python {major}.{minor}, the target has {}", python.facts.version);
            let finding = Finding::error(Code::MachineNotPlanned, message)
                .with_help("choose another runtime or interpreter, or change `python` in `[target]`");
            return Err(Failure::from_findings(Kind::Answer, vec![finding]));
        }
        let mut hardware = machine.hardware.clone();
        let asked = resolve_gpus(&profile.target.gpus, self.matrix)?;
        let wished = if asked.is_empty() { seen.possible_gpus.clone() } else { asked };
        for gpu in wished {
            if !hardware.gpus.iter().any(|known| known.capability == gpu.capability) {
                hardware.gpus.push(gpu);
            }
        }
        Ok(Target {
            name: machine.runtime.clone().unwrap_or_else(|| "machine".to_owned()),
            python: python.facts.clone(),
            hardware,
            driver_origin: machine.origins.get("driver").cloned().unwrap_or_default(),
            cuda: profile.target.cuda,
            runtime: machine.runtime.clone(),
            installed: self.present(profile, seen),
            linked: self.linked_here(seen),
        })
    }

    /// What counts as present: everything where the profile prefers that, else only what the kernel runs on. What
    /// colab-boot has installed does not count, but what was there before it: a lock must not depend on an earlier
    /// apply.
    fn present(&self, profile: &Profile, seen: &Seen) -> BTreeMap<PackageName, Present> {
        let machine = &seen.machine;
        let notebook = machine.host.protects || machine.kernel.is_some();
        let protected = |name: &PackageName| notebook && self.matrix.kernel.protected.contains(name);
        let counts = |name: &PackageName| profile.policy.prefer_installed || protected(name);
        let was = |name: &PackageName, before: &Before| {
            let requires = Some(Recorded::new(before.requires.clone()).get().to_vec());
            Present { version: before.version.clone(), requires, protected: protected(name), direct: before.direct }
        };
        let as_is = |name: &PackageName, one: &Installed| {
            // A described image has no requirements of extras: `fsspec[http]` would have its fsspec moved. Pip leaves
            // it.
            let known = one.requires.as_ref().filter(|_| machine.runtime.is_none() || profile.policy.as_pip);
            let requires = known.map(|recorded| recorded.get().to_vec());
            Present { version: one.version.clone(), requires, protected: protected(name), direct: one.direct }
        };
        let here = machine.installed.iter().filter(|(name, _)| counts(name)).filter_map(|(name, one)| {
            let present = match seen.ledger.original(name, Some(&one.version)) {
                Original::AsIs => as_is(name, one),
                Original::Was(before) => was(name, before),
                Original::Absent => return None,
            };
            Some((name.clone(), present))
        });
        let gone = seen.ledger.removed.iter().filter(|(name, _)| counts(name) && !machine.installed.contains_key(name));
        here.chain(gone.map(|(name, before)| (name.clone(), was(name, before)))).collect()
    }
}
