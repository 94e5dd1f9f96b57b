//! The command line of `golden` for the maintainers of a repository.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::core::model::PackageName;

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

    /// The public key file of a key that can only confirm that the index is current, for CI; may be repeated
    #[arg(long, value_name = "FILE")]
    pub ci_key: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct PublishOptions {
    /// Profiles; the lock of each is beside it and must be up to date [default: none; only the page is written]
    pub profiles: Vec<PathBuf>,

    /// Add a record of `colab-boot verify --record` to its release, new or published; may be repeated
    #[arg(long, value_name = "FILE")]
    pub verified: Vec<PathBuf>,

    /// The version that the new release replaces; it is deprecated from today
    #[arg(long, value_name = "VERSION")]
    pub replaces: Option<semver::Version>,

    /// Add this wheel or executable of colab-boot to the repository; the cells download it from there, pinned by digest
    #[arg(long, value_name = "FILE", conflicts_with = "binary_url")]
    pub binary: Option<PathBuf>,

    /// The URL at which the repository will be served; cells check there, once per boot and day, whether their release
    /// was withdrawn
    #[arg(long, value_name = "URL")]
    pub at: Option<url::Url>,

    /// Write cells that contain the profile and the lock, for notebooks that can't reach the repository. Otherwise,
    /// with --at and a wheel, the cell of the notebook is short, and fetches both by digest
    #[arg(long)]
    pub offline: bool,

    /// The repository on GitHub and the commit, for the "Open in Colab" links of the page
    #[arg(long, value_name = "OWNER/REPO/COMMIT[/FOLDER]")]
    pub colab: Option<String>,

    #[command(flatten)]
    pub kept: KeptOptions,

    #[command(flatten)]
    pub elsewhere: BinaryOptions,
}

#[derive(Debug, Args)]
pub struct WithdrawOptions {
    /// `NAME@VERSION`
    pub release: String,

    /// The reason, in one line
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub because: String,

    /// Withdraw it: everyone who has pinned it is stopped
    #[arg(long)]
    pub yank: bool,

    /// The first day of the deprecation [default: today]
    #[arg(long, value_name = "DAY", conflicts_with = "yank")]
    pub on: Option<jiff::civil::Date>,

    /// The release to use instead
    #[arg(long = "use", value_name = "NAME@VERSION")]
    pub instead: Option<String>,

    #[command(flatten)]
    pub kept: KeptOptions,
}

/// Who signs from now on.
#[derive(Debug, Args)]
pub struct SignerOptions {
    /// Add a signer by public key file; may be repeated
    #[arg(long, value_name = "FILE")]
    pub add: Vec<PathBuf>,

    /// Add a key that can only confirm that the index is current (`--fresh`); may be repeated
    #[arg(long, value_name = "FILE")]
    pub add_ci_key: Vec<PathBuf>,

    /// Remove a key by name or fingerprint; may be repeated
    #[arg(long, value_name = "NAME|SHA256:…")]
    pub remove: Vec<String>,

    /// Require this many signatures from now on
    #[arg(long, value_name = "N")]
    pub threshold: Option<usize>,

    /// Start over with these signers when too few earlier keys are left to sign the change: every reader must
    /// trust the new keys by hand
    #[arg(long)]
    pub start_over: bool,
}

#[derive(Debug, Args)]
pub struct SignOptions {
    /// Extend the freshness date of the index; do this only if no release needs to be withdrawn
    #[arg(long, conflicts_with_all = ["fresh", "add", "remove", "add_ci_key", "threshold", "start_over"])]
    pub renew: bool,

    /// Write `fresh.toml`, which confirms for 14 days that the index is current; a CI key can do this
    #[arg(long, conflicts_with_all = ["add", "remove", "add_ci_key", "threshold", "start_over"])]
    pub fresh: bool,

    #[command(flatten)]
    pub edits: SignerOptions,

    /// Sign although others changed signers, the threshold or published releases since you signed here
    #[arg(long)]
    pub accept_changes: bool,

    #[command(flatten)]
    pub kept: KeptOptions,
}

impl SignerOptions {
    /// Whether any of them is given.
    pub const fn are_given(&self) -> bool {
        !self.add.is_empty()
            || !self.add_ci_key.is_empty()
            || !self.remove.is_empty()
            || self.threshold.is_some()
            || self.start_over
    }
}

#[derive(Debug, Subcommand)]
pub enum PolicyVerb {
    /// Show the policy
    Show(GoldenCheckOptions),
    /// Change the policy: `expire=365d`, `evidence=error`
    Set(PolicySetOptions),
}

#[derive(Debug, Args)]
pub struct PolicySetOptions {
    /// `KEY=VALUE`, with the keys of `golden policy show`
    #[arg(required = true, value_name = "KEY=VALUE")]
    pub changes: Vec<String>,

    #[command(flatten)]
    pub kept: KeptOptions,
}

#[derive(Debug, Args)]
pub struct GoldenCheckOptions {
    /// The folder of the repository [default: this folder or `golden-cells`]
    #[arg(long, value_name = "FOLDER")]
    pub repo: Option<PathBuf>,
}

/// A line that says something.
fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > 500 || text.chars().any(char::is_control) {
        return Err("a reason is one line of 1 to 500 characters".to_owned());
    }
    Ok(text.to_owned())
}
