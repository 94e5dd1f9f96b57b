//! Files that a user keeps where a wheel has some of the same name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::index_server::Release;
use crate::support::numbers::Numbers;
use crate::support::python::Venv;
use crate::support::said::Said as _;
use crate::support::test::{Outcome, Test};
use crate::support::wheel::wheel;

/// What the wheels of `demo` have, besides their module, and where it lies in the environment; `SITE` is site-packages.
const FILES: [(&str, &str); 5] = [
    ("utils.py", "SITE/utils.py"),
    ("demo/deep/x.py", "SITE/demo/deep/x.py"),
    ("demo-V.data/scripts/mytool", "bin/mytool"),
    ("demo-V.data/data/etc/app/user.conf", "etc/app/user.conf"),
    ("demo-V.dist-info/entry_points.txt", "bin/entry"),
];

const ENTRY: &str = "[console_scripts]\nentry = demo.deep.x:main\n";

pub(super) struct World {
    pub(super) test: Test,
    pub(super) venv: Venv,
}

impl World {
    /// A folder with `demo` 1.0 and 2.0, and an environment.
    pub(super) fn new(policy: &str) -> Self {
        let test = Test::new();
        let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", test.path("bin").display());
        let test = test.set("PATH", path).set("COLAB_BOOT_INDEX_URL", "http://127.0.0.1:9/simple");
        let venv = Venv::new(&test, &[]);
        let world = Self { test, venv }.with(policy);
        world.has("1.0", &FILES);
        world.has("2.0", &FILES[..3]);
        world
    }

    /// With profiles of this policy, for 1.0 and for 2.0.
    fn with(self, policy: &str) -> Self {
        let profile = format!("[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='==1.0'\n[policy]\n{policy}\n");
        let test = self.test.file("p.toml", &profile).file("two.toml", &profile.replace("==1.0", "==2.0"));
        Self { test, ..self }
    }

    pub(super) fn has(&self, version: &str, files: &[(&str, &str)]) {
        let text = |path: &str| if path.ends_with(".txt") { ENTRY.to_owned() } else { text_of(path, version) };
        let files = files.iter().map(|(path, _)| (path.replace('V', version), text(path))).collect();
        let release = Release { files, ..Release::default() };
        let name = format!("demo-{version}-py3-none-any.whl");
        let bytes = wheel("demo", &name, &BTreeMap::from([(version.to_owned(), release)])).expect("a wheel");
        std::fs::create_dir_all(self.test.path("house")).expect("a folder");
        std::fs::write(self.test.path("house").join(name), bytes).expect("a wheel");
    }

    /// Where something of [`FILES`] lies.
    pub(super) fn place(&self, path: &str) -> PathBuf {
        match path.strip_prefix("SITE/") {
            Some(path) => self.venv.layout().join(path),
            None => self.prefix().join(path),
        }
    }

    fn prefix(&self) -> &Path {
        self.venv.python.parent().and_then(Path::parent).expect("a prefix")
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Outcome {
        let python = self.venv.python.display().to_string();
        self.test.run(&[arguments, &["--python", &python, "--find-links", "house", "--offline"]].concat())
    }

    /// What the user has pip do.
    pub(super) fn pip(&self, arguments: &[&str]) {
        let mut command = Command::new(&self.venv.python);
        command.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]).args(arguments);
        if arguments[0] == "install" {
            command.arg("--no-index").arg("--find-links").arg(self.test.path("house"));
        }
        assert!(command.status().expect("pip starts").success(), "pip {arguments:?}");
    }

    /// How many files with this text were kept of a package.
    fn kept(&self, package: &str, text: &str) -> usize {
        let mut tree = BTreeMap::new();
        read(&self.test.state_file("aside").join(package), &mut tree);
        tree.values().filter(|bytes| *bytes == text.as_bytes()).count()
    }

    /// Every file and link of the environment, but for compiled ones.
    pub(super) fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut tree = BTreeMap::new();
        read(self.prefix(), &mut tree);
        tree
    }
}

fn text_of(path: &str, version: &str) -> String {
    let first = if path.contains("scripts") { "#!python\n" } else { "" };
    format!("{first}# {version}\n")
}

fn read(folder: &Path, tree: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let data = std::fs::symlink_metadata(&entry).expect("an entry");
        if data.is_symlink() {
            let target = std::fs::read_link(&entry).expect("a link");
            tree.insert(entry, target.into_os_string().into_encoded_bytes());
        } else if data.is_file() {
            tree.insert(entry.clone(), std::fs::read(&entry).expect("a file"));
        } else if !entry.ends_with("__pycache__") {
            read(&entry, tree);
        }
    }
}

/// Where two trees differ.
fn changed(before: &BTreeMap<PathBuf, Vec<u8>>, after: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
    let all: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    all.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

const fn none() -> Vec<PathBuf> {
    Vec::new()
}

fn write(place: &Path, text: &str) {
    std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
    std::fs::write(place, text).expect("a file");
}

fn is_gone(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err()
}

#[test]
fn a_file_of_no_package_stops_the_apply_and_can_be_kept_aside() {
    let world = World::new("");
    for (_, path) in FILES {
        let place = world.place(path);
        write(&place, "mine\n");
        let before = world.tree();
        let outcome = world.run(&["apply", "p.toml"]).expect(1);
        assert!(outcome.reports("error[wheel-overwrites]"), "{path}: {outcome:?}");
        assert!(outcome.stderr.contains(&place.display().to_string()), "{path}: {outcome:?}");
        assert_eq!(changed(&before, &world.tree()), none(), "{path}");
        std::fs::remove_file(&place).expect("a removal");
    }
    let world = world.with("overwrite = 'keep-aside'");
    for (_, path) in FILES {
        let place = world.place(path);
        write(&place, "mine\n");
        let before = world.tree();
        let outcome = world.run(&["apply", "p.toml"]).expect(0);
        assert!(outcome.stderr.contains("moved `"), "{path}: {outcome:?}");
        assert_ne!(std::fs::read_to_string(&place).expect("a file"), "mine\n", "{path}");
        let again = world.run(&["apply", "p.toml"]).expect(0);
        assert!(again.concludes("ready"), "{path}: {again:?}");
        let outcome = world.run(&["restore"]).expect(0);
        assert!(outcome.stderr.contains("moved back: "), "{path}: {outcome:?}");
        assert_eq!(changed(&before, &world.tree()), none(), "{path}");
        std::fs::remove_file(&place).expect("a removal");
    }
    let again = world.run(&["restore"]).expect(0);
    assert!(again.stdout.contains("restored: nothing to undo"), "{again:?}");
}

#[test]
fn folders_and_files_in_each_others_place_are_named() {
    let world = World::new("overwrite = 'keep-aside'");
    let folder = world.place("SITE/utils.py");
    write(&folder.join("notes"), "mine");
    let outcome = world.run(&["apply", "p.toml"]).expect(1);
    assert!(outcome.stderr.contains("would overwrite the folder"), "{outcome:?}");
    std::fs::remove_dir_all(&folder).expect("a removal");
    // A link, also one that leads nowhere, is somebody's; a file where a folder has to be, too.
    std::os::unix::fs::symlink("nowhere", &folder).expect("a link");
    write(&world.place("etc"), "mine");
    let before = world.tree();
    world.run(&["apply", "p.toml"]).expect(0);
    assert!(world.place("etc/app/user.conf").is_file());
    world.run(&["restore"]).expect(0);
    assert_eq!(changed(&before, &world.tree()), none());
}

#[test]
fn what_an_installer_has_left_of_the_same_wheel_is_nobodys() {
    let world = World::new("");
    let before = world.tree();
    world.run(&["apply", "p.toml"]).expect(0);
    let after = world.tree();
    // Without metadata, as if an installer had been killed before it wrote any; and nothing is on record.
    std::fs::remove_dir_all(world.venv.layout().join("demo-1.0.dist-info")).expect("a removal");
    std::fs::remove_dir_all(world.test.state_file("").parent().expect("a folder")).expect("a removal");
    world.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(world.tree().len(), after.len());
    assert!(before.len() < after.len());
}

#[test]
fn edits_in_a_package_are_kept_before_it_is_replaced_or_removed() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let (module, script) = (world.place("SITE/demo/deep/x.py"), world.place("bin/mytool"));
    write(&module, "mine\n");
    write(&world.place("SITE/demo/deep/notes.txt"), "mine\n");
    let said = "demo/deep/x.py` was changed after demo 1.0 was installed";
    // A repair, another version, and the end: each says so before, and keeps what was there.
    let planned = world.run(&["plan", "p.toml"]).expect(0);
    assert!(planned.stderr.contains(said), "{planned:?}");
    world.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(world.kept("demo-1.0", "mine\n"), 1);
    write(&module, "mine, too\n");
    let planned = world.run(&["plan", "two.toml"]).expect(0);
    assert!(planned.stderr.contains(said), "{planned:?}");
    world.run(&["apply", "two.toml"]).expect(0);
    assert_eq!(world.kept("demo-1.0", "mine, too\n"), 1);
    write(&script, "mine again\n");
    let outcome = world.run(&["restore"]).expect(0);
    assert!(
        ["bin/mytool` was changed after demo 2.0", "notes.txt` stays"].iter().all(|one| outcome.stderr.contains(one))
    );
    assert_eq!(world.kept("demo-2.0", "mine again\n"), 1);
    assert_eq!(std::fs::read_to_string(world.place("SITE/demo/deep/notes.txt")).expect("a file"), "mine\n");
}

#[test]
fn a_file_where_a_package_was_or_whose_command_has_its_name_is_the_users() {
    let world = World::new("");
    let refused = |profile: &str, path: &str| {
        let before = world.tree();
        let outcome = world.run(&["apply", profile]).expect(1);
        let place = world.place(path).display().to_string();
        assert!(outcome.reports("error[wheel-overwrites]") && outcome.stderr.contains(&place), "{outcome:?}");
        assert_eq!(changed(&before, &world.tree()), none(), "{path}");
    };
    world.run(&["apply", "p.toml"]).expect(0);
    world.pip(&["uninstall", "--yes", "demo"]);
    write(&world.place("SITE/utils.py"), "mine\n");
    refused("p.toml", "SITE/utils.py");
    std::fs::remove_file(world.place("SITE/utils.py")).expect("a removal");
    // A script of the user's own that imports what the command would call.
    write(&world.place("bin/entry"), "#!/usr/bin/env python3\n# mine\nfrom demo.deep.x import main\nprint(main())\n");
    refused("p.toml", "bin/entry");
    std::fs::remove_file(world.place("bin/entry")).expect("a removal");
    // Without its metadata, what was edited belongs to no package; the rest still does.
    world.run(&["apply", "p.toml"]).expect(0);
    write(&world.place("SITE/demo/deep/x.py"), "mine\n");
    std::fs::remove_dir_all(world.venv.layout().join("demo-1.0.dist-info")).expect("a removal");
    refused("two.toml", "SITE/demo/deep/x.py");
    std::fs::remove_file(world.place("SITE/demo/deep/x.py")).expect("a removal");
    world.run(&["apply", "two.toml"]).expect(0);
    // A link to the user's own, and a folder, in the place of a file.
    let utils = world.place("SITE/utils.py");
    std::fs::remove_file(&utils).expect("a removal");
    write(&world.test.path("own.py"), "mine, linked\n");
    std::os::unix::fs::symlink(world.test.path("own.py"), &utils).expect("a link");
    let outcome = world.run(&["apply", "p.toml"]).expect(0);
    // The link itself.
    assert_eq!(world.kept("demo-2.0", &world.test.path("own.py").display().to_string()), 1, "{outcome:?}");
    std::fs::remove_file(&utils).expect("a removal");
    write(&utils.join("notes"), "mine\n");
    refused("two.toml", "SITE/utils.py");
}

#[test]
fn what_was_kept_aside_comes_back_though_the_user_has_removed_the_package() {
    let world = World::new("overwrite = 'keep-aside'");
    write(&world.place("SITE/utils.py"), "mine\n");
    let before = world.tree();
    world.run(&["apply", "p.toml"]).expect(0);
    world.pip(&["uninstall", "--yes", "demo"]);
    let outcome = world.run(&["restore"]).expect(0);
    assert!(outcome.stderr.contains("moved back: ") && !outcome.stdout.contains("nothing to undo"), "{outcome:?}");
    assert_eq!(changed(&before, &world.tree()), none());
}

#[test]
fn what_somebody_has_put_beside_metadata_is_kept() {
    let world = World::new("");
    for (at, spoilt) in ["INSTALLER", "RECORD", "METADATA"].into_iter().enumerate() {
        world.run(&["apply", "p.toml"]).expect(0);
        let info = world.place("SITE/demo-1.0.dist-info");
        write(&info.join("notes.txt"), "mine\n");
        std::fs::remove_file(info.join(spoilt)).expect("a removal");
        let outcome = world.run(&["apply", "two.toml"]).expect(0);
        assert_eq!(world.kept("demo-1.0.dist-info", "mine\n"), at + 1, "{spoilt}: {outcome:?}");
    }
}

#[test]
fn what_lies_elsewhere_on_the_path_shows_again_after_a_restore() {
    let world = World::new("");
    let base = world.test.path("base");
    world.pip(&["install", "demo==1.0", "--target", &base.display().to_string()]);
    write(&world.place("SITE/base.pth"), &format!("{}\n", base.display()));
    let before = world.tree();
    world.run(&["apply", "two.toml"]).expect(0);
    assert!(world.place("SITE/demo").is_dir());
    world.run(&["restore"]).expect(0);
    assert_eq!(changed(&before, &world.tree()), none());
}

#[test]
fn an_environment_that_was_made_anew_has_nothing_to_undo() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let World { test, venv } = world;
    std::fs::remove_dir_all(venv.python.parent().and_then(Path::parent).expect("a prefix")).expect("a removal");
    let world = World { venv: Venv::new(&test, &[]), test };
    world.pip(&["install", "demo==1.0"]);
    let before = world.tree();
    let outcome = world.run(&["restore"]).expect(0);
    assert!(outcome.reports("note[nothing-applied]"), "{outcome:?}");
    assert_eq!(changed(&before, &world.tree()), none());
    // An apply finds what it wants, and a restore after it still has nothing to take away.
    world.run(&["apply", "p.toml"]).expect(0);
    world.run(&["restore"]).expect(0);
    assert_eq!(changed(&before, &world.tree()), none());
}

#[test]
fn a_list_that_names_what_is_not_the_packages_deletes_nothing() {
    let world = World::new("");
    let outside = world.test.path("precious.txt");
    let own = [outside.clone(), world.place("SITE/demo/notes.py"), world.place("etc/own.conf")];
    world.run(&["apply", "p.toml"]).expect(0);
    for place in &own {
        write(place, "mine\n");
    }
    let climb = format!("{}{}", "../".repeat(12), outside.display().to_string().trim_start_matches('/'));
    for (version, verb) in [("1.0", ["apply", "two.toml"].as_slice()), ("2.0", &["restore"])] {
        let record = world.place(&format!("SITE/demo-{version}.dist-info/RECORD"));
        let text = std::fs::read_to_string(&record).expect("a RECORD");
        write(&record, &format!("{text}{climb},,\ndemo/notes.py,,\n../../../etc/own.conf,,\n"));
        let outcome = world.run(verb).expect(0);
        assert_eq!(outcome.stderr.matches("but does not own it").count(), 3, "{outcome:?}");
        assert!(own.iter().all(|place| place.is_file()), "{outcome:?}");
    }
    assert!(is_gone(&world.place("SITE/utils.py")));
}

/// Whatever a user has where wheels of two versions write, an apply, another one and a restore leave it byte for byte.
#[test]
fn what_was_there_is_there_after_a_restore() {
    let seed: u64 = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut numbers = Numbers(seed);
    let world = World::new("overwrite = 'keep-aside'");
    for round in 0..8 {
        for (inner, path) in FILES {
            let place = world.place(path);
            match numbers.below(4) {
                0 => write(&place, "mine\n"),
                1 if !inner.ends_with(".txt") => write(&place, &text_of(inner, numbers.choose(&["1.0", "2.0"]))),
                2 => {
                    std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
                    std::os::unix::fs::symlink("elsewhere", &place).expect("a link");
                }
                _ => assert!(is_gone(&place)),
            }
        }
        let before = world.tree();
        for _ in 0..numbers.below(4) {
            let profile = numbers.choose(&["p.toml", "two.toml"]);
            world.run(&["apply", profile]).expect(0);
        }
        world.run(&["restore"]).expect(0);
        assert_eq!(changed(&before, &world.tree()), none(), "SEED={seed}, round {round}");
        for (_, path) in FILES {
            let _ = std::fs::remove_file(world.place(path));
        }
    }
}
