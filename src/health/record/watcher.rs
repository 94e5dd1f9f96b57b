//! The process itself: one for each kernel and those that the server starts in its place. It ends with the notebook
//! server, or with the machine.

use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::boot::session::Session;
use crate::core::diag::Failure;
use crate::core::host::mounts::Look;
use crate::core::host::process_end::{End, Watched, leave_session};
use crate::core::host::{Invocation, files, locks};
use crate::health::doctor::{
    COUNTER, Death, Memory, Place, SCHEMA, Sight, Tick, connection_file, crash_file, crash_in_short,
    death_folder as folder, is_recorded, observe_memory, recorder_lock,
};
use crate::health::record::successor::Predecessor;

/// So many seconds are kept.
const KEPT: usize = 60;

/// So many deaths are kept.
const DEATHS: usize = 8;

/// What `faulthandler` writes of a kernel's end is not older when the end is seen.
const LAST_WORDS: Duration = Duration::from_mins(1);

/// Room for a record of a death, taken before it is needed.
const ROOM: usize = 32 << 10;

/// Starts the recorder as a process of its own; `false` where one runs already.
pub fn start(session: &Session<'_>, program: &Path, kernel: u32) -> Result<bool, Failure> {
    if is_recorded(&folder(&session.paths.state), kernel) {
        return Ok(false);
    }
    files::create_private_folder(&folder(&session.paths.state))?;
    // What else has this name is not written to, nor is what it leads to.
    let path = folder(&session.paths.state).join("log");
    files::remove_if_there(&path)?;
    let log = File::create_new(path);
    let log = log.map_err(|error| Failure::world("could not write the recorder's log").because(&error))?;
    let arguments = ["record", "--kernel-pid", &kernel.to_string()];
    Invocation::new(program, &arguments, session.environment).spawn_into(log)?;
    Ok(true)
}

/// Watches the kernel `pid`, and those that follow it, until there is none any more.
pub fn watch(session: &Session<'_>, pid: u32) -> Result<(), Failure> {
    leave_session();
    let folder = folder(&session.paths.state);
    files::create_private_folder(&folder)?;
    let _alone = locks::lock_exclusively(&recorder_lock(&folder, pid), Duration::ZERO, &|| ())
        .map_err(|_| Failure::answer("a recorder already watches this kernel"))?;
    let mut next = Some(pid);
    while let Some(pid) = next {
        let Some(kernel) = Watched::new(pid) else { break };
        let known = Predecessor::of(pid);
        follow(session, &folder, pid, &kernel)?;
        next = known.and_then(|known| known.successor());
    }
    Ok(())
}

fn now() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a recorder lives longer than the moment of its start")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map(|elapsed| elapsed.as_secs()).unwrap_or_default()
}

/// Seconds since this machine started, by a clock that is never set.
fn uptime() -> Option<u64> {
    let text = files::read_optional(Path::new("/proc/uptime")).ok()??;
    text.split(['.', ' ']).next()?.parse().ok()
}

/// Looks at the kernel every second, and writes its end.
fn follow(session: &Session<'_>, folder: &Path, pid: u32, kernel: &Watched) -> Result<(), Failure> {
    let place = Place::default();
    let sight = Sight::now(session, Some(pid), &place);
    let began = now();
    let path = folder.join(format!("death-{began}-{pid}.json"));
    let mut death =
        Death { schema: SCHEMA, pid, start_time: kernel.started, at: began, watching: true, ..Death::default() };
    (death.connection, death.uptime) = (connection_file(pid), uptime());
    let boot = files::read_optional(Path::new("/proc/sys/kernel/random/boot_id"))?.unwrap_or_default();
    boot.trim().clone_into(&mut death.boot);
    // Room that a full disk can't take any more; and where this process is ended before the kernel, the kernel is
    // known.
    write(&path, &death);
    death.watching = false;
    let mut ticks: VecDeque<Tick> = VecDeque::new();
    let (mut first, mut counter) = (true, None);
    let crash = crash_file(folder, pid);
    // A text that was there while the kernel lived on is of one of its workers, which write into the same file.
    let mut of_workers = 0;
    loop {
        let vitals = observe_memory(&sight);
        let memory = vitals.memory();
        // A process may be moved to another group, with another count; and a count that holds its own kill is none from
        // before.
        let group = vitals.text(COUNTER).map(str::to_owned);
        let count = killed(session, group.as_deref());
        if first || !kernel.is_dying() {
            (counter, death.killed_before, first) = (group, count, false);
            of_workers = settled(&crash).unwrap_or(of_workers);
        }
        death.limit = memory.map_or(0, |memory: Memory| memory.limit);
        death.peak = death.peak.max(vitals.value("kernel/status", "VmHWM").unwrap_or_default());
        let resident = vitals.value("kernel/status", "VmRSS").unwrap_or_default();
        ticks.push_back(Tick {
            at: uptime().unwrap_or_default(),
            resident,
            used: memory.map_or(0, |memory| memory.used),
        });
        if ticks.len() > KEPT {
            ticks.pop_front();
        }
        if kernel.has_ended(Duration::from_secs(1)) {
            break;
        }
    }
    match kernel.end() {
        End::Exit(code) => death.code = Some(code),
        End::Signal(signal) => death.signal = Some(signal),
        End::Unknown => {}
    }
    // The counter follows the kill by a moment.
    std::thread::sleep(Duration::from_millis(200));
    death.killed_after = killed(session, counter.as_deref());
    death.counter = counter;
    (death.at, death.uptime) = (now(), uptime());
    // A zombie has no memory any more: what it had stands in the seconds before.
    death.ticks = ticks.into_iter().filter(|tick| tick.resident > 0).collect();
    // The last word of a kernel is younger than that; an old one is that of a process with the same number, or of a
    // worker.
    let is_fresh = crash.look_at_entry().and_then(|data| data.modified()?.elapsed().map_err(std::io::Error::other));
    if is_fresh.map_or(true, |age| age < LAST_WORDS) {
        let length = crash.look_at_entry().map(|data| data.len()).unwrap_or_default();
        let own = length.checked_sub(of_workers).unwrap_or(length);
        death.crash = crash_in_short(&files::read_end(&crash, own.min(32 << 20)));
    }
    let _ = files::remove_if_there(&crash);
    write(&path, &death);
    forget(folder, &path)
}

/// The length of a crash file to which nothing is being written; `None` where there is none, or something is.
fn settled(crash: &Path) -> Option<u64> {
    const WRITING: Duration = Duration::from_millis(300);
    let data = crash.look_at_entry().ok()?;
    let age = data.modified().ok()?.elapsed().ok()?;
    (age > WRITING).then_some(data.len())
}

/// Writes in place: the room is there, on a disk that may be full by now.
fn write(path: &Path, death: &Death) {
    let text = serde_json::to_vec(death).unwrap_or_default();
    let mut bytes = text;
    bytes.resize(bytes.len().max(ROOM), b'\n');
    if files::overwrite(path, &bytes).is_err() {
        let _ = files::write_whole_fast(path, &bytes);
    }
}

/// How many were killed for memory, by the file that counts it: that of the group, or of the whole machine.
fn killed(session: &Session<'_>, counter: Option<&str>) -> Option<u64> {
    let path = session.paths.under_root(counter.unwrap_or("/proc/vmstat"));
    let text = files::read_optional(&path).ok()??;
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// Keeps the newest few, and in any case the one that was `written` just now: the clock may have been ahead before.
fn forget(folder: &Path, written: &Path) -> Result<(), Failure> {
    let mut names: Vec<String> =
        files::names_in(folder)?.into_iter().filter(|name| name.starts_with("death-")).collect();
    names.sort();
    let old = names.len().saturating_sub(DEATHS);
    for path in names.iter().take(old).map(|name| folder.join(name)).filter(|path| path != written) {
        // What can't be removed is no record, and no reason to end.
        let _ = files::remove_if_there(&path);
    }
    Ok(())
}
