//! Memory: what is left of it, who has it, what has died for want of it.

use crate::core::diag::{Code, counted};
use crate::health::doctor::{Answer, Case, Hit, Judge, Process, amount, float, percent, share};

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::RamLow, ram_low),
    (Code::RamLimitHidden, ram_limit_hidden),
    (Code::RamPressure, ram_pressure),
    (Code::KernelPeak, kernel_peak),
    (Code::KernelThreads, kernel_threads),
    (Code::ShmLeftover, shm_leftover),
    (Code::KernelMany, kernel_many),
    (Code::KernelRestarts, kernel_restarts),
    (Code::LargeAllocLog, large_alloc_log),
    (Code::ChildKilledOom, child_killed_oom),
];

/// The notebook server's log on Colab, a JSON object a line.
pub(super) const SERVER_LOG: &str = "/var/log/colab-jupyter.log";

const NO_MEMINFO: &str = "there is no /proc/meminfo";

fn ram_low(case: &Case<'_>) -> Answer {
    let Some(memory) = case.vitals.memory() else { return Answer::Unseen(NO_MEMINFO.to_owned()) };
    let left = memory.limit.saturating_sub(memory.used);
    let said = format!("{} of {} free", amount(left), amount(memory.limit));
    let is_little = share(left, memory.limit) < case.row.limit("low") || float(left) < case.row.limit("little");
    let hit = match share(left, memory.limit) < case.row.limit("lowest") {
        true => Hit::error(said),
        false if is_little => Hit::warning(said),
        false => return Answer::Fine(said),
    };
    // What another control group holds is no help here.
    let counts = |one: &&Process| one.resident > 0 && !(memory.by_group && one.elsewhere);
    let mut large: Vec<&Process> = case.vitals.processes.iter().filter(counts).collect();
    large.sort_by_key(|one| std::cmp::Reverse(one.resident));
    let shown =
        large.iter().take(3).map(|one| format!("process {} ({}) has {}", one.pid, one.name, amount(one.resident)));
    hit.seen_all(shown).into()
}

fn ram_limit_hidden(case: &Case<'_>) -> Answer {
    let Some(memory) = case.vitals.memory() else { return Answer::Unseen(NO_MEMINFO.to_owned()) };
    let said = format!("the limit is {}, the machine has {}", amount(memory.limit), amount(memory.machine));
    if memory.by_group && share(memory.limit, memory.machine) < case.row.limit("hidden") {
        return Hit::note(said).into();
    }
    Answer::Fine(said)
}

fn ram_pressure(case: &Case<'_>) -> Answer {
    let text = case.vitals.text("cgroup/memory.pressure").or_else(|| case.vitals.text("/proc/pressure/memory"));
    let Some(text) = text else {
        return Answer::Unseen("this system does not measure memory pressure".to_owned());
    };
    let full = text.lines().find(|line| line.starts_with("full")).unwrap_or_default();
    let value = |name: &str| full.split_whitespace().find_map(|word| word.strip_prefix(name)?.parse::<f64>().ok());
    let Some(stalled) = value("avg10=") else { return Answer::Failed(format!("`{full}` contains no pressure values")) };
    let said = format!("all processes waited for memory for {stalled} % of the last ten seconds");
    match stalled {
        share if share > case.row.limit("highest") => Hit::error(said).into(),
        share if share > case.row.limit("high") => Hit::warning(said).into(),
        _ => Answer::Fine(said),
    }
}

fn kernel_peak(case: &Case<'_>) -> Answer {
    let Some(memory) = case.vitals.memory() else { return Answer::Unseen(NO_MEMINFO.to_owned()) };
    let peak = case.vitals.value("kernel/status", "VmHWM");
    let group =
        case.vitals.number("cgroup/memory.peak").or_else(|| case.vitals.number("cgroup/memory.max_usage_in_bytes"));
    // The group's peak counts its file cache, and says less.
    let Some(peak) = peak.or_else(|| group.filter(|_| memory.by_group && case.vitals.kernel.is_some())) else {
        return Answer::Unseen("no notebook kernel was found".to_owned());
    };
    let said = format!("the kernel used at most {} of {}", amount(peak), amount(memory.limit));
    if share(peak, memory.limit) > case.row.limit("near") {
        return Hit::warning(said).into();
    }
    Answer::Fine(said)
}

fn kernel_threads(case: &Case<'_>) -> Answer {
    let Some(most) = case.vitals.number("cgroup/pids.max") else {
        return Answer::Unseen("no control group limits the number of threads".to_owned());
    };
    let now = case.vitals.number("cgroup/pids.current").unwrap_or_default();
    let said = format!("{now} of {most} threads and processes used");
    if share(now, most) <= case.row.limit("near") {
        return Answer::Fine(said);
    }
    let own = case.vitals.value("kernel/status", "Threads").map(|count| format!("the kernel itself has {count}"));
    Hit::warning(said).seen_all(own).into()
}

fn shm_leftover(case: &Case<'_>) -> Answer {
    let Some(names) = case.vitals.folders.get("/dev/shm") else {
        return Answer::Unseen("there is no /dev/shm".to_owned());
    };
    let Some(memory) = case.vitals.memory() else { return Answer::Unseen(NO_MEMINFO.to_owned()) };
    // `torch_<pid>_<number>_<number>`, with its size behind a space.
    let gone = names.iter().filter_map(|line| {
        let (name, size) = line.rsplit_once(' ')?;
        let pid: u32 = name.strip_prefix("torch_")?.split('_').next()?.parse().ok()?;
        (!case.vitals.processes.iter().any(|one| one.pid == pid))
            .then(|| (name, size.parse::<u64>().unwrap_or_default()))
    });
    let gone: Vec<(&str, u64)> = gone.collect();
    let total: u64 = gone.iter().map(|(_, size)| size).sum();
    let said = format!("{} in /dev/shm belong to processes that have ended", amount(total));
    if share(total, memory.limit) <= case.row.limit("share") {
        return Answer::Fine(said);
    }
    Hit::warning(said).seen_all(gone.iter().map(|(name, size)| format!("/dev/shm/{name} {}", amount(*size)))).into()
}

fn kernel_many(case: &Case<'_>) -> Answer {
    let Some(memory) = case.vitals.memory() else { return Answer::Unseen(NO_MEMINFO.to_owned()) };
    let kernels: Vec<_> = case.vitals.processes.iter().filter(|one| one.notebook).collect();
    let large: Vec<_> =
        kernels.iter().filter(|one| share(one.resident, memory.limit) > case.row.limit("share")).collect();
    if large.len() < 2 {
        return Answer::Fine(format!("{} running", counted(kernels.len(), "notebook kernel")));
    }
    let shown = large.iter().map(|one| format!("kernel {} has {}", one.pid, amount(one.resident)));
    Hit::note(format!("{} kernels share {}", large.len(), amount(memory.limit))).seen_all(shown).into()
}

/// Lines of the server's log, with the time that each begins with.
fn log_lines(case: &Case<'_>) -> Option<Vec<(String, String)>> {
    let text = case.vitals.text(SERVER_LOG)?;
    Some(
        text.lines()
            .filter_map(|line| {
                let value: serde_json::Value = serde_json::from_str(line).ok()?;
                Some((value["time"].as_str().unwrap_or_default().to_owned(), value["msg"].as_str()?.to_owned()))
            })
            .collect(),
    )
}

const NO_LOG: &str = "no log of a notebook server was found";

fn kernel_restarts(case: &Case<'_>) -> Answer {
    let Some(lines) = log_lines(case) else { return Answer::Unseen(NO_LOG.to_owned()) };
    let restarts: Vec<&(String, String)> =
        lines.iter().filter(|(_, said)| said.contains("restarting kernel (") || said.ends_with(" restarted")).collect();
    let said = format!("{} of a kernel by the server", counted(restarts.len(), "restart"));
    let shown = restarts.iter().rev().map(|(time, said)| format!("{time} {said}"));
    match float(restarts.len() as u64) {
        count if count >= case.row.limit("many") => Hit::warning(said).seen_all(shown).into(),
        count if count > 0.0 => Hit::note(said).seen_all(shown).into(),
        _ => Answer::Fine(said),
    }
}

fn large_alloc_log(case: &Case<'_>) -> Answer {
    let Some(lines) = log_lines(case) else { return Answer::Unseen(NO_LOG.to_owned()) };
    let Some(memory) = case.vitals.memory() else { return Answer::Unseen(NO_MEMINFO.to_owned()) };
    let size = |said: &str| said.split("tcmalloc: large alloc ").nth(1)?.split_whitespace().next()?.parse::<u64>().ok();
    let large = lines.iter().rev().filter_map(|(time, said)| Some((time, size(said)?)));
    let mut large = large.filter(|(_, size)| share(*size, memory.limit) > case.row.limit("share"));
    match large.next() {
        None => Answer::Fine("no large allocation in the log".to_owned()),
        Some((time, size)) => Hit::note(format!("the log contains an allocation of {}", amount(size)))
            .seen(format!("{time}, {} of this machine's memory", percent(size, memory.limit)))
            .into(),
    }
}

fn child_killed_oom(case: &Case<'_>) -> Answer {
    let count = case.vitals.value("cgroup/memory.events", "oom_kill");
    let count = count.or_else(|| case.vitals.value("cgroup/memory.oom_control", "oom_kill"));
    let whole =
        || case.vitals.value("/proc/vmstat", "oom_kill").map(|count| (count, "/proc/vmstat, the whole machine"));
    let Some((count, source)) = count.map(|count| (count, "its control group")).or_else(whole) else {
        return Answer::Unseen("this machine does not count out-of-memory kills".to_owned());
    };
    let said =
        format!("{} killed because memory ran out since this machine or container started", counted(count, "process"));
    if count == 0 {
        return Answer::Fine(said);
    }
    Hit::warning(said).seen(format!("counted by {source}")).into()
}
