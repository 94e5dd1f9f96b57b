//! States are told apart, and nothing that is open is forgotten.

use crate::machine::Kernel;
use crate::marker::{ASKED_AT_MOST, Marker, Now, Standing, begin, standing};
use crate::model::{PackageName, Sha256};

const OLD: Kernel = Kernel { pid: 7, start_time: 100 };
const NEW: Kernel = Kernel { pid: 7, start_time: 900 };
const OTHER: Kernel = Kernel { pid: 8, start_time: 300 };
const APPLIED_AT: u64 = 500;

fn now(kernel: Option<&Kernel>) -> Now<'_> {
    Now { lock: Sha256::of(b"lock"), boot_id: "boot", kernel, old_is_gone: false, uptime: APPLIED_AT }
}

fn begun(names: &[&str], previous: Option<&Marker>) -> Marker {
    let names: Vec<PackageName> = names.iter().map(|name| name.parse().expect("a name")).collect();
    begin("demo 1.0.0".into(), &now(None), names, previous)
}

fn pending() -> Marker {
    begun(&["numpy"], None).applied(Some((OLD, vec!["numpy is loaded".into()])), APPLIED_AT)
}

#[test]
fn states_are_told_apart() {
    assert_eq!(standing(None, &now(None)), Standing::Fresh);
    assert_eq!(standing(Some(&begun(&[], None)), &now(Some(&OLD))), Standing::Interrupted);
    assert_eq!(standing(Some(&begun(&[], None).failed("disk full".into())), &now(None)), Standing::Failed);
    assert_eq!(standing(Some(&begun(&[], None).applied(None, APPLIED_AT)), &now(None)), Standing::Ready);
    assert_eq!(standing(Some(&pending()), &now(Some(&OLD))), Standing::RestartPending);
    assert_eq!(standing(Some(&pending()), &now(Some(&NEW))), Standing::Restarted, "same pid, started later");
    assert_eq!(
        standing(Some(&pending()), &now(Some(&OTHER))),
        Standing::RestartPending,
        "another, but older than the apply"
    );
    assert_eq!(standing(Some(&pending()), &now(None)), Standing::RestartPending, "an unknown kernel is no new one");
    let gone = Now { old_is_gone: true, ..now(None) };
    assert_eq!(standing(Some(&pending()), &gone), Standing::Restarted, "seen from a terminal");
    let other_boot = Now { boot_id: "other", ..now(Some(&NEW)) };
    assert_eq!(standing(Some(&pending()), &other_boot), Standing::NewMachine);
    let other_lock = Now { lock: Sha256::of(b"other"), ..now(Some(&NEW)) };
    assert_eq!(standing(Some(&pending()), &other_lock), Standing::Fresh);
}

#[test]
fn what_is_open_is_taken_over() {
    let next = begun(&["scipy"], Some(&pending())).applied(None, APPLIED_AT);
    assert_eq!(next.old_kernel, Some(OLD), "a pending restart survives another apply");
    assert_eq!(next.because, ["numpy is loaded"]);
    let killed = begun(&["numpy"], None);
    let names: Vec<String> = begun(&["scipy"], Some(&killed)).changed.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["numpy", "scipy"], "packages in doubt are not forgotten");
    let gone = Now { old_is_gone: true, ..now(None) };
    assert_eq!(begin("demo".into(), &gone, vec![], Some(&pending())).old_kernel, None);
}

#[test]
fn a_restart_is_never_asked_for_without_end() {
    let mut marker = pending();
    let mut asked = 1;
    while let Some(next) = marker.asked_again() {
        marker = next;
        asked += 1;
    }
    assert_eq!(asked, ASKED_AT_MOST);
    assert_eq!(standing(Some(&pending().settled()), &now(Some(&OLD))), Standing::Ready);
}

#[test]
fn a_marker_is_read_as_it_was_written() {
    let text = serde_json::to_string(&pending()).expect("JSON");
    assert_eq!(serde_json::from_str::<Marker>(&text).expect("a marker"), pending());
    assert!(serde_json::from_str::<Marker>(&text.replace("\"asked\"", "\"askd\"")).is_err());
}
