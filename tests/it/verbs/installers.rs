//! What pip and uv stumble over, each in its way: half of the packages replaced, others removed, two entries for one
//! name. After an apply everything is as locked, whichever of them installs.

use std::path::Path;
use std::process::Command;

use crate::support::python::{Venv, interpreter, uv, wheel};
use crate::support::said::Said as _;
use crate::support::test::{Outcome, Test};

const NAMES: [&str; 3] = ["aaa", "demo", "ccc"];

/// `aaa`, `demo` and `ccc` at 1.0; a wheelhouse has them at 2.0, and `demo` at 1.0+cu128.
struct World {
    test: Test,
    venv: Venv,
}

impl World {
    fn new() -> Self {
        let profile = |demo: &str, rest: &str| {
            format!(
                "[profile]\nname='p'\nversion='1.0.0'\n[packages]\naaa='=={rest}'\ndemo='=={demo}'\nccc='=={rest}'\n"
            )
        };
        let test = Test::new()
            .file("before.toml", &profile("1.0", "1.0"))
            .file("before-cuda.toml", &profile("1.0+cu128", "1.0"))
            .file("after.toml", &profile("2.0", "2.0"))
            .file("after-cuda.toml", &profile("1.0+cu128", "2.0"))
            // What is installed would do otherwise: `==1.0` allows it.
            .file("after-plain.toml", &(profile("1.0", "2.0") + "[policy]\ninstalled='ignore'\n"));
        let own = test.path("bin").display().to_string();
        let test = test.set("PATH", format!("{own}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"));
        let house = test.path("house");
        std::fs::create_dir(&house).expect("a folder");
        for name in NAMES {
            wheel(&house, (name, "1.0"), "1.0");
            wheel(&house, (name, "2.0"), "2.0");
        }
        // `==1.0` means this one, too, where both are offered.
        std::fs::create_dir(test.path("cuda")).expect("a folder");
        wheel(&test.path("cuda"), ("demo", "1.0+cu128"), "1.0+cu128");
        let venv = Venv::new(&test, &[]);
        Self { test, venv }
    }

    fn apply(&self, profile: &str) -> Outcome {
        let python = self.venv.python.display().to_string();
        let mut arguments = vec!["apply", profile, "--python", &python, "--offline", "--find-links", "house"];
        arguments.extend(["--index-url", "http://127.0.0.1:9/x"]);
        if profile.contains("cuda") {
            arguments.extend(["--find-links", "cuda"]);
        }
        self.test.run(&arguments)
    }

    /// The installers that a script can be run by hand with here.
    fn by_hand(&mut self) -> Vec<String> {
        let Some(folder) = uv() else {
            eprintln!("skipped for uv: it can't be had from the package index");
            return vec!["pip".to_owned()];
        };
        let path = format!("{}:{}", self.test.environment["PATH"], folder.display());
        self.test.environment.insert("PATH".to_owned(), path);
        vec!["pip".to_owned(), "uv".to_owned()]
    }

    /// Runs the script for `profile` by hand.
    fn run_script(&self, profile: &str, installer: &str) {
        let python = self.venv.python.display().to_string();
        let lock = ["lock", profile, "--python", &python, "--offline", "--find-links", "house"];
        self.test.run(&lock).expect(0);
        self.test.run(&["plan", profile, "--python", &python, "--script", "script.sh"]).expect(0);
        let mut command = Command::new("/bin/bash");
        command.args(["-p", "script.sh"]).env_clear().envs(&self.test.environment).current_dir(self.test.folder.path());
        command.env("COLAB_BOOT_INSTALLER", installer).env("COLAB_BOOT_WHEELS", self.test.path("house"));
        Outcome::of(command).expect(0);
        let list = self.venv.layout().join("demo-2.0.dist-info/INSTALLER");
        assert_eq!(std::fs::read_to_string(list).expect("an installer").trim(), installer);
    }

    fn site(&self, name: &str) -> std::path::PathBuf {
        self.venv.layout().join(name)
    }

    /// All is as `profile` says, and as the bytes of the wheels do; `demo` says `word`.
    fn is_whole(&self, what: &str, profile: &str, word: &str) {
        let python = self.venv.python.display().to_string();
        let verified = self.test.run(&["verify", profile, "--python", &python]);
        assert_eq!(verified.code, 0, "{what}: {verified:?}");
        for name in NAMES {
            let infos = self.venv.site_packages().into_iter();
            let infos: Vec<String> = infos.filter(|entry| entry.starts_with(&format!("{name}-"))).collect();
            assert_eq!(infos.len(), 1, "{what}: {infos:?}");
        }
        let odd: Vec<String> =
            self.venv.site_packages().into_iter().filter(|name| name.starts_with(['~', '.'])).collect();
        assert!(odd.is_empty(), "{what}: {odd:?}");
        let code = "import demo, importlib.metadata as m; print(demo.word, m.version('demo'))";
        let said = Outcome::of({
            let mut command = Command::new(&self.venv.python);
            // Without bytecode: it differs from the next version's by size and second alone.
            command.args(["-I", "-B", "-c", code]);
            command
        });
        assert_eq!(said.stdout.trim(), format!("{word} {word}"), "{what}: {}", said.stderr);
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.site(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a write");
    }
}

const METADATA: &str = "Metadata-Version: 2.1\nName: demo\nVersion: 0.9\n";

/// Puts something in the way.
type Prepare = fn(&World);

/// What lies in the way, by name.
fn situations() -> Vec<(&'static str, Prepare)> {
    vec![
        ("nothing", |_| ()),
        ("no RECORD", |world| std::fs::remove_file(world.site("demo-1.0.dist-info/RECORD")).expect("a file")),
        ("no METADATA", |world| std::fs::remove_file(world.site("demo-1.0.dist-info/METADATA")).expect("a file")),
        ("installed by distutils", |world| {
            std::fs::remove_dir_all(world.site("demo-1.0.dist-info")).expect("a folder");
            world.write("demo-1.0.egg-info", METADATA);
        }),
        ("a second entry", |world| {
            world.write("demo-0.9.dist-info/METADATA", METADATA);
            world.write("demo-0.9.dist-info/RECORD", "demo.py,,\n");
        }),
        ("half uninstalled", |world| {
            std::fs::rename(world.site("demo-1.0.dist-info"), world.site("~emo-1.0.dist-info")).expect("a rename");
            let list = world.site("~emo-1.0.dist-info/RECORD");
            let known = std::fs::read_to_string(&list).expect("a RECORD");
            std::fs::write(&list, format!("{known}demo/__init__.py,,\n")).expect("a write");
            world.write("~emo/__init__.py", "");
            std::fs::remove_file(world.site("demo.py")).expect("a file");
        }),
        ("files without metadata", |world| {
            std::fs::remove_dir_all(world.site("demo-1.0.dist-info")).expect("a folder");
        }),
        ("edited", |world| world.write("demo.py", "word = 'edited'\n")),
    ]
}

#[test]
#[ignore = "whole"]
fn nothing_that_other_installers_stumble_over_stops_an_apply() {
    let world = World::new();
    for (what, prepare) in situations() {
        world.apply("before.toml").expect(0);
        prepare(&world);
        let outcome = world.apply("after.toml");
        assert_eq!(outcome.code, 0, "{what}: {outcome:?}");
        world.is_whole(what, "after.toml", "2.0");
    }
    // A folder where a file belongs may hold what the user keeps: that is for the user to move.
    world.apply("before.toml").expect(0);
    std::fs::remove_file(world.site("demo.py")).expect("a file");
    world.write("demo.py/keep.txt", "x");
    let refused = world.apply("after.toml");
    assert!(refused.code == 1 && refused.stderr.contains("would overwrite the folder"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(world.site("demo.py/keep.txt")).expect("a file"), "x");
    std::fs::remove_dir_all(world.site("demo.py")).expect("a folder");
    world.apply("after.toml").expect(0);
    world.is_whole("the folder is moved away", "after.toml", "2.0");
    // The label of a build is part of its version, though installers take either for the other.
    for (before, after, word) in
        [("before-cuda.toml", "after-plain.toml", "1.0"), ("before.toml", "after-cuda.toml", "1.0+cu128")]
    {
        world.apply(before).expect(0);
        world.apply(after).expect(0);
        world.is_whole(after, after, word);
    }
    // Debian's folder: on the path, and no installer's business.
    let debian = world.test.path("venv/debian");
    std::fs::create_dir_all(&debian).expect("a folder");
    for name in ["demo-0.9.egg-info", "aaa-0.9.dist-info/METADATA"] {
        let path = debian.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, METADATA.replace("demo", name.split('-').next().expect("a name"))).expect("a write");
    }
    world.apply("before.toml").expect(0);
    for name in NAMES {
        std::fs::remove_dir_all(world.site(&format!("{name}-1.0.dist-info"))).expect("a folder");
        std::fs::remove_file(world.site(&format!("{name}.py"))).expect("a file");
    }
    world.write("debian.pth", &format!("{}\n", debian.display()));
    world.apply("after.toml").expect(0);
    world.is_whole("Debian's own", "after.toml", "2.0");
    assert!(debian.join("demo-0.9.egg-info").exists() && debian.join("aaa-0.9.dist-info").exists());
}

#[test]
fn a_faulty_install_of_another_installer_is_named() {
    let Some(folder) = uv() else {
        eprintln!("skipped: uv can't be had from the package index");
        return;
    };
    let mut world = World::new();
    world.test = world.test.fake("uv").set("REAL_UV", folder.join("uv").display().to_string());
    // A disk that lies, a virus scanner, a second installer: the exit code is 0, the file is not there.
    let spoil = format!("rm -f {}", world.site("demo.py").display());
    world.apply("before.toml").expect(0);
    world.test = world.test.set("AFTER", spoil);
    let outcome = world.apply("after.toml").expect(1);
    assert!(outcome.reports("error[verify-files]") && outcome.stderr.contains("demo.py"), "{}", outcome.stderr);
    // colab-boot's own puts it right.
    world.test = world.test.set("COLAB_BOOT_INSTALLER", "colab-boot");
    world.apply("after.toml").expect(0);
    world.is_whole("spoiled", "after.toml", "2.0");
}

/// What an image or a user may have set for other purposes.
const SETTINGS: &[(&str, &str)] = &[
    ("PIP_TARGET", "AT/elsewhere"),
    ("PIP_USER", "1"),
    ("PIP_REQUIRE_VIRTUALENV", "1"),
    ("PIP_CONSTRAINT", "AT/constraints.txt"),
    ("PIP_NO_BINARY", ":all:"),
    ("PIP_DRY_RUN", "1"),
    ("PYTHONPATH", "AT/evil"),
    ("PYTHONHOME", "AT/evil"),
    ("PYTHONSTARTUP", "AT/evil/sitecustomize.py"),
    ("UV_CONSTRAINT", "AT/constraints.txt"),
    ("UV_NO_BINARY", "1"),
    ("UV_LINK_MODE", "symlink"),
    ("UV_SYSTEM_PYTHON", "1"),
    ("UV_PYTHON", "3.1"),
    ("UV_DRY_RUN", "1"),
    ("BASH_ENV", "AT/evil/bash"),
    ("BASH_FUNC_mktemp%%", "() { echo function >>AT/ran; command mktemp \"$@\"; }"),
];

#[test]
fn settings_of_the_image_change_nothing() {
    let mut world = World::new();
    let at = world.test.folder.path().display().to_string();
    let here = |text: &str| text.replace("AT", &at);
    world.test = world
        .test
        .file("constraints.txt", "demo==0.1\n")
        .file("evil/sitecustomize.py", &here("open('AT/ran', 'a').write('Python')\n"))
        .file("evil/bash", &here("echo bash >>AT/ran\n"))
        .file("home/.config/pip/pip.conf", &here("[install]\ntarget = AT/elsewhere\nno-deps = nonsense\n"))
        .file("home/.config/uv/uv.toml", &here("[pip]\ntarget = 'AT/elsewhere'\n"))
        .file("uv.toml", &here("[pip]\ntarget = 'AT/elsewhere'\n"))
        .file("setup.cfg", &here("[install]\nprefix = AT/elsewhere\n"));
    for (name, value) in SETTINGS {
        world.test = world.test.set(name, here(value));
    }
    world.apply("before.toml").expect(0);
    for installer in world.by_hand() {
        world.run_script("after.toml", &installer);
        world.is_whole(&installer, "after.toml", "2.0");
        world.apply("before.toml").expect(0);
    }
    world.apply("after.toml").expect(0);
    world.is_whole("settings", "after.toml", "2.0");
    for path in ["elsewhere", "ran"] {
        assert!(!world.test.path(path).exists(), "{path}: {:?}", std::fs::read_to_string(world.test.path(path)));
    }
}

/// A Python of its own that its distribution manages (PEP 668), made of links to one that is here.
fn managed(world: &mut World) -> bool {
    let say = |python: &Path, code: &str| {
        let mut command = Command::new(python);
        command.args(["-I", "-c", code]);
        Outcome::of(command).stdout.trim().to_owned()
    };
    let base = say(interpreter(), "import sys; print(sys.base_prefix)");
    let name = say(interpreter(), "import sys; print('python%d.%d' % sys.version_info[:2])");
    let prefix = world.test.path("system");
    let script = format!(
        "mkdir -p bin lib && cp -L {base}/bin/{name} bin/ && cp -as {base}/lib/{name} lib/ && \
         printf '[externally-managed]\nError=ask the distribution\n' >lib/{name}/EXTERNALLY-MANAGED"
    );
    std::fs::create_dir(&prefix).expect("a folder");
    let made = Command::new("sh").args(["-c", &script]).current_dir(&prefix).status().expect("sh starts");
    let python = prefix.join("bin").join(&name);
    let knows = made.success() && say(&python, "import sys, pip; print(sys.prefix)") == prefix.display().to_string();
    world.venv = Venv { python };
    knows
}

#[test]
#[ignore = "whole"]
fn a_python_that_its_distribution_manages_is_installed_into() {
    let mut world = World::new();
    if !managed(&mut world) {
        eprintln!("skipped: this Python can't be moved, or has no pip");
        return;
    }
    let mut refused = Command::new(&world.venv.python);
    refused.args(["-m", "pip", "install", "--no-index", "--find-links"]).arg(world.test.path("house")).arg("demo");
    assert!(Outcome::of(refused).stderr.contains("externally-managed-environment"));
    let unasked = world.apply("before.toml").expect(2);
    assert!(unasked.stderr.contains("is managed by the operating system (PEP 668)"), "{unasked:?}");
    world.test.environment.insert("COLAB_BOOT_SYSTEM".into(), "1".into());
    world.apply("before.toml").expect(0);
    for installer in world.by_hand() {
        world.run_script("after.toml", &installer);
        world.is_whole("managed", "after.toml", "2.0");
        world.apply("before.toml").expect(0);
    }
    world.apply("after.toml").expect(0);
    world.is_whole("managed", "after.toml", "2.0");
}

#[test]
fn a_folder_serves_the_packages_it_is_named_for_and_no_others() {
    let world = World::new();
    let foreign = world.test.path("foreign");
    std::fs::create_dir(&foreign).expect("a folder");
    // Of the same names, and not meant: they come first and have other bytes.
    wheel(&foreign, ("demo", "1.0"), "foreign");
    wheel(&foreign, ("aaa", "1.0"), "meant");
    let profile = std::fs::read_to_string(world.test.path("before.toml")).expect("a profile");
    let index = "[[index]]\nname='foreign'\npath='foreign'\npackages=['aaa']\n";
    std::fs::write(world.test.path("before.toml"), profile + index).expect("a profile");
    world.apply("before.toml").expect(0);
    world.is_whole("a foreign folder", "before.toml", "1.0");
    let said = std::fs::read_to_string(world.site("aaa.py")).expect("a module");
    assert!(said.contains("meant"), "{said}");
}
