//! Signatures of golden repositories: what the real `ssh-keygen` says of each, we say too.

use colab_boot::core::diag::Code;
use colab_boot::golden::index_trust::{Confirmation, Trust, vouch};
use colab_boot::golden::signed_text::{join, split};
use colab_boot::golden::signers::{FRESH, INDEX, Outcome, Signers};

use crate::support::keys::{Key, keygen_takes};

/// 2026-11-23.
const NOW: u64 = 1_795_392_000;

fn index(seq: u64) -> String {
    format!(
        "version = 1\nname = \"team-x\"\nseq = {seq}\nissued = 2026-11-22\nfresh-until = 2026-12-22\ntool = \">=0.1.0\"\n"
    )
}

struct Team {
    _folder: tempfile::TempDir,
    alice: Key,
    bob: Key,
    ci: Key,
    mallory: Key,
}

impl Team {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let key = |name: &str| Key::new(folder.path(), name);
        Self { alice: key("alice"), bob: key("bob"), ci: key("ci"), mallory: key("mallory"), _folder: folder }
    }

    fn signers(&self) -> String {
        let index = format!("namespaces=\"{INDEX}\"");
        [
            self.alice.line(&format!("{index},valid-before=\"20271231\"")),
            self.bob.line(&index),
            self.ci.line(&format!("namespaces=\"{FRESH}\"")),
        ]
        .concat()
    }

    fn trust(&self, threshold: usize) -> Trust {
        let signers = Signers::parse(&self.signers()).expect("signers");
        Trust { name: Some("team-x".parse().expect("a name")), signers, threshold, ..Trust::default() }
    }
}

#[test]
fn ours_and_ssh_keygen_agree_on_every_signature() {
    let team = Team::new();
    let signers = team.signers();
    let ours = Signers::parse(&signers).expect("signers");
    let text = index(1);
    let by_ours =
        |text: &str, block: &str, namespace: &str| ours.check(text, &[block.to_owned()], namespace, NOW).remove(0);
    let alice = team.alice.sign(&text, INDEX, &[]);
    let cases = [
        ("right", &text, alice.clone(), INDEX, "alice@team"),
        ("by sha256", &text, team.alice.sign(&text, INDEX, &["-O", "hashalg=sha256"]), INDEX, "alice@team"),
        ("for something else", &text, team.alice.sign(&text, "git", &[]), INDEX, "alice@team"),
        ("another text", &index(2), alice.clone(), INDEX, "alice@team"),
        ("a key for something else", &text, team.ci.sign(&text, INDEX, &[]), INDEX, "ci@team"),
        ("a key for this", &text, team.ci.sign(&text, FRESH, &[]), FRESH, "ci@team"),
        ("a stranger's", &text, team.mallory.sign(&text, INDEX, &[]), INDEX, "mallory@team"),
        ("cut", &text, alice.replacen('A', "B", 1), INDEX, "alice@team"),
    ];
    for (what, text, block, namespace, principal) in cases {
        let theirs = keygen_takes(&signers, principal, namespace, text, &block);
        let said = by_ours(text, &block, namespace);
        assert_eq!(
            matches!(&said, Outcome::Good { principal: who, .. } if who == principal),
            theirs,
            "{what}: {said:?}"
        );
        assert_eq!(theirs, matches!(what, "right" | "by sha256" | "a key for this"), "{what}");
    }
    // A key that has ended, by its line.
    let ended = team.alice.line("valid-before=\"20200101\"");
    let said = Signers::parse(&ended).expect("signers").check(&text, std::slice::from_ref(&alice), INDEX, NOW);
    assert!(matches!(&said[0], Outcome::NotAllowed { why, .. } if why.contains("2020-01-01")), "{said:?}");
    assert!(!keygen_takes(&ended, "alice@team", INDEX, &text, &alice));
    // ssh-keygen refuses carriage returns, and a file with them is none of ours.
    let file = join(&text, &[alice]).replace('\n', "\r\n");
    assert!(split(file.as_bytes()).is_err());
}

#[test]
fn a_file_comes_apart_with_stock_tools() {
    let team = Team::new();
    let text = index(1);
    let file = join(&text, &[team.alice.sign(&text, INDEX, &[]), team.bob.sign(&text, INDEX, &[])]);
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("golden.toml"), &file).expect("a file");
    std::fs::write(folder.path().join("allowed_signers"), team.signers()).expect("a file");
    let script = r#"
set -eu
sed '/^# -----BEGIN SSH SIGNATURE-----$/,$d' golden.toml > payload
sed -n '/^# -----BEGIN SSH SIGNATURE-----$/,$ s/^# //p' golden.toml | awk '/BEGIN/{n++} {print > ("s" n ".sig")}'
ssh-keygen -Y verify -f allowed_signers -I alice@team -n colab-boot-golden@v1 -s s1.sig < payload
ssh-keygen -Y verify -f allowed_signers -I bob@team -n colab-boot-golden@v1 -s s2.sig < payload
"#;
    let output = std::process::Command::new("sh").args(["-c", script]).current_dir(folder.path()).output().expect("sh");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The code of the one finding that forbids an index.
fn refused(file: &str, trust: &Trust) -> Option<Code> {
    vouch(file.as_bytes(), None, trust, NOW).err().map(|finding| finding.code)
}

#[test]
fn as_many_as_have_to_sign_and_no_key_twice() {
    let team = Team::new();
    let text = index(7);
    let by = |keys: &[&Key]| {
        let blocks: Vec<String> = keys.iter().map(|key| key.sign(&text, INDEX, &[])).collect();
        join(&text, &blocks)
    };
    let trust = team.trust(2);
    let good = vouch(by(&[&team.alice, &team.bob]).as_bytes(), None, &trust, NOW).expect("an index");
    assert_eq!(
        (good.by, good.catalogue.seq, good.findings.len()),
        (vec!["alice@team".to_owned(), "bob@team".to_owned()], 7, 0)
    );
    for few in [
        vec![],
        vec![&team.alice],
        vec![&team.alice, &team.alice],
        vec![&team.alice, &team.mallory],
        vec![&team.alice, &team.ci],
    ] {
        assert_eq!(refused(&by(&few), &trust), Some(Code::GoldenThreshold), "{}", few.len());
    }
    // One too many is worth a note.
    let noted = vouch(by(&[&team.alice, &team.bob, &team.mallory]).as_bytes(), None, &trust, NOW).expect("an index");
    assert_eq!(noted.findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::GoldenSignerUnknown]);
    // Of another repository, signed by the same people.
    let other = Trust { name: Some("team-y".parse().expect("a name")), ..team.trust(2) };
    assert_eq!(refused(&by(&[&team.alice, &team.bob]), &other), Some(Code::GoldenThreshold));
    // With nobody trusted it is a warning, signed or not.
    let nobody = vouch(by(&[]).as_bytes(), None, &Trust::default(), NOW).expect("an index");
    assert_eq!(nobody.findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::GoldenUnsigned]);
}

#[test]
fn numbers_go_up_and_days_go_by() {
    let team = Team::new();
    let signed = |text: &str| join(text, &[team.alice.sign(text, INDEX, &[])]);
    let trust = team.trust(1);
    let seen = vouch(signed(&index(42)).as_bytes(), None, &trust, NOW).expect("an index").digest;
    let remembers = |min_seq: u64| Trust { min_seq, seen: Some((42, seen)), ..trust.clone() };
    assert_eq!(refused(&signed(&index(42)), &remembers(0)), None);
    assert_eq!(refused(&signed(&index(43)), &remembers(0)), None);
    assert_eq!(refused(&signed(&index(41)), &remembers(0)), Some(Code::GoldenRolledBack));
    assert_eq!(refused(&signed(&index(43)), &remembers(44)), Some(Code::GoldenRolledBack));
    let same = index(42).replace("2026-12-22", "2027-12-22");
    assert_eq!(refused(&signed(&same), &remembers(0)), Some(Code::GoldenRolledBack));
    // Stale after its day, unless somebody who may says that it is still the current one.
    let later = NOW + 40 * 86_400;
    let codes = |fresh: Option<&str>| {
        let vouched = vouch(
            signed(&index(42)).as_bytes(),
            fresh.map(|text| Confirmation { statement: text.as_bytes(), list: b"" }),
            &trust,
            later,
        )
        .expect("an index");
        vouched.findings.iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(None), [Code::GoldenStale]);
    let statement = |seq: u64, until: &str| {
        format!("version = 1\nname = \"team-x\"\nindex = \"{seen}\"\nseq = {seq}\nuntil = {until}\n")
    };
    let by_ci = |text: &str| join(text, &[team.ci.sign(text, FRESH, &[])]);
    assert!(codes(Some(&by_ci(&statement(42, "2027-01-10")))).is_empty());
    // Too long, of another number, too old, or by somebody who may not.
    for (seq, until) in [(42, "2027-02-10"), (41, "2027-01-10"), (42, "2026-12-30")] {
        assert_eq!(codes(Some(&by_ci(&statement(seq, until)))), [Code::GoldenStale], "{seq} {until}");
    }
    let text = statement(42, "2027-01-10");
    assert_eq!(codes(Some(&join(&text, &[team.alice.sign(&text, FRESH, &[])]))), [Code::GoldenStale]);
}
