//! Every state meets every event; nothing that is open is forgotten, and nothing is asked for without end.

use crate::machine::Kernel;
use crate::marker::{ASKED_AT_MOST, Event, Illegal, Marker, Move, Now, Standing, Verdict, next, standing};
use crate::model::{PackageName, Sha256};

const OLD: Kernel = Kernel { pid: 7, start_time: 100 };
const NEW: Kernel = Kernel { pid: 7, start_time: 900 };
const OTHER: Kernel = Kernel { pid: 8, start_time: 300 };
const APPLIED_AT: u64 = 500;

fn now(kernel: Option<&Kernel>) -> Now<'_> {
    let lock = Sha256::of(b"lock");
    Now { profile: "demo 1.0.0".into(), lock, boot_id: "boot", kernel, gone: Vec::new(), uptime: APPLIED_AT }
}

/// As it is after the restart.
fn restarted() -> Now<'static> {
    Now { gone: vec![OLD], uptime: 1000, ..now(Some(&NEW)) }
}

fn names(names: &[&str]) -> Vec<PackageName> {
    names.iter().map(|name| name.parse().expect("a name")).collect()
}

fn begin(changed: &[&str]) -> Event {
    Event::Begin { changed: names(changed), restart: None }
}

/// An apply that replaces what `kernel` has loaded.
fn replace(kernel: Kernel) -> Event {
    Event::Begin { changed: names(&["numpy"]), restart: Some((kernel, vec!["numpy is loaded".into()])) }
}

fn fail() -> Event {
    Event::Fail { why: "disk full".into() }
}

fn doubt() -> Event {
    Event::Doubt { changed: names(&["numpy"]), why: "bytes differ".into() }
}

/// The marker after `events`, each of which must be legal and write one.
fn after(marker: Option<&Marker>, events: Vec<Event>, now: &Now<'_>) -> Marker {
    let step = |marker: Option<Marker>, event| next(marker.as_ref(), event, now).expect("a legal move").write;
    events.into_iter().fold(marker.cloned(), step).expect("a marker")
}

fn pending() -> Marker {
    after(None, vec![replace(OLD), Event::Finish], &now(Some(&OLD)))
}

/// One marker of each standing, with what is true when it is met.
fn states() -> Vec<(Standing, Option<Marker>, Now<'static>)> {
    let here = || now(Some(&OLD));
    let other_lock = Now { lock: Sha256::of(b"other"), ..here() };
    let other_boot = Now { boot_id: "other", ..here() };
    vec![
        (Standing::Fresh, None, here()),
        (Standing::Fresh, Some(after(None, vec![begin(&[]), Event::Finish], &here())), other_lock),
        (Standing::NewMachine, Some(pending()), other_boot),
        (Standing::Interrupted, Some(after(None, vec![begin(&["numpy"])], &here())), here()),
        (Standing::Interrupted, Some(after(None, vec![replace(OLD)], &here())), here()),
        (Standing::Failed, Some(after(None, vec![begin(&["numpy"]), fail()], &here())), here()),
        (Standing::RestartPending, Some(pending()), here()),
        (Standing::Restarted, Some(pending()), restarted()),
        (Standing::Ready, Some(after(None, vec![begin(&[]), Event::Finish], &here())), here()),
    ]
}

#[test]
fn every_state_meets_every_event() {
    type Wanted = Result<(Option<Standing>, Verdict), Illegal>;
    let ready = |stands| Ok((None, Verdict::Ready(stands)));
    let begun: Wanted = Ok((Some(Standing::Interrupted), Verdict::Change));
    let done: Wanted = Ok((Some(Standing::Ready), Verdict::Ready(Standing::Ready)));
    let pending: Wanted = Ok((Some(Standing::RestartPending), Verdict::Restart));
    let doubted: Wanted = Ok((Some(Standing::Failed), Verdict::Stop));
    // Begin and Doubt are always legal; Fail and Finish end what has begun, and nothing else; Look, in this order:
    let look: [Wanted; 9] = [
        Ok((Some(Standing::Ready), Verdict::Ready(Standing::Ready))),
        Ok((Some(Standing::Ready), Verdict::Ready(Standing::Ready))),
        Ok((Some(Standing::Ready), Verdict::Ready(Standing::Ready))),
        Err(Illegal),
        Err(Illegal),
        Err(Illegal),
        Ok((Some(Standing::RestartPending), Verdict::Restart)),
        Ok((Some(Standing::Ready), Verdict::Ready(Standing::Restarted))),
        ready(Standing::Ready),
    ];
    for ((stands, marker, now), look) in states().into_iter().zip(look) {
        assert_eq!(standing(marker.as_ref(), &now), stands);
        let is_begun = stands == Standing::Interrupted;
        let is_open = marker.as_ref().is_some_and(|marker| !marker.open.is_empty());
        let only_begun = |wanted: Wanted| if is_begun { wanted } else { Err(Illegal) };
        let events = [
            (begin(&["scipy"]), begun),
            (doubt(), doubted),
            (fail(), only_begun(doubted)),
            (replace(OLD), begun),
            (Event::Finish, only_begun(if is_open { pending } else { done })),
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
fn kernels_are_told_apart() {
    let pending = pending();
    let seen_by = |kernel| standing(Some(&pending), &now(kernel));
    assert_eq!(seen_by(Some(&OLD)), Standing::RestartPending);
    assert_eq!(seen_by(Some(&NEW)), Standing::Restarted, "same pid, started later");
    assert_eq!(seen_by(Some(&OTHER)), Standing::RestartPending, "another, but older than the apply");
    assert_eq!(seen_by(None), Standing::RestartPending, "an unknown kernel is no new one");
    let gone = Now { gone: vec![OLD], ..now(None) };
    assert_eq!(standing(Some(&pending), &gone), Standing::Restarted, "seen from a terminal");
}

#[test]
fn what_is_open_is_taken_over() {
    let here = now(Some(&OLD));
    let kernels = |marker: &Marker| marker.open.iter().map(|open| open.kernel.clone()).collect::<Vec<_>>();
    let later = after(Some(&pending()), vec![begin(&["scipy"]), Event::Finish], &here);
    assert_eq!(kernels(&later), [OLD], "a pending restart survives another apply");
    assert_eq!(later.because(), ["numpy is loaded"]);
    let killed = after(None, vec![begin(&["numpy"])], &here);
    let both = after(Some(&killed), vec![begin(&["scipy"])], &here);
    assert_eq!(both.changed, names(&["numpy", "scipy"]), "packages in doubt are not forgotten");
    assert!(after(Some(&pending()), vec![begin(&[])], &restarted()).open.is_empty());
    // Killed after it has replaced numpy: nothing on the disk tells the next apply, which finds no reason of its own.
    let killed = after(None, vec![replace(OLD)], &here);
    let begun = after(Some(&killed), vec![begin(&[])], &here);
    assert_eq!(next(Some(&begun), Event::Finish, &here).expect("a move").verdict, Verdict::Restart);
}

#[test]
fn two_notebooks_have_their_own_restarts() {
    // B replaces what it has loaded while A is to restart; its restart does not settle A's.
    const B: Kernel = Kernel { pid: 9, start_time: 600 };
    let in_b = Now { uptime: 700, ..now(Some(&B)) };
    let both = after(Some(&pending()), vec![replace(B), Event::Finish], &in_b);
    assert_eq!(standing(Some(&both), &now(Some(&OLD))), Standing::RestartPending);
    let b_restarted = Now { gone: vec![B], uptime: 1000, ..now(Some(&NEW)) };
    let looked = next(Some(&both), Event::Look, &b_restarted).expect("a move");
    assert_eq!(looked.verdict, Verdict::Ready(Standing::Restarted));
    assert_eq!(standing(looked.write.as_ref(), &now(Some(&OLD))), Standing::RestartPending, "A goes on in old code");
    // One that is older than A's apply is asked to restart, too; one that is younger than the apply, but not than that, is not.
    let in_other = Now { uptime: 950, ..now(Some(&OTHER)) };
    let three = after(Some(&pending()), vec![Event::Look], &in_other);
    assert_eq!(standing(Some(&three), &now(Some(&OTHER))), Standing::RestartPending);
    assert_eq!(standing(Some(&three), &now(Some(&NEW))), Standing::Restarted);
    // The restart counts for the lock that wanted it.
    let lock = |word: &[u8]| Sha256::of(word);
    let carried =
        after(Some(&pending()), vec![begin(&[]), Event::Finish], &Now { lock: lock(b"other"), ..now(Some(&OLD)) });
    let settled = after(Some(&carried), vec![Event::Look], &Now { lock: lock(b"other"), ..restarted() });
    assert_eq!(settled.restarted, [lock(b"lock")]);
    // A kernel younger than A's apply installs something new: nothing for it to restart for.
    let more = after(Some(&pending()), vec![begin(&["scipy"])], &in_b);
    assert_eq!(next(Some(&more), Event::Finish, &in_b).expect("a move").verdict, Verdict::Ready(Standing::Restarted));
}

#[test]
fn a_kernel_that_goes_on_is_reminded_a_few_times() {
    let here = now(Some(&OLD));
    let mut marker = pending();
    for _ in 1..ASKED_AT_MOST {
        let Move { write, verdict } = next(Some(&marker), Event::Look, &here).expect("a move");
        assert_eq!(verdict, Verdict::Restart);
        marker = write.expect("a marker");
    }
    assert_eq!(next(Some(&marker), Event::Look, &here).expect("a move").verdict, Verdict::RestartByHand);
    // Other work in the same kernel does not begin the count anew.
    let more = after(Some(&marker), vec![begin(&["scipy"])], &here);
    assert_eq!(next(Some(&more), Event::Finish, &here).expect("a move").verdict, Verdict::RestartByHand);
}

#[test]
fn a_lock_has_one_restart_on_a_machine() {
    for looked in [true, false] {
        let settled = pending();
        let settled = if looked { after(Some(&settled), vec![Event::Look], &restarted()) } else { settled };
        // Something has put the old numpy back; the new kernel has loaded it.
        let begun = after(Some(&settled), vec![replace(NEW)], &restarted());
        let ended = next(Some(&begun), Event::Finish, &restarted()).expect("a move");
        assert_eq!(ended.verdict, Verdict::Drifted);
        // Also where it is killed in between, and whatever else is applied after it.
        let resumed = after(Some(&begun), vec![begin(&[])], &restarted());
        assert_eq!(next(Some(&resumed), Event::Finish, &restarted()).expect("a move").verdict, Verdict::Drifted);
        let other = after(ended.write.as_ref(), vec![begin(&["scipy"])], &restarted());
        assert_eq!(next(Some(&other), Event::Finish, &restarted()).expect("a move").verdict, Verdict::RestartByHand);
        let again = next(ended.write.as_ref(), Event::Look, &restarted()).expect("a move");
        assert_eq!(again.verdict, Verdict::RestartByHand);
        // What was not loaded needs no restart, another lock has its own, and so has another machine.
        let unloaded = after(Some(&settled), vec![begin(&["numpy"])], &restarted());
        let unloaded = next(Some(&unloaded), Event::Finish, &restarted()).expect("a move");
        assert_eq!(unloaded.verdict, Verdict::Ready(Standing::Ready));
        for elsewhere in [Now { lock: Sha256::of(b"other"), ..restarted() }, Now { boot_id: "other", ..restarted() }] {
            let begun = after(Some(&settled), vec![replace(NEW)], &elsewhere);
            let ended = next(Some(&begun), Event::Finish, &elsewhere).expect("a move");
            assert_eq!(ended.verdict, Verdict::Restart);
        }
    }
    // A second apply before the restart has happened is no second restart.
    let here = now(Some(&OLD));
    let begun = after(Some(&pending()), vec![replace(OLD)], &here);
    assert_eq!(next(Some(&begun), Event::Finish, &here).expect("a move").verdict, Verdict::Restart);
}

#[test]
fn a_marker_is_read_as_it_was_written() {
    let text = serde_json::to_string(&pending()).expect("JSON");
    assert_eq!(serde_json::from_str::<Marker>(&text).expect("a marker"), pending());
    assert!(serde_json::from_str::<Marker>(&text.replace("\"drifted\"", "\"driftd\"")).is_err());
}
