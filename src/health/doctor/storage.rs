//! Disks, mounts, Google Drive's own word, checkpoints.

use crate::core::diag::{Code, counted};
use crate::core::host::mounts::is_remote;
use crate::health::doctor::{Answer, Case, Hit, Judge, amount, float, percent, share};

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::DiskLow, disk_low),
    (Code::DataRemote, data_remote),
    (Code::DataMissing, data_missing),
    (Code::DriveTimeout, drive_timeout),
    (Code::DriveQuota, drive_quota),
    (Code::DriveFull, drive_full),
    (Code::DriveStale, drive_stale),
    (Code::MountHangs, mount_hangs),
    (Code::MountDead, mount_dead),
    (Code::EnvOnRemote, env_on_remote),
    (Code::TmpInRam, tmp_in_ram),
    (Code::CheckpointEphemeral, checkpoint_ephemeral),
    (Code::DriveUnflushed, drive_unflushed),
];

fn disk_low(case: &Case<'_>) -> Answer {
    let mut hits: Vec<Hit> = Vec::new();
    let mut fine = Vec::new();
    let mut seen: Vec<(u64, u64)> = Vec::new();
    for (_, system) in case.vitals.systems.iter().filter(|(name, system)| *name != "shm" && system.size > 0) {
        if seen.contains(&(system.size, system.free)) {
            continue;
        }
        seen.push((system.size, system.free));
        let said = format!("{}: {} of {} free", system.path, amount(system.free), amount(system.size));
        let few = system.inodes > 0 && share(system.inodes_free, system.inodes) < case.row.limit("inodes");
        // One in memory is small by its nature.
        let is_small = system.kind == "tmpfs";
        match float(system.free) {
            _ if is_small && share(system.free, system.size) < case.row.limit("share") => hits.push(Hit::error(said)),
            free if !is_small && free < case.row.limit("lowest") => hits.push(Hit::error(said)),
            free if !is_small && free < case.row.limit("low") => hits.push(Hit::warning(said)),
            _ if few => hits.push(Hit::warning(format!(
                "{}: {} of the inodes free",
                system.path,
                percent(system.inodes_free, system.inodes)
            ))),
            _ => fine.push(said),
        }
    }
    match (hits.is_empty(), fine.is_empty()) {
        (false, _) => Answer::Found(hits),
        (true, false) => Answer::Fine(fine.join("; ")),
        (true, true) => Answer::Unseen("no disk could be read".to_owned()),
    }
}

fn data_missing(case: &Case<'_>) -> Answer {
    let Some(missing) = &case.plans.missing else {
        return Answer::Unseen("folders are checked only on the machine itself".to_owned());
    };
    if case.plans.data.is_empty() && missing.is_empty() {
        return Answer::Unseen("no data folder is named, in the profile or with --data".to_owned());
    }
    if let (true, Some(first)) = (missing.is_empty(), case.plans.unread.first()) {
        return Answer::Unseen(first.clone());
    }
    if missing.is_empty() {
        return Answer::Fine(format!("{} found", counted(case.plans.data.len(), "data folder")));
    }
    Hit::warning("data folders of the profile are missing").seen_all(missing.clone()).into()
}

fn data_remote(case: &Case<'_>) -> Answer {
    if case.plans.data.is_empty() {
        return Answer::Unseen("pass the folder with --data".to_owned());
    }
    let far = case.plans.data.iter().filter_map(|path| {
        let mount = case.vitals.mount_of(path)?;
        is_remote(&mount.kind).then(|| format!("{path} is on {} at {}", mount.kind, mount.path.display()))
    });
    let far: Vec<String> = far.collect();
    if far.is_empty() {
        return Answer::Fine("the data is on a local disk".to_owned());
    }
    Hit::warning("the data is on a remote file system").seen_all(far).into()
}

/// The end of what Google Drive's program says of itself, by path.
pub(super) const DRIVE_LOG: &str = "drive/timeouts.txt";
pub(super) const DRIVE_LOG_MORE: &str = "drive/drive_fs.txt";

const NO_DRIVE: &str = "Google Drive is not mounted here";

/// The newest line of Drive's logs that has one of `words`.
fn drive_says(case: &Case<'_>, words: &[&str]) -> Option<Answer> {
    let texts: Vec<&str> = [DRIVE_LOG, DRIVE_LOG_MORE].into_iter().filter_map(|path| case.vitals.text(path)).collect();
    if texts.is_empty() {
        return Some(Answer::Unseen(NO_DRIVE.to_owned()));
    }
    let lines = texts.iter().flat_map(|text| text.lines().rev());
    let mut said = lines.filter(|line| words.iter().any(|word| line.contains(word)));
    said.next().map(|line| Answer::Failed(line.trim().to_owned()))
}

/// An answer from what Drive says: a failure of its is a finding of ours.
fn of_drive(case: &Case<'_>, words: &[&str], hit: Hit) -> Answer {
    match drive_says(case, words) {
        Some(Answer::Failed(line)) => hit.seen(line).into(),
        Some(other) => other,
        None => Answer::Fine("no such error in Drive's log".to_owned()),
    }
}

fn drive_timeout(case: &Case<'_>) -> Answer {
    of_drive(case, &["QueryManager timed out"], Hit::warning("Google Drive did not answer in time"))
}

fn drive_quota(case: &Case<'_>) -> Answer {
    let words = ["userRateLimitExceeded", "download quota for this file", "User rate limit exceeded", "QUOTA_EXCEEDED"];
    of_drive(case, &words, Hit::error("the quota of Google Drive is reached: retry later"))
}

fn drive_full(case: &Case<'_>) -> Answer {
    of_drive(case, &["exceeded their Drive storage quota"], Hit::error("Google Drive is full"))
}

fn drive_stale(case: &Case<'_>) -> Answer {
    let mounts = case.vitals.text("/proc/self/mountinfo").unwrap_or_default();
    let is_mounted = mounts.contains(" - fuse.drive ");
    let serves = case.vitals.processes.iter().any(|one| one.name == "drive");
    match (is_mounted, serves) {
        (true, false) => Hit::error("Google Drive is mounted, but its process is not running").into(),
        (true, true) => Answer::Fine("Google Drive answers".to_owned()),
        (false, _) => Answer::Fine(NO_DRIVE.to_owned()),
    }
}

/// The mounts of which the server says nothing, or says that it is gone.
fn unreachable(case: &Case<'_>, gone: bool, what: &str) -> Answer {
    let Some(mounts) = case.vitals.text("/proc/self/mountinfo") else {
        return Answer::Unseen("the mounts can't be read".to_owned());
    };
    let of = case.vitals.unreachable.iter().filter(|one| one.error.is_some() == gone);
    let seen = of.map(|one| {
        let said = one.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        format!("{} ({}){said}; `{}`", one.path.display(), one.kind, one.unmounts())
    });
    let seen: Vec<String> = seen.collect();
    if !seen.is_empty() {
        return Hit::error(what).seen_all(seen).into();
    }
    let kinds = mounts.lines().filter_map(|line| line.split_once(" - ")?.1.split(' ').next());
    let silent = case.vitals.unreachable.len();
    match kinds.filter(|kind| is_remote(kind)).count() {
        0 => Answer::Fine("no remote file system is mounted".to_owned()),
        count if count <= silent => Answer::Unseen("no remote mount answers".to_owned()),
        count if silent > 0 => Answer::Fine(format!("{} answered", counted(count - silent, "remote mount"))),
        count => Answer::Fine(format!("{} answered", counted(count, "remote mount"))),
    }
}

fn mount_hangs(case: &Case<'_>) -> Answer {
    unreachable(case, false, "a mount does not answer: programs that use it hang and can't be killed")
}

fn mount_dead(case: &Case<'_>) -> Answer {
    unreachable(case, true, "the server of a mount has ended: every access fails")
}

fn env_on_remote(case: &Case<'_>) -> Answer {
    let layout = case.machine.python.as_ref().and_then(|python| python.layout.as_ref());
    let Some(layout) = layout else { return Answer::Unseen("no Python was found".to_owned()) };
    let path = layout.purelib.display().to_string();
    match case.vitals.mount_of(&path) {
        Some(mount) if is_remote(&mount.kind) => Hit::warning(format!("packages are imported from {}", mount.kind))
            .seen(format!("{path}, below {}", mount.path.display()))
            .into(),
        Some(mount) => Answer::Fine(format!("packages are on {}", mount.kind)),
        None => Answer::Unseen("the mounts can't be read".to_owned()),
    }
}

fn tmp_in_ram(case: &Case<'_>) -> Answer {
    let (Some(system), Some(memory)) = (case.vitals.systems.get("temporary"), case.vitals.memory()) else {
        return Answer::Unseen("the folder for temporary files can't be read".to_owned());
    };
    if system.kind != "tmpfs" {
        return Answer::Fine(format!("{} is on {}", system.path, system.kind));
    }
    let used = system.size.saturating_sub(system.free);
    let said = format!("{} is in memory and contains {}", system.path, amount(used));
    if share(used, memory.limit) > case.row.limit("share") {
        return Hit::warning(said).into();
    }
    Answer::Fine(said)
}

/// Google Drive's program acknowledges a file before it is uploaded.
fn drive_unflushed(case: &Case<'_>) -> Answer {
    if !case.vitals.text("/proc/self/mountinfo").unwrap_or_default().contains(" - fuse.drive ") {
        return Answer::Unseen(NO_DRIVE.to_owned());
    }
    let fresh = case.vitals.checkpoints.iter().filter(|one| {
        case.vitals.mount_of(&one.path).is_some_and(|mount| mount.kind == "fuse.drive")
            && float(case.vitals.now.saturating_sub(one.written)) < case.row.limit("fresh")
    });
    let fresh: Vec<String> = fresh.map(|one| format!("{}, {}", one.path, amount(one.size))).collect();
    if fresh.is_empty() {
        return Answer::Fine("no large file was written to Google Drive in the last minutes".to_owned());
    }
    Hit::note("recent files on Google Drive may not be uploaded yet").seen_all(fresh).into()
}

fn checkpoint_ephemeral(case: &Case<'_>) -> Answer {
    let kinds = ["colab", "colab-enterprise", "kaggle"];
    if !kinds.contains(&case.machine.host.kind.as_str()) {
        return Answer::Unseen("the disk of this machine is persistent".to_owned());
    }
    let is_large = |size: u64| float(size) > case.row.limit("size");
    let newest = |lasting: bool| {
        let all = case.vitals.checkpoints.iter().filter(|one| one.lasting == lasting && is_large(one.size));
        all.max_by_key(|one| one.written)
    };
    let Some(here) = newest(false) else { return Answer::Fine("no checkpoint on the VM's disk".to_owned()) };
    let safe = newest(true).map_or(0, |one| one.written);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds")]
    let age = case.row.limit("age") as u64;
    if here.written > safe.saturating_add(age) && case.vitals.now > here.written.saturating_add(age) {
        return Hit::warning("the newest checkpoint is deleted with the VM")
            .seen(format!("{}, {}", here.path, amount(here.size)))
            .into();
    }
    Answer::Fine("a persistent folder has an equally new checkpoint".to_owned())
}
