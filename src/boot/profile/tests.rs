//! Profiles are read as documented, and faults come all at once.

use std::path::Path;

use crate::boot::profile::{CudaWish, Prereleases, Profile, STARTER};
use crate::core::diag::{Code, Finding, Source};

fn parse(text: &str) -> Result<Profile, Vec<Finding>> {
    Profile::parse(&Source { name: "p.toml".into(), text: text.into() }, Path::new("/work"))
}

fn codes(text: &str) -> Vec<Code> {
    parse(text).expect_err(text).iter().map(|finding| finding.code).collect()
}

const HEAD: &str = "[profile]\nname = 'a'\nversion = '1.0.0'\n";

#[test]
fn the_starter_is_a_profile() {
    let profile = parse(STARTER).expect("the starter");
    assert_eq!(profile.name.to_string(), "my-notebook");
    assert_eq!(profile.target.cuda, CudaWish::Auto);
    assert_eq!(profile.smoke.len(), 1);
}

#[test]
fn a_profile_without_a_name_is_called_like_its_file() {
    let name_of = |file: &str| {
        let source = Source { name: file.into(), text: "[packages]\na = '*'\n".into() };
        Profile::parse(&source, Path::new("/work")).expect(file).name.to_string()
    };
    assert_eq!(["/x/my llm.v2.toml", "profile.toml", "/x/-.toml"].map(name_of), ["my-llm-v2", "profile", "profile"]);
}

#[test]
fn the_starter_shows_every_key_as_it_works() {
    let digest = "0".repeat(64);
    let enabled: String = STARTER
        .lines()
        .skip(3)
        .map(|line| line.strip_prefix("# ").unwrap_or(line).replace("…64 hex digits…", &digest) + "\n")
        .collect();
    let profile = parse(&enabled).unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert_eq!(profile.target.runtimes, ["colab-2026.07"]);
    assert_eq!(profile.policy.as_of, crate::core::model::day::moment_in("2026-11-01"));
    assert_eq!(profile.policy.prereleases, Prereleases::IfNecessary);
    assert_eq!(profile.index_of(&"torch".parse().expect("a name")), Some("pytorch-cu128"));
    assert_eq!(profile.seed, Some(1234));
    assert_eq!(profile.wanted.iter().filter(|one| one.direct.is_some()).count(), 1);
}

#[test]
fn all_faults_come_at_once_with_their_places() {
    let text =
        format!("{HEAD}[packages]\nnumpy = 1\n'-bad-' = '*'\nscipy = '>=x'\n[polcy]\n[policy]\nbreakage = 'eror'\n");
    let faults = parse(&text).expect_err("faults");
    let found: Vec<_> = faults.iter().map(|fault| (fault.code, fault.labels[0].position().0)).collect();
    assert!(found.contains(&(Code::ProfileWrongType, 5)), "{found:?}");
    assert!(found.contains(&(Code::ProfileBadValue, 6)), "{found:?}");
    assert!(found.contains(&(Code::ProfileBadValue, 7)), "{found:?}");
    assert!(found.contains(&(Code::ProfileUnknownKey, 8)), "{found:?}");
    assert!(found.contains(&(Code::ProfileBadValue, 10)), "{found:?}");
    let unknown = faults.iter().find(|fault| fault.code == Code::ProfileUnknownKey).expect("the unknown key");
    assert_eq!(unknown.help, ["did you mean `policy`?"]);
}

#[test]
fn hostile_values_are_refused() {
    for line in [
        "[apt]\npackages = ['bash-']",
        "[apt]\npackages = ['-o=x']",
        "[apt]\npackages = ['a b']",
        "[apt]\nsnapshot = '2026-11-01'",
        "[apt]\nsnapshot = '20261101T00000;Z'",
        "[apt]\npackages = ['cuda-drivers']",
        "[env]\nLD_PRELOAD = 'x'",
        "[env]\n__PYVENV_LAUNCHER__ = 'x'",
        "[env]\nPATH = 'x'",
        "[env]\n'A B' = 'x'",
        "[env]\nOK = \"a\\nb\"",
        "[packages]\n'-r x' = '*'",
        "[packages]\n'' = '*'",
        "[verify]\nsmoke = ['']",
        "[[index]]\nname = ''\nurl = 'https://h/simple'",
        "[packages]\na = { url = 'https://user:secret@host/a.whl', sha256 = 'x' }",
        "[packages]\na = { url = 'ftp://host/a.whl', sha256 = 'x' }",
        "[[index]]\nname = 'x'\nurl = 'https://u:p@h/simple'",
        "[[index]]\nname = 'default'\nurl = 'https://h/simple'",
    ] {
        let faults = parse(&format!("{HEAD}{line}\n")).expect_err(line);
        assert!(faults.iter().any(|fault| fault.code == Code::ProfileBadValue), "{line}: {faults:?}");
    }
}

#[test]
fn broken_profiles_are_named_for_what_they_are() {
    assert_eq!(codes("[profile\n")[0], Code::ProfileSyntax);
    assert_eq!(codes(HEAD), [Code::ProfileMissingKey]);
    assert_eq!(codes(&format!("{HEAD}[frameworks]\na = '*'\n[packages]\nA = '*'\n")), [Code::ProfileConflict]);
    assert_eq!(codes(&format!("{HEAD}[packages]\na = {{ index = 'x' }}\n")), [Code::ProfileConflict]);
    assert_eq!(codes(&format!("{HEAD}[packages]\na = '*'\n[verify]\nsmoke = ['b']\n")), [Code::ProfileConflict]);
}
