//! Every state meets every event, with every kind of kernel; nothing that is open is forgotten, and nothing is asked
//! for without end.

use std::path::PathBuf;

use crate::boot::machine::Kernel;
use crate::boot::marker::{
    ASKED_AT_MOST, Event, Given, Illegal, Marker, Move, Next, Now, Standing, Touched, next, standing,
};
use crate::boot::notebook::{Loaded, Modules, read_facts};
use crate::core::model::{PackageName, Sha256};

const OLD: Kernel = Kernel { pid: 7, start_time: 100 };
const NEW: Kernel = Kernel { pid: 7, start_time: 900 };
const OTHER: Kernel = Kernel { pid: 8, start_time: 300 };
/// Started while an orphaned installer was at work.
const DURING: Kernel = Kernel { pid: 9, start_time: 600 };
const APPLIED_AT: u64 = 500;

fn holding(modules: &str) -> &'static Loaded {
    let facts = read_facts(modules).expect("a list");
    Box::leak(Box::new(Loaded { modules: Modules::Reported(Box::new(facts)), ..Loaded::default() }))
}

fn now(kernel: Option<&'static Kernel>, loaded: &'static Loaded) -> Now<'static> {
    Now {
        profile: "demo 1.0.0".into(),
        lock: Sha256::of(b"lock"),
        python: PathBuf::from("/venv/bin/python"),
        boot_id: "boot",
        kernel,
        loaded,
        folders: &[],
        evidence: &[],
        gone: Vec::new(),
        clock: APPLIED_AT,
    }
}

/// As it is after the restart; the new kernel has loaded numpy again.
fn restarted() -> Now<'static> {
    Now { gone: vec![OLD], clock: 1000, ..now(Some(&NEW), holding("numpy")) }
}

fn names(names: &[&str]) -> Vec<PackageName> {
    names.iter().map(|name| name.parse().expect("a name")).collect()
}

fn touched(name: &str) -> Touched {
    Touched {
        name: Some(name.parse().expect("a name")),
        what: "goes from 1.0 to 2.0".into(),
        modules: [name.to_owned()].into(),
        starts: false,
        given: Given::default(),
        existed: true,
        ended: None,
        clean: Vec::new(),
    }
}

fn begin(changed: &[&str]) -> Event {
    Event::Begin { changed: names(changed), touched: changed.iter().map(|name| touched(name)).collect() }
}

fn fail() -> Event {
    Event::Fail { why: "disk full".into(), open: None }
}

/// The marker after `events`, each of which must be legal and write one.
fn after(marker: Option<&Marker>, events: Vec<Event>, now: &Now<'_>) -> Marker {
    let step = |marker: Option<Marker>, event| next(marker.as_ref(), event, now).expect("a legal move").write;
    events.into_iter().fold(marker.cloned(), step).expect("a marker")
}

fn verdict(marker: &Marker, event: Event, now: &Now<'_>) -> Next {
    next(Some(marker), event, now).expect("a legal move").verdict
}

/// numpy was replaced under the kernel `OLD`, which has it loaded.
fn pending() -> Marker {
    after(None, vec![begin(&["numpy"]), Event::Finish], &now(Some(&OLD), holding("numpy")))
}

fn restart() -> Next {
    Next::Restart(vec!["numpy is loaded and goes from 1.0 to 2.0".into()])
}

/// One marker of each standing, with what is true when it is met.
fn states() -> Vec<(Standing, Option<Marker>, Now<'static>)> {
    let here = || now(Some(&OLD), holding("numpy"));
    let idle = || now(Some(&OLD), holding("os"));
    let done = |now: &Now<'_>| Some(after(None, vec![begin(&["numpy"]), Event::Finish], now));
    vec![
        (Standing::Fresh, None, idle()),
        (Standing::Fresh, done(&idle()), Now { lock: Sha256::of(b"other"), ..idle() }),
        (Standing::NewMachine, Some(pending()), Now { boot_id: "other", ..here() }),
        (Standing::Interrupted, Some(after(None, vec![begin(&["numpy"])], &here())), here()),
        (Standing::Interrupted, Some(after(None, vec![begin(&["numpy"])], &here())), idle()),
        (Standing::Failed, Some(after(None, vec![begin(&["numpy"]), fail()], &here())), here()),
        (Standing::RestartPending, Some(pending()), here()),
        (Standing::Restarted, Some(pending()), restarted()),
        (Standing::Ready, done(&idle()), idle()),
    ]
}

#[test]
fn an_apply_that_failed_before_it_changed_anything_makes_no_kernel_restart() {
    let here = now(Some(&OLD), holding("numpy"));
    let unchanged = || Event::Fail { why: "stopped".into(), open: Some(Vec::new()) };
    let failed = after(None, vec![begin(&["numpy"]), unchanged()], &here);
    assert!(failed.because(&here).is_empty() && failed.doubted() == names(&["numpy"]), "{failed:?}");
    assert!(!after(None, vec![begin(&["numpy"]), fail()], &here).because(&here).is_empty());
    // One that was stopped and undone: a kernel that has compared its code says itself what is stale.
    let stopped = after(None, vec![begin(&["numpy"]), Event::Stop { open: None }], &here);
    assert!(!stopped.because(&here).is_empty() && standing(Some(&stopped), &here) == Standing::Interrupted);
    let stopped = after(None, vec![begin(&["numpy"]), Event::Stop { open: Some(Vec::new()) }], &here);
    assert!(stopped.because(&here).is_empty());
    // What was open before it stays so.
    let open = Event::Fail { why: "stopped".into(), open: Some(pending().touched) };
    let failed = after(Some(&pending()), vec![begin(&["numpy", "scipy"]), open], &here);
    assert_eq!(failed.because(&here), ["numpy is loaded and goes from 1.0 to 2.0"]);
}

#[test]
fn every_state_meets_every_event() {
    type Wanted = Result<(Option<Standing>, Next), Illegal>;
    let ready: Wanted = Ok((Some(Standing::Ready), Next::Ready(Standing::Ready)));
    let unchanged: Wanted = Ok((None, Next::Ready(Standing::Ready)));
    let begun: Wanted = Ok((Some(Standing::Interrupted), Next::Change));
    let pending: Wanted = Ok((Some(Standing::RestartPending), restart()));
    let doubted: Wanted = Ok((Some(Standing::Failed), Next::Stop));
    // Begin is always legal; Fail and Finish end what has begun, and nothing else; Look, in this order:
    let look: [Wanted; 9] = [
        ready.clone(),
        ready.clone(),
        ready.clone(),
        Err(Illegal),
        Err(Illegal),
        Err(Illegal),
        pending.clone(),
        Ok((Some(Standing::Ready), Next::Ready(Standing::Restarted))),
        unchanged,
    ];
    for ((stands, marker, now), look) in states().into_iter().zip(look) {
        assert_eq!(standing(marker.as_ref(), &now), stands);
        let is_begun = stands == Standing::Interrupted;
        let holds = now.loaded.holds(crate::boot::notebook::Subject {
            name: &"numpy".parse().expect("a name"),
            modules: &["numpy".to_owned()].into(),
            existed: true,
            folders: &[],
        });
        let only_begun = |wanted: Wanted| if is_begun { wanted } else { Err(Illegal) };
        let events = [
            (begin(&["scipy"]), begun.clone()),
            (fail(), only_begun(doubted.clone())),
            (begin(&["numpy"]), begun.clone()),
            (Event::Finish, only_begun(if holds { pending.clone() } else { ready.clone() })),
            (Event::Look, look),
        ];
        for (event, wanted) in events {
            let shown = format!("{stands:?} x {event:?}");
            let got = next(marker.as_ref(), event, &now).map(|Move { write, verdict }| {
                assert!(write.as_ref().is_none_or(|new| new.lock == now.lock && new.boot_id == now.boot_id), "{shown}");
                (write.map(|new| standing(Some(&new), &now)), verdict)
            });
            assert_eq!(got, wanted, "{shown}");
        }
    }
}

#[test]
fn a_kernel_is_stale_by_what_it_has_loaded_and_when_it_started() {
    let marker = pending();
    let seen_by = |kernel, modules| standing(Some(&marker), &now(kernel, holding(modules)));
    assert_eq!(seen_by(Some(&OLD), "numpy os"), Standing::RestartPending);
    assert_eq!(seen_by(Some(&OTHER), "numpy"), Standing::RestartPending, "another, older than the end of the change");
    assert_eq!(seen_by(Some(&OTHER), "os sys"), Standing::Restarted, "it holds nothing of it");
    assert_eq!(seen_by(Some(&NEW), "numpy"), Standing::Restarted, "same pid, started later");
    assert_eq!(seen_by(None, "sys"), Standing::RestartPending, "from a terminal: the kernel that was asked still runs");
    let gone = Now { gone: vec![OLD], ..now(None, holding("sys")) };
    assert_eq!(standing(Some(&marker), &gone), Standing::Restarted);
    // What it has loaded is unknown: what was replaced counts as loaded.
    let unknown: &Loaded = Box::leak(Box::new(Loaded { modules: Modules::Unknown, ..Loaded::default() }));
    assert_eq!(standing(Some(&marker), &now(Some(&OTHER), unknown)), Standing::RestartPending);
}

#[test]
fn a_kernel_that_waited_and_held_nothing_is_never_restarted() {
    let before = now(Some(&OLD), holding("os"));
    let marker = after(None, vec![begin(&["numpy"]), Event::Finish], &before);
    // It has compared its code with the files since, and says itself what is stale.
    let facts = read_facts(r#"{"modules": {"numpy": {}}, "changed": []}"#).expect("facts");
    let modules = Modules::Reported(Box::new(facts));
    let compared: &Loaded = Box::leak(Box::new(Loaded { modules, at: APPLIED_AT + 1, ..Loaded::default() }));
    let later = now(Some(&OLD), compared);
    assert_eq!(verdict(&marker, Event::Look, &later), Next::Ready(Standing::Ready), "it has loaded the new code");
    // Another kernel of that age has compared nothing.
    let other = now(Some(&OTHER), holding("numpy"));
    assert_eq!(verdict(&marker, Event::Look, &other), restart());
    // A later change of the same package is another matter.
    let again = after(Some(&marker), vec![begin(&["numpy"])], &later);
    let end = Now { clock: APPLIED_AT + 2, ..later };
    assert_eq!(verdict(&again, Event::Finish, &end), restart());
}

#[test]
fn an_orphaned_installer_counts_until_an_apply_has_seen_its_end() {
    // Killed in the middle, with the kernel that held nothing; the installer goes on.
    let killed = after(None, vec![begin(&["numpy"])], &now(Some(&OLD), holding("os")));
    let during = Now { clock: 700, ..now(Some(&DURING), holding("numpy")) };
    // The next apply finds nothing left to do: the kernel that started in between may hold the old code all the same.
    let begun = after(Some(&killed), vec![begin(&[])], &during);
    assert_eq!(verdict(&begun, Event::Finish, &during), restart());
    let idle = Now { clock: 700, ..now(Some(&DURING), holding("os")) };
    assert_eq!(verdict(&begun, Event::Finish, &idle), Next::Ready(Standing::Ready), "it holds nothing of it");
    // After its restart, never again.
    let asked = after(Some(&begun), vec![Event::Finish], &during);
    let fresh = Now { gone: vec![DURING], clock: 1000, ..now(Some(&NEW), holding("numpy")) };
    assert_eq!(verdict(&asked, Event::Look, &fresh), Next::Ready(Standing::Restarted));
}

#[test]
fn another_lock_takes_over_an_open_restart() {
    let other = |now: Now<'static>| Now { lock: Sha256::of(b"other"), ..now };
    let here = other(now(Some(&OLD), holding("numpy")));
    let begun = after(Some(&pending()), vec![begin(&["scipy"])], &here);
    assert_eq!(verdict(&begun, Event::Finish, &here), restart(), "a pending restart survives another apply");
    let killed = after(None, vec![begin(&["numpy"])], &now(None, holding("sys")));
    let both = after(Some(&killed), vec![begin(&["scipy"])], &here);
    assert_eq!(both.changed, names(&["numpy", "scipy"]), "packages in doubt are not forgotten");
    let elsewhere = Now { boot_id: "other", ..here };
    assert!(after(Some(&killed), vec![begin(&[])], &elsewhere).touched.is_empty(), "another boot, other kernels");
}

#[test]
fn of_a_package_that_changes_twice_the_last_change_is_said() {
    let here = now(Some(&OLD), holding("numpy"));
    let back = Touched { what: "goes from 2.0 to 1.0".into(), ..touched("numpy") };
    let again = Event::Begin { changed: names(&["numpy"]), touched: vec![back] };
    let marker = after(Some(&pending()), vec![again, Event::Finish], &here);
    assert_eq!(marker.because(&here), ["numpy is loaded and goes from 2.0 to 1.0"]);
}

#[test]
fn profiles_follow_each_other_for_ever() {
    const LOCKS: [&[u8]; 2] = [b"a", b"b"];
    let mut marker = None;
    for round in 0..20_u32 {
        let kernel: &'static Kernel = Box::leak(Box::new(Kernel { pid: round, start_time: u64::from(round) * 100 }));
        let lock = Sha256::of(LOCKS[round as usize % 2]);
        let gone = (0..round).map(|pid| Kernel { pid, start_time: u64::from(pid) * 100 }).collect();
        let now = Now { lock, gone, clock: u64::from(round) * 100 + 50, ..now(Some(kernel), holding("numpy")) };
        let begun = after(marker.as_ref(), vec![begin(&["numpy"])], &now);
        let ended = next(Some(&begun), Event::Finish, &now).expect("a move");
        assert_eq!(ended.verdict, restart(), "round {round}");
        marker = ended.write;
        assert!(marker.as_ref().is_some_and(|marker| marker.touched.len() == 1 && marker.asked.len() == 1));
    }
}

#[test]
fn a_kernel_that_goes_on_is_reminded_a_few_times() {
    let here = now(Some(&OLD), holding("numpy"));
    let mut marker = pending();
    for _ in 1..ASKED_AT_MOST {
        let Move { write, verdict } = next(Some(&marker), Event::Look, &here).expect("a move");
        assert_eq!(verdict, restart());
        marker = write.expect("a marker");
    }
    assert_eq!(verdict(&marker, Event::Look, &here), Next::RestartByHand);
    // Other work in the same kernel does not begin the count anew.
    let more = after(Some(&marker), vec![begin(&["scipy"])], &here);
    assert_eq!(verdict(&more, Event::Finish, &here), Next::RestartByHand);
}

/// Something that runs before the cell loads what the cell replaces, in every new kernel.
#[test]
fn kernels_in_a_row_are_asked_a_few_times() {
    let mut marker = None;
    let at = |round: u32| Kernel { pid: round, start_time: u64::from(round) * 100 };
    for round in 1..=ASKED_AT_MOST + 2 {
        let kernel: &'static Kernel = Box::leak(Box::new(at(round)));
        let gone = (1..round).map(at).collect();
        let here = Now { gone, clock: u64::from(round) * 100 + 50, ..now(Some(kernel), holding("numpy")) };
        let begun = after(marker.as_ref(), vec![begin(&["numpy"])], &here);
        let ended = next(Some(&begun), Event::Finish, &here).expect("a move");
        let is_in_vain = matches!(ended.verdict, Next::InVain(_));
        assert_eq!(is_in_vain, round > ASKED_AT_MOST, "{round}: {:?}", ended.verdict);
        marker = ended.write;
    }
    // One that holds nothing of it ends the row; one that is older than the last restart is not of it.
    let marker = marker.expect("a marker");
    let fine = Now { clock: 2000, ..now(Some(Box::leak(Box::new(at(15)))), holding("os")) };
    let ready = after(Some(&marker), vec![Event::Look], &fine);
    assert_eq!(ready.in_a_row, super::InARow::default());
    let old =
        Now { clock: 1000, ..now(Some(Box::leak(Box::new(Kernel { pid: 77, start_time: 1 }))), holding("numpy")) };
    let begun = after(Some(&pending()), vec![begin(&["numpy"])], &old);
    let count = begun.in_a_row.times;
    assert_eq!(after(Some(&begun), vec![Event::Finish], &old).in_a_row.times, count);
}

#[test]
fn a_kernel_that_was_asked_stays_asked_whatever_it_says_of_itself() {
    for modules in ["os", "numpy"] {
        let here = now(Some(&OLD), holding(modules));
        assert_eq!(verdict(&pending(), Event::Look, &here), restart(), "{modules}");
    }
}

#[test]
fn evidence_of_its_own_is_enough() {
    let reason = vec!["`OMP_NUM_THREADS` is read when numpy is loaded, and it is".to_owned()];
    let marker = after(None, vec![begin(&[]), Event::Finish], &now(Some(&OLD), holding("numpy")));
    let now = Now { evidence: Box::leak(reason.clone().into_boxed_slice()), ..now(Some(&OLD), holding("numpy")) };
    assert_eq!(verdict(&marker, Event::Look, &now), Next::Restart(reason));
}

#[test]
fn a_marker_is_read_as_it_was_written() {
    let text = serde_json::to_string(&pending()).expect("JSON");
    assert_eq!(serde_json::from_str::<Marker>(&text).expect("a marker"), pending());
    assert!(serde_json::from_str::<Marker>(&text.replace("\"touched\"", "\"tuched\"")).is_err());
}
