//! `init --from`: what files of other tools, scripts, notebooks and environments ask for becomes a profile that
//! resolves, and what does not is said line by line.

use crate::stories::Day;

fn day() -> Day {
    Day::new(&[("app", "1.0", &["lib>=1"]), ("app", "2.0", &["lib>=1"]), ("lib", "1.0", &[]), ("lib", "2.0", &[])])
}

/// The lines of the profile that is made of the file `name` with this text, from its first table of packages on.
fn packages(day: &Day, name: &str, text: &str) -> String {
    std::fs::write(day.test.path(name), text).expect("a file");
    let said = day.test.run(&["init", "-", "--from", name]).expect(0);
    let at = said.stdout.find("[packages]").or_else(|| said.stdout.find("[constraints]")).expect("packages");
    said.stdout[at..].to_owned()
}

#[test]
fn files_of_other_tools_become_profiles_that_resolve() {
    let day = day();
    let script = "# /// script\n# requires-python = '>=3.8'\n# dependencies = ['app<2']\n# ///\nprint()\n";
    let cell = serde_json::json!({ "cell_type": "code", "metadata": {}, "source": script });
    let notebook = serde_json::json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4 });
    let cases = [
        ("requirements.txt", "app<2  # old\n", "app = \"<2\"\n"),
        ("more.txt", "-r requirements.txt\n-c limits.txt\n", "app = \"<2\"\n\n[constraints]\nlib = \"<2\"\n"),
        (
            "pyproject.toml",
            "[project]\nname = 'x'\nversion = '1'\ndependencies = ['app[fast] >=1,<2']\n",
            "app = { version = \">=1,<2\", extras = [\"fast\"] }\n",
        ),
        ("environment.yml", "dependencies:\n  - pip\n  - pip:\n    - app==1.0\n", "app = \"==1.0\"\n"),
        (
            "pixi.toml",
            "[workspace]\nname = 'x'\n[pypi-dependencies]\napp = { version = '>=1,<2', extras = ['fast'] }\nlib = '*'\n",
            "app = { version = \">=1,<2\", extras = [\"fast\"] }\nlib = \"*\"\n",
        ),
        (
            "markers.txt",
            "app; python_version >= '3'\nlib; sys_platform == 'win32'\n",
            "app = { version = \"*\", marker = \"python_version >= '3'\" }\n\
             lib = { version = \"*\", marker = \"sys_platform == 'win32'\" }\n",
        ),
        ("script.py", script, "app = \"<2\"\n"),
        ("notes.ipynb", &notebook.to_string(), "app = \"<2\"\n"),
    ];
    std::fs::write(day.test.path("limits.txt"), "lib<2\n").expect("a file");
    let project = "print()\n# /// script\n# dependencies = ['app[x]', 'lib']\n# [tool.uv.sources]\n# app = { path = '../app' }\n# ///\n";
    assert_eq!(
        packages(&day, "sources.py", project),
        "[packages]\napp = { path = \"../app\", extras = [\"x\"] }\nlib = \"*\"\n"
    );
    // What can't be taken over is named: digests, variables, files that are not there.
    let digest = "0".repeat(64);
    let odd = format!("app==1.0 --hash=sha256:{digest}\nlib==${{LIB}} --hash=sha256:{digest}\n");
    std::fs::write(day.test.path("odd.txt"), odd).expect("a file");
    let said = day.test.run(&["init", "-", "--from", "odd.txt"]).expect(0).says("the digests");
    said.says("${LIB}");
    let cells = |lines: &str| {
        let cell = serde_json::json!({ "cell_type": "code", "metadata": {}, "source": lines });
        serde_json::json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4 }).to_string()
    };
    let text = cells("!pip install app==2.0 -r gone.txt\n!pip install app==1.0 {EXTRA}\n");
    assert_eq!(packages(&day, "twice.ipynb", &text), "[packages]\napp = \"==1.0\"\n");
    let said = day.test.run(&["init", "-", "--from", "twice.ipynb"]).expect(0).says("gone.txt");
    said.says("{EXTRA}");
    for (name, text, expected) in cases {
        assert_eq!(packages(&day, name, text), format!("[packages]\n{expected}"), "{name}");
        let profile = format!("{name}.profile.toml");
        let said = day.run(&["init", &profile, "--from", name]).expect(0);
        assert!(said.stdout.contains("plan: ") && said.stderr.contains("wrote "), "{name}: {said:?}");
        day.run(&["lock", &profile]).expect(0);
    }
    // What the user has written stays.
    assert!(day.test.run(&["init", "script.py", "--from", "more.txt"]).expect(2).stderr.contains("exists already"));
    assert_eq!(day.read("script.py"), script);
}

#[test]
fn a_password_in_an_address_stays_where_it_is() {
    let day = day();
    let secret = "app @ https://ada:Sesame-9xQ@x.example/app-1.0-py3-none-any.whl\nlib\n";
    let project = "[project]\nname = 'x'\nversion = '1'\ndependencies = ['app', 'lib']\n[tool.uv.sources]\n\
                   app = { index = 'own' }\nlib = { git = 'https://ada:Sesame-9xQ@x.example/lib.git' }\n\
                   [[tool.uv.index]]\nname = 'own'\nurl = 'https://ada:Sesame-9xQ@x.example/simple'\nexplicit = true\n";
    for (name, text) in [("secret.txt", secret), ("secret.toml", project)] {
        std::fs::write(day.test.path(name), text).expect("a file");
        let said = day.test.run(&["init", "-", "--from", name]);
        let all = said.stdout + &said.stderr;
        assert!(all.contains("x.example") && !all.contains("Sesame"), "{name}: {all}");
    }
}

#[test]
fn what_is_not_taken_over_is_said_and_an_environment_becomes_what_nothing_else_there_needs() {
    let day = day();
    let lines = "app==1.0+cu128\n-e ./mine\nx @ https://example.com/x-1.0.tar.gz\n--trusted-host x.example\n";
    std::fs::write(day.test.path("r.txt"), lines).expect("a file");
    let said = day.run(&["init", "p.toml", "--from", "r.txt"]).expect(0);
    assert!(said.stderr.contains("warning[import-incomplete]: 4 lines not taken over"), "{said:?}");
    let text = day.read("p.toml");
    assert_eq!(text.lines().filter(|line| line.starts_with("# not taken over: r.txt: ")).count(), 4, "{text}");
    day.run(&["apply", "p.toml"]).expect(0);
    let prefix = day.prefix().display().to_string();
    let said = day.test.run(&["init", "-", "--from", &prefix]).expect(0);
    assert!(said.stdout.ends_with("[packages]\napp = \"==1.0\"\n"), "{said:?}");
    assert_eq!(day.run(&["init", "-"]).expect(0).stdout, said.stdout, "--python alone");
    // A package of that name on an index is another one.
    let info = day.venv.layout().join("lib_two-1.0.dist-info");
    std::fs::create_dir(&info).expect("a folder");
    std::fs::write(info.join("METADATA"), "Metadata-Version: 2.1\nName: lib-two\nVersion: 1.0\n").expect("a file");
    let from = "{\"url\": \"file:///srv/lib%20two\", \"dir_info\": {\"editable\": true}}";
    std::fs::write(info.join("direct_url.json"), from).expect("a file");
    let said = day.test.run(&["init", "-", "--from", &prefix]).expect(0);
    assert!(said.stdout.ends_with("lib-two = { path = \"/srv/lib two\", editable = true }\n"), "{said:?}");
    let refused = day.test.run(&["init", "q.toml", "--from", "nowhere.txt"]).expect(2);
    assert!(refused.stderr.contains("nowhere.txt") && !day.test.path("q.toml").exists(), "{refused:?}");
    let found = day.test.run(&["init"]).expect(0);
    assert!(!found.stderr.contains("--from"), "{found:?}");
}

/// Bounds, variables and days that files of other tools have are in the profile, too, and what else chooses is said.
#[test]
fn settings_of_other_tools_are_taken_over_or_said() {
    let day = day();
    let project = "[project]\nname = 'x'\ndynamic = ['dependencies']\ndependencies = ['app']\n\
                   [tool.uv]\nconstraint-dependencies = ['lib<2']\noverride-dependencies = ['app==1.0']\n\
                   exclude-newer = '2026-11-01T00:00:00Z'\nprerelease = 'allow'\nresolution = 'lowest'\n\
                   package = false\n[tool.poetry.dependencies]\nold = '1'\n";
    std::fs::write(day.test.path("pyproject.toml"), project).expect("a file");
    let made = day.run(&["init", "-", "--from", "pyproject.toml"]).expect(0);
    let tables = "[packages]\napp = \"*\"\n\n[constraints]\nlib = \"<2\"\n\n[overrides]\napp = \"==1.0\"\n\n\
                  [policy]\nprereleases = \"allow\"\nas-of = 2026-11-01T00:00:00Z\n";
    assert!(made.stdout.ends_with(tables), "{}", made.stdout);
    for line in ["dynamic = [\"dependencies\"]", "[tool.uv] resolution", "[tool.poetry] dependencies", "3 lines not"] {
        assert!(made.stderr.contains(line), "{line}: {}", made.stderr);
    }
    let conda = "name: x\nchannels: [conda-forge, ours]\ndependencies:\n  - pip:\n    - app\n\
                 variables:\n  WANDB_MODE: offline\n  LEVEL: 3\n  LD_PRELOAD: x.so\n  HF_TOKEN: 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\n";
    std::fs::write(day.test.path("environment.yml"), conda).expect("a file");
    let made = day.run(&["init", "e.toml", "--from", "environment.yml"]).expect(0);
    assert!(
        day.read("e.toml").ends_with("\n[env]\nLEVEL = \"3\"\nWANDB_MODE = \"offline\"\n"),
        "{}",
        day.read("e.toml")
    );
    for line in ["the channel ours", "the variable LD_PRELOAD", "the variable HF_TOKEN: its value looks like a secret"]
    {
        assert!(made.stderr.contains(line), "{line}: {}", made.stderr);
    }
    assert!(!day.read("e.toml").contains("hf_K"));
    std::fs::write(day.test.path("r.txt"), "--no-binary lib\napp --config-settings=x=y\n").expect("a file");
    let said = day.run(&["init", "-", "--from", "r.txt"]).expect(0).stderr;
    assert!(
        said.contains("--no-binary lib: `build` in `[policy]`") && said.contains("--config-settings=x=y"),
        "{said}"
    );
    let cell = "%pip install --no-deps app\n%pip install --no-binary :all: lib\n";
    let cell = serde_json::json!({ "cell_type": "code", "metadata": {}, "source": cell });
    let notebook = serde_json::json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4 });
    std::fs::write(day.test.path("n.ipynb"), notebook.to_string()).expect("a file");
    let said = day.run(&["init", "-", "--from", "n.ipynb"]).expect(0).stderr;
    assert!(
        said.contains("`--no-deps` of app: what they require") && said.contains("cell 1: pip install --no-binary"),
        "{said}"
    );
}

/// Where a tool takes a package from elsewhere, the index is not asked for that name.
#[test]
fn places_of_other_tools_are_taken_over_or_said() {
    let day = day();
    let head = "[project]\nname = 'x'\ndependencies = ['app', 'lib']\n";
    let sources = "[tool.uv.sources]\napp = [{ index = 'mac', marker = \"sys_platform == 'darwin'\" }, \
                   { index = 'lin', marker = \"sys_platform == 'linux'\" }]\nlib = { workspace = true }\n\
                   [[tool.uv.index]]\nname = 'mac'\nurl = 'https://x.example/mac'\n\
                   [[tool.uv.index]]\nname = 'lin'\nurl = 'https://x.example/lin'\n\
                   [build-system]\nrequires = []\n[tool.uv]\noverride-dependencies = [\"none; sys_platform == 'never'\"]\n";
    std::fs::write(day.test.path("pyproject.toml"), format!("{head}{sources}")).expect("a file");
    let made = day.run(&["init", "-", "--from", "pyproject.toml"]).expect(0);
    assert!(made.stdout.contains("url = \"https://x.example/lin\"\npackages = [\"app\"]"), "{}", made.stdout);
    assert!(!made.stdout.contains("packages = [\"app\"]\n\n[[index]]\nname = \"mac\""), "{}", made.stdout);
    for line in [
        "the project x itself: `colab-boot add -e .`",
        "lib = { workspace = true }: a project of the workspace",
        "override-dependencies: \"none; sys_platform",
    ] {
        assert!(made.stderr.contains(line), "{line}: {}", made.stderr);
    }
    let poetry = "[tool.poetry.dependencies]\nlib = { path = 'own', develop = true }\n";
    std::fs::write(day.test.path("pyproject.toml"), format!("{head}{poetry}")).expect("a file");
    let made = day.run(&["init", "-", "--from", "pyproject.toml"]).expect(0);
    assert!(made.stdout.contains("lib = { path = \"./own\", editable = true }"), "{}", made.stdout);
    std::fs::write(day.test.path("limits.txt"), "lib<2\n").expect("a file");
    let cell = "!pip3.12 install app -c limits.txt\n!uv add lib\n!conda env update -f env.yml\n";
    let cell = serde_json::json!({ "cell_type": "code", "metadata": {}, "source": cell });
    let notebook = serde_json::json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4 });
    std::fs::write(day.test.path("n.ipynb"), notebook.to_string()).expect("a file");
    let made = day.run(&["init", "-", "--from", "n.ipynb"]).expect(0);
    assert!(made.stdout.ends_with("app = \"*\"\n\n[constraints]\nlib = \"<2\"\n"), "{}", made.stdout);
    assert!(made.stderr.contains("uv add lib") && made.stderr.contains("conda env update"), "{}", made.stderr);
    let lines = "-i https://x.example/simple\n--find-links w\n--no-binary app\napp\nlib @ file:///srv/lib-1.0-py3-none-any.whl#sha256=00\n";
    std::fs::write(day.test.path("r.txt"), lines).expect("a file");
    let made = day.run(&["init", "-", "--from", "r.txt"]).expect(0);
    assert!(made.stdout.contains("lib = { path = \"/srv/lib-1.0-py3-none-any.whl\" }"), "{}", made.stdout);
    for table in ["url = \"https://x.example/simple\"\ndefault = true\n", "name = \"wheels\"\npath = \"w\"\n"] {
        assert!(made.stdout.contains(table), "{table}: {}", made.stdout);
    }
    assert!(made.stderr.contains("--no-binary app: `build` in `[policy]`"), "{}", made.stderr);
    std::fs::write(day.test.path("setup.cfg"), "[metadata]\nclassifiers =\n    Topic :: X\n").expect("a file");
    day.run(&["init", "s.toml", "--from", "setup.cfg"]).expect(2).says("write what it installs to a requirements.txt");
}

#[test]
fn what_lies_there_is_offered_and_what_cannot_be_planned_is_still_written() {
    let day = day();
    day.run(&["plan"]).expect(2).says("`colab-boot init profile.toml` writes a starter profile");
    std::fs::write(day.test.path("requirements-dev.txt"), "app\nnone-such\n").expect("a file");
    let hint = "colab-boot init profile.toml --from requirements-dev.txt";
    day.run(&["plan"]).expect(2).says(hint);
    day.test.run(&["init"]).expect(0).says(hint);
    // The user has not edited the starter, so it may be replaced.
    let said = day.run(&["init", "--from", "requirements-dev.txt"]).expect(1);
    assert!(said.stderr.contains("wrote profile.toml with 2 packages"), "{said:?}");
    assert!(day.read("profile.toml").ends_with("[packages]\napp = \"*\"\nnone-such = \"*\"\n"));
    day.run(&["init", "--from", "requirements-dev.txt"]).expect(2).says("exists already");
    std::fs::write(day.test.path("empty.txt"), "# nothing\n").expect("a file");
    day.run(&["init", "e.toml", "--from", "empty.txt"]).expect(2).says("no package to take over");
    assert!(!day.test.path("e.toml").exists());
}

#[test]
fn packages_of_conda_and_sources_of_uv_are_taken_over_where_an_index_has_the_same() {
    let day = Day::new(&[("torch", "2.9.0", &[]), ("matplotlib", "3.10.0", &[]), ("app", "1.0", &[])]);
    let conda = "dependencies:\n  - pytorch::pytorch>=2.1\n  - matplotlib-base=3.10\n  - pytorch-cuda=12.1\n\
                 \x20 - libfoo=1\n  - pip:\n    - app\n";
    std::fs::write(day.test.path("environment.yml"), conda).expect("a file");
    let said = day.run(&["init", "p.toml", "--from", "environment.yml"]).expect(0);
    let text = day.read("p.toml");
    for line in ["torch = \">=2.1\"\n", "matplotlib = \"==3.10.*\"\n", "app = \"*\"\n"] {
        assert!(text.contains(line), "{text}");
    }
    assert!(
        said.stderr.contains("2 lines not taken over") && said.stderr.contains("libfoo=1 (conda): an index may have")
    );
    let project = "[project]\nname = 'x'\ndependencies = ['app', 'torch', 'mine']\n\
                   [tool.uv.sources]\ntorch = { index = 'cpu' }\nmine = { path = '../mine' }\n\
                   [[tool.uv.index]]\nname = 'cpu'\nurl = 'https://x.example/cpu'\nexplicit = true\n";
    std::fs::write(day.test.path("pyproject.toml"), project).expect("a file");
    let text = day.run(&["init", "-", "--from", "pyproject.toml"]).expect(0).stdout;
    // The profile may stand behind what it is made from, as people write it.
    day.run(&["init", "--from", "environment.yml", "q.toml"]).expect(0);
    assert_eq!(
        day.read("q.toml").split_once("version").expect("lines").1,
        day.read("p.toml").split_once("version").expect("lines").1
    );
    let index = "[[index]]\nname = \"cpu\"\nurl = \"https://x.example/cpu\"\npackages = [\"torch\"]\n";
    assert!(text.contains(index) && text.contains("\nmine = { path = \"../mine\" }\n"), "{text}");
}
