//! Packages beside another release of their family than they were built for, or beside one for another CUDA.

use crate::boot::audit::Audited;
use crate::boot::audit::rules::{Auditor, cuda_of};
use crate::core::diag::{Code, Finding, Subject};
use crate::core::matrix::{Aspect, is_jaxlib_or_plugin};
use crate::core::model::{CudaVersion, Version, VersionRange};

impl Auditor<'_> {
    /// Members of a family beside another anchor than they were built for, and requirements that METADATA does not
    /// state.
    pub(super) fn families(self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for held in self.held() {
            let family = self.matrix.family(&held.name, &held.version);
            let family =
                family.map(|(anchor, range)| (anchor.clone(), range, "it was built against that version".to_owned()));
            let range = VersionRange::singleton(held.version.clone());
            let read = held.linkage.iter();
            let read = read.flat_map(|linkage| self.matrix.linkages.asked(&held.name, &range, linkage));
            let stated = self.matrix.overlays(&held.name, &held.version).cloned().chain(read);
            let stated = stated.map(|row| (row.requirement.name, row.requirement.range, row.why));
            for (anchor, range, why) in family.into_iter().chain(stated) {
                let Some(version) = self.version(&anchor).filter(|version| !range.contains(version)) else {
                    continue;
                };
                let wanted = crate::core::model::version::describe(&range);
                let message =
                    format!("{} {} needs {anchor} {wanted}, but {version} is installed", held.name, held.version);
                let finding = Finding::error(Code::FamilyBroken, message)
                    .about(held.subject())
                    .against(Subject::release(&anchor, version));
                findings.push(held.placed(finding.with_note(why)));
            }
            findings.extend(self.other_cuda(held));
            findings.extend(self.parts_for_numpy_1(held));
        }
        findings
    }

    /// What can be imported beside NumPy 2 though it was compiled against NumPy 1, and fails when it is used.
    fn parts_for_numpy_1(self, held: &Audited) -> Option<Finding> {
        let linkages = &self.matrix.linkages;
        let row = linkages.of(&held.name)?.row(&held.version).filter(|row| row.linkage.numpy_1)?;
        let lenient = linkages.leniency(&held.name).filter(|lenient| lenient.without.contains(&Aspect::Numpy))?;
        let range = row.linkage.on_numpy(&held.name, row.range())?.requirement.range;
        let numpy = "numpy".parse().ok()?;
        let version = self.version(&numpy).filter(|version| !range.contains(version))?;
        let message = format!("{} {} is built for NumPy 1, but {version} is installed", held.name, held.version);
        let finding = Finding::warning(Code::FamilyBroken, message).about(held.subject());
        let finding = finding.against(Subject::release(&numpy, version)).with_note(lenient.why.clone());
        Some(held.placed(finding.with_help(format!("use a newer {}, or `numpy = \"<2\"`", held.name))))
    }

    /// CUDA plugins of JAX in another version than jaxlib.
    pub(super) fn jax_plugins(self) -> Option<Finding> {
        let jaxlib = self.held().find(|held| held.name.as_ref() == "jaxlib")?;
        let public = |version: &Version| version.clone().without_local();
        let is_other =
            |held: &&Audited| is_jaxlib_or_plugin(&held.name) && public(&held.version) != public(&jaxlib.version);
        let others: Vec<&Audited> = self.held().filter(is_other).collect();
        let named: Vec<String> = others.iter().map(|held| format!("{} {}", held.name, held.version)).collect();
        let message = format!("jaxlib {} does not use plugins of other versions: {}", jaxlib.version, named.join(", "));
        let finding = Finding::warning(Code::JaxPluginMismatch, message).about(jaxlib.subject());
        let finding = others.iter().fold(finding, |finding, held| finding.about(held.subject()));
        (!others.is_empty()).then(|| {
            let help = "install jax with its extra for CUDA, such as `jax[cuda12]`, in the same command";
            jaxlib.placed(finding.with_note("JAX then runs on the CPU, with a warning").with_help(help))
        })
    }

    /// A member that was built for another CUDA major than the anchor of its family: `0.26.0+cu128` beside a torch for
    /// CUDA 13.
    fn other_cuda(self, held: &Audited) -> Option<Finding> {
        let (anchor, _) = self.matrix.family(&held.name, &held.version)?;
        let anchor = self.held().find(|other| other.name == *anchor)?;
        let (own, wanted) = (cuda_of(held)?, cuda_of(anchor)?);
        let named = |held: &Audited, cuda: CudaVersion| format!("{} {} (CUDA {cuda})", held.name, held.version);
        let message = format!("{} is beside {}", named(held, own), named(anchor, wanted));
        let note = "it loads libraries of the other package, which fails with another CUDA major version";
        let finding = Finding::error(Code::FamilyBroken, message).about(held.subject()).against(anchor.subject());
        (own.major != wanted.major).then(|| held.placed(finding.with_note(note)))
    }
}
