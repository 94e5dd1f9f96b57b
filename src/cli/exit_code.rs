//! What a run ends with, in one function.

use crate::boot::verdict::Report;
use crate::core::diag::{Failure, Kind};

/// 0 done · 1 the answer is no · 2 you wrote something wrong · 3 machine or network would not · 4 our bug · 10 restart
/// the kernel · 130, 143 a signal.
pub(super) fn exit_code(outcome: &Result<Report, Failure>) -> u8 {
    match outcome {
        Ok(report) if report.is_no() => 1,
        Ok(report) if report.wants_restart() => 10,
        Ok(_) => 0,
        Err(failure) => match failure.kind {
            Kind::Answer => 1,
            Kind::Input => 2,
            Kind::World => 3,
            Kind::Bug => 4,
            // As shells count it.
            Kind::Signal(number) => u8::try_from(128 + number).unwrap_or(4),
        },
    }
}
