//! The command line: syntax only.

mod doctor;
mod golden;
mod index;
mod machine;
mod matrix;
mod named_files;
mod probe;

use std::path::PathBuf;

use clap::{ArgAction, Args, ColorChoice, Parser, Subcommand, ValueEnum};

use crate::model::PackageName;
use crate::session::{ProfileRequest, Request};

pub use doctor::{DoctorOptions, RecordOptions, ScrubOptions};
pub use golden::{
    AddOptions, BinaryOptions, BuildOptions, DeprecateOptions, DiffOptions, GoldenCheckOptions, GoldenVerb,
    KeptOptions, ListOptions, PageOptions, PublishOptions, ReleaseOptions, RenewOptions, SignOptions, SignersOptions,
    SkeletonOptions, SourceOptions, TrustOptions, UpdateOptions, YankOptions, pinned,
};
pub use index::IndexOptions;
pub use machine::{DiffMachinesOptions, FingerprintOptions, MachineOptions};
pub use matrix::{
    CheckOptions, HintsOptions, InspectOptions, LinkingOptions, MatrixVerb, RefreshOptions, ShowOptions, WheelOptions,
};
pub use named_files::NamedFiles;
pub use probe::{GpuProbeOptions, LoaderProbeOptions, NcclProbeOptions, ProbeVerb, StageOptions, StorageProbeOptions};

/// Boots a GPU notebook: one profile in, a pinned, CUDA-coherent and verified environment out.
#[derive(Debug, Parser)]
#[command(name = "colab-boot", version, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,

    /// Print the report as JSON, or write it to FILE beside the usual output
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,

    /// Newer rows for the matrix: a file, or an address that ends in `#sha256=HEX`
    #[arg(long, global = true, value_name = "FILE|URL", env = "COLAB_BOOT_MATRIX", hide_env_values = true)]
    pub matrix: Option<String>,

    /// Say what is done and why; twice: every request, too
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    pub verbose: u8,

    /// Say only errors and the verdict
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Write a commented starter profile
    Init(InitOptions),
    /// Show the machine: driver, GPUs, Python, packages, and where each fact came from
    Fingerprint(FingerprintOptions),
    /// Hold two machines against each other, or this one against what it was
    Diff(DiffMachinesOptions),
    /// Solve a profile and write its lock
    Lock(LockOptions),
    /// Show what `apply` would do: kept, installed, replaced, broken, downloaded, restart or not
    Plan(PreviewOptions),
    /// Make this machine what the lock says; exit code 10 means: restart the kernel once, then run it again
    Apply(ApplyOptions),
    /// Undo every apply: remove what colab-boot installed, bring back what it replaced
    Restore(RestoreOptions),
    /// Bring the wheels of a lock to a folder, for `apply --wheelhouse` where there is no network
    Fetch(FetchOptions),
    /// After the restart: hold files against the lock, look at the kernel, test each framework
    Verify(VerifyOptions),
    /// Show what was applied here and where the kernel stands
    Status(FingerprintOptions),
    /// Publish profiles with their locks and cells as releases that a team pins, trusts and retires
    #[command(subcommand)]
    Golden(GoldenVerb),
    /// Say what would become of profiles on notebook images: what survives, what breaks, from when
    Forecast(ForecastOptions),
    /// The facts about GPU builds: read them from wheels, show them, bring them up to date
    #[command(subcommand)]
    Matrix(MatrixVerb),
    /// Judge an environment that somebody else made: this one, a lock, a list of requirements, a notebook image
    Audit(AuditOptions),
    /// Look for what will end, slow down or spoil the work on this machine: memory, GPU, libraries, storage, credentials
    Doctor(DoctorOptions),
    /// Measure on request: GPU, storage, data loading, several GPUs; bounded in time and bytes
    #[command(subcommand)]
    Probe(ProbeVerb),
    /// Bring data to a disk of this machine, or checkpoints back; goes on where it was cut off
    Stage(StageOptions),
    /// Watch the notebook's kernel, so that `doctor --after-crash` knows how it ended
    Record(RecordOptions),
    /// Look for secrets in notebooks, profiles, cells and logs, and take them out
    Scrub(ScrubOptions),
    /// Say what a diagnostic code or a pasted error means, or why a package is in a lock at its version
    Explain(ExplainOptions),
}

impl Verb {
    /// Whether what it does depends on what the folders of state and settings hold.
    pub const fn reads_state(&self) -> bool {
        !matches!(
            self,
            Self::Init(_)
                | Self::Fingerprint(_)
                | Self::Diff(_)
                | Self::Matrix(_)
                | Self::Audit(_)
                | Self::Probe(_)
                | Self::Stage(_)
                | Self::Scrub(_)
                | Self::Explain(_)
        )
    }

    /// As in the JSON envelope.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Init(_) => "init",
            Self::Fingerprint(_) => "fingerprint",
            Self::Diff(_) => "diff",
            Self::Lock(_) => "lock",
            Self::Plan(_) => "plan",
            Self::Apply(_) => "apply",
            Self::Restore(_) => "restore",
            Self::Fetch(_) => "fetch",
            Self::Verify(_) => "verify",
            Self::Status(_) => "status",
            Self::Golden(_) => "golden",
            Self::Forecast(_) => "forecast",
            Self::Matrix(_) => "matrix",
            Self::Audit(_) => "audit",
            Self::Doctor(_) => "doctor",
            Self::Probe(_) => "probe",
            Self::Stage(_) => "stage",
            Self::Record(_) => "record",
            Self::Scrub(_) => "scrub",
            Self::Explain(_) => "explain",
        }
    }
}

#[derive(Debug, Args)]
pub struct InitOptions {
    /// The file to write; `-` prints it
    #[arg(default_value = "profile.toml")]
    pub path: PathBuf,
}

#[derive(Debug, Args)]
pub struct ExplainOptions {
    /// A code such as `driver-too-old`, a package of a lock, or an error text that was pasted; without one, all codes are listed
    #[arg(value_name = "CODE|PACKAGE|TEXT")]
    pub topic: Option<String>,

    /// The profile whose lock holds the package; by default the only one of this folder that has a lock
    pub profile: Option<PathBuf>,

    /// The lock; by default beside the profile
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    #[command(flatten)]
    pub machine: MachineOptions,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct LockOptions {
    /// The profile
    pub profile: PathBuf,

    /// The lock to write; by default beside the profile
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// Take the newest versions, whatever the lock has now
    #[arg(long)]
    pub upgrade: bool,

    /// Take the newest version of this package, and move others only where they must; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "upgrade")]
    pub upgrade_package: Vec<PackageName>,

    /// Write nothing; say what is stale, and fail if anything is
    #[arg(long)]
    pub check: bool,

    #[command(flatten)]
    pub machine: MachineOptions,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Clone, Debug, Args)]
pub struct PlanOptions {
    /// The profile
    pub profile: PathBuf,

    /// The lock to use; by default the one beside the profile, if it is fresh
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// Fail where the lock is missing or stale, instead of solving anew
    #[arg(long)]
    pub locked: bool,

    /// Write the install script to FILE
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

#[derive(Clone, Debug, Args)]
pub struct PreviewOptions {
    #[command(flatten)]
    pub plan: PlanOptions,

    /// Write the Debian packages of libraries that this system lacks into the profile's `[apt]`
    #[arg(long, conflicts_with = "locked")]
    pub add_apt: bool,
}

#[derive(Clone, Debug, Args)]
pub struct ApplyOptions {
    #[command(flatten)]
    pub plan: PlanOptions,

    /// Take all wheels from this folder, which `fetch` has filled, and use no network
    #[arg(long, value_name = "FOLDER", env = "COLAB_BOOT_WHEELHOUSE", conflicts_with = "refresh")]
    pub wheelhouse: Option<PathBuf>,

    /// Who restarts the kernel, where it must: the caller, by exit code 10; something outside, and the exit code is 0; or there is no
    /// kernel yet
    #[arg(long, value_name = "WHO", value_enum, default_value_t = Restarter::Caller)]
    pub restart: Restarter,

    /// For start-up scripts: the same as `--restart never`
    #[arg(long, conflicts_with = "restart")]
    pub no_restart: bool,
}

/// Who restarts the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Restarter {
    Caller,
    External,
    Never,
}

#[derive(Clone, Debug, Args)]
pub struct RestoreOptions {
    /// Change nothing; show what would be done
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
    pub lock: PathBuf,

    /// The folder to bring the wheels to
    #[arg(long, value_name = "FOLDER")]
    pub into: PathBuf,

    /// Only this target of the lock; may be repeated
    #[arg(long, value_name = "NAME")]
    pub target: Vec<String>,

    /// Fetch nothing if the wheels take more than this, such as `500MB` or `4GB`
    #[arg(long, value_name = "BYTES", value_parser = byte_count)]
    pub budget: Option<u64>,

    /// The profile of the lock; by default beside it
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,

    #[command(flatten)]
    pub index: IndexOptions,
}

/// `1500000`, `500MB`, `4 GB`, `2GiB`.
fn byte_count(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, unit) = text.split_at(digits);
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err("write a number of bytes, such as `500MB` or `4GB`".to_owned()),
    };
    let count: u64 = count.parse().map_err(|_| "write a whole number, such as `500MB`".to_owned())?;
    count.checked_mul(unit).ok_or_else(|| "that is more than there is".to_owned())
}

#[derive(Debug, Args)]
pub struct VerifyOptions {
    /// The profile
    pub profile: PathBuf,

    /// The lock; by default beside the profile
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// The longer tests: number formats, gradients, copies, a collective, held against what must come out
    #[arg(long)]
    pub thorough: bool,

    /// Train each framework twice from the profile's seed, and compare the results
    #[arg(long)]
    pub deterministic: bool,

    /// Write what was found to a file, to be published beside a golden release: GPU, driver, image, smoke tests; no host and no folder
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    #[command(flatten)]
    pub machine: MachineOptions,
}

#[derive(Debug, Args)]
pub struct ForecastOptions {
    /// Profiles; the lock beside each counts where it fits
    #[arg(required_unless_present = "repo")]
    pub profiles: Vec<PathBuf>,

    /// All current releases of a golden repository, a folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "profiles")]
    pub repo: Option<PathBuf>,

    /// A notebook image; may be repeated. Without one, the two newest with a GPU
    #[arg(long, value_name = "NAME")]
    pub runtime: Vec<String>,

    /// All images that are bundled
    #[arg(long, conflicts_with = "runtime")]
    pub all: bool,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct AuditOptions {
    /// A requirements.txt, the output of `pip freeze`, a pyproject.toml, an environment.yml, a notebook, a pylock.toml, uv.lock or
    /// colab-boot lock, `-` for standard input, or a bundled notebook image such as `colab-2026.07`; without one, what is installed for this machine's Python
    pub target: Option<String>,

    #[command(flatten)]
    pub machine: MachineOptions,

    #[command(flatten)]
    pub index: IndexOptions,
}
