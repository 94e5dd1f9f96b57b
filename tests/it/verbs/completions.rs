//! `completions`: loaded by the shells that they are for, which then complete commands, options and their values.

use std::process::Command;

use crate::support::test::Test;

/// What `shell` prints for `script`, in which `SCRIPT` is the file with the completions; `None` where it is not here.
fn said(test: &Test, shell: &str, arguments: &[&str], script: &str) -> Option<String> {
    let text = test.run(&["completions", shell]).expect(0).stdout;
    let file = test.path("_colab-boot");
    std::fs::write(&file, text).expect("a script");
    let script = script.replace("SCRIPT", &file.display().to_string());
    let done = Command::new(shell).args(arguments).args(["-c", &script]).env("HOME", test.path("")).output().ok()?;
    assert!(done.status.success(), "{shell}: {}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

#[test]
fn each_shell_completes() {
    let test = Test::new();
    let bash = "source SCRIPT; complete -p colab-boot
        completed() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
          _colab_boot colab-boot \"${@: -1}\" \"${@: -2:1}\"; echo \"${COMPREPLY[@]}\"; }
        completed colab-boot expo; completed colab-boot plan --run; completed colab-boot export req
        completed colab-boot plan --color al";
    let words = said(&test, "bash", &["--norc"], bash).expect("bash");
    for word in ["-F _colab_boot colab-boot\n", "\nexport\n", "\n--runtime\n", "\nrequirements\n", "\nalways\n"] {
        assert!(words.contains(word), "{word:?}: {words}");
    }
    let fish = "source SCRIPT; complete -C 'colab-boot expo'; complete -C 'colab-boot plan --run'; \
                complete -C 'colab-boot export req'";
    if let Some(words) = said(&test, "fish", &["--no-config"], fish) {
        for word in ["export\t", "--runtime\t", "requirements\t"] {
            assert!(words.contains(word), "{word:?}: {words}");
        }
    }
    let zsh = "fpath=(${:-SCRIPT}(:h) $fpath); autoload -Uz compinit; compinit -u -D; zsh -n SCRIPT; \
               autoload -Uz +X _colab-boot; echo ${_comps[colab-boot]}; functions _colab-boot | grep -c -- --runtime";
    if let Some(words) =
        said(&test, "zsh", &["-f"], &zsh.replace("${:-SCRIPT}(:h)", &test.path("").display().to_string()))
    {
        let lines: Vec<&str> = words.lines().collect();
        assert!(lines.first() == Some(&"_colab-boot") && lines.last().is_some_and(|count| *count != "0"), "{words}");
    }
}

#[test]
fn the_cache_is_shown_and_cleaned() {
    let test = Test::new();
    let folder = test.run(&["cache", "dir"]).expect(0).stdout;
    assert_eq!(folder.trim(), test.environment["COLAB_BOOT_CACHE_DIR"]);
    let old = std::path::Path::new(folder.trim()).join("listings-v1");
    std::fs::create_dir_all(&old).expect("a folder");
    std::fs::write(old.join("page"), [0; 3000]).expect("a file");
    assert_eq!(test.run(&["cache", "size"]).expect(0).stdout, "3.0 kB\n");
    assert!(test.run(&["cache", "clean"]).expect(0).stdout.contains("3.0 kB freed"));
    assert_eq!(test.run(&["cache", "size"]).expect(0).stdout, "0 B\n");
    assert!(!old.exists());
}
