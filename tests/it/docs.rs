//! What the README says is true: its commands run, its links lead somewhere, its verbs exist.

use std::path::Path;

use crate::support::python::{reachable, with_network};
use crate::support::test::Test;

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
fn its_verbs_exist_and_its_links_lead_somewhere() {
    let test = Test::new();
    let verbs: Vec<String> = commands()
        .iter()
        .filter_map(|line| line.strip_prefix("colab-boot ")?.split(' ').next().map(str::to_owned))
        .collect();
    assert!(verbs.len() >= 6, "{verbs:?}");
    for verb in verbs {
        test.run(&[verb.as_str(), "--help"]).expect(0);
    }
    let text = readme();
    for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(root().join(link).exists(), "{link} does not exist");
    }
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
