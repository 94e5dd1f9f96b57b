//! What lies in the place of a package's file, and what comes first without a change of the folder that it is in.

use std::fs;

use crate::stories::{Day, release};
use crate::support::index_server::Table;

fn day() -> Day {
    let mut table = Table::new();
    let versions = table.entry("lib".to_owned()).or_default();
    versions.insert(
        "1.0".to_owned(),
        release(&[("lib/__init__.py", ""), ("lib/extra.py", "x = 1\n"), ("single.py", "x = 1\n")]),
    );
    versions.insert("2.0".to_owned(), release(&[("lib/__init__.py", ""), ("single.py", "x = 1\n")]));
    table.entry("other".to_owned()).or_default().insert("1.0".to_owned(), release(&[("other.py", "x = 1\n")]));
    Day::of_table(table)
}

/// A user's file somewhere below `folder`.
fn has(folder: &std::path::Path, name: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let path = entry.path();
        entry.file_name() == name || !path.is_symlink() && path.is_dir() && has(&path, name)
    })
}

#[test]
fn a_folder_in_the_place_of_a_file_is_kept() {
    let next: [(&str, &[&str], &[&str]); 3] = [
        ("upgrade", &["lib >=2", "other"], &["apply", "p.toml"]),
        ("prune", &["other"], &["apply", "p.toml"]),
        ("restore", &["lib <2", "other"], &["restore"]),
    ];
    for (about, packages, verb) in next {
        let day = day();
        day.profile("p", &["lib <2", "other"], "");
        day.run(&["apply", "p.toml"]).expect(0);
        let extra = day.venv.layout().join("lib/extra.py");
        fs::remove_file(&extra).expect("a file");
        fs::create_dir_all(extra.join("deep")).expect("a folder");
        fs::write(extra.join("deep/thesis.txt"), "mine").expect("a file");
        std::os::unix::fs::symlink("/elsewhere", extra.join("link")).expect("a link");
        day.profile("p", packages, "");
        let said = day.run(verb).expect(0).stderr;
        assert!(said.contains("lib/extra.py/deep/thesis.txt"), "{about}: {said}");
        let kept = [day.test.path("state"), day.venv.layout()];
        for name in ["thesis.txt", "link"] {
            assert!(kept.iter().any(|folder| has(folder, name)), "{about}: {name}: {said}");
        }
    }
}

#[test]
fn a_folder_that_becomes_a_package_is_seen() {
    let day = day();
    day.profile("p", &["lib <2"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    let folder = day.venv.layout().join("single");
    fs::create_dir(&folder).expect("a folder");
    // Long enough ago for the folder around it to be known as it is.
    std::thread::sleep(std::time::Duration::from_millis(100));
    day.run(&["apply", "p.toml"]).expect(0);
    std::thread::sleep(std::time::Duration::from_millis(100));
    day.run(&["apply", "p.toml"]).expect(0);
    fs::write(folder.join("__init__.py"), "x = 2\n").expect("a file");
    for verb in ["apply", "verify"] {
        let said = day.run(&[verb, "p.toml"]).expect(1).stderr;
        assert!(said.contains("error[") && said.contains("single"), "{verb}: {said}");
    }
    fs::remove_dir_all(folder).expect("a folder");
    day.run(&["apply", "p.toml"]).expect(0);
}
