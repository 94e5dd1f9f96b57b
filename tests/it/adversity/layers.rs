//! Packages of an image: they lie in a layer below, of overlayfs, where a folder can't be renamed (EXDEV) and each file
//! is copied when it is. Each test mounts in a namespace of its own.

use std::process::Command;

use crate::adversity::users_files::World;
use crate::support::test::{Outcome, is_root};

/// Runs a script with `$BINARY`, and `mounted UPPER`, which mounts the environment as the layer below, with the layer
/// above in the folder `UPPER`; `same A B` compares two listings of files with their digests.
fn in_layers(world: &World, script: &str) -> bool {
    let head = r#"
set -eu
mkdir -p layers/tmpfs layers/disk && mount -t tmpfs none layers/tmpfs
mounted() {
  rm -rf "$STATE" && mkdir -p "layers/$1/up" "layers/$1/work"
  mount -t overlay overlay -o "lowerdir=venv,upperdir=layers/$1/up,workdir=layers/$1/work" venv
}
apply() { "$BINARY" apply "$1.toml" --python venv/bin/python --find-links house --offline; }
listed() { (cd venv && find . \( -type f -o -type l \) ! -name '*.pyc' ! -name .colab-boot-id -exec sha256sum {} + | sort -k2); }
"#;
    let mut command = Command::new("unshare");
    command.args(["--mount", "bash", "-c", &format!("{head}{script}")]).env_clear().envs(&world.test.environment);
    command.env("BINARY", env!("CARGO_BIN_EXE_colab-boot")).env("STATE", world.test.path("state"));
    command.current_dir(world.test.path(""));
    let outcome = Outcome::of(command);
    let has_no_layers = outcome.stderr.contains("mount: ");
    assert!(outcome.code == 0 || has_no_layers, "{outcome:?}");
    !has_no_layers
}

#[test]
fn packages_of_an_image_are_replaced_and_come_back() {
    if !is_root() {
        eprintln!("skipped: this needs root");
        return;
    }
    let world = World::new("");
    world.pip(&["install", "demo==1.0"]);
    let world = World { test: world.test.fake("bash"), ..world };
    for upper in ["disk", "tmpfs"] {
        let done = in_layers(
            &world,
            &format!(
                r#"
mounted {upper}
before=$(listed)
echo mine >"$(echo venv/lib/python3*/site-packages/demo-1.0.dist-info)/notes.txt"
apply two
grep -rqx mine "$STATE"
"$BINARY" verify two.toml --python venv/bin/python
! grep -rq '# 1.0' venv/lib/*/site-packages/demo venv/bin/mytool
"$BINARY" restore --python venv/bin/python --find-links house --offline
[[ $(listed | grep -v 'dist-info\|bin/entry') == $(grep -v 'dist-info\|bin/entry' <<<"$before") ]]
umount venv
rm -rf layers/{upper}/*
mounted {upper}
code=0
AFTER='exit 1' apply two || code=$?
[[ $code == 3 ]]
[[ $(listed) == "$before" ]]
"#
            ),
        );
        if !done {
            eprintln!("skipped: overlayfs can't be mounted here");
        }
    }
}
