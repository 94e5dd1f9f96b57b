//! `export`: what is written for other tools is installed by these tools, and a wrong digest is refused by each.

use std::path::Path;
use std::process::{Command, Output};

use crate::stories::Day;
use crate::support::python::{Venv, kept, uv};

fn day() -> Day {
    let day =
        Day::new(&[("app", "1.0", &["lib>=1"]), ("app", "2.0", &["lib>=1"]), ("lib", "0.9", &[]), ("lib", "1.0", &[])]);
    day.profile("profile", &["app <2"], "[env]\nNOTE = 'a \"b\" $c'\n[apt]\npackages = ['libsndfile1']\n");
    day.run(&["lock"]).expect(0);
    day
}

fn run(program: &Path, arguments: &[&str], day: &Day) -> Output {
    let command = &mut Command::new(program);
    command.args(arguments).current_dir(day.test.path(".")).env("PIP_INDEX_URL", &day.server.url);
    command.env("UV_INDEX_URL", &day.server.url).env("UV_NO_CACHE", "1").env("PIP_NO_CACHE_DIR", "1");
    command.output().expect("a program")
}

/// Installs with `arguments` of `program` into a new environment, once as exported, once with a wrong digest in `file`.
fn installs(day: &Day, program: &Path, arguments: &[&str], file: &str) {
    let text = day.read(file);
    for is_right in [true, false] {
        std::fs::remove_dir_all(day.prefix()).expect("the environment before");
        let venv = Venv::new(&day.test, &[]);
        let python = venv.python.display().to_string();
        let arguments: Vec<&str> = arguments.iter().map(|one| if *one == "PYTHON" { &python } else { *one }).collect();
        if !is_right {
            let start =
                ["--hash=sha256:", "sha256 = \""].iter().find_map(|start| Some(text.rfind(start)? + start.len()));
            let at = start.expect("a digest");
            let wrong = format!("{}{}{}", &text[..at], "0".repeat(8), &text[at + 8..]);
            std::fs::write(day.test.path(file), wrong).expect("a file");
        }
        let said = run(program, &arguments, day);
        assert_eq!(said.status.success(), is_right, "{arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
        let runs = run(&venv.python, &["-c", "import app, lib"], day);
        assert_eq!(runs.status.success(), is_right, "{arguments:?}: {}", String::from_utf8_lossy(&runs.stderr));
    }
    std::fs::write(day.test.path(file), text).expect("a file");
}

#[test]
fn each_tool_installs_what_is_exported_for_it() {
    let day = day();
    for (format, file) in [("requirements", "requirements.txt"), ("pylock", "pylock.toml")] {
        day.test.run(&["export", format, "-o", file]).expect(0);
        day.test.run(&["export", format, "-o", file, "--check"]).expect(0);
    }
    let requirements = "requirements.txt";
    let pip = kept(&[]).expect("an environment").python;
    let arguments = ["-m", "pip", "--python", "PYTHON", "install", "--no-deps", "-r", requirements];
    installs(&day, &pip, &arguments, requirements);
    // Without the public index there is neither.
    let Some(uv) = uv().map(|folder| folder.join("uv")) else { return };
    installs(&day, &uv, &["pip", "install", "-r", requirements, "--python", "PYTHON"], requirements);
    installs(&day, &uv, &["pip", "install", "-r", "pylock.toml", "--python", "PYTHON"], "pylock.toml");
    let new = kept(&["pip>=26.1"]).expect("an environment").python;
    let arguments = ["-m", "pip", "--python", "PYTHON", "install", "--no-deps", "-r", "pylock.toml"];
    installs(&day, &new, &arguments, "pylock.toml");
    // The same from a folder, without any index.
    day.test.run(&["fetch", "--into", "house"]).expect(0);
    day.test.run(&["export", "pylock", "--wheelhouse", "house", "-o", "pylock.toml"]).expect(0);
    assert!(day.read("pylock.toml").contains("path = \"house/app-1.0"), "{}", day.read("pylock.toml"));
    installs(&day, &uv, &["pip", "install", "--no-index", "-r", "pylock.toml", "--python", "PYTHON"], "pylock.toml");
    // A script with the block; what its packages do not ask for is an override there, too.
    day.profile("odd", &["app <2"], "[overrides]\nlib = '<1'\n");
    day.run(&["lock", "odd.toml"]).expect(0);
    let block = day.test.run(&["export", "script", "odd.toml"]).expect(0).stdout;
    assert!(block.contains("# override-dependencies = [\"lib==0.9\"]"), "{block}");
    std::fs::write(day.test.path("odd.py"), block + "import app, lib\nprint('runs')\n").expect("a script");
    let said = run(&uv, &["run", "--python", &day.python(), "--no-project", "odd.py"], &day);
    assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), "runs", "{}", String::from_utf8_lossy(&said.stderr));
    day.test.run(&["export", "requirements", "--check"]).expect(2).says("name it with --output");
    let script = day.test.run(&["export", "script"]).expect(0).stdout + "import app, lib\nprint('runs')\n";
    std::fs::write(day.test.path("main.py"), script).expect("a script");
    let said = run(&uv, &["run", "--python", &day.python(), "--no-project", "main.py"], &day);
    assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), "runs", "{}", String::from_utf8_lossy(&said.stderr));
}

#[test]
fn a_container_has_the_steps_of_the_profile() {
    let day = day();
    day.test.run(&["export", "devcontainer", "--out", "site"]).expect(0);
    let text = day.read("site/.devcontainer/Dockerfile");
    let places =
        ["FROM python:3.", "apt-get install", "COPY requirements.txt", "-m pip install"].map(|step| text.find(step));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    assert!(text.contains("libsndfile1") && text.contains("ENV NOTE=\"a \\\"b\\\" \\$c\"\n"), "{text}");
    let settings = day.read("site/.devcontainer/devcontainer.json");
    let json: String = settings.lines().filter(|line| !line.starts_with("//")).collect();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["build"]["dockerfile"], "Dockerfile");
    // The step that installs does so.
    let step = text.lines().find_map(|line| line.strip_prefix("RUN python ")).expect("a step");
    let folder = day.test.path("site/.devcontainer").display().to_string();
    let step = step.replace("/opt/colab-boot", &folder);
    let said = run(&day.venv.python, &step.split(' ').collect::<Vec<_>>(), &day);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert_eq!(day.installed()["app"], "1.0");
}

#[test]
fn constraints_hold_what_is_installed_with_them() {
    let day = day();
    day.test.run(&["export", "constraints", "-o", "constraints.txt"]).expect(0);
    day.pip(&["install", "-c", &day.test.path("constraints.txt").display().to_string(), "app"]);
    assert_eq!(day.installed()["app"], "1.0");
    let of_image = day.test.run(&["export", "constraints", "--runtime", "colab-2026.07"]).expect(0).stdout;
    assert!(of_image.contains("\nnumpy==2.") && !of_image.contains('+'), "{of_image}");
    // What somebody else has written stays.
    std::fs::write(day.test.path("mine.txt"), "app\n").expect("a file");
    let said = day.test.run(&["export", "requirements", "-o", "mine.txt"]).expect(2);
    assert!(said.stderr.contains("`export` did not write it") && day.read("mine.txt") == "app\n", "{said:?}");
    let said = day.test.run(&["export", "requirements", "--target", "nowhere"]).expect(2);
    assert!(said.stderr.contains("no target `nowhere`") && said.stderr.contains("`machine`"), "{said:?}");
    day.profile("profile", &["app <2", "lib"], "");
    let said = day.test.run(&["export", "requirements"]).expect(1);
    assert!(said.stderr.contains("lock-stale"), "{said:?}");
}
