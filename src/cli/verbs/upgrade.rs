//! `upgrade`: the lock takes the newest versions that the profile allows.

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::{LockOptions, UpgradeOptions};
use crate::cli::verbs::lock;
use crate::core::diag::Failure;

pub(super) fn run(options: &UpgradeOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let upgrade = options.packages.is_empty();
    let upgrade_package = options.packages.clone();
    lock::run(&LockOptions { upgrade, upgrade_package, ..options.edited.to_lock() }, session)
}
