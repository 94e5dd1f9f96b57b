//! The command line of `golden`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::core::model::{PackageName, Sha256};
use crate::golden::repository::SourceRequest;

#[derive(Debug, Subcommand)]
pub enum GoldenVerb {
    /// Write `NAME.ipynb` and `NAME.py`, which install colab-boot, apply the profile and restart the kernel once
    Build(BuildOptions),
    /// Create a golden repository: a folder of releases that a team publishes
    Init(SkeletonOptions),
    /// Publish profiles, their locks and cells as signed releases
    Publish(PublishOptions),
    /// Add a signature to the index, or confirm that it is current
    Sign(SignOptions),
    /// Show or change the trusted signers of a repository
    Signers(SignersOptions),
    /// Check a repository for CI: files, signatures, update cadence, verification records
    Check(GoldenCheckOptions),
    /// List releases
    List(ListOptions),
    /// List releases whose name, description or frameworks contain a word
    Search(ListOptions),
    /// Show a release: its targets, files and verification records
    Show(ReleaseOptions),
    /// Add a release to a folder (profile, lock, and a pin in `golden.lock`) or to a notebook (as a cell)
    Add(AddOptions),
    /// Update the pinned releases of a folder or notebook, and show what changes
    Update(UpdateOptions),
    /// Compare two releases
    Diff(DiffOptions),
    /// Deprecate a release from a date on, in favor of another release
    Deprecate(DeprecateOptions),
    /// Withdraw a broken or unsafe release: `apply` refuses it where it is pinned
    Yank(YankOptions),
    /// Confirm that the index is current (extends its freshness date)
    Renew(KeptOptions),
    /// Verify that pinned releases are unchanged, current, and not withdrawn
    Verify(AddOptions),
    /// Pin the keys of a repository's trusted signers
    Trust(TrustOptions),
    /// Write a web page for a repository: one file that loads nothing from the network
    Page(PageOptions),
}

#[derive(Debug, Args)]
pub struct BuildOptions {
    /// The profile; its lock must be up to date
    pub profile: PathBuf,

    /// The lock [default: beside the profile]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// The folder to write to
    #[arg(long, value_name = "FOLDER", default_value = "golden-cells")]
    pub out: PathBuf,

    /// Check that the files are up to date; write nothing
    #[arg(long)]
    pub check: bool,

    #[command(flatten)]
    pub binary: BinaryOptions,
}

/// Where cells get colab-boot.
#[derive(Debug, Args)]
pub struct BinaryOptions {
    /// Where the cell downloads colab-boot if it is not on PATH: a URL (`https:`, `file:`), the path of a file
    /// or a folder where the notebook runs, or
    /// `index:colab-boot==VERSION`, installed by pip
    #[arg(long, value_name = "URL|PATH|index:NAME==VERSION", requires = "binary_sha256")]
    pub binary_url: Option<String>,

    /// The SHA-256 digest of the download
    #[arg(long, value_name = "HEX", requires = "binary_url")]
    pub binary_sha256: Option<String>,
}

/// A repository that is changed.
#[derive(Debug, Args)]
pub struct KeptOptions {
    /// The folder of the repository [default: this folder or `golden-cells`]
    #[arg(long, value_name = "FOLDER")]
    pub repo: Option<PathBuf>,

    /// The key to sign with, as for `ssh-keygen -Y sign -f` [default: git's `user.signingkey`]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// Skip signing; run `golden sign` later
    #[arg(long, conflicts_with = "key")]
    pub no_sign: bool,
}

/// A repository that is read.
#[derive(Debug, Args)]
pub struct SourceOptions {
    /// The repository: a folder or a URL [default: the one in `golden.lock`, this folder, or `golden-cells`]
    #[arg(long, value_name = "FOLDER|URL", env = "COLAB_BOOT_GOLDEN")]
    pub from: Option<String>,

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
        let (from, trusted_key) = (self.from.clone(), self.trusted_key.clone());
        SourceRequest { from, trusted_key, threshold: self.threshold, min_seq: self.min_seq, allow_stale }
    }
}

#[derive(Debug, Args)]
pub struct SkeletonOptions {
    /// The folder to create it in
    #[arg(default_value = ".")]
    pub folder: PathBuf,

    /// The name of the repository
    #[arg(long)]
    pub name: PackageName,

    /// The public key file of a trusted signer; may be repeated [default: the key of git's `user.signingkey`]
    #[arg(long, value_name = "FILE")]
    pub signer: Vec<PathBuf>,

    /// Require this many signatures
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threshold: usize,
}

#[derive(Debug, Args)]
pub struct PublishOptions {
    /// Profiles; the lock of each is beside it and must be up to date
    #[arg(required_unless_present = "verified")]
    pub profiles: Vec<PathBuf>,

    /// Add a record of `colab-boot verify --record` to its release, new or published; may be repeated
    #[arg(long, value_name = "FILE")]
    pub verified: Vec<PathBuf>,

    /// The version that the new release replaces; it is deprecated from today
    #[arg(long, value_name = "VERSION")]
    pub replaces: Option<semver::Version>,

    /// Add this wheel or executable of colab-boot to the repository; the cells download it from there, pinned by digest
    #[arg(long, value_name = "FILE", requires = "at", conflicts_with = "binary_url")]
    pub binary: Option<PathBuf>,

    /// The URL at which the repository will be served; cells check there, once per boot, whether their release
    /// was withdrawn
    #[arg(long, value_name = "URL")]
    pub at: Option<url::Url>,

    #[command(flatten)]
    pub kept: KeptOptions,

    #[command(flatten)]
    pub elsewhere: BinaryOptions,
}

#[derive(Debug, Args)]
pub struct SignOptions {
    /// Write `fresh.toml`, which confirms the index for 14 days; a key that may only do this is enough
    #[arg(long)]
    pub fresh: bool,

    #[command(flatten)]
    pub kept: KeptOptions,
}

#[derive(Debug, Args)]
pub struct SignersOptions {
    /// Add a signer by public key file; may be repeated
    #[arg(long, value_name = "FILE")]
    pub add: Vec<PathBuf>,

    /// Remove a signer by name or fingerprint; may be repeated
    #[arg(long, value_name = "NAME|SHA256:…")]
    pub remove: Vec<String>,

    /// Require this many signatures from now on
    #[arg(long, value_name = "N")]
    pub threshold: Option<usize>,

    #[command(flatten)]
    pub kept: KeptOptions,
}

#[derive(Debug, Args)]
pub struct GoldenCheckOptions {
    /// The folder of the repository [default: this folder or `golden-cells`]
    #[arg(long, value_name = "FOLDER")]
    pub repo: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ListOptions {
    /// The word to search for
    pub word: Option<String>,

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
pub struct ReleaseOptions {
    /// `NAME` for its newest current release, or `NAME@VERSION`
    pub release: String,

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
pub struct DiffOptions {
    /// `NAME@VERSION`
    pub old: String,

    /// `NAME@VERSION`
    pub new: String,

    #[command(flatten)]
    pub source: SourceOptions,
}

#[derive(Debug, Args)]
pub struct DeprecateOptions {
    /// `NAME@VERSION`
    pub release: String,

    /// The reason, in one line
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub because: String,

    /// The first day of the deprecation [default: today]
    #[arg(long, value_name = "DAY")]
    pub on: Option<jiff::civil::Date>,

    /// The release to use instead
    #[arg(long = "use", value_name = "NAME@VERSION")]
    pub instead: Option<String>,

    #[command(flatten)]
    pub kept: KeptOptions,
}

#[derive(Debug, Args)]
pub struct YankOptions {
    /// `NAME@VERSION`
    pub release: String,

    /// The reason, in one line
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub because: String,

    /// The release to use instead
    #[arg(long = "use", value_name = "NAME@VERSION")]
    pub instead: Option<String>,

    #[command(flatten)]
    pub kept: KeptOptions,
}

#[derive(Debug, Args)]
pub struct PageOptions {
    /// The folder of the repository [default: this folder or `golden-cells`]
    #[arg(long, value_name = "FOLDER")]
    pub repo: Option<PathBuf>,

    /// The file to write [default: `index.html` in the repository]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// The repository on GitHub and the commit, for "Open in Colab" links
    #[arg(long, value_name = "OWNER/REPO/COMMIT[/FOLDER]")]
    pub colab: Option<String>,

    /// Check that the file is up to date; write nothing
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Args)]
pub struct TrustOptions {
    /// The repository: a folder or a URL
    pub from: String,

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

/// A line that says something.
fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > 500 || text.chars().any(char::is_control) {
        return Err("a reason is one line of 1 to 500 characters".to_owned());
    }
    Ok(text.to_owned())
}

/// A digest that a release's lock must have, of `NAME@VERSION#sha256=HEX`.
pub fn pinned(release: &str) -> Result<(&str, Option<Sha256>), String> {
    match release.split_once("#sha256=") {
        None => Ok((release, None)),
        Some((title, digest)) => digest.parse().map(|digest| (title, Some(digest))),
    }
}
