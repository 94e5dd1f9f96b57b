//! `doctor` with checks that are not its own: commands of a profile, functions of installed packages.

use std::process::Command;

use crate::support::python::Venv;
use crate::support::test::{Outcome, Test};
use crate::verbs::doctor::{PROFILE, check, world};

/// A check of a profile that runs `script`; only the one that hangs is not waited for.
fn own(name: &str, script: &str) -> String {
    let timeout = if name == "hangs" { "2s" } else { "60s" };
    format!(
        "[[doctor.check]]\nname = \"{name}\"\ncommand = [\"sh\", \"-c\", '''{script}''']\ntimeout = \"{timeout}\"\n"
    )
}

/// Each check with its state and what was said of it.
fn answered(out: &Outcome, wanted: &[(&str, &str, &str)]) {
    for (name, state, said) in wanted {
        let one = check(out, name);
        assert_eq!((one["state"].as_str(), one["said"].as_str()), (Some(*state), Some(*said)), "{name}");
    }
}

#[test]
fn commands_of_a_profile_are_checks() {
    let text = [
        PROFILE.to_owned(),
        own("well", "echo 12 files"),
        own("ill", "echo no files; exit 3"),
        own("hangs", "sleep 60"),
        own("dies", "kill -9 $$"),
        own(
            "speaks",
            r#"echo talk; echo '{"severity": "warning", "message": "few <b>files</b>", "evidence": ["3 of 12"], "help": "fetch them"}'"#,
        ),
        own("here", "test -f p.toml"),
        own("long", "yes a line of no account | head -c 20000000; echo; echo the end; exit 200"),
        own("leaves", "sleep 97531 & echo gone"),
        own("tells", &format!("echo WANDB_API_KEY={}; exit 1", "c17b8ed411fa644d35db41d94e5efaf89fc43c5f")),
        "[[doctor.check]]\nname = \"gone\"\ncommand = [\"no-such-program\"]\n".to_owned(),
    ];
    let test = world().file("sub/p.toml", &text.concat());
    let out = test.run(&["doctor", "--profile", "sub/p.toml", "--json", "--html", "page.html"]).expect(1);
    answered(
        &out,
        &[
            ("well", "ok", "12 files"),
            ("ill", "finding", "ill: no files (exit code 3)"),
            ("hangs", "timed-out", "not finished after 2 s"),
            ("dies", "finding", "dies: ended by SIGKILL"),
            ("speaks", "finding", "speaks: few <b>files</b>"),
            ("here", "ok", ""),
            ("long", "finding", "long: the end (exit code 200)"),
            ("leaves", "ok", "gone"),
            ("tells", "finding", "tells: WANDB_API_KEY=REMOVED-weights-and-biases-key (exit code 1)"),
            ("gone", "failed", "there is no program `no-such-program`"),
        ],
    );
    let findings = out.json()["findings"].as_array().cloned().expect("findings");
    let speaks = findings
        .iter()
        .find(|one| one["message"].as_str().is_some_and(|text| text.starts_with("speaks")))
        .expect("one");
    assert_eq!((speaks["severity"].as_str(), speaks["help"][0].as_str()), (Some("warning"), Some("fetch them")));
    // What a check has left running ends with it.
    let left = Command::new("pgrep").args(["-f", "sleep 97531"]).output().expect("pgrep");
    assert!(left.stdout.is_empty(), "{}", String::from_utf8_lossy(&left.stdout));
    // What others say does not become part of the page.
    let page = std::fs::read_to_string(test.path("page.html")).expect("a page");
    assert!(page.contains("few &lt;b&gt;files") && !page.contains("<b>files"), "{page}");
    assert!(!page.contains("<script") && !page.contains("http"), "{page}");
    // Not without the profile, and not where one asks for something else.
    for arguments in [&["doctor"][..], &["doctor", "--profile", "sub/p.toml", "memory"]] {
        assert!(!test.run(arguments).stdout.contains("profile"), "{arguments:?}");
    }
}

#[test]
fn an_answer_ends_what_a_command_says() {
    let text = [
        PROFILE.to_owned(),
        own("odd", r#"echo '{"findings": [{"message": 5}]}'"#),
        own("pretty", r#"printf 'talk\n{\n "severity": "error",\n "message": "whole"\n}\n'"#),
        own("torn", r#"printf '{\n "severity": "error",\n "message": "torn\nin two"\n}\n'"#),
        own("list", r#"echo '[{"severity": "note", "message": "one"}]'"#),
        own("lists", r#"printf 'talk\n[\n{"message": "first"},\n{"message": "second"}\n]\n'"#),
        own("unlike", r#"echo '[{"severity": "error", "msg": "no message"}]'"#),
        own("goes-on", r#"printf '{"message": "early"}\n[done]\n'"#),
        own("brackets", "echo '[1 of 2] well'"),
    ];
    let test = world().file("p.toml", &text.concat());
    let out = test.run(&["doctor", "--profile", "p.toml", "profile", "--json"]).expect(1);
    answered(
        &out,
        &[
            ("odd", "failed", "its answer can't be read: {\"findings\": [{\"message\": 5}]}"),
            ("pretty", "finding", "pretty: whole"),
            ("torn", "failed", "its answer can't be read: }"),
            ("list", "finding", "list: one"),
            ("lists", "finding", "lists: first"),
            ("unlike", "failed", "its answer can't be read: [{\"severity\": \"error\", \"msg\": \"no message\"}]"),
            ("goes-on", "failed", "its answer can't be read: [done]"),
            ("brackets", "ok", "[1 of 2] well"),
        ],
    );
}

#[test]
fn a_check_that_says_nothing_is_no_good_news() {
    let own = "[[doctor.check]]\nname = \"gone\"\ncommand = [\"no-such-program\"]\n[[doctor.check]]\nname = \"ran\"\ncommand = [\"touch\", \"RAN\"]\n";
    let data = "[doctor]\ndata = [\"/nowhere/set\"]\n";
    let test = world().file("p.toml", &format!("{PROFILE}{data}{own}"));
    let out = test.run(&["doctor", "--profile", "p.toml", "gone", "ran"]).expect(0);
    assert!(out.stderr.contains("gone gave no result: there is no program `no-such-program`"), "{out:?}");
    test.run(&["doctor", "--profile", "p.toml", "--strict", "profile"]).expect(1);
    assert!(test.path("RAN").exists());
    // Data that is not there is named.
    let out = test.run(&["doctor", "--profile", "p.toml", "storage"]).expect(0);
    assert!(out.stderr.contains("data-missing") && out.stderr.contains("/nowhere/set"), "{out:?}");
    // Of a machine that is described nothing that runs here says anything.
    std::fs::remove_file(test.path("RAN")).expect("a file");
    let out = test.run(&["doctor", "--profile", "p.toml", "--runtime", "colab-2026.07", "--json"]);
    assert_eq!((check(&out, "ran")["state"].as_str(), test.path("RAN").exists()), (Some("skipped"), false));
    let out = test.run(&["doctor", "--profile", "p.toml", "plugin"]).expect(2);
    assert!(out.stderr.contains("did you mean `plugins`?"), "{out:?}");
    let out = test.run(&["doctor", "profile"]).expect(2);
    assert!(out.stderr.contains("with `--profile FILE`"), "{out:?}");
    let test = test.file("q.toml", &format!("{PROFILE}[doctor]\nplugins = ['absent']\ndata = ['/nowhere/set']\n"));
    let out = test.run(&["doctor", "--profile", "q.toml", "--runtime", "colab-2026.07", "--json", "plugins"]).expect(0);
    assert_eq!(check(&out, "absent")["state"], "skipped");
    // The disk that a bundle is read on is not that of its machine.
    test.run(&["doctor", "--bundle", "there.json"]);
    let out = test.run(&["doctor", "--machine", "there.json", "--profile", "q.toml", "--json", "storage"]);
    assert_eq!(check(&out, "data-missing")["state"], "skipped", "{out:?}");
    let out = test.run(&["doctor", "--machine", "there.json", "--data", "/data/of/colab", "data-remote"]);
    assert!(out.code < 2, "{out:?}");
}

#[test]
fn a_signal_ends_a_check_that_runs_with_the_doctor() {
    let own = "[[doctor.check]]\nname = \"hangs\"\ncommand = [\"sleep\", \"86422\"]\ntimeout = \"60s\"\n";
    let test = world().file("p.toml", &format!("{PROFILE}{own}"));
    let mut doctor = test.command(&["doctor", "--profile", "p.toml", "hangs"]).spawn().expect("it starts");
    let runs = || !Command::new("pgrep").args(["-f", "sleep 86422"]).output().expect("pgrep").stdout.is_empty();
    let wait = |wanted: bool| {
        for _ in 0..200 {
            if runs() == wanted {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        false
    };
    assert!(wait(true), "the check does not start");
    let pid = doctor.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
    let status = doctor.wait().expect("ended");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15), "{status:?}");
    assert!(wait(false), "the check goes on");
}

/// A distribution in `venv` with a module and entry points.
fn distribution(venv: &Venv, name: &str, group: &str, functions: &str, code: &str) {
    let site = venv.layout();
    let info = site.join(format!("{name}-1.0.dist-info"));
    std::fs::create_dir(&info).expect("a folder");
    std::fs::write(info.join("METADATA"), format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"))
        .expect("METADATA");
    std::fs::write(info.join("RECORD"), "").expect("RECORD");
    let lines: String = functions.split(' ').map(|function| format!("{function} = {name}:{function}\n")).collect();
    std::fs::write(info.join("entry_points.txt"), format!("[console_scripts]\nx = y:z\n\n[{group}]\n{lines}"))
        .expect("entry points");
    std::fs::write(site.join(format!("{name}.py")), code).expect("a module");
}

#[test]
fn checks_of_installed_packages_run_apart_and_only_when_asked() {
    let test = Test::new();
    let venv = Venv::bare(&test);
    let code = "
import os, signal, sys, time, warnings
def fine(): print('talk'); return '3 cards'
def warns(): warnings.warn('an old card')
def raises(): raise ValueError('no card')
def crashes(): os.kill(os.getpid(), signal.SIGSEGV)
def says(): return [{'severity': 'note', 'message': 'one'}, {'severity': 'warning', 'message': 'two'}]
def leaves(): sys.exit(0)
def rapids(verbose=False, **more): assert verbose is False
def pair(): return ({'severity': 'warning', 'message': 'of two'}, None)
def yields():
    yield {'severity': 'warning', 'message': 'yielded'}
def ends(): os._exit(0)
async def later(): return None
";
    distribution(
        &venv,
        "ours",
        "colab_boot.doctor",
        "fine warns raises crashes says leaves pair yields ends later",
        code,
    );
    distribution(&venv, "theirs", "rapids_doctor_check", "rapids", code);
    distribution(&venv, "broken", "colab_boot.doctor", "nothing", "import not_there");
    let test = test.set("COLAB_BOOT_PYTHON", venv.python.display().to_string());
    assert!(!test.run(&["doctor"]).stdout.contains("plugins"));
    let out = test.run(&["doctor", "--plugins", "--json"]).expect(1);
    answered(
        &out,
        &[
            ("ours:fine", "ok", "3 cards"),
            ("ours:warns", "finding", "ours:warns: an old card"),
            ("ours:raises", "finding", "ours:raises: ValueError: no card"),
            ("ours:crashes", "finding", "ours:crashes: ended by SIGSEGV"),
            ("ours:says", "finding", "ours:says: one"),
            ("ours:leaves", "finding", "ours:leaves: SystemExit: 0"),
            ("theirs:rapids", "ok", ""),
            ("ours:pair", "finding", "ours:pair: of two"),
            ("ours:yields", "finding", "ours:yields: yielded"),
            ("ours:ends", "failed", "no answer"),
            ("broken:nothing", "finding", "broken:nothing: ModuleNotFoundError: No module named 'not_there'"),
        ],
    );
    assert!(
        check(&out, "ours:later")["said"]
            .as_str()
            .is_some_and(|said| said.contains("a check returns nothing, a text or findings"))
    );
    // A profile names whose.
    let test = test.file("p.toml", &format!("{PROFILE}[doctor]\nplugins = [\"Theirs\", \"absent\"]\n"));
    let out = test.run(&["doctor", "--profile", "p.toml", "--json"]).expect(0);
    let names: Vec<String> = out.json()["report"]["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .filter(|one| one["group"] == "plugins")
        .map(|one| format!("{} {}", one["check"], one["state"]))
        .collect();
    assert_eq!(names, ["\"theirs:rapids\" \"ok\"", "\"absent\" \"failed\""]);
}
