//! The second day of a keeper of profiles. An environment is gone, a lock is of another index, files were edited or
//! deleted: each command says which of these it met.

use crate::stories::{Day, release};
use crate::support::index_server::{Digests, IndexServer, Looks, Manner, Table};
use crate::support::python::Venv;

/// The commands name no Python: they find the `.venv` of their folder.
#[test]
fn an_environment_that_is_gone_is_missed_and_no_other_takes_its_place() {
    let mut day = Day::new(&[("app", "1.0", &[])]);
    let folder = day.test.path(".venv");
    day.venv = Venv::at(&folder);
    day.profile("p", &["app"], "");
    day.test.run(&["apply", "p.toml"]).expect(0);
    std::fs::remove_dir_all(&folder).expect("a folder");
    for arguments in [&["apply", "p.toml"][..], &["plan", "p.toml"], &["verify", "p.toml"]] {
        let said = day.test.run(arguments).expect(2);
        assert!(said.stderr.contains("/.venv` is gone") && said.stderr.contains("python3 -m venv "), "{said:?}");
    }
    day.test.run(&["status"]).expect(0).says("this Python no longer exists");
    day.venv = Venv::at(&folder);
    for more in [&[][..], &["--python", &day.python()]] {
        let said = day.test.run(&[&["status"], more].concat()).expect(0).says("the environment was recreated since");
        assert!(said.stdout.contains("replaced 1 package"), "{said:?}");
    }
    day.test.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(day.installed()["app"], "1.0");
}

#[test]
fn what_differs_in_a_lock_is_named_and_so_is_the_index_that_lacks_a_file() {
    let day = Day::new(&[("app", "1.0", &[])]);
    day.profile("p", &["app"], "");
    day.run(&["lock", "p.toml"]).expect(0);
    let lock = day.read("p.lock");
    let digest = lock.split("sha256 = \"").last().and_then(|rest| rest.get(..64)).expect("a digest").to_owned();
    std::fs::write(day.test.path("p.lock"), lock.replace(&digest, &"0".repeat(64))).expect("a write");
    let said = day.run(&["lock", "p.toml", "--check"]).expect(1);
    assert!(said.stderr.contains("`app-1.0-py3-none-any.whl` has another digest: sha256 0000"), "{said:?}");
    // Locked with an index that the next command does not name.
    let rows: [(&str, &str, &[&str]); 1] = [("own", "1.0", &[])];
    let looks = Looks { digests: Digests::True, json: true, ..Looks::default() };
    let other = IndexServer::with(crate::stories::table(&rows), Manner::Good, looks);
    day.profile("q", &["own"], "");
    day.run(&["lock", "q.toml", "--index-url", &other.url]).expect(0);
    let said = day.run(&["apply", "q.toml"]).expect(3);
    let place = format!("`own-1.0-py3-none-any.whl` is not on the index `{}`", day.server.url);
    assert!(said.stderr.contains(&place) && said.stderr.contains("`colab-boot lock q.toml`"), "{said:?}");
    day.run(&["apply", "q.toml", "--index-url", &other.url]).expect(0);
    // No marker holds: a lock of nothing is one.
    let text = "[profile]\nname = 'n'\n[packages]\napp = { version = '*', marker = \"sys_platform == 'win32'\" }\n";
    std::fs::write(day.test.path("n.toml"), text).expect("a profile");
    day.run(&["lock", "n.toml"]).expect(0);
    day.run(&["lock", "n.toml", "--check"]).expect(0);
    day.run(&["plan", "n.toml", "--locked"]).expect(0);
}

#[test]
fn a_deleted_file_that_another_package_imports_comes_back_with_apply() {
    let mut table = Table::new();
    for (name, files) in [
        ("deep", &[("deep/__init__.py", ""), ("deep/core.py", "x = 1\n")][..]),
        ("user", &[("user.py", "import deep.core\n")]),
    ] {
        table.entry(name.to_owned()).or_default().insert("1.0".to_owned(), release(files));
    }
    let day = Day::of_table(table);
    day.profile("p", &["deep", "user"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    std::fs::remove_file(day.venv.layout().join("deep/core.py")).expect("a file");
    let said = day.run(&["verify", "p.toml"]).expect(1);
    assert!(said.stderr.contains("the module `deep.core` of `deep` is missing on disk"), "{said:?}");
    assert!(!said.stderr.contains("another release"), "{said:?}");
    day.run(&["apply", "p.toml"]).expect(0);
    day.run(&["verify", "p.toml"]).expect(0);
}
