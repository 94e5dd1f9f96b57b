//! `init --from` files that name indexes of their own: what comes from them does, then and later, and nothing else
//! takes its place.

use crate::stories::Day;
use crate::support::index_server::{Digests, IndexServer, Looks, Manner};
use crate::support::test::Outcome;

/// A user whose pip has one index, and a company with another: both have `app`, only the latter has `own`.
fn two_indexes() -> (Day, IndexServer) {
    let mut day = Day::new(&[("app", "1.0", &[]), ("lib", "1.0", &[])]);
    let url = day.test.environment.remove("COLAB_BOOT_INDEX_URL").expect("an index");
    day.test.environment.insert("PIP_INDEX_URL".to_owned(), url);
    let rows: [(&str, &str, &[&str]); 2] = [("app", "9.0", &[]), ("own", "1.0", &[])];
    let looks = Looks { digests: Digests::True, json: true, ..Looks::default() };
    (day, IndexServer::with(crate::stories::table(&rows), Manner::Good, looks))
}

/// The profile `made.toml` of the file `name` with this text.
fn init(day: &Day, name: &str, text: &str) -> Outcome {
    let _ = std::fs::remove_file(day.test.path("made.toml"));
    let path = day.test.path(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
    day.run(&["init", "made.toml", "--from", name])
}

#[test]
fn an_index_in_place_of_the_default_one_stays_in_its_place() {
    let (day, company) = two_indexes();
    let url = company.url.clone();
    let project = "[project]\nname = 'x'\nversion = '1'\ndependencies = ['app']\n";
    let uv = format!("[[tool.uv.index]]\nname = 'corp'\nurl = '{url}'\ndefault = true\n");
    let own = format!("[tool.uv.sources]\nown = {{ index = 'corp' }}\n{uv}");
    let digest = "0".repeat(64);
    let locked = format!("wheels = [{{ url = '{url}app-9.0-py3-none-any.whl', hash = 'sha256:{digest}' }}]\n");
    let cell = format!(
        "{{\"nbformat\": 4, \"nbformat_minor\": 4, \"metadata\": {{}}, \"cells\": [{{\"cell_type\": \"code\", \
         \"metadata\": {{}}, \"source\": \"%pip install app -i {url}\"}}]}}"
    );
    for (name, text) in [
        ("a/requirements.txt", format!("--index-url {url}\napp\n")),
        ("b/requirements.txt", format!("-r base.txt\napp\n# {}\n", url.len())),
        ("c/pyproject.toml", format!("{project}{uv}")),
        ("d/pyproject.toml", project.replace("['app']", "['app', 'own']") + &own),
        ("e/pyproject.toml", project.to_owned()),
        ("f/pyproject.toml", format!("{project}[[tool.poetry.source]]\nname = 'corp'\nurl = '{url}'\n")),
        ("g/script.py", format!("# /// script\n# dependencies = ['app']\n# [tool.uv]\n# index-url = '{url}'\n# ///\n")),
        (
            "h/pixi.toml",
            format!("[workspace]\nname = 'x'\n[pypi-dependencies]\napp = '*'\n[pypi-options]\nindex-url = '{url}'\n"),
        ),
        ("i/environment.yml", format!("dependencies:\n  - pip:\n    - --index-url {url}\n    - app\n")),
        (
            "j/uv.lock",
            format!(
                "version = 1\n[[package]]\nname = 'app'\nversion = '9.0'\nsource = {{ registry = '{url}' }}\n{locked}"
            ),
        ),
        (
            "k/pylock.toml",
            format!(
                "lock-version = '1.0'\ncreated-by = 'x'\n[[packages]]\nname = 'app'\nversion = '9.0'\nindex = '{url}'\n"
            ),
        ),
        ("l/n.ipynb", cell),
    ] {
        let folder = name.split('/').next().expect("a folder");
        std::fs::create_dir_all(day.test.path(folder)).expect("a folder");
        let (beside, more) = match folder {
            "b" => ("base.txt", format!("--index-url={url}\n")),
            "e" => ("uv.toml", format!("[[index]]\nurl = '{url}'\ndefault = true\n")),
            _ => ("unused", String::new()),
        };
        std::fs::write(day.test.path(folder).join(beside), more).expect("a file");
        let said = init(&day, name, &text);
        assert_eq!(said.code, 0, "{name}: {said:?}");
        let profile = day.read("made.toml");
        assert!(profile.contains(&format!("url = \"{url}\"\ndefault = true\n")), "{name}: {profile}");
        assert!(said.stdout.contains("app") && said.stdout.contains("9.0"), "{name}: {said:?}");
    }
    // Later, nothing but the profile is there.
    day.run(&["apply", "made.toml"]).expect(0);
    assert_eq!(day.installed()["app"], "9.0");
    day.run(&["verify", "made.toml"]).expect(0);
    assert!(!day.server.asked().iter().any(|path| path.ends_with("/app/")), "{:?}", day.server.asked());
    // A mirror for a day; and the index of this machine, spelt out, is none of its own.
    day.run(&["lock", "made.toml", "--upgrade", "--index-url", &day.server.url]).expect(0).says("from 9.0 to 1.0");
    assert!(init(&day, "requirements.txt", &format!("-i {}\napp\n", day.server.url)).stdout.contains("1.0"));
    assert!(!day.read("made.toml").contains("[[index]]"));
}

#[test]
fn an_index_that_the_user_names_counts_for_this_run() {
    let (day, _) = two_indexes();
    std::fs::write(day.test.path("house.txt"), "-i https://house.example/simple\napp\n").expect("a file");
    let here = ["init", "other.toml", "--from", "house.txt", "--index-url", &day.server.url];
    assert!(day.run(&here).expect(0).stdout.contains("plan: "));
}

#[test]
fn of_an_index_beside_the_default_one_comes_what_it_has() {
    let (day, company) = two_indexes();
    let text = format!("--extra-index-url {}\napp\nown\nlib\n", company.url);
    let said = init(&day, "requirements.txt", &text).expect(0);
    let profile = day.read("made.toml");
    assert!(profile.contains("packages = [\"app\", \"own\"]"), "{profile}\n{said:?}");
    day.run(&["apply", "made.toml"]).expect(0);
    let installed = day.installed();
    assert_eq!((installed["app"].as_str(), installed["lib"].as_str()), ("9.0", "1.0"), "{said:?}");
    // What was looked up elsewhere is not looked up here.
    let said = day.run(&["audit", "made.lock"]).expect(0);
    assert!(said.stderr.contains("the file names other indexes") && !said.stderr.contains("error"), "{said:?}");
    // An index that has none of the packages is left out; one that can't be asked stops every command.
    let said = init(&day, "requirements.txt", &format!("--extra-index-url {}\nlib\n", company.url)).expect(0);
    assert!(said.stderr.contains("it has none of the packages"), "{said:?}");
    let said = init(&day, "requirements.txt", "--extra-index-url http://127.0.0.1:1/simple\nlib\n").expect(2);
    assert!(said.stderr.contains("no package comes from the index `extra`"), "{said:?}");
    day.run(&["lock", "made.toml"]).expect(2);
    // A folder is looked into beside the index, or is the only place.
    std::fs::create_dir(day.test.path("wheels")).expect("a folder");
    crate::support::python::wheel(&day.test.path("wheels"), ("app", "7.0"), "seven");
    init(&day, "requirements.txt", "--no-index\n-f wheels\napp\n").expect(0);
    assert!(day.read("made.toml").contains("path = \"wheels\"\ndefault = true\n"));
    let said = init(&day, "requirements.txt", "--no-index\n-f wheels\napp\nlib\n").expect(1);
    assert!(said.stderr.contains("lib"), "{said:?}");
}
