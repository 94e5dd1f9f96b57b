//! Wheels that are not what their names say, or that no installer could install and remove again: found before anything
//! changes.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::support::index_server::Release;
use crate::support::python::Venv;
use crate::support::said::Said as _;
use crate::support::test::{Outcome, Test};
use crate::support::wheel::wheel;

const FILE: &str = "demo-1.0-py3-none-any.whl";
const INFO: &str = "demo-1.0.dist-info";

struct World {
    test: Test,
    venv: Venv,
}

impl World {
    /// A virtual environment, and a folder that has the wheel of `demo` 1.0.
    fn new() -> Self {
        let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='*'\n");
        let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", test.path("bin").display());
        let test = test.set("PATH", path).set("COLAB_BOOT_INDEX_URL", "http://127.0.0.1:9/simple");
        let venv = Venv::new(&test, &[]);
        std::fs::create_dir(test.path("house")).expect("a folder");
        Self { test, venv }
    }

    /// Puts the wheel with `changed` members there: what a member becomes, or what is added.
    fn has(&self, changed: &[(&str, &str)]) {
        let release =
            Release { files: BTreeMap::from([("demo/__init__.py".into(), "x = 1\n".into())]), ..Release::default() };
        let bytes = wheel("demo", FILE, &BTreeMap::from([("1.0".to_owned(), release)])).expect("a wheel");
        std::fs::write(self.test.path("house").join(FILE), altered(bytes, changed)).expect("a wheel");
        let _ = std::fs::remove_file(self.test.path("p.lock"));
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        let python = self.venv.python.display().to_string();
        let house: &[&str] = if arguments[0] == "verify" { &[] } else { &["--find-links", "house", "--offline"] };
        self.test.run(&[arguments, &["--python", &python], house].concat())
    }

    fn has_demo(&self) -> bool {
        self.venv.layout().join("demo").exists()
    }
}

fn altered(bytes: Vec<u8>, changed: &[(&str, &str)]) -> Vec<u8> {
    let mut source = ZipArchive::new(Cursor::new(bytes)).expect("an archive");
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |path: &str, bytes: &[u8]| {
        writer.start_file(path, SimpleFileOptions::default()).expect("a member");
        writer.write_all(bytes).expect("its bytes");
    };
    let mut names = Vec::new();
    for at in 0..source.len() {
        let mut member = source.by_index(at).expect("a member");
        let name = member.name().expect("a name").into_owned();
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).expect("its bytes");
        let other = changed.iter().find(|(path, _)| *path == name);
        add(&name, other.map_or(bytes.as_slice(), |(_, text)| text.as_bytes()));
        names.push(name);
    }
    for (path, text) in changed.iter().filter(|(path, _)| !names.iter().any(|name| name == path)) {
        add(path, text.as_bytes());
    }
    writer.finish().expect("an archive").into_inner()
}

#[test]
fn a_wheel_that_says_it_is_another_is_refused() {
    let world = World::new();
    let metadata = format!("{INFO}/METADATA");
    let about = format!("{INFO}/WHEEL");
    let record = format!("{INFO}/RECORD");
    let cases: &[(&str, &str, &str)] = &[
        (&metadata, "Metadata-Version: 2.1\nName: other\nVersion: 1.0\n", "has METADATA for the package `other`"),
        (&metadata, "Metadata-Version: 2.1\nName: demo\nVersion: 2.0\n", "has METADATA for version `2.0`"),
        (&about, "Wheel-Version: 2.0\nTag: py3-none-any\n", "has format version `2.0`; installers support 1"),
        (&about, "Wheel-Version: 1.0\nTag: cp27-cp27m-win32\n", "for another Python or platform: cp27-cp27m-win32"),
        ("other-1.0.dist-info/METADATA", "Name: other\n", "has the dist-info of another package"),
        (&record, "demo/__init__.py,,\n../../../bin/activate,,\n", "lists `../../../bin/activate` in its RECORD"),
        (&record, "demo/__init__.py,,\nnotes.txt,,\n", "lists the existing file `notes.txt` in its RECORD"),
        ("demo/a\nb.py", "", "has a file that can't be created"),
        (".colab-boot-trash/x.py", "", "has a file that can't be created"),
        ("demo-1.0.data/wat/x.py", "", "its scheme is not"),
        ("demo-1.0.data/scripts/tools/x.py", "", "scripts can't be in folders"),
        ("pip/__init__.py", "raise SystemExit(5)", "would write `pip/__init__.py`, which belongs to pip"),
    ];
    let notes = world.venv.layout().join("notes.txt");
    std::fs::write(&notes, "mine").expect("a file");
    for (member, text, says) in cases {
        world.has(&[(member, text)]);
        let outcome = world.run(&["apply", "p.toml"]).expect(1);
        assert!(outcome.stderr.contains(says), "{member:?}: {}", outcome.stderr);
        assert!(!world.has_demo(), "{member:?}: nothing is installed");
    }
    // A RECORD may name what its wheel lacks, as long as nobody has it.
    world.has(&[(&record, "demo/__init__.py,,\ndemo/gone.py,,\n")]);
    world.run(&["apply", "p.toml"]).expect(0);
    assert!(world.has_demo());
    world.run(&["restore"]).expect(0);
    assert_eq!(std::fs::read_to_string(&notes).expect("a file"), "mine");
}

/// The format asks for a line with a digest for each file, and installers do without.
#[test]
fn what_a_record_leaves_out_is_compared_repaired_and_removed() {
    let whole = format!("demo/__init__.py,,6\n{INFO}/METADATA,,\n{INFO}/WHEEL,,\n{INFO}/RECORD,,\n");
    let short = format!("{INFO}/METADATA,,\n{INFO}/RECORD,,");
    for list in [whole, short] {
        let world = World::new();
        let data = "demo-1.0.data/data/share/demo.txt";
        world.has(&[(&format!("{INFO}/RECORD"), &list), ("demo/more, and.txt", "more"), (data, "data")]);
        let site = world.venv.layout();
        let places = [
            site.join("demo/__init__.py"),
            site.join("demo/more, and.txt"),
            site.ancestors().nth(3).expect("a prefix").join("share/demo.txt"),
        ];
        world.run(&["apply", "p.toml"]).expect(0);
        world.run(&["verify", "p.toml"]).expect(0);
        assert!(world.run(&["apply", "p.toml"]).expect(0).concludes("ready"), "{list}");
        for (at, place) in places.iter().enumerate() {
            let text = std::fs::read(place).expect("a file");
            if at == 0 { std::fs::remove_file(place) } else { std::fs::write(place, "x") }.expect("a change");
            world.run(&["verify", "p.toml"]).expect(1);
            world.run(&["apply", "p.toml"]).expect(0);
            assert_eq!(std::fs::read(place).expect("a file"), text, "{list}: {place:?}");
        }
        let said = world.run(&["restore"]).expect(0);
        assert!(!said.stderr.contains("files-edited"), "{said:?}");
        assert!(!places.iter().any(|place| place.exists()), "{list}");
    }
}

#[test]
fn an_encrypted_member_is_refused() {
    let world = World::new();
    world.has(&[]);
    let file = world.test.path("house").join(FILE);
    let mut bytes = std::fs::read(&file).expect("a wheel");
    let entry = bytes.windows(4).position(|four| four == b"PK\x01\x02").expect("an entry");
    bytes[entry + 8] |= 1;
    std::fs::write(&file, bytes).expect("a wheel");
    let outcome = world.run(&["apply", "p.toml"]);
    assert!(outcome.code != 0 && outcome.stderr.contains("is encrypted"), "{outcome:?}");
    assert!(!world.has_demo());
}

#[test]
fn two_wheels_with_one_program_are_named() {
    let world = World::new();
    let program = |object: &str| format!("[console_scripts]\ntool = {object}\n");
    world.has(&[(&format!("{INFO}/entry_points.txt"), &program("demo:main"))]);
    let files = [
        ("other/__init__.py".to_owned(), String::new()),
        ("other-1.0.dist-info/entry_points.txt".to_owned(), program("other:main")),
    ];
    let release = Release { files: files.into_iter().collect(), ..Release::default() };
    let name = "other-1.0-py3-none-any.whl";
    let bytes = wheel("other", name, &BTreeMap::from([("1.0".to_owned(), release)])).expect("a wheel");
    std::fs::write(world.test.path("house").join(name), bytes).expect("a wheel");
    let world = World {
        test: world.test.file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='*'\nother='*'\n"),
        ..world
    };
    let outcome = world.run(&["apply", "p.toml"]).expect(0);
    assert!(outcome.stderr.contains("files-collide") && outcome.stderr.contains("tool"), "{outcome:?}");
}

#[test]
fn a_python_that_would_not_start_any_more_is_put_right() {
    let world = World::new();
    let cases = [("sitecustomize.py", "import sys; sys.exit(7)\n"), ("usercustomize.py", "raise SystemExit(3)\n")];
    for (member, text) in cases {
        world.has(&[(member, text)]);
        let outcome = world.run(&["apply", "p.toml"]);
        if member == "usercustomize.py" && outcome.code == 0 {
            // Some interpreters do without the user's site.
            continue;
        }
        let outcome = outcome.expect(1);
        assert!(outcome.reports_about("error[start-broken]", "demo"), "{}", outcome.stderr);
        assert!(!world.has_demo(), "{}", outcome.stderr);
        let verify = world.run(&["verify", "p.toml"]);
        assert_eq!(verify.code, 1, "{}", verify.stderr);
    }
    world.run(&["restore"]).expect(0);
    assert!(!world.has_demo());
    world.has(&[("demo.pth", "import sys\n")]);
    world.run(&["apply", "p.toml"]).expect(0);
    world.run(&["verify", "p.toml"]).expect(0);
}
