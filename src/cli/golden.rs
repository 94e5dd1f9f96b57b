//! The command line of `golden`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::model::{PackageName, Sha256};
use crate::repository::SourceRequest;

#[derive(Debug, Subcommand)]
pub enum GoldenVerb {
    /// Write `NAME.ipynb` and `NAME.py`: get colab-boot, apply, restart once, ready
    Build(BuildOptions),
    /// Begin a golden repository: a folder of files that a team publishes
    Init(SkeletonOptions),
    /// Put releases of profiles with their locks and cells into a repository, and sign its index
    Publish(PublishOptions),
    /// Put one more signature under the index, or a statement that it is still the current one
    Sign(SignOptions),
    /// Say who may sign a repository, and change that
    Signers(SignersOptions),
    /// Say what of a repository needs work: files, signatures, cadence, evidence; for CI
    Check(GoldenCheckOptions),
    /// Say which releases there are
    List(ListOptions),
    /// The same, of those whose name, description or frameworks hold a word
    Search(ListOptions),
    /// Show one release: what it was made for, its files, its evidence
    Show(ReleaseOptions),
    /// Take a release into a folder (profile, lock and `golden.lock`, which pins it by digest) or as a cell into a notebook
    Add(AddOptions),
    /// Take the newest current release in place of the one that `golden.lock` or a notebook pins, and show the difference
    Update(UpdateOptions),
    /// Show how two releases differ
    Diff(DiffOptions),
    /// Say that another release should be taken in place of this one, from a day on
    Deprecate(DeprecateOptions),
    /// Withdraw a release that is broken or unsafe: who has pinned it is stopped
    Yank(YankOptions),
    /// Say that nothing was withdrawn: the index is fresh again
    Renew(RenewOptions),
    /// Hold what `golden.lock` or a notebook pins against its repository: not withdrawn, not changed, still current
    Verify(AddOptions),
    /// Pin the keys of those who may sign a repository
    Trust(TrustOptions),
    /// Write the page of a repository: one file for a browser, which asks nobody for anything
    Page(PageOptions),
}

#[derive(Debug, Args)]
pub struct BuildOptions {
    /// The profile; its lock must be fresh
    pub profile: PathBuf,

    /// The lock; by default beside the profile
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// Where to write
    #[arg(long, value_name = "FOLDER", default_value = "golden-cells")]
    pub out: PathBuf,

    /// Write nothing; fail if the files are not what would be written
    #[arg(long)]
    pub check: bool,

    #[command(flatten)]
    pub binary: BinaryOptions,
}

/// Where cells get colab-boot.
#[derive(Clone, Debug, Args)]
pub struct BinaryOptions {
    /// Where the cell gets colab-boot when it is not on PATH: an address (`https:`, `file:`), the path of a file or a folder where the notebook runs, or
    /// `index:colab-boot==VERSION`, which pip fetches there
    #[arg(long, value_name = "URL|PATH|index:NAME==VERSION", requires = "binary_sha256")]
    pub binary_url: Option<String>,

    /// The digest that the download must have
    #[arg(long, value_name = "HEX", requires = "binary_url")]
    pub binary_sha256: Option<String>,
}

/// A repository that is changed.
#[derive(Clone, Debug, Args)]
pub struct KeptOptions {
    /// The folder of the repository; without one, this folder or `golden-cells`
    #[arg(long, value_name = "FOLDER")]
    pub repo: Option<PathBuf>,

    /// The key to sign with, as `ssh-keygen -Y sign -f` takes it; without one, git's `user.signingkey`
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// Leave the index unsigned; `golden sign` signs it later
    #[arg(long, conflicts_with = "key")]
    pub no_sign: bool,
}

/// A repository that is read.
#[derive(Clone, Debug, Args)]
pub struct SourceOptions {
    /// The repository: a folder, or an address; without one, what `golden.lock` names, this folder, or `golden-cells`
    #[arg(long, value_name = "FOLDER|URL", env = "COLAB_BOOT_GOLDEN")]
    pub from: Option<String>,

    /// A public key that may sign, `ssh-ed25519 AAAA… NAME`, in place of those that are pinned; may be repeated
    #[arg(long, value_name = "KEY")]
    pub trusted_key: Vec<String>,

    /// How many have to sign, with --trusted-key
    #[arg(long, value_name = "N", default_value_t = 1, requires = "trusted_key")]
    pub threshold: usize,

    /// Refuse an index with a lower number
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min_seq: u64,
}

impl SourceOptions {
    /// What they mean.
    pub fn request(&self) -> SourceRequest {
        let (from, trusted_key) = (self.from.clone(), self.trusted_key.clone());
        SourceRequest { from, trusted_key, threshold: self.threshold, min_seq: self.min_seq }
    }
}

#[derive(Debug, Args)]
pub struct SkeletonOptions {
    /// Where
    #[arg(default_value = ".")]
    pub folder: PathBuf,

    /// What the repository is called
    #[arg(long)]
    pub name: PackageName,

    /// The public key of somebody who may sign, as a file; may be repeated. Without one, the key of git's `user.signingkey`
    #[arg(long, value_name = "FILE")]
    pub signer: Vec<PathBuf>,

    /// How many have to sign
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threshold: usize,
}

#[derive(Debug, Args)]
pub struct PublishOptions {
    /// Profiles; the lock of each lies beside it and must be fresh
    #[arg(required_unless_present = "verified")]
    pub profiles: Vec<PathBuf>,

    /// A record of `colab-boot verify --record`, put beside the release that it is about, a new one or one that is there; may be repeated
    #[arg(long, value_name = "FILE")]
    pub verified: Vec<PathBuf>,

    /// The version that the new release replaces, which is deprecated from today on
    #[arg(long, value_name = "VERSION")]
    pub replaces: Option<semver::Version>,

    /// A wheel of colab-boot, or the executable: it is put into the repository, and the cells take it from there, by its digest
    #[arg(long, value_name = "FILE", requires = "at", conflicts_with = "binary_url")]
    pub binary: Option<PathBuf>,

    /// Where the repository will be read from: the cells ask it, once a boot, whether their release was withdrawn
    #[arg(long, value_name = "URL")]
    pub at: Option<url::Url>,

    #[command(flatten)]
    pub kept: KeptOptions,

    #[command(flatten)]
    pub elsewhere: BinaryOptions,
}

#[derive(Debug, Args)]
pub struct SignOptions {
    /// Write `fresh.toml`: the index is still the current one, for 14 days; with a key that may say so and no more
    #[arg(long)]
    pub fresh: bool,

    /// Sign with a key that may not sign any more, an index that says so: readers who have pinned it go on with the new keys
    #[arg(long, conflicts_with = "fresh")]
    pub leaving: bool,

    #[command(flatten)]
    pub kept: KeptOptions,
}

#[derive(Debug, Args)]
pub struct SignersOptions {
    /// The public key of somebody who may sign from now on, as a file; may be repeated
    #[arg(long, value_name = "FILE")]
    pub add: Vec<PathBuf>,

    /// Somebody who may sign no more, by name or fingerprint; may be repeated
    #[arg(long, value_name = "NAME|SHA256:…")]
    pub remove: Vec<String>,

    /// How many have to sign from now on
    #[arg(long, value_name = "N")]
    pub threshold: Option<usize>,

    #[command(flatten)]
    pub kept: KeptOptions,
}

#[derive(Debug, Args)]
pub struct GoldenCheckOptions {
    /// The folder of the repository; without one, this folder or `golden-cells`
    #[arg(long, value_name = "FOLDER")]
    pub repo: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ListOptions {
    /// A word to look for
    pub word: Option<String>,

    /// Those that have expired or were withdrawn, too
    #[arg(long)]
    pub all: bool,

    /// Only what runs on this GPU
    #[arg(long, value_name = "NAME")]
    pub gpu: Option<String>,

    /// Only what was made for this notebook image
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,

    /// Only what has this framework
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
    /// `NAME`, `NAME@VERSION`, with `#sha256=HEX` behind it for the digest that its lock must have; without one, what `golden.lock` pins
    pub release: Option<String>,

    /// Where to write, or what to look at: a folder, or a notebook, whose cell pins a release
    #[arg(long, value_name = "FOLDER|FILE.ipynb", default_value = ".")]
    pub into: PathBuf,

    /// Take a release that was withdrawn all the same
    #[arg(long)]
    pub allow_yanked: bool,

    #[command(flatten)]
    pub source: SourceOptions,
}

#[derive(Debug, Args)]
pub struct UpdateOptions {
    /// What to update; without one, all that `golden.lock` pins
    pub name: Option<PackageName>,

    /// The folder with `golden.lock`, or the notebook
    #[arg(long, value_name = "FOLDER|FILE.ipynb", default_value = ".")]
    pub into: PathBuf,

    /// Show the difference, and change nothing
    #[arg(long)]
    pub dry_run: bool,

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

    /// Why, in one line
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub because: String,

    /// From which day on; today without one
    #[arg(long, value_name = "DAY")]
    pub on: Option<jiff::civil::Date>,

    /// The release to take in its place
    #[arg(long = "use", value_name = "NAME@VERSION")]
    pub instead: Option<String>,

    #[command(flatten)]
    pub kept: KeptOptions,
}

#[derive(Debug, Args)]
pub struct YankOptions {
    /// `NAME@VERSION`
    pub release: String,

    /// Why, in one line
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub because: String,

    /// The release to take in its place
    #[arg(long = "use", value_name = "NAME@VERSION")]
    pub instead: Option<String>,

    #[command(flatten)]
    pub kept: KeptOptions,
}

#[derive(Debug, Args)]
pub struct RenewOptions {
    #[command(flatten)]
    pub kept: KeptOptions,
}

#[derive(Debug, Args)]
pub struct PageOptions {
    /// The folder of the repository; without one, this folder or `golden-cells`
    #[arg(long, value_name = "FOLDER")]
    pub repo: Option<PathBuf>,

    /// Where to write; without one, `index.html` in the repository
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// The repository on GitHub, with the commit that its notebooks are opened at in Colab
    #[arg(long, value_name = "OWNER/REPO/COMMIT[/FOLDER]")]
    pub colab: Option<String>,

    /// Write nothing; fail if the file is not what would be written
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Args)]
pub struct TrustOptions {
    /// The repository: a folder, or an address
    pub from: String,

    /// The fingerprint of a key that may sign, `SHA256:…`, as its keepers gave it to you; may be repeated. Without one the keys are shown, and nothing is pinned
    #[arg(long, value_name = "SHA256:…")]
    pub key: Vec<String>,

    /// How many have to sign; without one, as many as the index says
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub threshold: Option<usize>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "at least one has to sign".to_owned())
}

/// A line that says something.
fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > 500 || text.chars().any(char::is_control) {
        return Err("a reason is one line of at most 500 characters that says something".to_owned());
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
