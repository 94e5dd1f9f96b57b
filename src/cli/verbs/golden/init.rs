//! `golden init`: the skeleton of a golden repository. Nothing that is there is overwritten.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::{Report, path_text};
use crate::cli::arguments::SkeletonOptions;
use crate::cli::verbs::golden::today;
use crate::core::diag::{Failure, counted, shell_word};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::Sha256;
use crate::golden::catalogue::{Catalogue, SignersRow};
use crate::golden::policy::Policy;
use crate::golden::repository::{INDEX_FILE, SIGNERS_FILE, default_key, must_be_signable, public_key, repo_option};
use crate::golden::signers::{Role, Signers, signer_line};

const ATTRIBUTES: &str = "# Digests and signatures are of bytes: git must not change line ends.\n* -text\n";
const README: &str = include_str!("../../../golden/readme.md");
const WORKFLOW: &str = include_str!("../../../golden/workflow.yml");

#[derive(Serialize)]
struct RepositoryInitReport<'a> {
    #[serde(serialize_with = "path_text")]
    folder: &'a std::path::Path,
    name: String,
    signers: Vec<String>,
    threshold: usize,
}

pub(super) fn run(options: &SkeletonOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let signers_text = signers(options, session)?;
    let signers = Signers::parse(&signers_text).map_err(|why| Failure::input("--signer").cause(why))?;
    must_be_signable(&signers, options.threshold, session.now)?;
    let today = today(session);
    let policy = Policy::default();
    let catalogue = Catalogue {
        version: 1,
        name: options.name.clone(),
        seq: 1,
        issued: today,
        fresh_until: today.after(policy.fresh),
        tool: format!(">={}", env!("CARGO_PKG_VERSION")),
        signers: Some(SignersRow {
            threshold: options.threshold,
            sha256: Sha256::of(signers_text.as_bytes()),
            step: 0,
        }),
        policy,
        releases: Vec::new(),
    };
    let index = catalogue.to_text().map_err(Failure::bug)?;
    let readme = README.replace("@NAME@", options.name.as_ref());
    let written = [
        (INDEX_FILE, index.as_str()),
        (SIGNERS_FILE, &signers_text),
        (".gitattributes", ATTRIBUTES),
        ("README.md", &readme),
        (".github/workflows/golden.yml", WORKFLOW),
    ];
    let there = written.iter().find(|(name, _)| options.folder.join(name).is_there());
    if let Some((name, _)) = there {
        return Err(Failure::input(format!("`{}` already exists", options.folder.join(name).display()))
            .help("use an empty folder; nothing was written"));
    }
    for (name, text) in written {
        files::write_whole(&options.folder.join(name), text.as_bytes())?;
    }
    let names = signers.described(session.now);
    let text = format!(
        "{}: a golden repository; {} required from:\n  {}\n",
        options.folder.join(INDEX_FILE).display(),
        counted(options.threshold, "signature"),
        names.join("\n  ")
    );
    let report = RepositoryInitReport {
        folder: &options.folder,
        name: options.name.to_string(),
        signers: names,
        threshold: options.threshold,
    };
    let mut report = Report::new(report, text);
    let key = options.signer.first().map(|public| format!(" --key {}", shell_word(&public.with_extension(""))));
    let (repo, key) = (repo_option(&options.folder), key.unwrap_or_default());
    report.talk.push(format!("next: `colab-boot golden publish profile.toml{repo}{key}`"));
    Ok(report)
}

/// The text of `allowed_signers`: signers sign the index, and CI's keys confirm that it is current.
fn signers(options: &SkeletonOptions, session: &Session<'_>) -> Result<String, Failure> {
    let files =
        if options.signer.is_empty() { default_key(session).into_iter().collect() } else { options.signer.clone() };
    if files.is_empty() {
        return Err(Failure::input("no signer is named")
            .help("pass a public key with --signer, or create one with `ssh-keygen -t ed25519`"));
    }
    let roles = files.iter().map(|file| (file, Role::Signer)).chain(options.ci_key.iter().map(|file| (file, Role::Ci)));
    let mut text = String::new();
    let mut seen = BTreeMap::new();
    for (file, role) in roles {
        let line = signer_line(&public_key(file)?, role);
        let read = Signers::parse(&line);
        let own = read.map_err(|why| Failure::input(format!("`{}` can't sign", file.display())).cause(why))?;
        for fingerprint in own.fingerprints() {
            if let Some(other) = seen.insert(fingerprint, file) {
                let message = format!("`{}` and `{}` are the same key", other.display(), file.display());
                return Err(Failure::input(message).help("each signer, and CI, needs a key of its own"));
            }
        }
        text.push_str(&line);
    }
    Ok(text)
}
