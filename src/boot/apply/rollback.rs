//! After an install that failed: what was there before comes back.

use crate::boot::apply::kept_files::KeptFiles;
use crate::boot::apply::one_apply::Work;
use crate::boot::apply::run_script::Failed;
use crate::boot::ledger::Step;
use crate::boot::marker::{Event, Next};
use crate::core::diag::{Failure, Kind};

impl Work<'_> {
    /// `failure`, once the switch is undone, files aside are back, and ledger and marker say how far the install came.
    pub(super) fn after_failure(
        &self,
        failure: Failure,
        kept: KeptFiles,
        steps: &[Step],
        step: &mut dyn FnMut(Event) -> Result<Next, Failure>,
    ) -> Failure {
        let open = self.open_if_untouched();
        let is_stopped = matches!(failure.kind, Kind::Signal(_)) && self.is_own();
        let stop = |()| if is_stopped { step(Event::Stop { open }).map(drop) } else { Ok(()) };
        match self.settle_failure(kept, steps).and_then(stop) {
            Ok(()) => failure,
            Err(error) => failure.cause(error.to_string()),
        }
    }

    fn settle_failure(&self, mut kept: KeptFiles, steps: &[Step]) -> Result<(), Failure> {
        self.undo_switch()?;
        let ledger = self.ledger_of_failure(steps);
        let back = self.return_kept(&mut kept, &ledger).map(drop);
        self.state.write_ledger(&kept.in_ledger(ledger)).and(back)
    }

    /// `failure`, once the switch is undone; that of a signal says how to go on.
    pub(super) fn with_way_on(&self, failure: Failure) -> Failure {
        match failure.kind {
            Kind::Signal(_) if failure.help.is_empty() && self.is_own() => {
                failure.help("the Python packages are as before; run the same command again to continue")
            }
            Kind::Signal(_) if failure.help.is_empty() => failure.help("run the same command again to continue"),
            _ => failure,
        }
    }

    /// What the script has failed with; its log is kept.
    pub(super) fn failed(&self, mut failed: Failed) -> Failure {
        // The next run of a script writes its own log.
        let kept = failed.log.with_file_name("apply.failed.log");
        if std::fs::rename(&failed.log, &kept).is_ok() {
            failed.log = kept;
        }
        failed.described(if self.is_own() {
            "the Python packages are as before"
        } else {
            "what the other installer has changed stays: run `colab-boot apply` without `--installer` to finish, or \
             `colab-boot restore`"
        })
    }
}
