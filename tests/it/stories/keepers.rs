//! Keepers who make mistakes, and readers who see the truth about them: nothing is written that nobody can read, no
//! signature is lost.

use crate::stories::team::{Team, fingerprint, two_releases};
use crate::support::keys::Key;
use crate::support::said::Said as _;

#[test]
fn a_mistake_leaves_the_signed_index_as_it_was() {
    let team = two_releases();
    let before = team.index();
    let alice = team.alice.path.display().to_string();
    let mallory = Key::new(&team.day.test.path(""), "mallory").path.display().to_string();
    let long = "x".repeat(600);
    for (code, arguments) in [
        (2, &["withdraw", "data@1.0.0", "--because", "", "--key", &alice][..]),
        (2, &["withdraw", "--yank", "data@1.0.0", "--because", " ", "--key", &alice]),
        (2, &["withdraw", "--yank", "data@1.0.0", "--because", "two\nlines", "--key", &alice]),
        (2, &["withdraw", "--yank", "data@1.0.0", "--because", &long, "--key", &alice]),
        (2, &["withdraw", "--yank", "data", "--because", "which?", "--key", &alice]),
        (2, &["withdraw", "--yank", "data@2.0.0", "--because", "x", "--use", "data@2.0.0", "--key", &alice]),
        (2, &["sign", "--renew", "--key", "nowhere"]),
        (2, &["withdraw", "data@2.0.0", "--because", "x", "--use", "data@1.0.0", "--key", &alice]),
        (2, &["withdraw", "data@2.0.0", "--because", "x", "--on", "2020-01-01", "--key", &alice]),
        (1, &["sign", "--renew", "--key", &mallory]),
        (1, &["withdraw", "--yank", "data@2.0.0", "--because", "x", "--key", &mallory]),
        (1, &["sign", "--fresh", "--key", &mallory]),
    ] {
        let said = team.run(&[&["golden"], arguments, &["--repo", "repo"]].concat());
        assert_eq!(said.code, code, "{arguments:?}: {said:?}");
        assert_eq!(team.index(), before, "{arguments:?}");
    }
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    // What was withdrawn stays so.
    team.keep(&["withdraw", "--yank", "data@1.0.0", "--because", "bad"]);
    let said = team.run(&["golden", "withdraw", "data@1.0.0", "--because", "old", "--repo", "repo", "--key", &alice]);
    assert!(said.code == 2 && said.stderr.contains("was withdrawn; this can't be undone"), "{said:?}");
    let (instead, repo) = (["--use", "data@1.0.0", "--repo", "repo"], ["--key", &alice]);
    let yank = ["golden", "withdraw", "--yank", "data@2.0.0", "--because", "also"];
    let said = team.run(&[&yank[..], &instead, &repo].concat());
    assert!(said.code == 2 && said.stderr.contains("data@1.0.0 is yanked"), "{said:?}");
    // A profile that is named twice is one release; what was left unsigned is signed.
    team.profile("3.0.0", "");
    team.run(&["golden", "publish", "data.toml", "data.toml", "--repo", "repo", "--no-sign"]).expect(0);
    assert_eq!(team.run(&["golden", "check", "--repo", "repo", "--json"]).expect(1).codes()[0], "golden-threshold");
    team.sign(&team.alice).expect(0);
    team.sign(&team.bob).expect(0);
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
    // What lies beside the index, and says nothing of it, is named.
    std::fs::write(team.day.test.path("repo/fresh.toml"), "garbage").expect("a file");
    std::fs::write(team.day.test.path("repo/index.html"), "<meta name=\"generator\" content=\"colab-boot\">")
        .expect("a page");
    let folder = team.day.test.path("repo/lost/1.0.0");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("lost.lock"), "").expect("a lock");
    let said = team.run(&["golden", "check", "--repo", "repo"]).expect(0).stderr;
    for words in
        ["`fresh.toml` has no trusted signature", "`index.html` does not match index", "`lost/1.0.0` is a release"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    let index = String::from_utf8(team.index()).expect("an index");
    std::fs::write(team.day.test.path("repo/golden.toml"), format!("<<<<<<< ours\n{index}=======\n>>>>>>> theirs\n"))
        .expect("a file");
    assert!(
        team.run(&["golden", "sign", "--renew", "--repo", "repo"]).expect(1).stderr.contains("conflict markers of git")
    );
}

#[test]
fn keepers_who_publish_at_once_take_turns() {
    let team = Team::new();
    let alice = team.alice.path.display().to_string();
    let names: Vec<String> = (0..6).map(|number| format!("p{number}")).collect();
    for name in &names {
        let text = format!(
            "[profile]\nname = '{name}'\nversion = '1.0.0'\n[target]\nruntimes = ['bare-3.12']\n[packages]\nlib = '*'\n"
        );
        std::fs::write(team.day.test.path(&format!("{name}.toml")), text).expect("a profile");
        team.run(&["lock", &format!("{name}.toml")]).expect(0);
    }
    std::thread::scope(|scope| {
        for name in &names {
            let (team, alice) = (&team, &alice);
            let publish = move || {
                team.run(&["golden", "publish", &format!("{name}.toml"), "--repo", "repo", "--key", alice]).code
            };
            scope.spawn(move || assert_eq!(publish(), 0));
        }
    });
    team.sign(&team.bob).expect(0);
    let listed = team.run(&["golden", "list", "--repo", "repo"]).expect(0).stdout;
    assert!(names.iter().all(|name| listed.contains(&format!("{name}@1.0.0"))), "{listed}");
    team.run(&["golden", "check", "--repo", "repo"]).expect(0);
}

#[test]
fn a_repository_has_one_name_and_its_keys_are_asked_for_under_all_of_them() {
    let team = two_releases();
    let keys = [fingerprint(&team.alice), fingerprint(&team.bob)];
    for arguments in [&["--key", "garbage"][..], &["--key", "SHA256:abc"], &["--key", &keys[0], "--threshold", "0"]] {
        team.run(&[&["golden", "trust", "--repo", "repo"], arguments].concat()).expect(2);
    }
    let strange = fingerprint(&Key::new(&team.day.test.path(""), "stranger"));
    team.run(&["golden", "trust", "--repo", "repo", "--key", &keys[0], "--key", &keys[1], "--key", &strange]).expect(1);
    team.run(&["golden", "trust", "--repo", "repo/", "--key", &keys[0], "--key", &keys[1]]).expect(0);
    let text = String::from_utf8(team.index()).expect("an index");
    let unsigned = text.split("# -----BEGIN").next().expect("a text");
    std::fs::write(team.day.test.path("repo/golden.toml"), unsigned).expect("an index");
    std::os::unix::fs::symlink(team.day.test.path("repo"), team.day.test.path("link")).expect("a link");
    let copy = team.day.test.path("copy");
    std::fs::create_dir(&copy).expect("a folder");
    std::fs::write(copy.join("golden.toml"), unsigned).expect("an index");
    for name in ["repo", "repo/", "./repo", "reader/../repo", "link", "copy", &team.url, &format!("{}//", team.url)] {
        let said = team.run(&["golden", "list", "--repo", name, "--json"]).expect(1);
        assert_eq!(said.codes(), ["golden-threshold"], "{name}: {said:?}");
    }
}

#[test]
fn what_was_changed_is_named_with_a_way_out() {
    let team = two_releases();
    team.trust();
    let reader = |name: &str| team.day.test.path(&format!("reader/{name}"));
    team.reader(&["golden", "add", "data@2.0.0", "--repo", &team.url]).expect(0);
    // A profile that was edited or lost, a lock that was: each is said, with a way out that works.
    for file in ["data.toml", "data.lock"] {
        let text = std::fs::read_to_string(reader(file)).expect("a file");
        std::fs::write(reader(file), format!("{text}\n# mine\n")).expect("a file");
        for verb in ["verify", "update"] {
            let said = team.reader(&["golden", verb]).expect(1);
            assert!(said.stderr.contains(&format!("{file}` differs from data@2.0.0")), "{said:?}");
            assert!(said.stderr.contains("move the file, then run `colab-boot golden add data@2.0.0`"), "{said:?}");
        }
        std::fs::remove_file(reader(file)).expect("a file");
        team.reader(&["golden", "verify"]).expect(1);
        // Without a name it is what is pinned here.
        team.reader(&["golden", "add"]).expect(0);
        team.reader(&["golden", "verify"]).expect(0);
    }
    for file in ["data.toml", "data.lock"] {
        std::fs::write(reader(file), "mine\n").expect("a file");
    }
    team.reader(&["golden", "verify"]).expect(1).says("move the files, then run");
    for file in ["data.toml", "data.lock"] {
        std::fs::remove_file(reader(file)).expect("a file");
    }
    team.reader(&["golden", "add"]).expect(0);
    // An `add` that was killed between two files: those of another release are no work of the user.
    for (file, version) in [("data.toml", "1.0.0"), ("data.lock", "1.0.0")] {
        let other = std::fs::read(team.day.test.path(&format!("repo/data/{version}/{file}"))).expect("a file");
        std::fs::write(reader(file), other).expect("a file");
        team.reader(&["golden", "add", "data@2.0.0", "--repo", &team.url]).expect(0);
    }
    // What is pinned is withdrawn, and an older one is to be taken.
    team.keep(&["withdraw", "--yank", "data@2.0.0", "--because", "bad", "--use", "data@1.0.0"]);
    let said = team.reader(&["golden", "update"]).expect(0);
    assert!(said.stdout.contains("data@2.0.0 -> data@1.0.0"), "{said:?}");
    team.reader(&["golden", "verify"]).expect(0);
}

/// A cell that was edited, two cells of one release, carriage returns, other bytes than UTF-8, no place to ask.
#[test]
fn odd_notebooks_are_read_or_refused() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    team.trust();
    let reader = |name: &str| team.day.test.path(&format!("reader/{name}"));
    std::fs::write(reader("a.ipynb"), "{\r\n \"cells\": [\r\n  {\r\n   \"cell_type\": \"markdown\",\r\n   \"source\": \"x\"\r\n  }\r\n ],\r\n \"nbformat\": 4\r\n}\r\n").expect("a notebook");
    team.reader(&["golden", "add", "data", "--repo", &team.url, "--into", "a.ipynb"]).expect(0);
    let text = std::fs::read_to_string(reader("a.ipynb")).expect("a notebook");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    team.reader(&["golden", "verify", "--into", "a.ipynb"]).expect(0);
    std::fs::write(reader("a.ipynb"), text.replace("colab_boot_apply()\"", "colab_boot_apply()\\nimport os\""))
        .expect("a notebook");
    let said = team.reader(&["golden", "verify", "--into", "a.ipynb"]).expect(1);
    assert!(said.stderr.contains("of `a.ipynb` differs from data@1.0.0"), "{said:?}");
    let mut twice: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let boot = twice["cells"][1].clone();
    twice["cells"].as_array_mut().expect("cells").push(boot);
    std::fs::write(reader("b.ipynb"), twice.to_string()).expect("a notebook");
    team.profile("4.0.0", "");
    team.keep(&["publish", "data.toml"]);
    team.reader(&["golden", "update", "--into", "b.ipynb"]).expect(0);
    team.reader(&["golden", "verify", "--into", "b.ipynb"]).expect(0);
    let text = std::fs::read_to_string(reader("b.ipynb")).expect("a notebook");
    assert_eq!(text.matches("@title colab-boot: data 4.0.0").count(), 2);
    std::fs::write(reader("c.ipynb"), [0xff, 0xfe, b'{', 0]).expect("a notebook");
    assert!(
        team.reader(&["golden", "add", "data", "--repo", &team.url, "--into", "c.ipynb"])
            .expect(2)
            .stderr
            .contains("not UTF-8")
    );
    let mut bare: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for cell in bare["cells"].as_array_mut().expect("cells") {
        cell["metadata"] = serde_json::json!({});
    }
    std::fs::write(reader("d.ipynb"), bare.to_string()).expect("a notebook");
    assert!(
        team.reader(&["golden", "verify", "--into", "d.ipynb"])
            .expect(2)
            .stderr
            .contains("pass its folder or URL with --repo")
    );
    team.reader(&["golden", "verify", "--into", "d.ipynb", "--repo", &team.url]).expect(0);
}

#[test]
fn an_apply_keeps_what_the_folder_pins() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    team.trust();
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
    let python = team.day.python();
    let apply = |more: &[&str]| team.reader(&[&["apply", "data.toml", "--python", &python], more].concat());
    let first = apply(&[]).expect(0);
    assert!(first.concludes("applied") && !first.stdout.contains("release"), "{first:?}");
    let at = |name: &str| team.day.test.path("reader").join(name);
    let installed = team.day.installed();
    // Edited by hand: the lock, then the profile, then the lock is gone. Nothing is solved, and nothing is written
    // over.
    for (name, edit) in [("data.lock", "\n# mine\n"), ("data.toml", "\n# mine\n"), ("data.lock", "")] {
        let whole = std::fs::read_to_string(at(name)).expect(name);
        let text = format!("{whole}{edit}");
        if edit.is_empty() { std::fs::remove_file(at(name)) } else { std::fs::write(at(name), &text) }.expect(name);
        let refused = apply(&[]).expect(1);
        assert!(refused.reports("error[golden-file-differs]") && refused.stderr.contains(name), "{refused:?}");
        assert!(
            refused.stderr.contains("golden add data@1.0.0") && refused.stderr.contains("remove the entry"),
            "{refused:?}"
        );
        assert_eq!(refused.stdout, "refused: 1 error, nothing was changed\n");
        assert_eq!(std::fs::read_to_string(at(name)).unwrap_or_default(), if edit.is_empty() { "" } else { &text });
        std::fs::write(at(name), whole).expect(name);
    }
    // Through links to the files from another folder the pin holds as well.
    let beside = team.day.test.path("links");
    std::fs::create_dir(&beside).expect("a folder");
    for name in ["data.toml", "data.lock"] {
        std::os::unix::fs::symlink(at(name), beside.join(name)).expect("a link");
    }
    let through = beside.join("data.toml").display().to_string();
    let whole = std::fs::read_to_string(at("data.toml")).expect("a profile");
    std::fs::write(at("data.toml"), format!("{whole}\n# mine\n")).expect("a profile");
    let refused = team.reader(&["apply", &through, "--python", &python]).expect(1);
    assert!(refused.reports("error[golden-file-differs]"), "{refused:?}");
    std::fs::write(at("data.toml"), whole).expect("a profile");
    assert!(team.reader(&["apply", &through, "--python", &python]).expect(0).concludes("ready"));
    // Its repository can't be reached: what is pinned is as good as before, and the verdict says what is not known.
    let pins = std::fs::read_to_string(at("golden.lock")).expect("pins");
    std::fs::write(at("golden.lock"), pins.replace(&team.url, "http://127.0.0.1:9/team")).expect("pins");
    let unchecked = apply(&[]).expect(0);
    assert!(unchecked.stdout.contains("(release not compared: data@1.0.0 unchecked"), "{unchecked:?}");
    let offline = apply(&["--offline"]).expect(0);
    assert!(offline.stdout.contains("data@1.0.0 unchecked, --offline"), "{offline:?}");
    std::fs::write(at("golden.lock"), pins).expect("pins");
    // Deprecated is a warning, withdrawn is refused.
    team.profile("2.0.0", "more = '*'\n");
    team.keep(&["publish", "data.toml", "--replaces", "1.0.0"]);
    let old = apply(&[]).expect(0);
    assert!(old.reports("warning[golden-deprecated]") && old.concludes("ready"), "{old:?}");
    team.keep(&["withdraw", "--yank", "data@1.0.0", "--because", "corrupts decimals", "--use", "data@2.0.0"]);
    let refused = apply(&[]).expect(1);
    assert!(refused.reports("error[golden-yanked]") && refused.stderr.contains("corrupts decimals"), "{refused:?}");
    assert!(refused.stdout.ends_with("refused: 1 error, nothing was changed\n"), "{refused:?}");
    assert_eq!(team.day.installed(), installed);
}

#[test]
fn a_folder_pins_each_of_its_files_once() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml"]);
    team.trust();
    team.reader(&["golden", "add", "data", "--repo", &team.url]).expect(0);
    let python = team.day.python();
    let at = |name: &str| team.day.test.path("reader").join(name);
    let pins = std::fs::read_to_string(at("golden.lock")).expect("pins");
    let entry = &pins[pins.find("[[golden]]").expect("an entry")..];
    // The files of one pin under the names of another.
    let digest = entry.split("sha256 = \"").nth(1).and_then(|rest| rest.get(..64)).expect("a digest");
    let other = entry.replace("\"data\"", "\"other\"").replace(digest, &"0".repeat(64));
    std::fs::write(at("golden.lock"), format!("{pins}\n{other}")).expect("pins");
    for end in ["toml", "lock"] {
        std::fs::copy(at(&format!("data.{end}")), at(&format!("other.{end}"))).expect("a copy");
    }
    let refused = team.reader(&["apply", "other.toml", "--python", &python]).expect(1);
    assert!(refused.reports_about("error[golden-file-differs]", "other.lock"), "{refused:?}");
    team.reader(&["apply", "data.toml", "--python", &python]).expect(0);
    // What a merge leaves.
    std::fs::write(at("golden.lock"), format!("{pins}\n{entry}")).expect("pins");
    for verb in [&["apply", "data.toml", "--python", python.as_str()][..], &["golden", "verify"]] {
        let refused = team.reader(verb).expect(2);
        assert!(refused.stderr.contains("it pins `data` twice"), "{refused:?}");
        assert!(refused.stderr.contains("restore it from version control"), "{refused:?}");
    }
    // A profile that was edited is found where the repository can't be asked, too.
    std::fs::write(at("golden.lock"), pins.replace(&team.url, "http://127.0.0.1:9/team")).expect("pins");
    team.reader(&["golden", "verify"]).expect(0);
    let profile = std::fs::read_to_string(at("data.toml")).expect("a profile");
    std::fs::write(at("data.toml"), format!("{profile}\n# mine\n")).expect("a profile");
    let refused = team.reader(&["golden", "verify"]).expect(1);
    assert!(refused.reports_about("error[golden-file-differs]", "./data.toml"), "{refused:?}");
}
