//! Packages beside another release of their family than they were built for, or beside one for another CUDA.

use crate::boot::audit::Audited;
use crate::boot::audit::rules::{Auditor, cuda_of};
use crate::core::diag::{Code, Finding, Subject};
use crate::core::model::CudaVersion;

impl Auditor<'_> {
    /// Members of a family beside another anchor than they were built for, and requirements that METADATA does not
    /// state.
    pub(super) fn families(self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for held in self.held() {
            let family = self.matrix.family(&held.name, &held.version);
            let family =
                family.map(|(anchor, range)| (anchor.clone(), range, "it was built against that version".to_owned()));
            let read = held.linkage.iter();
            let read = read.flat_map(|linkage| self.matrix.linkages.asked(&held.name, &held.version, linkage));
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
        }
        findings
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
