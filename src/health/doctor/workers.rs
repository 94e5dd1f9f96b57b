//! What workers of data loaders need: shared memory, CPUs, open files, mappings.

use crate::core::diag::{Code, counted};
use crate::health::doctor::{Answer, Case, Hit, Judge, amount, float, share};

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::ShmSmall, shm_small),
    (Code::WorkersTooMany, workers_too_many),
    (Code::CpuQuotaHidden, cpu_quota_hidden),
    (Code::ForkAfterThreads, fork_after_threads),
    (Code::NofileLow, nofile_low),
    (Code::MemlockLow, memlock_low),
    (Code::CpuFlags, cpu_flags),
    (Code::MaxMapCount, max_map_count),
];

/// Batches that a loader fetches ahead for each worker, by default.
const PREFETCH: u64 = 2;

fn shm_small(case: &Case<'_>) -> Answer {
    let Some(shm) = case.vitals.systems.get("shm") else {
        return Hit::error("there is no /dev/shm: workers can't pass batches").into();
    };
    let said = format!("/dev/shm: {} in all, {} free", amount(shm.size), amount(shm.free));
    if let (Some(workers), Some(batch)) = (case.plans.workers, case.plans.batch) {
        // Each worker fetches ahead, and one batch is in hand.
        let need = workers.saturating_mul(PREFETCH).saturating_add(1).saturating_mul(batch);
        let need_said =
            format!("{} with batches of {}: {} needed", counted(workers, "worker"), amount(batch), amount(need));
        return if need > shm.free {
            Hit::error(need_said).seen(said).into()
        } else {
            Answer::Fine(format!("{need_said}; {said}"))
        };
    }
    match float(shm.size) {
        size if size <= case.row.limit("docker") => Hit::error(said).into(),
        size if size < case.row.limit("small") => Hit::warning(said).into(),
        _ => Answer::Fine(said),
    }
}

fn workers_too_many(case: &Case<'_>) -> Answer {
    let Some(cpus) = case.vitals.useful_cpus() else {
        return Answer::Unseen("the CPUs could not be counted".to_owned());
    };
    let Some(workers) = case.plans.workers else {
        return Answer::Unseen(format!("set the number of workers with --workers; at most {cpus} are useful here"));
    };
    if workers <= cpus as u64 {
        return Answer::Fine(format!("{} on {}", counted(workers, "worker"), counted(cpus, "CPU")));
    }
    Hit::warning(format!("{workers} workers, but only {}", counted(cpus, "usable CPU"))).into()
}

fn cpu_quota_hidden(case: &Case<'_>) -> Answer {
    let Some(cpus) = case.vitals.cpus else { return Answer::Unseen("the CPUs could not be counted".to_owned()) };
    match case.vitals.quota() {
        Some(quota) if quota < float(cpus as u64) => {
            Hit::warning(format!("{quota:.1} CPUs may be used, but {cpus} are shown")).into()
        }
        _ => Answer::Fine(format!("{}, no quota below that", counted(cpus, "CPU"))),
    }
}

fn fork_after_threads(case: &Case<'_>) -> Answer {
    let Some(facts) = case.facts else { return Answer::Unseen(NO_FACTS.to_owned()) };
    // Without a word from the kernel: fork is the default of Linux before Python 3.14.
    if let Some(method @ ("spawn" | "forkserver")) = facts.start_method.as_deref() {
        return Answer::Fine(format!("workers are started by {method}"));
    }
    if facts.initialised.get("torch.cuda") == Some(&true) {
        return Hit::note("CUDA is initialized, and workers would be started by fork").into();
    }
    let workers = case.plans.workers.filter(|workers| *workers > 0 && facts.modules.contains_key("jax"));
    match workers {
        Some(workers) => Hit::warning(format!(
            "JAX is loaded and has threads, and {} would be started by fork",
            counted(workers, "worker")
        ))
        .seen("forking a process with threads can hang (JAX warns: os.fork() is incompatible)")
        .into(),
        None => Answer::Fine(
            "the kernel has not initialized CUDA, and no workers are planned while JAX is loaded".to_owned(),
        ),
    }
}

/// Why a check that needs the kernel's own word has nothing to say.
pub(super) const NO_FACTS: &str = "the kernel was not checked: run `colab_boot_run(\"doctor\")` in the golden notebook";

/// The soft limit in a line of `/proc/<pid>/limits`; the largest number for `unlimited`.
fn soft_limit(case: &Case<'_>, name: &str) -> Option<u64> {
    let line = case.vitals.text("kernel/limits")?.lines().find_map(|line| line.strip_prefix(name))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

fn limits_unseen(case: &Case<'_>) -> &'static str {
    if case.vitals.kernel.is_none() { "no notebook kernel was found" } else { "the kernel's limits can't be read" }
}

fn nofile_low(case: &Case<'_>) -> Answer {
    let Some(limit) = soft_limit(case, "Max open files") else {
        return Answer::Unseen(limits_unseen(case).to_owned());
    };
    let open = case.vitals.folders.get("kernel/fd").map_or(0, Vec::len) as u64;
    let said = format!("{open} of {limit} open files used");
    if share(open, limit) > case.row.limit("used") {
        return Hit::error(said).into();
    }
    if float(limit) < case.row.limit("low") {
        return Hit::warning(format!("the limit is {limit} open files")).into();
    }
    Answer::Fine(said)
}

fn memlock_low(case: &Case<'_>) -> Answer {
    if case.machine.hardware.gpus.len() < 2 {
        return Answer::Unseen("there is at most one GPU".to_owned());
    }
    match soft_limit(case, "Max locked memory") {
        None => Answer::Unseen(limits_unseen(case).to_owned()),
        Some(limit) if float(limit) < case.row.limit("low") => {
            Hit::note(format!("the limit of locked memory is {}", amount(limit))).into()
        }
        Some(_) => Answer::Fine("the limit of locked memory is high enough".to_owned()),
    }
}

fn cpu_flags(case: &Case<'_>) -> Answer {
    let flags = case.vitals.text("/proc/cpuinfo").unwrap_or_default();
    let line = flags.lines().find(|line| line.starts_with("flags"));
    let Some(line) = line else { return Answer::Unseen("the CPU's instruction sets are unknown".to_owned()) };
    let missing: Vec<&str> = ["avx", "avx2", "f16c", "fma"]
        .into_iter()
        .filter(|flag| !line.split_whitespace().any(|word| word == *flag))
        .collect();
    match missing.as_slice() {
        [] => Answer::Fine("AVX, AVX2, F16C and FMA".to_owned()),
        all if all.contains(&"avx") => Hit::error(format!("the CPU lacks {}", all.join(", "))).into(),
        all => Hit::warning(format!("the CPU lacks {}", all.join(", "))).into(),
    }
}

fn max_map_count(case: &Case<'_>) -> Answer {
    let most = case.vitals.number("/proc/sys/vm/max_map_count");
    let maps = case.vitals.number("kernel/mappings");
    let (Some(most), Some(maps)) = (most, maps) else {
        return Answer::Unseen("no notebook kernel was found".to_owned());
    };
    let said = format!("{maps} of {most} memory mappings used");
    if share(maps, most) > case.row.limit("near") {
        return Hit::warning(said).into();
    }
    Answer::Fine(said)
}
