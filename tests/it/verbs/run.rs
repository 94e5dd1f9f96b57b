//! `run`: a command in the environment as locked, which is applied first where it differs.

use crate::stories::Day;

fn day() -> Day {
    let day = Day::new(&[("app", "1.0", &["lib>=1"]), ("app", "2.0", &["lib>=1"]), ("lib", "1.0", &[])]);
    day.profile("profile", &["app <2"], "[env]\nMODE = 'fast'\n");
    std::fs::write(day.test.path("show.py"), "import app, os, sys\nprint(app.word, os.environ['MODE'], sys.argv)\n")
        .expect("a file");
    day
}

#[test]
fn a_command_runs_with_what_the_lock_says_and_what_it_ends_with() {
    let day = day();
    let python = day.python();
    let run = |command: &[&str]| day.test.run(&[&["run", "--python", &python], command].concat());
    let first = run(&["show.py", "--loud", "-q"]).expect(0);
    assert_eq!(first.stdout, "1.0 fast ['show.py', '--loud', '-q']\n");
    assert!(first.stderr.contains("applied: 2 packages as locked"), "{first:?}");
    assert!(first.stderr.contains(&format!("of {python} (")), "it says where: {first:?}");
    // The second time nothing is looked at but the record.
    let requests = day.server.requests().len();
    let again = run(&["show.py"]).expect(0);
    assert_eq!((again.stdout.as_str(), again.stderr.as_str()), ("1.0 fast ['show.py']\n", ""));
    let shell = run(&["--", "sh", "-c", "echo $MODE; command -v python; exit 7"]).expect(7);
    assert_eq!(shell.stdout, format!("fast\n{python}\n"));
    assert_eq!(day.server.requests().len(), requests);
    run(&["no-such-command"]).expect(2).says("there is no command `no-such-command`");
    // What another tool has changed, and what the profile asks for since, is applied first.
    day.pip(&["install", "app==2.0"]);
    assert_eq!(run(&["show.py"]).expect(0).stdout, first.stdout.replace(", '--loud', '-q'", ""));
    day.profile("profile", &["app >=2"], "");
    let newer = run(&["python", "-c", "import app; print(app.word)"]).expect(0);
    assert_eq!(newer.stdout, "2.0\n");
    // Where that is impossible, nothing runs.
    day.profile("profile", &["app >=9"], "");
    assert_eq!(run(&["python", "-c", "print(1)"]).expect(1).stdout, "");
}

#[test]
fn an_environment_that_was_made_anew_is_applied_again() {
    let day = day();
    let python = day.python();
    let run = || day.test.run(&["run", "--python", &python, "show.py"]).expect(0);
    run();
    std::fs::remove_dir_all(day.prefix()).expect("removed");
    let fresh = crate::support::python::Venv::new(&day.test, &[]);
    assert_eq!(fresh.python, day.venv.python);
    assert!(run().stderr.contains("applied: 2 packages as locked"));
}
