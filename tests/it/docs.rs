//! What the README says is true: its commands run, its links lead somewhere, its verbs exist.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::support::python::{reachable, with_network};
use crate::support::test::{Test, snapshot};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).expect("the README")
}

/// The lines of its shell blocks.
fn commands() -> Vec<String> {
    let text = readme();
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).map(|line| line.split('#').next().unwrap_or_default().trim().to_owned()).collect()
}

#[test]
fn two_commands_set_it_up() {
    let cargo: Vec<String> = commands().into_iter().filter(|line| line.starts_with("cargo ")).collect();
    assert_eq!(cargo.len(), 2, "{cargo:?}");
    assert!(cargo[0].starts_with("cargo run --release -- plan "), "{cargo:?}");
    assert_eq!(cargo[1], "cargo test --workspace");
    let ci = std::fs::read_to_string(root().join(".ci/run")).expect("the CI script");
    assert!(ci.lines().any(|line| line == cargo[1]), "CI calls the README's test command");
}

#[test]
fn its_plan_is_a_real_plan() {
    if !reachable() {
        eprintln!("skipped: the package index can't be reached from here");
        return;
    }
    let plan = commands().into_iter().find_map(|line| line.strip_prefix("cargo run --release -- ").map(str::to_owned));
    let plan = plan.expect("the first command");
    let arguments: Vec<&str> = plan.split(' ').collect();
    let test = with_network(Test::new());
    let output = test.command(&arguments).current_dir(root()).output().expect("colab-boot starts");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && stdout.contains("Tesla T4") && stdout.contains("\nplan: "), "{stdout}");
}

#[test]
fn its_verbs_exist() {
    let test = Test::new();
    let verbs: Vec<String> = commands()
        .iter()
        .filter_map(|line| line.strip_prefix("colab-boot ")?.split(' ').next().map(str::to_owned))
        .collect();
    assert!(verbs.len() >= 6, "{verbs:?}");
    for verb in verbs {
        test.run(&[verb.as_str(), "--help"]).expect(0);
    }
}

/// The anchor of a heading, as renderers of Markdown make it.
fn anchor(heading: &str) -> String {
    let plain = heading.trim().to_lowercase();
    plain
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// The pages for people.
fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).expect("a folder").flatten().map(|one| one.path());
    let others = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "golden-cells/README.md"];
    docs.chain(others.map(|name| root().join(name)))
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut links = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            links += 1;
            let (path, section) = link.split_once('#').unwrap_or((link, ""));
            let to = if path.is_empty() { page.clone() } else { page.with_file_name(path) };
            assert!(to.exists(), "{}: {link} does not exist", page.display());
            if !section.is_empty() {
                let text = std::fs::read_to_string(&to).expect("a page");
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                let is_there = headings.any(|line| anchor(line.trim_start_matches('#')) == section);
                assert!(is_there, "{}: {link} is no heading", page.display());
            }
        }
    }
    assert!(links > 60, "{links}");
}

#[test]
fn every_page_can_be_found_from_the_readme() {
    let (mut found, mut open) = (BTreeSet::new(), vec![root().join("README.md")]);
    while let Some(page) = open.pop() {
        let text = std::fs::read_to_string(&page).unwrap_or_default();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for to in
            links.filter(|link| link.ends_with(".md")).filter_map(|link| page.with_file_name(link).canonicalize().ok())
        {
            if found.insert(to.clone()) {
                open.push(to);
            }
        }
    }
    let lost: Vec<PathBuf> = pages().into_iter().filter(|page| page.parent() == Some(&root().join("docs"))).collect();
    let lost: Vec<_> = lost.iter().filter(|page| !found.contains(*page)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

/// The help of `verb` and of the verbs below it.
fn helps(test: &Test, verb: &[&str], text: &mut String) {
    let help = test.run(&[verb, &["--help"]].concat()).expect(0).stdout;
    let title = [&["colab-boot"], verb].concat().join(" ");
    let _ = write!(text, "\n{} {title}\n\n```text\n{}\n```\n", "#".repeat(verb.len() + 2), help.trim());
    let below = help.split("Commands:\n").nth(1).unwrap_or_default();
    let below = below.lines().take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    for name in below.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        helps(test, &[verb, &[name]].concat(), text);
    }
}

#[test]
fn the_reference_of_commands_is_what_help_prints() {
    let mut text =
        "# Commands\n\nWhat `--help` prints, for each command. `colab-boot man FOLDER` writes the same as man pages.\n"
            .to_owned();
    let test = Test::new();
    helps(&test, &[], &mut text);
    snapshot("../../docs/commands.md", &text);
}

#[test]
fn the_audits_in_the_documentation_are_what_is_printed() {
    let text = std::fs::read_to_string(root().join("docs/audit.md")).expect("the page");
    let blocks: Vec<(&str, &str)> = text
        .split("```text\n$ colab-boot ")
        .skip(1)
        .filter_map(|rest| rest.split("```").next()?.split_once('\n'))
        .collect();
    assert_eq!(blocks.len(), 6);
    for (command, printed) in blocks {
        let arguments: Vec<&str> = command.split(' ').collect();
        let outcome = Test::new().run(&arguments);
        assert_eq!(outcome.stderr + &outcome.stdout, printed, "{command}");
    }
}

/// The table of failures names codes and verbs that there are.
#[test]
fn every_failure_leads_to_a_code_that_there_is() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/failures.md")).expect("a guide");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what")).collect();
    assert!(rows.len() > 25, "{}", rows.len());
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        assert_eq!(cells.len(), 3, "{row}");
        let codes = cells[1].split('`').skip(1).step_by(2);
        for code in codes {
            assert!(colab_boot::core::diag::Code::find(code).is_some(), "{row}: there is no code `{code}`");
        }
    }
}

/// Figures in the docs that change whenever a row is added.
#[test]
fn rows_are_counted_rightly() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect(name);
    let rows = |file: &str, head: &str| read(file).lines().filter(|line| *line == head).count();
    let all = rows("matrix/doctor-checks.toml", "[[check]]");
    let after_crash = read("matrix/doctor-checks.toml").lines().filter(|line| *line == "group = \"crash\"").count();
    let (doctor, changes) = (read("docs/doctor.md"), read("CHANGELOG.md"));
    assert!(doctor.contains(&format!("# {} checks: no GPU context", all - after_crash)), "{all} - {after_crash}");
    assert!(changes.contains(&format!("{all} checks of memory")), "{all}");
    let formats = rows("matrix/secret-formats.toml", "[[secret]]");
    assert!(doctor.contains(&format!("{formats} formats (`matrix/secret-formats.toml`)")), "{formats}");
    let causes = rows("matrix/symptoms.toml", "[[symptom]]");
    assert!(
        doctor.contains(&format!("has {causes} causes")) && changes.contains(&format!("{causes} causes")),
        "{causes}"
    );
}
