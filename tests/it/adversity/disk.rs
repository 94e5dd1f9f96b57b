//! Real file systems that are full, out of inodes, or read-only: named in an error, nothing lost, and finished once
//! there is room. Each lives in a mount namespace of its own and ends with it.

use std::process::Command;

use crate::support::python::{Venv, wheel};
use crate::support::test::{Outcome, Test, is_root};

/// A virtual environment, a wheelhouse with `demo` and `other`, profiles `before` and `after`; `$FIRST` runs before the
/// switch.
fn world() -> Option<(Test, Venv)> {
    let mounts = || Command::new("unshare").args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if !is_root() || !mounts().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this needs root, and leave to mount");
        return None;
    }
    let profile = |version: &str, more: &str| {
        format!("[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='=={version}'\n{more}")
    };
    let test = Test::new()
        .file("before.toml", &profile("1.0", ""))
        .file("after.toml", &profile("2.0", "other='*'\n"))
        .fake("bash");
    let house = test.path("house");
    std::fs::create_dir(&house).expect("a folder");
    let word = "x".repeat(200_000);
    for (name, version) in [("demo", "1.0"), ("demo", "2.0"), ("other", "1.0")] {
        wheel(&house, (name, version), &format!("{version}{}", &word[..100_000]));
    }
    let venv = Venv::bare(&test);
    Some((test, venv))
}

/// Runs a script with `apply`, `verify`, `expect CODE WORDS COMMAND…`, and the folders `$SITE`, `$STATE` and `$CACHE`.
fn run((test, venv): &(Test, Venv), script: &str) {
    let head = r#"
set -eu
apply() { "$BINARY" apply "$1.toml" --python "$PYTHON" --offline --find-links house --index-url http://127.0.0.1:9/x; }
verify() { "$BINARY" verify "$1.toml" --python "$PYTHON"; }
fresh() {
  rm -rf "$STATE" "$CACHE"
  mount -t tmpfs -o "$1" none "$SITE"
  expect 0 applied apply before
}
finishes() {
  rm "$SITE"/filler*
  expect 0 applied apply after
  expect 0 verified verify after
  [[ -z $(ls -A "$SITE" | grep '^[.~]' | grep -v '^\.colab-boot-id$' || true) ]]
}
expect() {
  local code=0 wanted=$1 words=$2
  shift 2
  "$@" >said 2>&1 || code=$?
  if [[ $code != "$wanted" ]] || ! grep -qF -- "$words" said; then
    echo "$*: exit code $code, wanted $wanted and '$words'"
    cat said
    exit 1
  fi
}
"#;
    let mut command = Command::new("unshare");
    command.args(["--mount", "bash", "-c", &format!("{head}{script}")]).env_clear().envs(&test.environment);
    command.env("BINARY", env!("CARGO_BIN_EXE_colab-boot")).env("PYTHON", &venv.python).env("SITE", venv.layout());
    command.env("STATE", test.path("state")).env("CACHE", test.path("cache")).current_dir(test.folder.path());
    let outcome = Outcome::of(command);
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn a_disk_that_is_too_small_fails_before_anything_is_changed() {
    let Some(world) = world() else { return };
    run(
        &world,
        r#"
mount -t tmpfs -o size=600m none "$SITE"
expect 0 applied apply before
head -c $(( $(df --output=avail -B1 "$SITE" | tail -1) - 10000000 )) /dev/zero >"$SITE/filler"
expect 3 disk-full apply after
# Two wheels of 100 kB each, beside the reserve.
grep -q 'the unpacked wheels need 16.9 MB (with a reserve of 16.7 MB)' said
expect 0 verified verify before
rm "$SITE/filler"
expect 0 applied apply after
expect 0 verified verify after
"#,
    );
}

#[test]
fn a_disk_that_fills_up_once_all_is_staged_stops_nothing() {
    let Some(world) = world() else { return };
    for (size, fill) in [
        ("size=600m", r#"head -c 2G /dev/zero >"$SITE/filler" 2>/dev/null || true"#),
        ("size=600m,nr_inodes=200", r#"for n in $(seq 300); do : >"$SITE/filler.$n" || break; done 2>/dev/null"#),
    ] {
        run(
            &world,
            &format!(
                r"
fresh {size}
FIRST='{fill}' expect 0 applied apply after
expect 0 verified verify after
"
            ),
        );
    }
}

#[test]
fn a_disk_that_is_full_before_the_first_change_changes_nothing() {
    let Some(world) = world() else { return };
    for (size, fill) in [
        ("size=600m", r#"head -c 2G /dev/zero >"$SITE/filler" 2>/dev/null || true"#),
        ("size=600m,nr_inodes=200", r#"for n in $(seq 300); do : >"$SITE/filler.$n" || break; done 2>/dev/null"#),
        // Room for half of what is staged.
        ("size=600m,nr_inodes=200", r#"for n in $(seq 176); do : >"$SITE/filler.$n" || break; done 2>/dev/null"#),
    ] {
        run(
            &world,
            &format!(
                r#"
fresh {size}
sums() {{ (cd "$SITE" && find . -type f ! -name 'filler*' -exec sha256sum {{}} + | sort); }}
before=$(sums)
{fill}
expect 3 '' apply after
[[ $(sums) == "$before" ]]
finishes
"#
            ),
        );
    }
}

#[test]
fn read_only_files_are_left_alone() {
    let Some(world) = world() else { return };
    run(
        &world,
        r#"
mount -t tmpfs -o size=600m none "$SITE"
mkdir -p "$STATE" && chmod 700 "$STATE" && mount -t tmpfs -o size=10m,mode=700 none "$STATE"
mkdir -p "$CACHE" && chmod 700 "$CACHE" && mount -t tmpfs -o size=10m,mode=700 none "$CACHE"
expect 0 applied apply before
mount -o remount,ro "$CACHE"
expect 3 'set `COLAB_BOOT_CACHE_DIR` to a folder' apply after
expect 3 'nothing can be removed from' "$BINARY" cache clean
mount -o remount,rw "$CACHE"
mount -o remount,ro "$STATE"
expect 3 'Read-only file system' apply after
expect 3 'Read-only file system' apply before
mount -o remount,rw "$STATE"
mount -o remount,ro "$SITE"
expect 3 'Read-only file system' apply after
mount -o remount,rw "$SITE"
expect 0 applied apply after
expect 0 verified verify after
"#,
    );
}
