//! Files that two packages have: what one of them overwrites or takes along comes back for the other.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::adversity::users_files::World;
use crate::support::index_server::Release;
use crate::support::numbers::{Numbers, number};
use crate::support::said::Said as _;
use crate::support::test::takes_all;
use crate::support::wheel::wheel;

const SHARED: [&str; 4] = ["utils.py", "extra.py", "both/inner.py", "V.data/data/share/both.txt"];

/// Puts a wheel into the folder of wheels, with these files.
pub(super) fn release(world: &World, name: &str, version: &str, files: &[(&str, &str)]) {
    let file = format!("{name}-{version}-py3-none-any.whl");
    let place = |path: &str| path.replace("V.data", &format!("{name}-{version}.data"));
    let files = files.iter().map(|(path, text)| (place(path), (*text).to_owned())).collect();
    let releases = BTreeMap::from([(version.to_owned(), Release { files, ..Release::default() })]);
    let bytes = wheel(name, &file, &releases).expect("a wheel");
    fs::write(world.test.path("house").join(&file), bytes).expect("a wheel");
}

/// A world with a profile `FILE` that names `requirements`.
fn with_profile(world: World, file: &str, requirements: &[String]) -> World {
    let text = format!("[profile]\nname='p'\nversion='1.0.0'\n[packages]\n{}\n", requirements.join("\n"));
    World { test: world.test.file(file, &text), ..world }
}

#[test]
fn a_file_of_another_tools_package_comes_back() {
    let world = with_profile(World::new(""), "another.toml", &["ours='*'".to_owned()]);
    release(&world, "ours", "1.0", &[("ours.py", "")]);
    release(&world, "other", "1.0", &[("utils.py", "other 1\n")]);
    let utils = world.place("SITE/utils.py");
    let text = || fs::read_to_string(&utils).expect("a file");

    // Installed before ours, which leaves with another profile.
    world.pip(&["install", "other"]);
    world.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(text(), "# 1.0\n");
    world.run(&["apply", "another.toml"]).expect(0);
    assert_eq!(text(), "other 1\n");
    let said = world.run(&["restore"]).expect(0);
    assert_eq!((text().as_str(), said.stdout.contains("except")), ("other 1\n", false), "{said:?}");

    // Over ours; and once more after an edit.
    world.run(&["apply", "p.toml"]).expect(0);
    world.pip(&["install", "--force-reinstall", "other"]);
    world.run(&["restore"]).expect(0);
    assert_eq!(text(), "other 1\n");
    world.run(&["apply", "p.toml"]).expect(0);
    fs::write(&utils, "an edit of mine\n").expect("a file");
    world.run(&["restore"]).expect(0);
    assert_eq!(text(), "an edit of mine\n");
    // An apply repairs it, and takes it for no content of its own.
    world.run(&["apply", "p.toml"]).expect(0);
    fs::write(&utils, "another edit\n").expect("a file");
    world.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(text(), "# 1.0\n");
    world.run(&["restore"]).expect(0);
    assert_eq!(text(), "another edit\n");
    fs::write(&utils, "an edit of mine\n").expect("a file");

    // Ours goes by another tool, which takes the file along.
    world.run(&["apply", "p.toml"]).expect(0);
    world.pip(&["uninstall", "--yes", "demo"]);
    assert!(!utils.exists());
    world.run(&["restore"]).expect(0);
    assert_eq!(text(), "an edit of mine\n");
    // What came with the other package alone is gone with it.
    world.run(&["apply", "p.toml"]).expect(0);
    world.pip(&["uninstall", "--yes", "other"]);
    world.run(&["restore"]).expect(0);
    assert!(!utils.exists());
}

#[test]
fn an_upgrade_to_a_version_without_the_file_leaves_it_to_the_other_package() {
    let world = World::new("");
    release(&world, "other", "1.0", &[("other-1.0.data/data/etc/app/user.conf", "other 1\n")]);
    world.run(&["apply", "p.toml"]).expect(0);
    world.pip(&["install", "other"]);
    let conf = world.place("etc/app/user.conf");
    world.run(&["apply", "two.toml"]).expect(0);
    assert_eq!(fs::read_to_string(conf).expect("a file"), "other 1\n");
}

#[test]
fn packages_that_share_files_are_as_before_whatever_was_applied() {
    let (first, count) = (number("SEED", 0), number("DAYS", if takes_all() { 6 } else { 1 }));
    for seed in first..first + count {
        let mut numbers = Numbers(seed);
        let (mut world, mut wheels) = (World::new(""), Vec::new());
        // The user's own, some of which profiles upgrade, and packages that only profiles have.
        let names = ["user-a", "user-b", "user-c", "ours-a", "ours-b"];
        for (name, version) in names.iter().flat_map(|name| [(*name, "1.0"), (*name, "2.0")]) {
            let name = name.replace('-', "_");
            let mut text = |path: &&'static str| {
                let common = format!("common {path}\n");
                let own = format!("{name} {version} {path}\n");
                (numbers.below(4) != 0).then(|| (*path, if numbers.below(4) == 0 { common } else { own }))
            };
            let files: Vec<(&str, String)> = SHARED.iter().filter_map(&mut text).collect();
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
            release(&world, &name, version, &files);
            wheels.push(format!("{name} {version}: {files:?}\n"));
        }
        let mut users = ["user-a==1.0", "user-b==1.0", "user-c==1.0"].to_vec();
        users.rotate_left(numbers.below(3));
        for one in &users {
            world.pip(&["install", one]);
        }
        let before = world.tree();
        let mut story = format!("seed {seed}: {}{users:?}", wheels.concat());
        for step in 0..=numbers.below(3) {
            let wanted = names.iter().filter(|_| numbers.below(2) == 0).copied().collect::<Vec<_>>();
            let wanted: Vec<String> =
                wanted.iter().map(|name| format!("{name}='=={}.0'", numbers.below(2) + 1)).collect();
            if wanted.is_empty() {
                continue;
            }
            let file = format!("{step}.toml");
            world = with_profile(world, &file, &wanted);
            let _ = write!(story, "; {wanted:?}");
            let said = world.run(&["apply", &file]);
            assert!([0, 1].contains(&said.code), "{story}: {said:?}");
            let _ = write!(story, " ({})\n{}", said.stdout, said.stderr);
        }
        let said = world.run(&["restore"]).expect(0);
        let after = world.tree();
        let is_of_installers = |path: &Path| path.to_string_lossy().contains(".dist-info/");
        let named = "has the content of a package that was removed";
        let named: Vec<&str> = said.stderr.lines().filter(|line| line.contains(named)).collect();
        assert_eq!(said.stdout.contains("restored, except"), !named.is_empty(), "{story}: {said:?}");
        let is_excepted = |path: &Path| named.iter().any(|line| line.contains(&format!("`{}`", path.display())));
        for path in before.keys().chain(after.keys()).filter(|path| !is_excepted(path) && !is_of_installers(path)) {
            let text =
                |tree: &BTreeMap<_, Vec<u8>>| tree.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            assert_eq!(text(&before), text(&after), "{}: {story}: {said:?}", path.display());
        }
    }
}

#[test]
fn a_package_gets_back_what_another_one_takes_along() {
    let world = World::new("");
    for (name, text) in [("one", "1\n"), ("two", "2\n")] {
        release(&world, name, "1.0", &[("shared.py", text), ("both.py", "both\n")]);
    }
    let profile = "[profile]\nname='p'\nversion='1.0.0'\n[packages]\none='*'\n";
    let accept = "two='*'\n[[accept]]\ncode='files-collide'\npackage='one'\nbecause='a test'\n";
    let world =
        World { test: world.test.file("both.toml", &format!("{profile}{accept}")).file("q.toml", profile), ..world };
    world.run(&["apply", "both.toml"]).expect(0);
    let said = world.run(&["apply", "q.toml"]).expect(0);
    assert!(said.concludes("applied"), "{said:?}");
    assert_eq!(fs::read_to_string(world.place("SITE/shared.py")).expect("a file"), "1\n", "{said:?}");
    assert_eq!(fs::read_to_string(world.place("SITE/both.py")).expect("a file"), "both\n", "{said:?}");
    let python = world.venv.python.display().to_string();
    let said = world.test.run(&["verify", "q.toml", "--python", &python]).expect(0);
    assert!(said.concludes("verified"), "{said:?}");
    // A file that two have is missed, too.
    world.run(&["apply", "both.toml"]).expect(0);
    fs::remove_file(world.place("SITE/shared.py")).expect("a file");
    world.run(&["apply", "both.toml"]).expect(0);
    assert!(world.place("SITE/shared.py").exists());
}

#[test]
fn a_common_file_of_locked_packages_has_the_content_of_one_of_them() {
    let accept = "two='*'\n[[accept]]\ncode='files-collide'\npackage='one'\nbecause='a test'\n";
    let world = with_profile(World::new(""), "both.toml", &["one='*'".to_owned(), accept.to_owned()]);
    release(&world, "one", "1.0", &[("common/x.py", "# of one\n"), ("V.data/scripts/tool", "#!python\n# of one\n")]);
    release(&world, "two", "1.0", &[("common/x.py", "# of two\n"), ("V.data/scripts/tool", "#!python\n# of two\n")]);
    world.run(&["apply", "both.toml"]).expect(0);
    let common = world.place("SITE/common/x.py");
    let ready = |text: &str| {
        fs::write(&common, text).expect("a file");
        world.run(&["apply", "both.toml"]).expect(0)
    };
    for text in ["# of one\n", "# of two\n"] {
        assert!(ready(text).stdout.starts_with("ready"), "{text}");
    }
    let said = ready("# of neither, by another tool\n");
    assert!(said.stdout.starts_with("applied"), "{said:?}");
    assert!(fs::read_to_string(&common).expect("a file").starts_with("# of "), "{said:?}");
    assert!(!fs::read_to_string(&common).expect("a file").contains("neither"), "{said:?}");
    let python = world.venv.python.display().to_string();
    world.test.run(&["verify", "both.toml", "--python", &python]).expect(0);
    world.run(&["restore"]).expect(0);
    assert!(!common.exists());
    // One of them was there before.
    world.pip(&["install", "one"]);
    for word in ["applied", "ready", "ready"] {
        let said = world.run(&["apply", "both.toml"]).expect(0);
        assert!(said.stdout.starts_with(word), "{word}: {said:?}");
    }
    world.run(&["restore"]).expect(0);
    assert_eq!(fs::read_to_string(&common).expect("a file"), "# of one\n");
}
