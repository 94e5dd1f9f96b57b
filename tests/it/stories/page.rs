//! The page of a golden repository in a real browser: what the picker says is what the index says, whatever stands in
//! it.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::stories::table;
use crate::support::index_server::{IndexServer, Manner};
use crate::support::keys::Key;
use crate::support::python::{kept, reachable};
use crate::support::test::Test;

/// What would break a page that does not escape.
const HOSTILE: &str = "</script><img src=x onerror=\"document.title='owned'\"> \u{202e}desrever & <b>bold</b>";

/// A repository with a release for the CPU and one that names GPUs, by hand, as a lock for such would.
fn repository() -> Test {
    let rows: &[(&str, &str, &[&str])] = &[("lib", "1.0", &[]), ("other", "1.0", &[])];
    let index = IndexServer::start(table(rows), Manner::Good);
    let test = Test::new().set("COLAB_BOOT_INDEX_URL", index.url.clone());
    let alice = Key::new(&test.path(""), "alice");
    let key = alice.path.display().to_string();
    test.run(&["golden", "init", "repo", "--name", "team-x", "--signer", "alice.pub"]).expect(0);
    for (name, framework) in [("data", "lib"), ("train", "other")] {
        let text = format!(
            "[profile]\nname = '{name}'\nversion = '1.0.0'\ndescription = '''{HOSTILE}'''\n[target]\nruntimes = ['bare-3.12']\n[frameworks]\n{framework} = '*'\n"
        );
        std::fs::write(test.path(&format!("{name}.toml")), text).expect("a profile");
        test.run(&["lock", &format!("{name}.toml")]).expect(0);
        test.run(&["golden", "publish", &format!("{name}.toml"), "--repo", "repo", "--key", &key]).expect(0);
    }
    let index = test.path("repo/golden.toml");
    let text = std::fs::read_to_string(&index).expect("an index");
    let at = text.find("name = \"train\"").expect("a release");
    let text = format!(
        "{}{}",
        &text[..at],
        text[at..].replacen("gpus = {}", "gpus = { \"7.5\" = \"native\", \"8.9\" = \"ptx-jit\" }", 1)
    );
    std::fs::write(index, text).expect("an index");
    test
}

/// What `page.py` sees of `page`; `None` without a browser or an index.
pub fn looked_at(page: &Path) -> Option<Value> {
    if Command::new("chromium").arg("--version").output().is_err() || !reachable() {
        eprintln!("skipped: there is no chromium on this machine, or no index");
        return None;
    }
    seen_by("page.py", &page.display().to_string())
}

/// What `script` sees, in a browser and with axe, of what is at `address`.
pub fn seen_by(script: &str, address: &str) -> Option<Value> {
    // axe alone, without the browser driver that the wheel is made for.
    let venv = kept(&["--no-deps", "websocket-client", "axe-playwright-python==0.1.8"])?;
    let output = Command::new(&venv.python)
        .arg("-B")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stories").join(script))
        .arg(address)
        .arg(venv.layout().join("axe_playwright_python/axe.min.js"))
        .args(std::env::var("PICTURES"))
        .output()
        .expect("Python starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}")))
}

/// The page as a browser shows it, with `hash` behind its address; `None` without a browser.
fn shown(page: &Path, hash: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new("chromium")
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr"])
        .arg(format!("--user-data-dir={}", folder.path().display()))
        .args(["--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("file://{}{hash}", page.display()))
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let faults: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE") || line.contains("Refused")).collect();
    assert!(output.status.success() && faults.is_empty(), "{faults:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn answer(dom: &str) -> &str {
    let at = dom.find("id=\"answer\"").expect("an answer");
    &dom[at..at + dom[at..].find("</p>").expect("its end")]
}

#[test]
fn the_page_is_the_same_each_time_and_says_where_it_is_not() {
    let test = repository();
    let is_outdated =
        || test.run(&["golden", "check", "--repo", "repo"]).stderr.contains("`index.html` does not match index");
    assert!(is_outdated(), "the index was changed by hand");
    let render = ["golden", "publish", "--repo", "repo", "--colab", "team/golden/0123abc"];
    test.run(&render).expect(0);
    assert!(!is_outdated());
    let page = std::fs::read_to_string(test.path("repo/index.html")).expect("a page").replace("&#x2f;", "/");
    test.run(&render).expect(0);
    assert_eq!(std::fs::read_to_string(test.path("repo/index.html")).expect("a page").replace("&#x2f;", "/"), page);
    assert!(page.contains("/github/team/golden/blob/0123abc/data/1.0.0/data.ipynb"), "{page}");
    // A page of the keeper's own stays.
    let own = "<!doctype html><title>ours</title>";
    std::fs::write(test.path("repo/index.html"), own).expect("a page");
    assert!(test.run(&render).expect(0).stdout.contains("stays as it is"));
    assert_eq!(std::fs::read_to_string(test.path("repo/index.html")).expect("a page"), own);
    // Nothing is asked for: but for the links that a reader may follow there is no address.
    for word in ["src=", "@import", "url(", "<link", "<iframe"] {
        let found = page.replace("&lt;img src=x", "").replace("\\u003cimg src=x", "");
        assert!(!found.contains(word), "{word}");
    }
    let script = page.rsplit("<script>").next().expect("a script");
    for word in ["fetch(", "XMLHttpRequest", "sendBeacon", "WebSocket", "import"] {
        assert!(!script.contains(word), "{word}");
    }
    // The cell, the table and the releases are there without a script.
    let plain = page.split("<script").next().expect("a page");
    for words in ["colab_boot_apply()", "data@1.0.0", "ptx-jit", "&lt;b&gt;bold&lt;"] {
        assert!(plain.contains(words), "{words}");
    }
    assert!(!plain.contains("<img") && !plain.contains("<b>"), "{plain}");
}

#[test]
#[ignore = "whole"]
fn a_browser_shows_what_fits_and_nothing_else() {
    let test = repository();
    test.run(&["golden", "publish", "--repo", "repo", "--colab", "team/golden/0123abc"]).expect(0);
    let page = test.path("repo/index.html");
    let Some(dom) = shown(&page, "") else {
        eprintln!("skipped: there is no chromium on this machine");
        return;
    };
    assert!(dom.contains("<title>team-x: golden profiles</title>") && !dom.contains("<img"), "{dom}");
    assert!(answer(&dom).contains("2 releases fit"), "{}", answer(&dom));
    for (hash, fit, words) in [
        ("#gpu=7.5", 2, "native on 7.5"),
        ("#gpu=8.9", 2, "ptx-jit on 8.9"),
        ("#framework=lib", 1, "data@1.0.0"),
        ("#runtime=bare-3.12", 2, "train@1.0.0"),
        ("#gpu=7.5&framework=other", 1, "train@1.0.0"),
        ("#gpu=7.5&framework=lib", 1, "no GPU needed"),
        ("#gpu=9.9", 0, "No release fits"),
        ("#gpu=%3Cimg%20src%3Dx%3E", 0, "No release fits"),
    ] {
        let dom = shown(&page, hash).expect("a browser");
        let said = answer(&dom);
        assert_eq!(said.matches("<li>").count(), fit, "{hash}: {said}");
        assert!(said.contains(words) && !dom.contains("<img"), "{hash}: {said}");
    }
    // What does not go together says so beside the choice.
    let dom = shown(&page, "#gpu=9.9").expect("a browser");
    assert!(dom.contains("lib (no release: none of those for 9.9)"), "{dom}");
}

#[test]
fn everybody_can_use_the_page() {
    let test = repository();
    test.run(&["golden", "publish", "--repo", "repo", "--colab", "team/golden/0123abc"]).expect(0);
    let Some(seen) = looked_at(&test.path("repo/index.html")) else { return };
    let list = |value: &Value| value.as_array().expect("a list").clone();
    // The one that is published here, whose names and digests are as long as real ones are.
    let own = looked_at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden-cells/index.html")).expect("a browser");
    for look in list(&own["looks"]) {
        assert_eq!(look["violations"], serde_json::json!([]), "{look:#}");
    }
    let mut backs = std::collections::BTreeSet::new();
    for look in list(&seen["looks"]) {
        assert_eq!(look["violations"], serde_json::json!([]), "{look:#}");
        assert!(look["too-wide"].as_i64().expect("pixels") <= 0 && look["passes"].as_u64() > Some(20), "{look:#}");
        backs.insert((look["scheme"].to_string(), look["back"].to_string()));
    }
    assert_eq!(backs.len(), 2, "dark is not dark: {backs:?}");
    assert_eq!((&seen["requests"], &seen["faults"]), (&serde_json::json!([]), &serde_json::json!([])));
    // With keys alone: every stop is reached and seen, and behind the last one the page is left.
    let mut stops = list(&seen["stops"]);
    assert_eq!(stops.pop().expect("an end")[0], "BODY", "{stops:?}");
    assert_eq!(Some(stops.len() as u64), seen["reached"].as_u64(), "{stops:?}");
    assert!(stops.iter().all(|stop| stop[3] != "none"), "{stops:?}");
    let [chosen, hash, answer] = [&seen["chosen"][0], &seen["chosen"][1], &seen["chosen"][2]];
    assert_eq!((&chosen[1], &chosen[2], hash), (&"gpu".into(), &"7.5".into(), &"#gpu=7.5".into()), "{seen:#}");
    assert!(answer.as_str().expect("a text").starts_with("2 releases fit"), "{answer}");
    // What a screen reader is given.
    let tree = &seen["tree"];
    for (role, words) in
        [("group", "GPU"), ("textbox", "nvidia-smi"), ("radio", "lib"), ("region", "Releases and GPUs")]
    {
        let names = list(&tree[role]);
        assert!(names.iter().any(|name| name.as_str().is_some_and(|name| name.contains(words))), "{role}: {names:?}");
    }
    assert!(list(&tree["main"]).len() == 1 && list(&tree["status"]).len() == 1, "{tree:#}");
    // Whatever is chosen, the page says what the program says.
    for row in list(&seen["fits"]) {
        let mut asked = vec!["golden".to_owned(), "list".to_owned(), "--from=repo".to_owned(), "--json".to_owned()];
        let options = ["--gpu", "--framework", "--runtime"].iter().zip(list(&row));
        let named = options.filter(|(_, value)| *value != "");
        asked.extend(named.map(|(option, value)| format!("{option}={}", value.as_str().expect("a text"))));
        let arguments: Vec<&str> = asked.iter().map(String::as_str).collect();
        let rows = list(&test.run(&arguments).json()["report"]["releases"]);
        let mut titles: Vec<String> = rows
            .iter()
            .map(|row| {
                format!("{}@{}", row["name"].as_str().expect("a name"), row["version"].as_str().expect("a version"))
            })
            .collect();
        let mut shown: Vec<String> =
            list(&row[3]).iter().map(|one| one.as_str().expect("a title").to_owned()).collect();
        titles.sort();
        shown.sort();
        assert_eq!(shown, titles, "{row}");
    }
}

#[test]
#[ignore = "whole"]
fn everybody_can_read_what_the_doctor_says() {
    let test = Test::new();
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/observed/kernel-torch.json").display().to_string();
    test.run(&["doctor", "--machine", &machine, "--all", "--html", "doctor.html"]);
    let Some(seen) = looked_at(&test.path("doctor.html")) else { return };
    for look in seen["looks"].as_array().expect("a list") {
        assert_eq!(look["violations"], serde_json::json!([]), "{look:#}");
        assert!(look["too-wide"].as_i64().expect("pixels") <= 0 && look["passes"].as_u64() > Some(10), "{look:#}");
    }
}
