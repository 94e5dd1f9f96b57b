//! The command line of `golden`: its verbs, and the options of those who use releases.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::arguments::golden_upkeep::{
    GoldenCheckOptions, PolicyVerb, PublishOptions, SignOptions, SkeletonOptions, WithdrawOptions,
};

use crate::core::model::{PackageName, Sha256};
use crate::golden::repository::SourceRequest;

#[derive(Debug, Subcommand)]
pub enum GoldenVerb {
    /// List releases; show one, or compare two
    List(ListOptions),
    /// Add a release to a folder (profile, lock, and a pin in `golden.lock`) or to a notebook (as a cell)
    Add(AddOptions),
    /// Update the pinned releases of a folder or notebook, and show what changes
    Update(UpdateOptions),
    /// Verify that pinned releases are unchanged, current, and not withdrawn
    Verify(AddOptions),
    /// Show the keys of a repository's signers, or pin them on this machine
    Trust(TrustOptions),
    /// Create a golden repository: a folder of releases that a team publishes
    Init(SkeletonOptions),
    /// Publish profiles, their locks and cells as signed releases, and update the web page
    Publish(PublishOptions),
    /// Deprecate a release, or withdraw a broken or unsafe one with `--yank`
    Withdraw(WithdrawOptions),
    /// Sign the index: add a signature, extend its freshness date, or change the signers
    Sign(SignOptions),
    /// Check a repository for CI: files, signatures, releases that need work
    Check(GoldenCheckOptions),
    /// Show or change the policy: periods, and what `check` reports as an error
    #[command(subcommand)]
    Policy(PolicyVerb),
}

/// Verbs of earlier versions, and what does the same today.
pub const RENAMED: [(&str, &str); 10] = [
    ("build", "colab-boot export notebook"),
    ("search", "colab-boot golden list WORD"),
    ("show", "colab-boot golden list --show NAME"),
    ("diff", "colab-boot golden list --diff OLD NEW"),
    ("deprecate", "colab-boot golden withdraw NAME@VERSION --because TEXT"),
    ("yank", "colab-boot golden withdraw --yank NAME@VERSION --because TEXT"),
    ("renew", "colab-boot golden sign --renew"),
    ("signers", "colab-boot golden sign --add FILE --remove NAME"),
    ("page", "colab-boot golden publish --colab OWNER/REPO/COMMIT"),
    ("revoke", "colab-boot golden withdraw --yank NAME@VERSION --because TEXT"),
];

/// A repository that is read.
#[derive(Debug, Args)]
pub struct SourceOptions {
    /// The repository: a folder or a URL [default: the one in `golden.lock`, this folder, or `golden-cells`]
    // Cells that were published by earlier versions call it `--from`.
    #[arg(long, alias = "from", value_name = "FOLDER|URL", env = "COLAB_BOOT_GOLDEN")]
    pub repo: Option<String>,

    /// Trust this public key (`ssh-ed25519 AAAA… NAME`) instead of the pinned keys; may be repeated
    #[arg(long, value_name = "KEY")]
    pub trusted_key: Vec<String>,

    /// Require this many signatures, with --trusted-key
    #[arg(long, value_name = "N", default_value_t = 1, requires = "trusted_key")]
    pub threshold: usize,

    /// Refuse an index with a lower sequence number
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min_seq: u64,
}

impl SourceOptions {
    /// What they mean, for who only looks.
    pub fn to_look(&self) -> SourceRequest {
        self.to_take(true)
    }

    /// The same for who takes a release, or depends on one.
    pub fn to_take(&self, allow_stale: bool) -> SourceRequest {
        let (repo, trusted_key) = (self.repo.clone(), self.trusted_key.clone());
        SourceRequest { repo, trusted_key, threshold: self.threshold, min_seq: self.min_seq, allow_stale }
    }
}

#[derive(Debug, Args)]
pub struct ListOptions {
    /// List only releases whose name, description or frameworks contain this word
    pub word: Option<String>,

    /// Show one release: its targets, files and verification records. `NAME` is its newest current release
    #[arg(long, value_name = "NAME[@VERSION]", conflicts_with_all = ["word", "diff"])]
    pub show: Option<String>,

    /// Compare the locks of two releases
    #[arg(long, value_names = ["OLD", "NEW"], num_args = 2, conflicts_with = "word")]
    pub diff: Vec<String>,

    /// Include expired and withdrawn releases
    #[arg(long)]
    pub all: bool,

    /// List only releases that run on this GPU
    #[arg(long, value_name = "NAME")]
    pub gpu: Option<String>,

    /// List only releases for this notebook image
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,

    /// List only releases with this framework
    #[arg(long, value_name = "NAME")]
    pub framework: Option<PackageName>,

    #[command(flatten)]
    pub source: SourceOptions,
}

#[derive(Debug, Args)]
pub struct AddOptions {
    /// `NAME` or `NAME@VERSION`, optionally with `#sha256=HEX`, the digest of its lock [default: the releases
    /// pinned in `golden.lock`]
    pub release: Option<String>,

    /// A folder, or a notebook whose cell pins a release
    #[arg(long, value_name = "FOLDER|FILE.ipynb", default_value = ".")]
    pub into: PathBuf,

    /// Allow a withdrawn release
    #[arg(long)]
    pub allow_yanked: bool,

    /// Use an index that expired more than 30 days ago
    #[arg(long, env = "COLAB_BOOT_ALLOW_STALE", value_parser = clap::builder::FalseyValueParser::new())]
    pub allow_stale: bool,

    #[command(flatten)]
    pub source: SourceOptions,
}

#[derive(Debug, Args)]
pub struct UpdateOptions {
    /// The release to update [default: all releases pinned in `golden.lock`]
    pub name: Option<PackageName>,

    /// The folder with `golden.lock`, or a notebook
    #[arg(long, value_name = "FOLDER|FILE.ipynb", default_value = ".")]
    pub into: PathBuf,

    /// Show what would change; change nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Use an index that expired more than 30 days ago
    #[arg(long, env = "COLAB_BOOT_ALLOW_STALE", value_parser = clap::builder::FalseyValueParser::new())]
    pub allow_stale: bool,

    #[command(flatten)]
    pub source: SourceOptions,
}

#[derive(Debug, Args)]
pub struct TrustOptions {
    /// The repository: a folder or a URL [default: the one in `golden.lock`, this folder, or `golden-cells`]
    #[arg(long, value_name = "FOLDER|URL", env = "COLAB_BOOT_GOLDEN")]
    pub repo: Option<String>,

    /// The fingerprint of a trusted key (`SHA256:…`), as its maintainers gave it to you; may be repeated.
    /// Without one, the keys are shown and nothing is pinned
    #[arg(long, value_name = "SHA256:…")]
    pub key: Vec<String>,

    /// Require this many signatures [default: as the index states]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub threshold: Option<usize>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "at least one signature is required".to_owned())
}

/// A digest that a release's lock must have, of `NAME@VERSION#sha256=HEX`.
pub fn pinned(release: &str) -> Result<(&str, Option<Sha256>), String> {
    match release.split_once("#sha256=") {
        None => Ok((release, None)),
        Some((title, digest)) => digest.parse().map(|digest| (title, Some(digest))),
    }
}
