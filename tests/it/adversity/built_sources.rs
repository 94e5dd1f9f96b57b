//! Packages that are built from source: a build changes nothing of the environment, and what it has made is installed,
//! or refused, with everything else.

use std::path::Path;
use std::process::Command;

use crate::adversity::users_files::World;
use crate::support::python::uv;
use crate::support::said::Said as _;
use crate::support::test::Outcome;

const BACKEND: &str = include_str!("backend.py");

/// `demo` 2.0 is installed; `with.toml` has `demo` 1.0 and `made` 1.0, of which there is only a source archive.
fn world() -> World {
    world_with("")
}

/// The same, with more of `[policy]`.
fn world_with(policy: &str) -> World {
    let world = World::new("");
    let source = world.test.path("made-1.0");
    std::fs::create_dir(&source).expect("a folder");
    let project = "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n\
                   [project]\nname = 'made'\nversion = '1.0'\n";
    let info = "Metadata-Version: 2.2\nName: made\nVersion: 1.0\n";
    for (file, text) in [("backend.py", BACKEND), ("pyproject.toml", project), ("PKG-INFO", info)] {
        std::fs::write(source.join(file), text).expect("a file");
    }
    let mut tar = Command::new("tar");
    tar.args(["-czf", "house/made-1.0.tar.gz", "made-1.0"]).current_dir(world.test.path(""));
    assert!(tar.status().expect("tar starts").success());
    let profile = format!(
        "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='==1.0'\nmade='==1.0'\n\
         [policy]\nwheels-only=false\nbuild=['made']\n{policy}\n"
    );
    let builds = world.test.path("builds").display().to_string();
    let world = World { test: world.test.file("with.toml", &profile).set("BUILDS", builds), ..world };
    world.run(&["apply", "two.toml"]).expect(0);
    world
}

fn says(world: &World, program: &str) -> String {
    let command = Command::new(world.place(program));
    Outcome::of(command).stdout.trim().to_owned()
}

#[test]
fn what_is_built_is_installed_with_the_wheels_and_undone_with_them() {
    for installer in ["pip", "uv"] {
        let world = world();
        let before = world.tree();
        let world = if installer == "uv" {
            let Some(folder) = uv() else { return };
            std::fs::remove_dir_all(world.venv.layout().join("pip")).expect("pip");
            let path = format!("{}:{}", world.test.environment["PATH"], folder.display());
            World { test: world.test.set("PATH", path), ..world }
        } else {
            world
        };
        let said = world.run(&["apply", "with.toml"]).expect(0);
        assert!(said.concludes("applied: 2 packages as locked"), "{said:?}");
        assert_eq!(says(&world, "bin/made-tool"), "made");
        let name = std::fs::read_to_string(world.place("SITE/made-1.0.dist-info/INSTALLER")).expect("a name");
        assert_eq!(name.trim(), "colab-boot");
        assert!(world.place("SITE/made-1.0.dist-info/REQUESTED").exists());
        let python = world.venv.python.display().to_string();
        world.test.run(&["verify", "with.toml", "--python", &python]).expect(0);
        world.run(&["apply", "two.toml"]).expect(0);
        if installer == "pip" {
            assert_eq!(world.tree().keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_build_that_goes_wrong_changes_nothing() {
    let mut world = world();
    std::fs::write(world.place("SITE/mine.py"), "# mine\n").expect("a file");
    let before = world.tree();
    for (does, code, words) in [
        ("fails", 3, "the step `build made` of the install script failed"),
        ("other version", 3, "made 1.0"),
        ("overwrites", 3, "which no package owns"),
        ("pip", 3, "would write `pip"),
    ] {
        world.test.environment.insert("BUILD".to_owned(), does.to_owned());
        let said = world.run(&["apply", "with.toml"]).expect(code);
        assert!(said.stderr.contains(words), "{does}: {said:?}");
        assert!(said.stderr.contains("the Python packages are as before"), "{does}: {said:?}");
        let now = world.tree();
        let differs: Vec<_> = now.iter().filter(|(path, text)| before.get(*path) != Some(*text)).collect();
        assert!(differs.is_empty() && now.len() == before.len(), "{does}: {differs:?}");
    }
}

/// How many builds there were.
fn builds(world: &World) -> usize {
    std::fs::read_to_string(world.test.path("builds")).map_or(0, |text| text.lines().count())
}

#[test]
fn a_build_that_looks_for_an_installed_package_finds_the_one_that_comes() {
    // At first alone, where it fails; or at once.
    for (policy, count) in [("", 2), ("no-build-isolation=['made']", 1)] {
        let mut world = world_with(policy);
        world.test.environment.insert("BUILD".to_owned(), "looks".to_owned());
        world.run(&["apply", "with.toml"]).expect(0);
        assert_eq!(says(&world, "bin/made-tool"), "made with 1.0 True", "{policy}");
        assert_eq!(builds(&world), count, "{policy}");
    }
}

#[test]
#[ignore = "whole"]
fn what_was_built_is_found_again_on_another_machine() {
    let world = world_with("built-wheels='drive/wheels'");
    world.run(&["apply", "with.toml"]).expect(0);
    world.run(&["apply", "two.toml"]).expect(0);
    world.run(&["apply", "with.toml"]).expect(0);
    assert_eq!(builds(&world), 1);
    let kept = world.test.path("drive/wheels");
    let only = |folder: &Path| {
        let all: Vec<_> = std::fs::read_dir(folder).expect("a folder").flatten().map(|one| one.path()).collect();
        assert_eq!(all.len(), 1, "nothing half done: {all:?}");
        all[0].clone()
    };
    let key = only(&only(&kept));
    // Another machine: nothing but the folder is the same.
    let mut other = world_with(&format!("built-wheels='{}'", kept.display()));
    let archive = "house/made-1.0.tar.gz";
    std::fs::copy(world.test.path(archive), other.test.path(archive)).expect("a source");
    other.run(&["apply", "with.toml"]).expect(0);
    assert_eq!((builds(&other), says(&other, "bin/made-tool").as_str()), (0, "made"));
    // Somebody has written into it.
    std::fs::write(key.join("made-1.0-py3-none-any.whl"), "no wheel").expect("a file");
    other.run(&["apply", "two.toml"]).expect(0);
    other.run(&["apply", "with.toml"]).expect(0);
    assert_eq!((builds(&other), says(&other, "bin/made-tool").as_str()), (1, "made"));
    // A folder that can't be written: the build is what was asked for.
    std::fs::write(other.test.path("file"), "").expect("a file");
    let nowhere = other.test.path("file/wheels").display().to_string();
    other.test.environment.insert("COLAB_BOOT_BUILT_WHEELS".to_owned(), nowhere);
    other.run(&["apply", "two.toml"]).expect(0);
    let said = other.run(&["apply", "with.toml"]).expect(0);
    assert!(said.stderr.contains("the wheel built of made could not be kept in"), "{said:?}");
    assert_eq!((builds(&other), says(&other, "bin/made-tool").as_str()), (2, "made"));
}

#[test]
#[ignore = "whole"]
fn what_saw_another_package_is_built_again_when_that_changes() {
    let mut world = world_with("built-wheels='drive'");
    world.test.environment.insert("BUILD".to_owned(), "looks".to_owned());
    let profile = std::fs::read_to_string(world.test.path("with.toml")).expect("a profile");
    let with = |version: &str| {
        let text = profile.replace("demo='==1.0'", &format!("demo='=={version}'"));
        std::fs::write(world.test.path("with.toml"), text).expect("a profile");
        world.run(&["apply", "with.toml"]).expect(0)
    };
    with("1.0");
    assert_eq!((builds(&world), says(&world, "bin/made-tool").as_str()), (2, "made with 1.0 True"));
    let said = with("2.0");
    assert!(said.stdout.contains("2 packages as locked"), "{said:?}");
    assert_eq!((builds(&world), says(&world, "bin/made-tool").as_str()), (4, "made with 2.0 True"));
    // Both are kept, each for what it was built with.
    let said = with("1.0");
    assert!(said.stderr.contains("taking the kept wheel of made"), "{said:?}");
    assert_eq!((builds(&world), says(&world, "bin/made-tool").as_str()), (4, "made with 1.0 True"));
    world.run(&["apply", "with.toml"]).expect(0);
    assert_eq!(builds(&world), 4);
    // In a folder that others write to, anything may lie.
    for key in std::fs::read_dir(world.test.path("drive")).expect("a folder").flatten() {
        for kept in std::fs::read_dir(key.path()).expect("a folder").flatten() {
            let wheel = kept.path().join("made-1.0-py3-none-any.whl");
            std::fs::remove_file(&wheel).expect("a wheel");
            assert!(Command::new("mkfifo").arg(wheel).status().expect("mkfifo starts").success());
        }
    }
    with("2.0");
    assert_eq!((builds(&world), says(&world, "bin/made-tool").as_str()), (6, "made with 2.0 True"));
}

#[test]
fn a_script_by_hand_builds_what_lies_in_a_folder() {
    let world = world();
    let said = world.run(&["plan", "with.toml", "--script", "install.sh"]);
    assert!(world.test.path("install.sh").exists(), "{said:?}");
    let python = world.venv.python.display().to_string();
    let mut bash = Command::new("/bin/bash");
    bash.arg("install.sh").current_dir(world.test.path("")).env_clear().envs(&world.test.environment);
    bash.env("COLAB_BOOT_PYTHON", &python);
    Outcome::of(bash).expect(0);
    let mut made = Command::new(python);
    made.args(["-c", "import made; print(made.word)"]);
    assert_eq!(Outcome::of(made).stdout.trim(), "made");
}
