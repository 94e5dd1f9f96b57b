//! An index that a framework publishes, with a page for each CUDA: which page fits, what the lock keeps, and what a
//! mirror changes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::support::index_server::{Digests, IndexServer, Looks, Manner, Release, Table};
use crate::support::test::{Outcome, Test};

/// A server for the default index and one for each page, as PyTorch has them.
struct Pages {
    test: Test,
    servers: BTreeMap<&'static str, IndexServer>,
}

fn serve(rows: &[(&str, &[&str])]) -> IndexServer {
    let table: Table = rows
        .iter()
        .map(|(name, versions)| {
            let release = |version: &&str| ((*version).to_owned(), Release::default());
            ((*name).to_owned(), versions.iter().map(release).collect())
        })
        .collect();
    // PyTorch's pages are HTML, with digests in the addresses and METADATA beside some files.
    IndexServer::with(table, Manner::Good, Looks { digests: Digests::True, ..Looks::default() })
}

impl Pages {
    fn new() -> Self {
        let servers: BTreeMap<&'static str, IndexServer> = [
            ("default", serve(&[("torch", &["2.9.1"]), ("torchvision", &["0.24.1"]), ("six", &["1.0"])])),
            ("cpu", serve(&[("torch", &["2.9.1+cpu"]), ("torchvision", &["0.24.1+cpu"]), ("six", &["0.1"])])),
            ("cu126", serve(&[("torch", &["2.8.0+cu126", "2.9.1+cu126"]), ("torchvision", &["0.24.1+cu126"])])),
            ("cu128", serve(&[("torch", &["2.9.1+cu128"]), ("torchvision", &["0.24.1+cu128"])])),
        ]
        .into();
        let mut rows = "[[index]]\nname = 'pytorch'\npackages = ['torch', 'torchvision']\nsource = 'test'\nchecked = '2026-11-23'\n".to_owned();
        for (label, cuda) in [("cpu", ""), ("cu126", "12.6"), ("cu128", "12.8")] {
            let cuda = if cuda.is_empty() { String::new() } else { format!("cuda = '{cuda}'\n") };
            let _ = write!(rows, "\n[[index.page]]\nlabel = '{label}'\n{cuda}address = '{}'\n", servers[label].url);
        }
        let test = Test::new().file("rows.toml", &rows);
        let test = test.set("COLAB_BOOT_INDEX_URL", servers["default"].url.clone());
        Self { test, servers }
    }

    /// Locks a profile with this `[target]` and torch.
    fn lock(&self, target: &str, torch: &str, options: &[&str]) -> (Outcome, String) {
        let text = format!(
            "[profile]\nname='p'\nversion='1.0.0'\n[target]\n{target}\n[frameworks]\ntorch={torch}\ntorchvision='*'\n[packages]\nsix='*'\n"
        );
        std::fs::write(self.test.path("p.toml"), text).expect("a profile");
        let _ = std::fs::remove_file(self.test.path("p.lock"));
        let base = ["lock", "p.toml", "--matrix", "rows.toml", "--runtime", "bare-3.12"];
        let outcome = self.test.run(&[&base, options].concat());
        (outcome, std::fs::read_to_string(self.test.path("p.lock")).unwrap_or_default())
    }
}

const ANY: &str = "{ version = '*', index = 'pytorch' }";

#[test]
fn the_page_that_fits_target_and_driver_serves_the_family_alone() {
    let pages = Pages::new();
    for (target, options, torch) in [
        ("cuda = 'auto'", ["--gpu", "L4", "--driver", "580.82.07"].as_slice(), "2.9.1+cu128"),
        ("cuda = '12.6'", &["--gpu", "L4", "--driver", "580.82.07"], "2.9.1+cu126"),
        ("cuda = 'cpu'", &[], "2.9.1+cpu"),
        ("cuda = 'auto'", &[], "2.9.1+cpu"),
    ] {
        let (outcome, lock) = pages.lock(target, ANY, options);
        assert_eq!(outcome.code, 0, "{target} {options:?}: {outcome:?}");
        let label = torch.split('+').nth(1).expect("a label");
        for line in [format!("version = \"{torch}\""), format!("version = \"0.24.1+{label}\"")] {
            assert!(lock.contains(&line), "{target} {options:?}: {line}: {lock}");
        }
        assert!(lock.contains("six-1.0-py3-none-any.whl") && lock.contains("index = \"default\""), "{lock}");
        assert!(lock.contains("index = \"pytorch\"") && !lock.contains("127.0.0.1"), "{lock}");
    }
}

#[test]
fn a_release_that_only_an_older_page_has_is_found_there() {
    let pages = Pages::new();
    let (outcome, lock) = pages.lock(
        "cuda = 'auto'",
        "{ version = '==2.8.0', index = 'pytorch' }",
        &["--gpu", "L4", "--driver", "580.82.07"],
    );
    // torchvision of that page was built for torch 2.9.1.
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(lock.is_empty() && outcome.stderr.contains("torch"), "{outcome:?}");
    let text = "[profile]\nname='p'\nversion='1.0.0'\n[frameworks]\ntorch={ version = '==2.8.0', index = 'pytorch' }\n";
    std::fs::write(pages.test.path("q.toml"), text).expect("a profile");
    let base =
        ["lock", "q.toml", "--matrix", "rows.toml", "--runtime", "bare-3.12", "--gpu", "L4", "--driver", "580.82.07"];
    pages.test.run(&base).expect(0);
    let lock = std::fs::read_to_string(pages.test.path("q.lock")).expect("a lock");
    assert!(lock.contains("version = \"2.8.0+cu126\""), "{lock}");
}

#[test]
fn what_a_lock_names_is_fetched_from_its_page() {
    let pages = Pages::new();
    pages.lock("cuda = '12.6'", ANY, &["--gpu", "L4", "--driver", "580.82.07"]).0.expect(0);
    let before = pages.servers["cu128"].asked().len();
    pages.test.run(&["fetch", "p.lock", "--into", "wheels", "--matrix", "rows.toml"]).expect(0);
    let mut names: Vec<String> = std::fs::read_dir(pages.test.path("wheels"))
        .expect("a wheelhouse")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".whl"))
        .collect();
    names.sort();
    let expected =
        ["six-1.0-py3-none-any.whl", "torch-2.9.1+cu126-py3-none-any.whl", "torchvision-0.24.1+cu126-py3-none-any.whl"];
    assert_eq!(names, expected);
    assert_eq!(pages.servers["cu128"].asked().len(), before, "no other page is asked");
}

#[test]
fn an_index_that_nobody_knows_and_a_target_that_no_page_fits_are_errors() {
    let pages = Pages::new();
    let (unknown, _) = pages.lock("", "{ version = '*', index = 'pytorhc' }", &[]);
    assert!(
        unknown.code == 2 && unknown.stderr.contains("pytorhc") && unknown.stderr.contains("pytorch"),
        "{unknown:?}"
    );
    let (none, _) = pages.lock("cuda = '12.1'", ANY, &["--gpu", "L4", "--driver", "580.82.07"]);
    assert!(none.code == 1 && none.stderr.contains("the index `pytorch` has no page for"), "{none:?}");
}

#[test]
fn a_build_from_another_index_is_solved_before_it_is_suggested() {
    let pages = Pages::new();
    let gpu = ["--gpu", "L4", "--driver", "580.82.07"];
    // The bundled rows of PyTorch's index lead to a host that no test asks; the rows of an overlay take their place.
    for (target, torch, expected) in [
        ("cuda = 'cpu'", "'*'", "`torch = { version = \"*\", index = \"pytorch\" }` works: solved"),
        ("cuda = '12.6'", "'==2.9.1'", "`torch = { version = \"==2.9.1\", index = \"pytorch\" }` works: solved"),
    ] {
        let (outcome, lock) = pages.lock(target, torch, &gpu);
        assert_eq!((outcome.code, lock.as_str()), (1, ""), "{outcome:?}");
        assert!(outcome.stderr.contains(expected), "{outcome:?}");
    }
    // No page has that release: nothing is suggested.
    let (outcome, _) = pages.lock("cuda = '12.6'", "'==2.9.0'", &gpu);
    assert!(outcome.code == 1 && !outcome.stderr.contains("pytorch"), "{outcome:?}");
}
