//! `lock`: solve for the profile's targets and write the lock, whole or not at all.

use serde_json::json;

use crate::cli::LockOptions;
use crate::command::gather::lock_path;
use crate::command::remarks::remarks;
use crate::command::{Report, Session};
use crate::diag::Failure;
use crate::host::files;
use crate::lock::{Lock, write_lock};
use crate::output::bytes;

pub(super) fn run(options: &LockOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let profile = session.profile(&options.profile)?;
    let path = lock_path(&options.profile, options.lock.as_ref());
    let named = options.machine.runtime.is_some() || options.machine.machine.is_some();
    let runtimes: Vec<Option<String>> = if named || profile.target.runtimes.is_empty() {
        vec![options.machine.runtime.clone()]
    } else {
        profile.target.runtimes.iter().cloned().map(Some).collect()
    };
    let mut targets = Vec::new();
    let mut findings: Vec<_> = session.cache_finding().into_iter().collect();
    let mut traffic = Vec::new();
    for runtime in runtimes {
        let mut machine = options.machine.clone();
        machine.runtime = runtime;
        let seen = session.machine(&machine)?;
        let target = session.target(&profile, &seen)?;
        let locations = session.locations(&options.index, &profile, &seen.machine)?;
        let (resolution, used) = session.solve(&profile, &target, locations, options.index.offline)?;
        findings.extend(seen.findings.clone());
        findings.extend(remarks(&resolution));
        targets.push(session.locked_target(&profile, &target, &seen, &resolution));
        traffic.push(used);
    }
    let lock = session.lock_of(&profile, targets);
    let text = write_lock(&lock);
    let unchanged = files::read_optional(&path)?.as_deref() == Some(text.as_str());
    if !unchanged {
        files::write_whole(&path, text.as_bytes())?;
    }
    let requests: u64 = traffic.iter().map(|used| used.requests).sum();
    let fetched: u64 = traffic.iter().map(|used| used.bytes).sum();
    let data = json!({ "path": path, "lock": lock.digest(), "targets": describe(&lock), "requests": requests, "bytes": fetched });
    let mut report = Report::new(data, String::new()).with_findings(findings);
    for target in &lock.targets {
        let kept = target.packages.iter().filter(|package| package.wheel.is_none()).count();
        let cuda = target.cuda.map(|cuda| format!(", CUDA {cuda}")).unwrap_or_default();
        let size = bytes(target.wheel_bytes());
        let (name, count) = (&target.name, target.packages.len());
        report.talk.push(format!("{name}: {count} packages{cuda}, {kept} kept, wheels {size}"));
    }
    let state = if unchanged { "is up to date" } else { "written" };
    report.talk.push(format!("{} {state} ({requests} requests, {} read)", path.display(), bytes(fetched)));
    Ok(report)
}

/// Targets and packages as the JSON reports of `lock` and `plan` show them.
pub(super) fn describe(lock: &Lock) -> serde_json::Value {
    let targets = lock.targets.iter().map(|target| {
        let packages: Vec<_> = target
            .packages
            .iter()
            .map(|package| {
                let wheel = package.wheel.as_ref();
                json!({
                    "name": package.name,
                    "version": package.version,
                    "wheel": wheel.map(|wheel| &wheel.file),
                    "size": wheel.and_then(|wheel| wheel.size),
                    "sha256": wheel.map(|wheel| wheel.sha256),
                    "index": wheel.map(|wheel| &wheel.index),
                    "why": package.why,
                })
            })
            .collect();
        json!({
            "name": target.name,
            "runtime": target.runtime,
            "python": target.python,
            "platform": target.platform,
            "cuda": target.cuda,
            "driver-floor": target.driver_floor,
            "gpus": target.gpus,
            "apt": target.apt,
            "packages": packages,
        })
    });
    targets.collect()
}
