//! The command line: syntax only.

mod doctor;
mod editing;
mod golden_upkeep;
mod golden;
mod export;
mod explaining;
mod init;
mod cache;
mod checking;
mod help_texts;
mod installing;
mod package_sources;
mod machine;
mod matrix;
mod named_files;
mod probe;
mod runtime;
mod running;

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{ArgAction, Args, ColorChoice, Parser, Subcommand, ValueEnum};

use crate::boot::goal::{ProfileRequest, Request};
use crate::core::diag::byte_count;

pub use cache::{CacheVerb, CompletionsOptions, Document, ManOptions, SchemaOptions, SelfVerb};
pub use checking::{AuditOptions, VerifyOptions};
pub use doctor::{DoctorOptions, RecordOptions, ScrubOptions};
pub use editing::{AddPackagesOptions, EditedOptions, LockOptions, RemovePackagesOptions, UpgradeOptions};
pub use explaining::{ExplainOptions, TreeOptions};
pub use export::{ContainerOptions, ExportVerb, ExportedOptions, NotebookOptions};
pub use golden::{AddOptions, GoldenVerb, ListOptions, RENAMED, SourceOptions, TrustOptions, UpdateOptions, pinned};
pub use golden_upkeep::{
    BinaryOptions, GoldenCheckOptions, KeptOptions, PolicySetOptions, PolicyVerb, PublishOptions, SignOptions,
    SkeletonOptions, WithdrawOptions,
};
pub use init::InitOptions;
pub use installing::{InstallWheelsOptions, InstallerName};
pub use machine::{DiffMachinesOptions, FingerprintOptions, MachineOptions};
pub use matrix::{InspectOptions, MatrixVerb, ShowOptions, WheelOptions};
pub use named_files::NamedFiles;
pub use package_sources::IndexOptions;
pub use probe::{GpuProbeOptions, LoaderProbeOptions, NcclProbeOptions, ProbeVerb, StageOptions, StorageProbeOptions};
pub use running::RunOptions;
pub use runtime::{ForecastOptions, RuntimeImportOptions, RuntimeVerb};

/// The profile where none is named.
const PROFILE: &str = "profile.toml";

/// Takes the path of a profile. A lock is an error, which has the name of a profile beside it.
fn profile_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.extension() {
        Some(extension) if extension == "lock" => {
            Err(format!("this is a lock; name its profile, such as `{}`", path.with_extension("toml").display()))
        }
        _ => Ok(path),
    })
}

/// Set up a GPU notebook from one profile: a pinned, CUDA-coherent and verified environment.
#[derive(Debug, Parser)]
#[command(name = "colab-boot", version, max_term_width = 100, after_help = help_texts::PROGRAM)]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,

    /// Print the report as JSON, or write it to FILE in addition to the usual output
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,

    /// Write the report as a page (HTML) in addition to the usual output
    #[arg(long, global = true, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Use newer rows of the CUDA matrix: a file, or a URL that ends in `#sha256=HEX`
    #[arg(long, global = true, value_name = "FILE|URL", env = "COLAB_BOOT_MATRIX", hide_env_values = true)]
    pub matrix: Option<String>,

    /// Print verbose output (repeat for every request)
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    pub verbose: u8,

    /// Print errors, and what was asked for
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Use color
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Write a commented starter profile
    #[command(after_help = help_texts::INIT)]
    Init(InitOptions),
    /// Show the machine: driver, GPUs, Python, packages, and where each fact came from
    Fingerprint(FingerprintOptions),
    /// Compare two machines, or this machine with an earlier fingerprint
    Diff(DiffMachinesOptions),
    /// Add packages to a profile, and lock it
    #[command(after_help = help_texts::ADD)]
    Add(AddPackagesOptions),
    /// Remove packages from a profile, and lock it
    Remove(RemovePackagesOptions),
    /// Lock a profile with newer versions
    Upgrade(UpgradeOptions),
    /// Resolve a profile and write its lock
    #[command(after_help = help_texts::LOCK)]
    Lock(LockOptions),
    /// Show what `apply` would do: packages, downloads, broken requirements, restart
    #[command(after_help = help_texts::PLAN)]
    Plan(PreviewOptions),
    /// Install what the lock pins; exit code 10: restart the kernel, then run it again
    #[command(after_help = help_texts::APPLY)]
    Apply(ApplyOptions),
    /// Run a Python file or a command in the environment as locked; apply first if it differs
    #[command(after_help = help_texts::RUN)]
    Run(RunOptions),
    /// Undo every apply: remove what colab-boot installed, reinstall what it replaced
    Restore(RestoreOptions),
    /// Download the wheels of a lock into a folder, for offline use with `apply --wheelhouse`
    #[command(after_help = help_texts::FETCH)]
    Fetch(FetchOptions),
    /// Verify an applied environment: files, kernel, and a smoke test of each framework
    Verify(VerifyOptions),
    /// Show what was applied here, and whether the kernel needs a restart
    Status(FingerprintOptions),
    /// Publish and use golden profiles: signed releases of profiles, locks and cells
    #[command(subcommand)]
    Golden(GoldenVerb),
    /// Export a profile and its lock for other tools
    #[command(subcommand)]
    Export(ExportVerb),
    /// Predict which profiles still work on each notebook image, and what breaks
    Forecast(ForecastOptions),
    /// List the notebook images that `--runtime` takes, and import new ones
    #[command(subcommand)]
    Runtime(RuntimeVerb),
    /// Show and update the CUDA compatibility matrix
    #[command(subcommand)]
    Matrix(MatrixVerb),
    /// Check an existing environment, a lock, requirements or a notebook image for conflicts
    #[command(after_help = help_texts::AUDIT)]
    Audit(AuditOptions),
    /// Check this machine for problems that crash or slow down training
    Doctor(DoctorOptions),
    /// Measure GPU, storage, data loading or several GPUs, within limits of time and size
    #[command(subcommand)]
    Probe(ProbeVerb),
    /// Copy data to local disk, or checkpoints back; interrupted copies resume
    Stage(StageOptions),
    /// Watch the notebook's kernel, so that `doctor --after-crash` can explain its death
    Record(RecordOptions),
    /// Find secrets in notebooks, profiles, cells and logs, and remove them
    Scrub(ScrubOptions),
    /// Show which package of a lock needs which
    Tree(TreeOptions),
    /// Explain a diagnostic code, a pasted error, or why a package is in a lock
    #[command(visible_alias = "why", after_help = help_texts::EXPLAIN)]
    Explain(ExplainOptions),
    /// Show the cache, and remove what nothing uses
    #[command(subcommand)]
    Cache(CacheVerb),
    /// Print a script that completes commands and options in a shell
    Completions(CompletionsOptions),
    /// Write the manual pages into a folder
    Man(ManOptions),
    /// Print the JSON Schema of profiles or locks
    Schema(SchemaOptions),
    /// Show which colab-boot this is
    #[command(subcommand, name = "self")]
    Own(SelfVerb),
    /// Install the wheels that an apply has staged
    #[command(hide = true)]
    InstallWheels(InstallWheelsOptions),
}

impl Verb {
    /// Whether what it does depends on what the folders of state and settings hold.
    pub const fn reads_state(&self) -> bool {
        !matches!(
            self,
            Self::Fingerprint(_)
                | Self::Diff(_)
                | Self::Matrix(_)
                | Self::Runtime(_)
                | Self::Audit(_)
                | Self::Probe(_)
                | Self::Stage(_)
                | Self::Scrub(_)
                | Self::Tree(_)
                | Self::Explain(_)
                | Self::Cache(_)
                | Self::Completions(_)
                | Self::Man(_)
                | Self::Schema(_)
                | Self::Own(_)
                | Self::InstallWheels(_)
        )
    }

    /// Whether it is run for what it does: what it prints is talk, too.
    pub const fn acts(&self) -> bool {
        matches!(
            self,
            Self::Apply(_) | Self::Restore(_) | Self::Fetch(_) | Self::Verify(_) | Self::Init(_) | Self::Stage(_)
        )
    }

    /// As in the JSON envelope.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Init(_) => "init",
            Self::Fingerprint(_) => "fingerprint",
            Self::Diff(_) => "diff",
            Self::Add(_) => "add",
            Self::Remove(_) => "remove",
            Self::Upgrade(_) => "upgrade",
            Self::Lock(_) => "lock",
            Self::Plan(_) => "plan",
            Self::Apply(_) => "apply",
            Self::Run(_) => "run",
            Self::Restore(_) => "restore",
            Self::Fetch(_) => "fetch",
            Self::Verify(_) => "verify",
            Self::Status(_) => "status",
            Self::Golden(_) => "golden",
            Self::Export(_) => "export",
            Self::Forecast(_) => "forecast",
            Self::Runtime(_) => "runtime",
            Self::Matrix(_) => "matrix",
            Self::Audit(_) => "audit",
            Self::Doctor(_) => "doctor",
            Self::Probe(_) => "probe",
            Self::Stage(_) => "stage",
            Self::Record(_) => "record",
            Self::Scrub(_) => "scrub",
            Self::Tree(_) => "tree",
            Self::Explain(_) => "explain",
            Self::Cache(_) => "cache",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
            Self::Schema(_) => "schema",
            Self::Own(_) => "self",
            Self::InstallWheels(_) => "install-wheels",
        }
    }
}

#[derive(Debug, Args)]
pub struct PlanOptions {
    /// The profile
    #[arg(default_value = PROFILE, value_parser = profile_path())]
    pub profile: PathBuf,

    /// The lock to use [default: beside the profile, if it is up to date]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// Fail if the lock is missing or outdated, instead of resolving again
    #[arg(long)]
    pub locked: bool,

    /// Write the install script to FILE (`-` prints it)
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    #[command(flatten)]
    pub machine: MachineOptions,

    #[command(flatten)]
    pub index: IndexOptions,
}

impl PlanOptions {
    /// The profile that is planned.
    pub fn profile_request(&self) -> ProfileRequest {
        ProfileRequest { profile: self.profile.clone(), lock: self.lock.clone(), locked: self.locked }
    }

    /// For which machine, and from where.
    pub fn request(&self) -> Request {
        Request { machine: self.machine.request(), index: self.index.settings() }
    }
}

#[derive(Debug, Args)]
pub struct PreviewOptions {
    #[command(flatten)]
    pub plan: PlanOptions,

    /// Add the Debian packages of missing system libraries to the profile's `[apt]`
    #[arg(long, conflicts_with = "locked")]
    pub add_apt: bool,
}

#[derive(Debug, Args)]
pub struct ApplyOptions {
    #[command(flatten)]
    pub plan: PlanOptions,

    /// Install only from this folder, which `fetch` has filled; use no network
    #[arg(long, value_name = "FOLDER", env = "COLAB_BOOT_WHEELHOUSE", conflicts_with = "refresh")]
    pub wheelhouse: Option<PathBuf>,

    /// Select what restarts the kernel: the caller (the exit code is then 10), an external program (exit code
    /// 0), or nothing (no kernel is running yet)
    #[arg(long, value_name = "WHO", value_enum, default_value_t = Restarter::Caller)]
    pub restart: Restarter,

    /// Do not ask for a restart; the same as `--restart never`, for start-up scripts
    #[arg(long, conflicts_with = "restart")]
    pub no_restart: bool,

    /// Select what installs the wheels; with uv and pip an install that fails can leave a part behind
    #[arg(
        long,
        value_name = "INSTALLER",
        value_enum,
        default_value_t = InstallerName::ColabBoot,
        env = "COLAB_BOOT_INSTALLER"
    )]
    pub installer: InstallerName,
}

/// Who restarts the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Restarter {
    Caller,
    External,
    Never,
}

#[derive(Debug, Args)]
pub struct RestoreOptions {
    /// Show what would be done; change nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub machine: MachineOptions,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct FetchOptions {
    /// The lock
    #[arg(default_value = "profile.lock")]
    pub lock: PathBuf,

    /// The folder to download to
    #[arg(long, value_name = "FOLDER")]
    pub into: PathBuf,

    /// Download only for this target of the lock; may be repeated
    #[arg(long, value_name = "NAME")]
    pub target: Vec<String>,

    /// Limit the total size of the wheels, such as `500MB` or `4GB`; download nothing if it is exceeded
    #[arg(long, value_name = "BYTES", value_parser = byte_count)]
    pub budget: Option<u64>,

    /// The profile of the lock [default: beside the lock]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,

    #[command(flatten)]
    pub index: IndexOptions,
}
