//! The session: how old, on which machine, with which accelerator in whose hands.

use crate::core::diag::Code;
use crate::core::host::clock::{ClockRecord, uptime_of};
use crate::health::doctor::{Answer, Case, Hit, Judge, float};

/// What the last answer of a server said of this machine's clock, by the name that the vitals have for it.
pub(super) const CLOCK: &str = "cache/clock";

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::SessionAge, session_age),
    (Code::VmNew, vm_new),
    (Code::HashseedLate, hashseed_late),
    (Code::TpuBusy, tpu_busy),
    (Code::TpuCudaWheels, tpu_cuda_wheels),
    (Code::TpuTf, tpu_tf),
    (Code::ClockSkew, clock_skew),
];

fn session_age(case: &Case<'_>) -> Answer {
    let up = case.vitals.text("/proc/uptime").and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    let Some(up) = up else { return Answer::Unseen("there is no /proc/uptime".to_owned()) };
    let said = format!("up for {:.1} hours", up / 3600.0);
    let limited = ["colab", "kaggle"].contains(&case.machine.host.kind.as_str());
    if limited && up > case.row.limit("old") {
        return Hit::warning(format!("this machine has been {said}")).into();
    }
    Answer::Fine(said)
}

fn vm_new(case: &Case<'_>) -> Answer {
    match &case.plans.applied_on {
        None => Answer::Unseen("colab-boot was not applied here".to_owned()),
        Some(boot) if boot.is_empty() || *boot == case.machine.boot_id => {
            Answer::Fine("the machine of the last apply".to_owned())
        }
        Some(_) => Hit::note("the machine was restarted since the last apply").into(),
    }
}

fn hashseed_late(case: &Case<'_>) -> Answer {
    let Some(facts) = case.facts else { return Answer::Unseen(super::workers::NO_FACTS.to_owned()) };
    let seed = facts.environment.get("PYTHONHASHSEED").cloned().flatten();
    let seed = seed.or_else(|| case.vitals.environment.get("PYTHONHASHSEED").cloned());
    match (seed, facts.hash_randomization) {
        (Some(seed), Some(true)) if seed != "random" => {
            Hit::note(format!("PYTHONHASHSEED is {seed}, but this kernel was started without it")).into()
        }
        (Some(seed), _) => Answer::Fine(format!("PYTHONHASHSEED is {seed}")),
        (None, _) => Answer::Fine("PYTHONHASHSEED is not set".to_owned()),
    }
}

fn has_tpu(case: &Case<'_>) -> bool {
    let names = case.vitals.folders.get("/dev").map(Vec::as_slice).unwrap_or_default();
    names.iter().any(|name| name.starts_with("accel")) || case.vitals.environment.contains_key("TPU_ACCELERATOR_TYPE")
}

fn tpu_busy(case: &Case<'_>) -> Answer {
    if !has_tpu(case) {
        return Answer::Unseen("there is no TPU here".to_owned());
    }
    let holds = case.vitals.processes.iter().filter(|one| one.tpu && Some(one.pid) != case.vitals.kernel);
    let holds: Vec<String> = holds.map(|one| format!("process {} ({})", one.pid, one.name)).collect();
    if holds.is_empty() {
        return Answer::Fine("no other process uses the TPU".to_owned());
    }
    Hit::error("another process uses the TPU").seen_all(holds).into()
}

fn tpu_cuda_wheels(case: &Case<'_>) -> Answer {
    if !has_tpu(case) {
        return Answer::Unseen("there is no TPU here".to_owned());
    }
    let cuda = case.machine.installed.keys().filter(|name| case.matrix.is_cuda_library(name));
    let cuda: Vec<String> = cuda.map(ToString::to_string).collect();
    if cuda.is_empty() {
        return Answer::Fine("no CUDA libraries".to_owned());
    }
    Hit::warning("CUDA libraries are installed on a machine with a TPU").seen_all(cuda).into()
}

/// Frameworks that want the TPU themselves.
const WANT_TPU: &[&str] = &["jax", "torch_xla"];

fn tpu_tf(case: &Case<'_>) -> Answer {
    if !has_tpu(case) {
        return Answer::Unseen("there is no TPU here".to_owned());
    }
    let Some(facts) = case.facts else { return Answer::Unseen(super::workers::NO_FACTS.to_owned()) };
    let others: Vec<&str> = WANT_TPU.iter().copied().filter(|name| facts.modules.contains_key(*name)).collect();
    if !facts.modules.contains_key("tensorflow") || others.is_empty() {
        return Answer::Fine("at most one framework uses the TPU".to_owned());
    }
    Hit::warning(format!("tensorflow and {} are imported in the same kernel", others.join(", "))).into()
}

fn clock_skew(case: &Case<'_>) -> Answer {
    let Some(text) = case.vitals.text(CLOCK) else {
        return Answer::Unseen("the clock was not checked against a server yet".to_owned());
    };
    let read: Result<ClockRecord, _> = serde_json::from_str(text);
    let Ok(record) = read else { return Answer::Failed(format!("{CLOCK} is not a clock record")) };
    if record.boot != case.machine.boot_id {
        return Answer::Unseen("the clock was not checked against a server since this machine started".to_owned());
    }
    // The clock may have been set since: then the time at which the machine started has moved with it.
    let uptime = case.vitals.text("/proc/uptime").and_then(uptime_of);
    let started = uptime.map(|uptime| case.vitals.now.cast_signed().saturating_sub(uptime.cast_signed()));
    let moved = started.map_or(0, |started| started.saturating_sub(record.started));
    let ahead = record.ahead.saturating_add(moved);
    let said = match ahead {
        0 => "the clock is right".to_owned(),
        1.. => format!("the clock is {ahead} s ahead"),
        _ => format!("the clock is {} s behind", ahead.unsigned_abs()),
    };
    let off = float(ahead.unsigned_abs());
    if off > case.row.limit("far") {
        return Hit::error(said).into();
    }
    if off > case.row.limit("off") { Hit::warning(said).into() } else { Answer::Fine(said) }
}
