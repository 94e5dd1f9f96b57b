//! `install.sh` of a release: what it has not compared with its digest never gets a name on `PATH`.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use colab_boot::core::model::Sha256;

use crate::support::http::{Asked, Reply, serve};
use crate::support::test::{Outcome, Test};

const SCRIPT: &str = include_str!("../../../.ci/install.sh.in");

fn run(test: &Test, from: &str, path: &str) -> Outcome {
    let mut shell = Command::new("sh");
    shell.arg(test.path("install.sh")).env_clear().current_dir(test.path(""));
    shell.env("PATH", path).env("HOME", test.path("home")).env("COLAB_BOOT_FROM", from);
    Outcome::of(shell)
}

#[test]
fn it_installs_what_has_its_digest_and_nothing_else() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_colab-boot")).expect("the program");
    let digest = Sha256::of(&program).to_string();
    let test = Test::new();
    let text = SCRIPT.replace("@VERSION@", env!("CARGO_PKG_VERSION")).replace("@SHA256@", &digest);
    let test = test.file("install.sh", &text);
    let mut other = program.clone();
    other[4096] ^= 1;
    let length = program.len();
    let server = serve(Duration::ZERO, move |asked: &Asked| match asked.path.as_str() {
        "/good/colab-boot-x86_64-linux" => Reply::new("application/octet-stream", program.clone()),
        "/other/colab-boot-x86_64-linux" => Reply::new("application/octet-stream", other.clone()),
        "/cut/colab-boot-x86_64-linux" => {
            Reply { cut: Some(length / 2), ..Reply::new("application/octet-stream", program.clone()) }
        }
        _ => Reply::status(404),
    });
    let path = format!("{}:/usr/bin:/bin", test.path("home/.local/bin").display());
    let folder = test.path("home/.local/bin");
    let names = || std::fs::read_dir(&folder).map_or(0, Iterator::count);
    for place in ["other", "cut", "none"] {
        let said = run(&test, &format!("{server}/{place}"), &path);
        assert!(said.code != 0 && !said.stdout.contains("colab-boot 0"), "{place}: {said:?}");
        assert_eq!(names(), 0, "{place}");
    }
    assert!(run(&test, &format!("{server}/other"), &path).stderr.contains("nothing was installed"));
    let said = run(&test, &format!("{server}/good"), &path).expect(0);
    assert_eq!(said.stdout, format!("colab-boot {}\n", env!("CARGO_PKG_VERSION")));
    let mode = std::fs::metadata(folder.join("colab-boot")).expect("the program").permissions().mode();
    assert_eq!((names(), mode & 0o777), (1, 0o755));
    // A later one that goes wrong leaves it alone.
    assert_ne!(run(&test, &format!("{server}/cut"), &path).code, 0);
    let said = run(&test, &format!("{server}/good"), "/usr/bin:/bin").expect(0);
    assert!(said.stdout.contains("add ") && said.stdout.contains("to PATH") && names() == 1, "{said:?}");
}
