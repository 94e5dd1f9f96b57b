//! After a kernel has died: what ended it.

use crate::core::diag::{Code, counted};
use crate::health::doctor::death::{CRASHES, module_of};
use crate::health::doctor::{Answer, Case, Death, Hit, Judge, amount, percent};

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::KernelKilledOom, kernel_killed_oom),
    (Code::KernelKilledSignal, kernel_killed_signal),
    (Code::KernelNativeCrash, kernel_native_crash),
    (Code::KernelExited, kernel_exited),
    (Code::KernelUnseen, kernel_unseen),
    (Code::RecorderOff, recorder_off),
];

/// The newest death of this boot, or why there is none to speak of.
fn newest<'a>(case: &Case<'a>) -> Result<&'a Death, Answer> {
    let own = of_this_boot(case);
    let own = own.ok_or_else(|| Answer::Unseen(none_seen(case)))?;
    if own.is_unknown() {
        Err(Answer::Unseen(format!("the end of kernel {} was not observed", own.pid)))
    } else {
        Ok(own)
    }
}

/// That there is no death to speak of; of the last ones of the machine, which are kept, some may be other notebooks'.
fn none_seen(case: &Case<'_>) -> String {
    match case.vitals.other_deaths().next() {
        Some(_) => "no recorded death belongs to a kernel of this notebook".to_owned(),
        None => "no recorder saw a kernel die since this machine started".to_owned(),
    }
}

/// The newest death of the notebook that asks, in this boot.
fn of_this_boot<'a>(case: &Case<'a>) -> Option<&'a Death> {
    case.vitals.own_deaths().find(|death| death.boot == case.machine.boot_id || case.machine.boot_id.is_empty())
}

/// Deaths of other notebooks in this boot, each in a line.
fn others(case: &Case<'_>) -> Vec<String> {
    case.vitals
        .other_deaths()
        .filter(|death| death.boot == case.machine.boot_id && !death.watching)
        .map(|death| {
            let name =
                death.connection.as_deref().and_then(|file| file.rsplit('/').next()).unwrap_or("another notebook");
            format!("another notebook ({name}): kernel {} ended {}", death.pid, ago(case, death))
        })
        .collect()
}

/// When it was: by the time since the boot, which no setting of a clock moves.
fn ago(case: &Case<'_>, death: &Death) -> String {
    let uptime = case.vitals.text("/proc/uptime").and_then(|text| text.split(['.', ' ']).next()?.parse::<u64>().ok());
    let by_boot = uptime.zip(death.uptime).filter(|_| death.boot == case.machine.boot_id);
    let seconds = by_boot.map_or(case.vitals.now.saturating_sub(death.at), |(now, then)| now.saturating_sub(then));
    match seconds {
        seconds @ 0..=119 => format!("{} ago", counted(seconds, "second")),
        seconds @ 120..=7199 => format!("{} minutes ago", seconds / 60),
        seconds => format!("{} hours ago", seconds / 3600),
    }
}

/// What it had, and how that grew in its last seconds.
fn memory(death: &Death) -> Vec<String> {
    let of = |bytes: u64| match death.limit {
        0 => amount(bytes),
        limit => format!("{} of {} ({})", amount(bytes), amount(limit), percent(bytes, limit)),
    };
    let mut said: Vec<String> =
        (death.peak > 0).then(|| format!("peak memory: {}", of(death.peak))).into_iter().collect();
    if let Some((first, last)) = death.ticks.first().zip(death.ticks.last()).filter(|(first, last)| first.at < last.at)
    {
        let seconds = last.at - first.at;
        said.push(format!(
            "memory went from {} to {} in its last {}",
            amount(first.resident),
            amount(last.resident),
            counted(seconds, "second")
        ));
    }
    said
}

fn kernel_killed_oom(case: &Case<'_>) -> Answer {
    let death = match newest(case) {
        Ok(death) => death,
        Err(answer) => return answer,
    };
    if !death.for_memory() {
        return Answer::Fine("the last kernel was not killed because memory ran out".to_owned());
    }
    let said = format!("kernel {} was killed because memory ran out, {}", death.pid, ago(case, death));
    Hit::error(said)
        .seen_all(memory(death))
        .seen(match &death.counter {
            Some(file) => format!("counted by the operating system in the kernel's control group (`{file}`)"),
            None => "counted by the operating system for the whole machine (`/proc/vmstat`)".to_owned(),
        })
        .seen_all(others(case))
        .into()
}

fn kernel_killed_signal(case: &Case<'_>) -> Answer {
    let death = match newest(case) {
        Ok(death) => death,
        Err(answer) => return answer,
    };
    match death.signal.filter(|signal| !CRASHES.iter().any(|(number, _)| *number == *signal) && !death.for_memory()) {
        Some(signal) => {
            Hit::warning(format!("kernel {} was ended by signal {signal}, {}", death.pid, ago(case, death)))
                .seen(if death.killed_before.is_some() && death.killed_before == death.killed_after {
                    "there was no out-of-memory kill: a user, a script, a limit or the notebook server sent the signal"
                } else {
                    "it is unknown whether memory was the cause; a user, a script, a limit or the notebook server may have sent the signal"
                })
                .seen_all(memory(death))
                .seen_all(others(case))
                .into()
        }
        None => Answer::Fine("no signal ended the last kernel".to_owned()),
    }
}

fn kernel_native_crash(case: &Case<'_>) -> Answer {
    let death = match newest(case) {
        Ok(death) => death,
        Err(answer) => return answer,
    };
    let Some((_, name)) = CRASHES.iter().find(|(number, _)| death.signal == Some(*number)) else {
        return Answer::Fine("the last kernel did not crash".to_owned());
    };
    let mut hit = Hit::error(format!("kernel {} crashed in native code ({name}), {}", death.pid, ago(case, death)));
    match death.top() {
        Some((what, "")) => hit = hit.seen(what),
        Some((what, frame)) => hit = hit.seen(what).seen(format!("newest frame: {frame}")),
        None => hit = hit.seen("`faulthandler` wrote no traceback; golden cells enable it"),
    }
    if let Some(owner) = &case.vitals.crash_owner {
        let is_newest = death.frames().next().and_then(module_of).is_some();
        hit = hit.seen(format!("{} `{owner}`", if is_newest { "that is in" } else { "it was called from" }));
    }
    hit = hit.seen("a signal sent by another process looks the same");
    hit.seen_all(others(case)).into()
}

fn kernel_exited(case: &Case<'_>) -> Answer {
    let death = match newest(case) {
        Ok(death) => death,
        Err(answer) => return answer,
    };
    match death.code {
        Some(code) => {
            let asked = "kernels also do this when the notebook server restarts them, and after `exit()`";
            Hit::note(format!("kernel {} exited with code {code}, {}", death.pid, ago(case, death)))
                .seen_all((code == 0).then(|| asked.to_owned()))
                .seen_all(others(case))
                .into()
        }
        None => Answer::Fine("the last kernel did not exit by itself".to_owned()),
    }
}

/// A kernel of which the end was not seen: its recorder had ended before, or its server was faster.
fn kernel_unseen(case: &Case<'_>) -> Answer {
    let own = of_this_boot(case);
    match own {
        None if case.plans.after_crash => {
            let said = format!("{}; one kernel ended for an unknown reason", none_seen(case));
            Hit::note(said).seen_all(others(case)).into()
        }
        None => Answer::Unseen(none_seen(case)),
        Some(death) if death.is_unknown() => {
            let left = death.crashes().first().and_then(|crash| crash.lines().next());
            let left =
                left.map(|line| format!("`faulthandler` wrote `{line}`: it crashed, or a process that it forked did"));
            Hit::warning(format!("kernel {} ended, and the cause was not observed", death.pid))
                .seen("its recorder ended first, or the server read the exit status first")
                .seen_all(left)
                .seen_all(memory(death))
                .into()
        }
        Some(death) => Answer::Fine(format!("kernel {} ended; its recorder logged it", death.pid)),
    }
}

fn recorder_off(case: &Case<'_>) -> Answer {
    if case.vitals.recorder {
        return Answer::Fine("a recorder watches the kernel".to_owned());
    }
    match case.vitals.kernel {
        Some(_) => Hit::note("no recorder watches the kernel: the cause of a crash would be unknown").into(),
        None => Answer::Unseen("no notebook kernel was found".to_owned()),
    }
}
