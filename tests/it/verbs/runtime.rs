//! Images that no release of the program describes: imported, listed, planned for.

use std::path::Path;
use std::process::Command;

use crate::stories::table;
use crate::support::index_server::{IndexServer, Manner};
use crate::support::python::interpreter;
use crate::support::said::Said as _;
use crate::support::test::Test;

const PROFILE: &str = "[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\nlib = '2.*'\n";

/// Colab's lists of one image: `app` needs an older `lib`.
fn manifest(test: &Test, folder: &str) {
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(test.path(folder)).expect("a folder");
        std::fs::write(test.path(folder).join(name), format!("# Do not modify this file.\n{text}")).expect(name);
    };
    let address = "https://host.invalid/extra_lib-3.1%2Blocal-py3-none-any.whl#sha256=00";
    let frozen =
        format!("app==1.0\nlib==1.0\nextra_lib @ {address}\nodd @ git+https://host.invalid/odd@abc\n-e broken\n");
    write("pip-freeze.gpu.txt", &frozen);
    let debian = "Listing...\nlibc6/now 2.35-0ubuntu3.9 amd64 [installed]\nlibnccl2/unknown,now 2.25.1-1+cuda12.8 amd64 [installed]\n\
                  libnccl-dev/unknown,now 2.25.1-1+cuda12.8 amd64 [installed]\nvim/jammy,now 2:8.2 amd64 [installed]\n";
    write("apt-list-gpu.txt", debian);
    write("os-info-gpu.txt", "Ubuntu 22.04.5 LTS\nPython 3.12.13\nR version 4.6.1\n");
}

fn index() -> IndexServer {
    let rows: &[(&str, &str, &[&str])] = &[("app", "1.0", &["lib<2"]), ("lib", "1.0", &[]), ("lib", "2.0", &[])];
    IndexServer::start(table(rows), Manner::Good)
}

#[test]
fn a_manifest_becomes_an_image_that_is_planned_for() {
    let server = index();
    let test = Test::new().file("p.toml", PROFILE).set("COLAB_BOOT_INDEX_URL", server.url.clone());
    manifest(&test, "lists");
    let imported =
        test.run(&["runtime", "import", "lists", "--as-of", "2026-08-19", "--name", "colab-2026.10", "--json"]);
    let report = imported.expect(0).json();
    let image = &report["report"]["runtimes"][0];
    assert_eq!(image["name"], "colab-2026.10-gpu");
    // The index has neither the package from an address nor its requirements.
    assert_eq!((image["packages"].as_u64(), image["without-requirements"].as_u64()), (Some(3), Some(1)));
    let text = std::fs::read_to_string(image["file"].as_str().expect("a file")).expect("a description");
    let read: toml::Value = toml::from_str(&text).expect("TOML");
    assert_eq!(read["packages"]["extra-lib"].as_str(), Some("3.1+local"));
    assert_eq!(read["direct-url"].as_array().map(Vec::len), Some(2), "{text}");
    assert_eq!(read["apt"].as_table().map(toml::Table::len), Some(1), "{text}");
    assert_eq!(read["requires"]["app"][0].as_str(), Some("lib<2"), "{text}");
    // The driver is as on the newest bundled image, and a name with a date does not move.
    assert!(read["driver"].as_str().is_some() && read.get("moves").is_none(), "{text}");

    let listed = test.run(&["runtime", "list", "--json"]).expect(0).json();
    let rows = listed["report"]["runtimes"].as_array().expect("rows");
    let own: Vec<_> = rows.iter().filter(|row| row["file"].is_string()).collect();
    assert_eq!((own.len(), &own[0]["name"], &own[0]["as-of"]), (1, &"colab-2026.10-gpu".into(), &"2026-08-19".into()));
    assert!(rows.len() > 10 && own[0]["age-days"].as_i64().expect("an age") > 90, "{own:?}");

    let plan = test.run(&["plan", "p.toml", "--runtime", "colab-2026.10"]);
    assert!(plan.reports_about("error[plan-breakage]", "app 1.0"), "{plan:?}");
    let file = image["file"].as_str().expect("a file");
    let by_path = test.run(&["plan", "p.toml", "--runtime", file, "--json"]).json();
    assert_eq!(by_path["report"]["plan"]["changes"].as_array().map(Vec::len), Some(1), "{by_path}");
    let forecast = test.run(&["forecast", "p.toml", "--runtime", "colab-2026.10", "--json"]).expect(0).json();
    assert_eq!(forecast["report"][0]["runtime"], "colab-2026.10-gpu");
    test.run(&["audit", "colab-2026.10-gpu", "--offline"]).expect(0);
}

#[test]
fn an_image_that_moves_counts_by_its_day() {
    let test = Test::new().file("p.toml", PROFILE);
    manifest(&test, "lists");
    let import = |day: &str| test.run(&["runtime", "import", "lists", "--as-of", day, "--offline"]);
    let day = || {
        let listed = test.run(&["runtime", "list", "--json"]).expect(0).json();
        let rows = listed["report"]["runtimes"].as_array().expect("rows").clone();
        let row = rows.into_iter().find(|row| row["name"] == "colab-latest-gpu").expect("a row");
        (row["as-of"].clone(), row["file"].is_string())
    };
    let bundled = day();
    assert!(!bundled.1);
    let older = import("2025-01-01").expect(2);
    assert!(older.stderr.contains("a newer list of `colab-latest-gpu` is known"), "{older:?}");
    assert_eq!(day(), bundled);
    import("2026-09-30").expect(0);
    assert_eq!(day(), ("2026-09-30".into(), true));
    assert!(import("2026-09-01").expect(2).stderr.contains("of 2026-09-30"));
    assert!(import("2099-01-01").expect(2).stderr.contains("is after today"));
    // A checkout says its own day; a copy of it does not.
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.invalid"]).args(arguments);
        git.current_dir(test.path("lists")).env("GIT_COMMITTER_DATE", "2026-11-05T12:00:00Z");
        assert!(git.output().expect("git").status.success());
    };
    let undated = test.run(&["runtime", "import", "lists", "--offline"]).expect(2);
    assert!(undated.stderr.contains("--as-of"), "{undated:?}");
    for arguments in [["init", "-q"].as_slice(), &["add", "."], &["commit", "-q", "-m", "lists"]] {
        git(arguments);
    }
    test.run(&["runtime", "import", "lists", "--offline"]).expect(0);
    assert_eq!(day(), ("2026-11-05".into(), true));
}

#[test]
fn a_recorded_machine_becomes_an_image() {
    let server = index();
    let test = Test::new()
        .file("p.toml", PROFILE)
        .file("root/sys/module/nvidia/version", "580.82.07\n")
        .fake("nvidia-smi")
        .set("COLAB_BOOT_INDEX_URL", server.url.clone());
    let python = interpreter().display().to_string();
    test.run(&["fingerprint", "--python", &python, "--json=team.json"]).expect(0);
    test.run(&["runtime", "import", "team.json", "--output", "images"]).expect(0);
    let text = std::fs::read_to_string(test.path("images/team.toml")).expect("a description");
    assert!(text.contains("driver = \"580.82.07\"") && !text.contains('/'), "{text}");
    let plan = test.run(&["plan", "p.toml", "--runtime", "images/team.toml", "--json"]).json();
    assert_eq!(plan["report"]["plan"]["changes"].as_array().map(Vec::len), Some(1), "{plan}");
    // A profile is forecast for the record itself, too.
    let forecast = test.run(&["forecast", "p.toml", "--machine", "team.json", "--json"]).expect(0).json();
    assert_eq!(
        (&forecast["report"][0]["runtime"], &forecast["report"][0]["survives"]),
        (&"team.json".into(), &true.into())
    );
    // Without a name of its own it takes the file's.
    assert!(Path::new(&test.path("images/team.toml")).is_file());
}

#[test]
fn what_is_no_image_is_refused() {
    let test = Test::new().file("p.toml", PROFILE).file("no.json", "{}").file("empty/x", "");
    manifest(&test, "lists");
    for (arguments, words) in [
        (&["no.json"] as &[&str], "is not a machine record"),
        (&["gone"], "gone"),
        (&["empty", "--as-of", "2026-01-01"], "has no list of an image"),
        (&["lists", "--as-of", "2026-01-01", "--name", "a b"], "can't be the name of an image"),
        (&["lists", "--as-of", "yesterday"], "yesterday"),
    ] {
        let refused = test.run(&[&["runtime", "import"], arguments].concat()).expect(2);
        assert!(refused.stderr.contains(words), "{arguments:?}: {refused:?}");
    }
    let taken =
        test.run(&["runtime", "import", "lists", "--as-of", "2026-01-01", "--name", "colab-2026.07", "--offline"]);
    assert!(taken.expect(2).stderr.contains("is the name of a bundled image"));
    let over =
        test.run(&["runtime", "import", "lists", "--as-of", "2026-01-01", "--name", "p", "--output", ".", "--offline"]);
    assert!(over.expect(0).stdout.contains("wrote ./p-gpu.toml"));
    std::fs::write(test.path("p-gpu.toml"), PROFILE).expect("a profile");
    let over =
        test.run(&["runtime", "import", "lists", "--as-of", "2026-01-01", "--name", "p", "--output", ".", "--offline"]);
    assert!(over.expect(2).stderr.contains("does not describe a notebook image"));
    assert_eq!(std::fs::read_to_string(test.path("p-gpu.toml")).expect("a profile"), PROFILE);
    // A damaged description stops only a command that names it.
    let folder = test.path("home/.config/colab-boot/runtimes");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("bad.toml"), "x = ").expect("a file");
    assert!(test.run(&["runtime", "list"]).expect(0).reports("warning[runtime-unread]"));
    test.run(&["audit", "--runtime", "bare-3.12"]).expect(0);
    assert!(test.run(&["audit", "--runtime", "bad"]).expect(2).stderr.contains("bad.toml"));
    std::fs::remove_dir_all(&folder).expect("removed");
    std::fs::write(test.path("lists/os-info-gpu.txt"), "Ubuntu 22.04\n").expect("a file");
    let cut = test.run(&["runtime", "import", "lists", "--as-of", "2026-01-01", "--offline"]).expect(2);
    assert!(cut.stderr.contains("os-info-gpu.txt"), "{cut:?}");
    let listed = test.run(&["runtime", "list", "--json"]).expect(0).json();
    assert!(listed["report"]["runtimes"].as_array().is_some_and(|rows| rows.iter().all(|row| row["file"].is_null())));
    let unknown = test.run(&["plan", "p.toml", "--runtime", "colab-2031.01"]).expect(2);
    assert!(unknown.stderr.contains("runtime import"), "{unknown:?}");
}
