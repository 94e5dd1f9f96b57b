//! The GPU's memory: how much is free, who has it, and how the allocators are set.

use std::collections::BTreeSet;

use crate::core::diag::{Code, counted};
use crate::core::model::Version;
use crate::health::doctor::device::NO_GPU;
use crate::health::doctor::workers::NO_FACTS;
use crate::health::doctor::{Answer, Case, Hit, Judge, amount, float, percent, share};

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::VramLow, vram_low),
    (Code::VramHeldKernel, vram_held_kernel),
    (Code::VramFragmented, vram_fragmented),
    (Code::VramOrphan, vram_orphan),
    (Code::VramUnattributed, vram_unattributed),
    (Code::VramPreallocated, vram_preallocated),
];

/// Of `15360 MiB`.
fn mebibytes(text: &str) -> Option<u64> {
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? << 20)
}

fn vram_low(case: &Case<'_>) -> Answer {
    if case.vitals.gpus.is_empty() {
        return Answer::Unseen(NO_GPU.to_owned());
    }
    let mut hits = Vec::new();
    let mut said = Vec::new();
    for gpu in &case.vitals.gpus {
        let field = |name: &str| gpu.get(name).and_then(|text| mebibytes(text));
        let (Some(free), Some(total)) = (field("memory.free"), field("memory.total")) else {
            return Answer::Failed("nvidia-smi does not report free memory".to_owned());
        };
        let name = gpu.get("name").map_or("the GPU", String::as_str);
        let text = format!("{name}: {} of {} free", amount(free), amount(total));
        if float(free) < case.row.limit("lowest") {
            hits.push(Hit::error(text));
        } else if share(free, total) < case.row.limit("low") {
            hits.push(Hit::warning(text));
        } else {
            said.push(text);
        }
    }
    if hits.is_empty() { Answer::Fine(said.join("; ")) } else { Answer::Found(hits) }
}

fn vram_held_kernel(case: &Case<'_>) -> Answer {
    let Some(facts) = case.facts else { return Answer::Unseen(NO_FACTS.to_owned()) };
    let Some(memory) = facts.torch_memory else {
        return Answer::Fine("torch has not allocated GPU memory".to_owned());
    };
    let said = format!("torch has reserved {} and uses {}", amount(memory.reserved), amount(memory.allocated));
    let keeps = share(memory.reserved, memory.total) >= case.row.limit("reserved");
    if keeps && share(memory.allocated, memory.reserved) < case.row.limit("used") {
        return Hit::note(said).seen(format!("{} of the GPU's memory", percent(memory.reserved, memory.total))).into();
    }
    Answer::Fine(said)
}

fn vram_fragmented(case: &Case<'_>) -> Answer {
    let Some(facts) = case.facts else { return Answer::Unseen(NO_FACTS.to_owned()) };
    let Some(memory) = facts.torch_memory else {
        return Answer::Fine("torch has not allocated GPU memory".to_owned());
    };
    let said = format!("{} of {} are fragmented", amount(memory.split), amount(memory.reserved));
    let is_split = share(memory.split, memory.reserved) > case.row.limit("split");
    if is_split && float(memory.split) > case.row.limit("least") || memory.retries > 0 || memory.failed > 0 {
        return Hit::warning(said)
            .seen(format!("{} retried, {} failed", counted(memory.retries, "allocation"), memory.failed))
            .into();
    }
    Answer::Fine(said)
}

fn vram_orphan(case: &Case<'_>) -> Answer {
    if case.vitals.gpus.is_empty() && case.machine.hardware.gpus.is_empty() {
        return Answer::Unseen(NO_GPU.to_owned());
    }
    let processes = &case.vitals.processes;
    let mut own: BTreeSet<u32> = case.vitals.kernel.into_iter().collect();
    // Children of the kernel, and theirs; parents may come later in the list.
    while let Some(child) = processes.iter().find(|one| own.contains(&one.parent) && !own.contains(&one.pid)) {
        own.insert(child.pid);
    }
    let strange: Vec<_> = processes.iter().filter(|one| one.nvidia && !own.contains(&one.pid)).collect();
    if strange.is_empty() {
        return Answer::Fine("no other process uses the GPU".to_owned());
    }
    let shown = strange.iter().map(|one| format!("process {} ({}), parent {}", one.pid, one.name, one.parent));
    Hit::warning(format!("the GPU is used by {} outside this kernel", counted(strange.len(), "process")))
        .seen_all(shown)
        .into()
}

pub(super) fn installed<'a>(case: &Case<'a>, name: &str) -> Option<&'a Version> {
    let found = case.machine.installed.iter().find(|(known, _)| known.as_ref() == name);
    found.map(|(_, one)| &one.version)
}

/// Memory that is used, and no process here has the device open: NVML counts by the host's processes, which a container
/// does not see.
fn vram_unattributed(case: &Case<'_>) -> Answer {
    if case.vitals.gpus.is_empty() {
        return Answer::Unseen(NO_GPU.to_owned());
    }
    // What is neither used nor free the driver keeps for itself: 615 MiB of an H200 (driver 580.159.04, 2026-11-27).
    let used = case.vitals.gpus.iter().filter_map(|gpu| gpu.get("memory.used").and_then(|text| mebibytes(text)));
    let Some(most) = used.max() else {
        return Answer::Unseen("nvidia-smi does not report used memory".to_owned());
    };
    let holders = case.vitals.processes.iter().filter(|one| one.nvidia).count();
    if holders == 0 && float(most) > case.row.limit("used") {
        return Hit::note(format!("{} of GPU memory is in use, but no visible process uses the GPU", amount(most)))
            .seen("the driver counts all processes of the host; those of other containers are not visible here")
            .into();
    }
    Answer::Fine(format!("{} in use; {} here", amount(most), counted(holders, "process")))
}

fn vram_preallocated(case: &Case<'_>) -> Answer {
    if case.machine.hardware.gpus.is_empty() {
        return Answer::Unseen(NO_GPU.to_owned());
    }
    let there: Vec<&str> =
        ["torch", "tensorflow", "jax"].into_iter().filter(|name| installed(case, name).is_some()).collect();
    if there.len() < 2 {
        return Answer::Fine("only one framework uses the GPU".to_owned());
    }
    let is = |name: &str, value: &str| case.variable(name).is_some_and(|set| set.eq_ignore_ascii_case(value));
    let takes = |name: &&str| match *name {
        "tensorflow" => !is("TF_FORCE_GPU_ALLOW_GROWTH", "true"),
        "jax" => !is("XLA_PYTHON_CLIENT_PREALLOCATE", "false"),
        _ => false,
    };
    let greedy: Vec<&str> = there.iter().copied().filter(takes).collect();
    let loaded = |name: &str| case.facts.is_some_and(|facts| facts.modules.contains_key(name));
    let Some(first) = greedy.iter().find(|name| loaded(name)) else {
        return Answer::Fine("no loaded framework reserves all GPU memory".to_owned());
    };
    Hit::warning(format!(
        "{first} reserves most GPU memory at its first operation; frameworks here: {}",
        there.join(", ")
    ))
    .into()
}
