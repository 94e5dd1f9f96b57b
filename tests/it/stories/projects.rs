//! Packages of one's own: a project in the next folder, one in a repository, a wheel that somebody has sent.

use std::path::Path;
use std::process::Command;

use crate::stories::Day;
use crate::support::test::Outcome;

const BACKEND: &str = include_str!("backend.py");

/// An index with `lib` in two versions.
fn day() -> Day {
    Day::new(&[("lib", "1.0", &[]), ("lib", "2.0", &[])])
}

/// A project in the folder at `path` with one module of its name, which is `word`. Without a version it has that of
/// its repository.
fn project(path: &Path, name: &str, version: Option<&str>, word: &str) {
    std::fs::create_dir_all(path).expect("a folder");
    let version = version.map_or("dynamic = ['version', 'dependencies']\n".to_owned(), |version| {
        format!("version = '{version}'\ndependencies = ['lib<2']\n")
    });
    let text = format!(
        "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n\n[project]\nname = '{name}'\n\
         {version}# needs lib<2\n"
    );
    for (file, text) in [
        ("pyproject.toml", text),
        ("backend.py", BACKEND.to_owned()),
        (&format!("{name}.py"), format!("word = '{word}'\n")),
    ] {
        std::fs::write(path.join(file), text).expect(file);
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]);
    git.args(arguments).current_dir(folder);
    let said = Outcome::of(git);
    assert_eq!(said.code, 0, "{said:?}");
    said.stdout.trim().to_owned()
}

/// A wheel of the project in `mine`, in the user's folder.
fn sent(day: &Day, word: &str) {
    let folder = day.test.path("mine");
    project(&folder, "mine", Some("1.0"), word);
    let (folder, here) = (folder.display().to_string(), day.test.path("").display().to_string());
    day.pip(&["wheel", "--no-deps", "--wheel-dir", &here, &folder]);
}

fn word(day: &Day, module: &str) -> String {
    let mut python = Command::new(&day.venv.python);
    python.args(["-c", &format!("import {module}; print({module}.word)")]);
    Outcome::of(python).stdout.trim().to_owned()
}

#[test]
fn a_project_in_the_next_folder_is_built_and_built_again_when_it_changes() {
    let day = day();
    let folder = day.test.path("mine");
    project(&folder, "mine", Some("1.0"), "one");
    day.profile("profile", &[], "");
    let text = day.read("profile.toml") + "mine = { path = 'mine' }\n";
    std::fs::write(day.test.path("profile.toml"), &text).expect("a profile");
    day.run(&["plan"]).expect(0).says("install   mine 1.0");
    day.run(&["apply"]).expect(0).says("applied: 2 packages as locked");
    assert_eq!((word(&day, "mine"), word(&day, "lib")), ("one".to_owned(), "1.0".to_owned()));
    assert!(day.read("profile.lock").contains("from = \"mine\""));
    // What tools leave behind is no change, nor is a profile within the project.
    std::fs::create_dir_all(folder.join("__pycache__")).expect("a folder");
    std::fs::write(folder.join("__pycache__/x.pyc"), "x").expect("a file");
    day.run(&["apply", "--offline", "--locked"]).expect(0).says("ready: 2 packages as locked");
    day.run(&["verify"]).expect(0);
    // An edit is one, for every verb.
    std::fs::write(folder.join("mine.py"), "word = 'two'\n").expect("a file");
    day.run(&["apply", "--locked"]).expect(1).says("`mine` has changed since");
    day.run(&["lock", "--check"]).expect(1);
    day.run(&["apply"]).expect(0);
    assert_eq!(word(&day, "mine"), "two");
    day.run(&["apply", "--locked"]).expect(0).says("ready: 2 packages as locked");
    // Other tools and cells can't have it.
    for export in ["requirements", "pylock", "script"] {
        day.test.run(&["export", export]).expect(1).says("export-own-source");
    }
    let constraints = day.test.run(&["export", "constraints"]).expect(0).stdout;
    assert!(constraints.ends_with("# left out, no index has it: mine 1.0 from mine\n"), "{constraints}");
    day.test.run(&["export", "notebook"]).expect(1).says("`mine` comes from `mine`, which a cell can't include");
    std::fs::rename(&folder, day.test.path("moved")).expect("moved");
    day.run(&["plan"]).expect(2).says("there is no folder");
    std::fs::rename(day.test.path("moved"), &folder).expect("back");
    day.run(&["restore"]).expect(0);
    assert_eq!(word(&day, "mine"), "");
}

/// An apply that was stopped in a build has installed nothing of it, whatever the next one finds there.
#[test]
#[ignore = "whole"]
fn a_build_that_was_stopped_is_made_by_the_next_apply() {
    let mut day = day();
    let folder = day.test.path("mine");
    project(&folder, "mine", Some("1.0"), "one");
    day.profile("profile", &[], "");
    let text = day.read("profile.toml") + "mine = { path = 'mine' }\n";
    std::fs::write(day.test.path("profile.toml"), &text).expect("a profile");
    day.run(&["apply"]).expect(0);
    project(&folder, "mine", Some("1.0"), "two");
    let note = day.test.path("building");
    day.test.environment.insert("BUILD".to_owned(), note.display().to_string());
    let python = day.python();
    let mut apply = day.test.command(&["apply", "--python", &python]).spawn().expect("it starts");
    while !note.exists() {
        assert!(apply.try_wait().expect("a child").is_none(), "it ended before the build");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let mut kill = Command::new("kill");
    kill.args(["-INT", &apply.id().to_string()]);
    assert_eq!((Outcome::of(kill).code, apply.wait().expect("an end").code()), (0, Some(130)));
    assert_eq!(word(&day, "mine"), "one");
    day.test.environment.remove("BUILD");
    day.run(&["apply"]).expect(0);
    assert_eq!(word(&day, "mine"), "two");
    day.run(&["apply"]).expect(0).says("ready: ");
}

/// A project with a submodule, and one that is editable and says what it needs in a file that its build reads.
#[test]
#[ignore = "whole"]
fn submodules_and_requirements_in_files_count() {
    let day = day();
    let (folder, module) = (day.test.path("mine"), day.test.path("module"));
    project(&module, "part", Some("1.0"), "part one");
    project(&folder, "mine", None, "one");
    for one in [&module, &folder] {
        git(one, &["init", "--quiet"]);
        git(one, &["add", "."]);
        git(one, &["commit", "--quiet", "--message", "one"]);
        git(one, &["tag", "1.0"]);
    }
    let place = module.display().to_string();
    git(&folder, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &place, "part"]);
    // A link that leads up is a link.
    std::os::unix::fs::symlink(".", folder.join("latest")).expect("a link");
    git(&folder, &["add", "latest"]);
    day.profile("profile", &[], "");
    let text = day.read("profile.toml");
    std::fs::write(day.test.path("profile.toml"), format!("{text}mine = {{ path = 'mine', editable = true }}\n"))
        .expect("a profile");
    // What it needs, its build alone knows.
    day.run(&["apply"]).expect(0).says("applied: 2 packages as locked");
    assert_eq!(word(&day, "lib"), "1.0");
    day.run(&["why", "lib", "profile.toml"]).expect(0).says("mine");
    std::fs::write(day.test.path("profile.toml"), format!("{text}mine = {{ path = 'mine' }}\n")).expect("a profile");
    day.run(&["apply"]).expect(0);
    day.run(&["apply", "--locked"]).expect(0).says("ready: 2 packages as locked");
    std::fs::write(folder.join("part/part.py"), "word = 'part two'\n").expect("a file");
    day.run(&["apply", "--locked"]).expect(1).says("`mine` has changed since");
    day.run(&["add", "mine @ ./mine"]).expect(0);
    day.run(&["add", "-e", "mine"]).expect(0);
}

#[test]
fn an_editable_project_is_its_folder() {
    let day = day();
    let folder = day.test.path("mine");
    project(&folder, "mine", Some("1.0"), "one");
    day.profile("profile", &[], "");
    day.run(&["add", "-e", "gone"]).expect(2).says("there is no `gone`");
    day.run(&["add", "-e", "mine"]).expect(0);
    assert!(day.read("profile.toml").contains("mine = { path = \"mine\", editable = true }"));
    day.run(&["apply"]).expect(0).says("applied: 2 packages as locked");
    std::fs::write(folder.join("mine.py"), "word = 'two'\n").expect("a file");
    assert_eq!(word(&day, "mine"), "two");
    day.run(&["apply", "--locked"]).expect(0).says("ready: 2 packages as locked");
    day.run(&["verify"]).expect(0);
    // How it is built is no edit of its code.
    project(&folder, "mine", Some("1.1"), "three");
    day.run(&["apply", "--locked"]).expect(1).says("has changed since");
    day.run(&["apply"]).expect(0);
    day.run(&["status"]).expect(0);
    assert!(day.prefix().join("bin").is_dir() && word(&day, "mine") == "three");
    // By hand, with pip.
    let script = day.run(&["plan", "--script", "-"]).expect(0).stdout;
    assert!(script.contains("nothing to do") || !script.contains("mine=@"), "{script}");
    day.run(&["restore"]).expect(0);
    let script = day.run(&["plan", "--script", "-"]).expect(0).stdout;
    std::fs::write(day.test.path("by-hand.sh"), &script).expect("a script");
    let mut bash = Command::new("bash");
    bash.arg(day.test.path("by-hand.sh")).env("PIP_INDEX_URL", &day.server.url).env("PIP_NO_BUILD_ISOLATION", "1");
    let said = Outcome::of(bash);
    assert_eq!((said.code, word(&day, "mine")), (0, "three".to_owned()), "{said:?}");
}

/// Other tools see where it is from, and what they put in its place is seen.
#[test]
#[ignore = "whole"]
fn another_build_of_its_version_is_not_the_locked_one() {
    for value in ["{ path = 'mine' }", "{ path = 'mine', editable = true }"] {
        let day = day();
        let folder = day.test.path("mine");
        project(&folder, "mine", Some("1.0"), "one");
        day.profile("p", &[], "");
        let text = day.read("p.toml") + &format!("mine = {value}\n");
        std::fs::write(day.test.path("p.toml"), text).expect("a profile");
        day.run(&["apply", "p.toml"]).expect(0);
        day.run(&["verify", "p.toml"]).expect(0);
        let info = day.venv.layout().join("mine-1.0.dist-info/direct_url.json");
        let said = std::fs::read_to_string(info).expect("direct_url.json");
        assert!(said.contains(&format!("\"url\":\"file://{}\"", folder.display())), "{said}");
        day.run(&["init", "again.toml", "--from", "venv"]).expect(0);
        assert!(day.read("again.toml").contains("mine = { path = "), "{}", day.read("again.toml"));
        // The same version with other code, which pip builds.
        std::fs::write(folder.join("mine.py"), "word = 'two'\n").expect("a file");
        day.pip(&["install", "--no-deps", "--no-build-isolation", "--force-reinstall", &folder.display().to_string()]);
        std::fs::write(folder.join("mine.py"), "word = 'one'\n").expect("a file");
        assert_eq!(word(&day, "mine"), "two");
        let said = day.run(&["verify", "p.toml"]).expect(1);
        assert!(said.stderr.contains("mine 1.0 is not the one that is locked"), "{value}: {said:?}");
        day.run(&["plan", "p.toml"]).expect(0).says("replace");
        day.run(&["apply", "p.toml"]).expect(0).says("applied: ");
        assert_eq!(word(&day, "mine"), "one");
        day.run(&["verify", "p.toml"]).expect(0);
    }
}

/// A wheel of a folder that alone has `lib`, and the one of that version on the index.
#[test]
fn a_package_of_the_same_version_from_another_index_is_not_the_locked_one() {
    let day = day();
    std::fs::create_dir(day.test.path("own")).expect("a folder");
    crate::support::python::wheel(&day.test.path("own"), ("lib", "1.0"), "private");
    let own = "[[index]]\nname = 'own'\npath = 'own'\npackages = ['lib']\n";
    day.profile("p", &["lib"], own);
    day.run(&["lock", "p.toml"]).expect(0);
    for _ in 0..2 {
        day.pip(&["install", "--force-reinstall", "lib==1.0"]);
        assert_eq!(word(&day, "lib"), "1.0");
        day.run(&["verify", "p.toml"]).expect(1).says("lib 1.0");
        day.run(&["apply", "p.toml", "--locked"]).expect(0).says("applied: 1 package as locked");
        assert_eq!(word(&day, "lib"), "private");
        day.run(&["verify", "p.toml"]).expect(0);
    }
    // Of the index that all others come from, the version is enough.
    day.profile("q", &["lib <2"], "");
    day.run(&["restore"]).expect(0);
    day.run(&["apply", "q.toml"]).expect(0).says("ready: 1 package as locked");
}

#[test]
fn a_project_that_is_another_one_or_none_is_refused() {
    let day = day();
    project(&day.test.path("mine"), "mine", Some("1.0"), "one");
    std::fs::create_dir(day.test.path("empty")).expect("a folder");
    for (value, code, words) in [
        ("other = { path = 'mine' }", 2, "the project in `"),
        ("mine = { path = 'empty' }", 2, "is not a Python project"),
        ("mine = { path = 'mine', version = '>=2' }", 1, "mine"),
        ("mine = { path = 'mine', git = 'https://x.example/y' }", 2, "`path` or `git`, not both"),
        ("mine = { rev = 'main' }", 2, "`rev` needs `git`"),
        ("mine = { git = 'ext::sh -c x' }", 2, "write https://HOST/PATH"),
        ("mine = { git = 'https://a:b@x.example/y' }", 2, "leave out the user"),
        ("mine = { git = 'https://x.example/y', rev = '--upload-pack=x' }", 2, "a branch or a tag"),
        ("mine = { git = 'https://x.example/y', subdirectory = '../z' }", 2, "within the repository"),
        ("mine = { path = 'gone-1.0-py3-none-any.whl' }", 2, "could not read `"),
    ] {
        day.profile("profile", &[], "");
        let text = day.read("profile.toml") + value + "\n";
        std::fs::write(day.test.path("profile.toml"), text).expect("a profile");
        let said = day.run(&["lock"]).expect(code);
        assert!(said.stderr.contains(words), "{value}: {said:?}");
        assert!(!day.test.path("profile.lock").exists(), "{value}");
    }
}

#[test]
fn a_repository_stays_at_its_commit_until_it_is_upgraded() {
    let mut day = day();
    let folder = day.test.path("theirs");
    project(&folder, "theirs", None, "one");
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "one"]);
    git(&folder, &["tag", "1.5"]);
    day.profile("profile", &[], "");
    let text = day.read("profile.toml") + "theirs = { git = './theirs', rev = 'main' }\n";
    std::fs::write(day.test.path("profile.toml"), &text).expect("a profile");
    day.run(&["apply"]).expect(0).says("applied: 2 packages as locked");
    let (commit, lock) = (git(&folder, &["rev-parse", "HEAD"]), day.read("profile.lock"));
    assert!(lock.contains(&format!("from = \"git+./theirs@main\", commit = \"{commit}\"")), "{lock}");
    assert!(lock.contains("theirs-1.5.tar.gz"), "{lock}");
    // Somebody commits: what is locked stays, on another machine, too.
    std::fs::write(folder.join("theirs.py"), "word = 'two'\n").expect("a file");
    git(&folder, &["commit", "--quiet", "--all", "--message", "two"]);
    git(&folder, &["tag", "1.6"]);
    day.test.environment.insert("COLAB_BOOT_CACHE_DIR".to_owned(), day.test.path("other-cache").display().to_string());
    std::fs::remove_dir_all(day.prefix()).expect("removed");
    crate::support::python::Venv::new(&day.test, &[]);
    day.run(&["apply", "--locked"]).expect(0).says("applied: 2 packages as locked");
    day.run(&["lock"]).expect(0);
    assert_eq!((word(&day, "theirs"), day.read("profile.lock")), ("one".to_owned(), lock));
    // What is in the cache needs no repository.
    std::fs::rename(&folder, day.test.path("moved")).expect("moved");
    std::fs::remove_dir_all(day.prefix()).expect("removed");
    crate::support::python::Venv::new(&day.test, &[]);
    day.run(&["apply", "--locked", "--offline"]).expect(0).says("applied: 2 packages as locked");
    std::fs::rename(day.test.path("moved"), &folder).expect("back");
    day.run(&["upgrade", "theirs"]).expect(0).says("theirs moves from 1.5 to 1.6");
    day.run(&["apply"]).expect(0);
    assert_eq!(word(&day, "theirs"), "two");
    std::fs::write(day.test.path("profile.toml"), text.replace("'main'", "'nowhere'")).expect("a profile");
    day.run(&["lock"]).expect(1).says("has no branch, tag or commit `nowhere`");
}

#[test]
fn a_wheel_that_lies_there_is_installed_as_it_is() {
    let day = day();
    sent(&day, "one");
    let wheel = day.test.path("mine-1.0-py3-none-any.whl");
    for value in [
        "mine = { path = 'mine-1.0-py3-none-any.whl' }\n".to_owned(),
        format!("mine = {{ url = 'file://{}' }}\n", wheel.display()),
    ] {
        day.profile("profile", &[], "");
        let text = day.read("profile.toml") + &value;
        std::fs::write(day.test.path("profile.toml"), text).expect("a profile");
        day.run(&["apply"]).expect(0);
        assert_eq!(word(&day, "mine"), "one");
        day.run(&["apply", "--locked"]).expect(0).says("ready: 2 packages as locked");
    }
    // Somebody sends another one.
    sent(&day, "two");
    day.run(&["apply", "--locked"]).expect(1).says("has changed since");
    day.run(&["apply"]).expect(0);
    assert_eq!(word(&day, "mine"), "two");
}
