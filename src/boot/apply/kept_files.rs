//! Files that an apply keeps and that come back: those of no package, and those of several.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use crate::boot::apply::common_files::CommonFiles;
use crate::boot::apply::one_apply::Work;
use crate::boot::apply::prepared::{InTheWay, TouchedFiles};
use crate::boot::goal::Goal;
use crate::boot::ledger::{Aside, Ledger};
use crate::core::diag::{Failure, Finding};

pub(super) struct KeptFiles {
    /// Files of no package, by their place.
    pub aside: BTreeMap<PathBuf, Aside>,
    pub shared: CommonFiles,
}

impl KeptFiles {
    /// What `ledger` knows.
    pub(super) fn of(ledger: &Ledger) -> Self {
        Self { aside: ledger.aside.clone(), shared: CommonFiles::of(ledger) }
    }

    /// `ledger` with these.
    pub(super) fn in_ledger(&self, ledger: Ledger) -> Ledger {
        Ledger { aside: self.aside.clone(), shared: self.shared.known.clone(), ..ledger }
    }
}

impl Work<'_> {
    /// What is kept once this apply has begun. Nothing is moved or copied yet.
    pub(super) fn kept(&self, in_the_way: &[InTheWay], touched: &TouchedFiles) -> Result<KeptFiles, Failure> {
        Ok(KeptFiles { aside: self.aside(in_the_way)?, shared: self.shared(touched)? })
    }

    /// Keeps what is `in_the_way`, what packages have in common, and what was edited.
    pub(super) fn keep(&self, in_the_way: &[InTheWay], kept: &KeptFiles) -> Result<(), Failure> {
        self.move_aside(in_the_way, &kept.aside)?;
        kept.shared.copy()?;
        self.keep_edits()
    }

    /// Moves back what nothing is in the place of any more, once the ledger is `after`. A finding for each file that
    /// can't be as it was.
    pub(super) fn return_kept(&self, kept: &mut KeptFiles, after: &Ledger) -> Result<Vec<Finding>, Failure> {
        self.bring_back_aside(&mut kept.aside)?;
        self.return_shared(&mut kept.shared, after)
    }

    /// Moves back what was kept aside for packages that another tool has removed. A restore forgets such packages.
    pub(super) fn give_back(&self) -> Result<(), Failure> {
        let ledger = &self.planned.seen.ledger;
        let settled = match self.planned.goal {
            Goal::Restore => self.settled_ledger(&[]),
            Goal::Profile { .. } => ledger.clone(),
        };
        let mut kept = KeptFiles::of(ledger);
        // Nothing of ours goes, so that nothing is found.
        let _ = self.return_kept(&mut kept, &settled)?;
        let after = kept.in_ledger(settled);
        if after.aside.len() < ledger.aside.len() || after.shared.len() < ledger.shared.len() {
            self.session.changed.store(true, Ordering::Relaxed);
        }
        if after == *ledger { Ok(()) } else { self.state.write_ledger(&after) }
    }
}
