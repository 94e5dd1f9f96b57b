//! How a build runs on a machine, or why it does not. A pure function of rows and numbers.

use std::fmt::{Display, Formatter, Result as FmtResult};

use pubgrub::Ranges;
use serde::{Deserialize, Serialize};

use crate::core::matrix::{Build, Matrix};
use crate::core::model::version::VersionRange;
use crate::core::model::{ComputeCapability, CudaVersion, DriverVersion, Version};

/// A GPU as far as a verdict needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct InstalledGpu {
    /// `Tesla T4`.
    pub name: String,
    pub capability: ComputeCapability,
}

/// The part of a machine that decides: driver, GPUs, forward-compatibility packages in use.
#[derive(Clone, Debug, Default)]
pub struct Hardware {
    pub driver: Option<DriverVersion>,
    pub gpus: Vec<InstalledGpu>,
    /// CUDA levels of installed and loadable `cuda-compat` packages.
    pub compat: Vec<CudaVersion>,
}

/// How a build runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The driver implements the build's CUDA and the wheel has machine code for every GPU.
    Native,
    /// The driver is older than the build's CUDA but within its major.
    MinorCompat,
    /// A GPU has no machine code in the wheel; the driver compiles the PTX on first use.
    PtxJit,
    /// Only a `cuda-compat` package makes it run.
    ForwardCompat,
    /// There is no GPU: it runs on the CPU.
    CpuOnly,
    No(Reason),
}

/// Why a build does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    NoDriver,
    DriverTooOld { cuda: CudaVersion, needs: DriverVersion, has: DriverVersion },
    DriverDroppedGpu { gpu: String, last_branch: u64 },
    NoKernelImage { gpu: String, capability: ComputeCapability },
    PtxTooNew { gpu: String, isa: CudaVersion, driver_isa: CudaVersion },
    UnknownCuda { cuda: CudaVersion },
}

impl Reason {
    /// In a word.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NoDriver => "no driver",
            Self::DriverTooOld { .. } => "driver",
            Self::DriverDroppedGpu { .. } => "dropped",
            Self::NoKernelImage { .. } => "no code",
            Self::PtxTooNew { .. } => "ptx",
            Self::UnknownCuda { .. } => "cuda",
        }
    }
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        match self {
            Self::NoDriver => f.write_str("there is a GPU but no NVIDIA driver"),
            Self::DriverTooOld { cuda, needs, has } => {
                write!(f, "CUDA {cuda} needs driver {needs} or newer, but this one is {has}")
            }
            Self::DriverDroppedGpu { gpu, last_branch } => {
                write!(f, "the driver no longer supports {gpu}: branch {last_branch} was the last")
            }
            Self::NoKernelImage { gpu, capability } => {
                write!(f, "no machine code or PTX for {gpu} (compute capability {capability})")
            }
            Self::PtxTooNew { gpu, isa, driver_isa } => {
                write!(f, "the wheel has only PTX {isa} for {gpu}, but this driver supports PTX up to {driver_isa}")
            }
            Self::UnknownCuda { cuda } => write!(f, "CUDA {cuda} is not in the matrix"),
        }
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        match self {
            Self::Native => f.write_str("native"),
            Self::MinorCompat => f.write_str("minor-compat"),
            Self::PtxJit => f.write_str("ptx-jit"),
            Self::ForwardCompat => f.write_str("forward-compat"),
            Self::CpuOnly => f.write_str("cpu-only"),
            Self::No(reason) => write!(f, "no: {reason}"),
        }
    }
}

/// How the driver gets to run a CUDA level.
enum DriverRoute {
    Native,
    Minor,
    Forward,
}

/// How `build` runs on `hardware`; with several GPUs, the worst of them, for the environment must work on all.
pub fn verdict(matrix: &Matrix, build: &Build, hardware: &Hardware) -> Verdict {
    if hardware.gpus.is_empty() {
        return Verdict::CpuOnly;
    }
    // A build that does not say its CUDA needs nothing of the driver itself; the CUDA libraries that it brings do.
    let route = match (build.cuda.map(|cuda| driver_route(matrix, cuda, hardware)), &hardware.driver) {
        (Some(Ok(route)), _) => route,
        (Some(Err(reason)), _) => return Verdict::No(reason),
        (None, None) => return Verdict::No(Reason::NoDriver),
        (None, Some(_)) => DriverRoute::Native,
    };
    let mut jit = false;
    for gpu in &hardware.gpus {
        match code_for(matrix, build, hardware, gpu) {
            Ok(compiled) => jit |= !compiled,
            Err(reason) => return Verdict::No(reason),
        }
    }
    match route {
        DriverRoute::Forward => Verdict::ForwardCompat,
        _ if jit => Verdict::PtxJit,
        DriverRoute::Minor => Verdict::MinorCompat,
        DriverRoute::Native => Verdict::Native,
    }
}

/// Whether the driver of `hardware` runs `cuda`.
pub fn check_driver(matrix: &Matrix, cuda: CudaVersion, hardware: &Hardware) -> Result<(), Reason> {
    driver_route(matrix, cuda, hardware).map(drop)
}

fn driver_route(matrix: &Matrix, cuda: CudaVersion, hardware: &Hardware) -> Result<DriverRoute, Reason> {
    let driver = hardware.driver.as_ref().ok_or(Reason::NoDriver)?;
    let floor = matrix.driver_floor(cuda).ok_or(Reason::UnknownCuda { cuda })?;
    let own = matrix.toolkit(cuda).and_then(|row| row.driver.as_ref());
    if own.is_some_and(|own| driver >= own) {
        Ok(DriverRoute::Native)
    } else if driver >= floor {
        Ok(DriverRoute::Minor)
    } else if forward_level(matrix, hardware).is_some_and(|level| level >= cuda) {
        Ok(DriverRoute::Forward)
    } else {
        Err(Reason::DriverTooOld { cuda, needs: floor.clone(), has: driver.clone() })
    }
}

/// The highest CUDA level that an installed `cuda-compat` lifts this driver to; every GPU must be a data-center one.
pub fn forward_level(matrix: &Matrix, hardware: &Hardware) -> Option<CudaVersion> {
    let branch = hardware.driver.as_ref()?.branch();
    if !hardware.gpus.iter().all(|gpu| matrix.gpu(&gpu.name).is_some_and(|row| row.data_center)) {
        return None;
    }
    let works =
        |level: &&CudaVersion| matrix.compats.iter().any(|row| row.cuda == **level && row.branches.contains(&branch));
    hardware.compat.iter().filter(works).max().copied()
}

/// The newest PTX ISA that is compiled on this machine.
fn jit_isa(matrix: &Matrix, hardware: &Hardware) -> Option<CudaVersion> {
    let by_driver = hardware.driver.as_ref().and_then(|driver| matrix.branch(driver)).map(|row| row.ptx_isa);
    let by_compat = forward_level(matrix, hardware).and_then(|level| matrix.toolkit(level)?.ptx_isa);
    by_driver.max(by_compat)
}

/// What `build` has for `gpu`, a GPU of `hardware`. `Ok(true)`: machine code. `Ok(false)`: PTX that the driver
/// compiles.
pub fn code_for(matrix: &Matrix, build: &Build, hardware: &Hardware, gpu: &InstalledGpu) -> Result<bool, Reason> {
    if let Some(row) = matrix.gpu(&gpu.name) {
        let last = matrix.branches.iter().find(|branch| branch.last_for.contains(&row.architecture));
        if let (Some(last), Some(driver)) = (last, &hardware.driver)
            && driver.branch() > last.branch
        {
            return Err(Reason::DriverDroppedGpu { gpu: gpu.name.clone(), last_branch: last.branch });
        }
    }
    if build.sass.iter().any(|architecture| architecture.covers(gpu.capability)) {
        return Ok(true);
    }
    if !build.ptx.iter().any(|architecture| architecture.covers(gpu.capability)) {
        return Err(Reason::NoKernelImage { gpu: gpu.name.clone(), capability: gpu.capability });
    }
    match (ptx_isa(matrix, build), jit_isa(matrix, hardware)) {
        (Some(isa), Some(driver_isa)) if isa > driver_isa => {
            Err(Reason::PtxTooNew { gpu: gpu.name.clone(), isa, driver_isa })
        }
        _ => Ok(false),
    }
}

fn ptx_isa(matrix: &Matrix, build: &Build) -> Option<CudaVersion> {
    build.ptx_isa.or_else(|| matrix.toolkit(build.cuda?)?.ptx_isa)
}

/// The GPUs of `hardware` for which `build` has PTX alone: the driver compiles its kernels when they are first
/// launched.
pub fn ptx_only<'a>(
    matrix: &'a Matrix,
    build: &'a Build,
    hardware: &'a Hardware,
) -> impl Iterator<Item = &'a InstalledGpu> {
    hardware.gpus.iter().filter(|gpu| code_for(matrix, build, hardware, gpu) == Ok(false))
}

/// The compute capabilities that `build` covers on `hardware`, as a version range, so that the solver can weigh it like
/// any other requirement. PTX counts where the driver's compiler takes it, or where no driver is known.
pub fn coverage(matrix: &Matrix, build: &Build, hardware: &Hardware) -> VersionRange {
    let jit = match (ptx_isa(matrix, build), jit_isa(matrix, hardware)) {
        (Some(isa), Some(driver_isa)) => isa <= driver_isa,
        _ => true,
    };
    let usable = build.sass.iter().chain(build.ptx.iter().filter(|_| jit));
    usable.fold(Ranges::empty(), |all, architecture| {
        let ComputeCapability { major, minor } = architecture.capability;
        let from = version(major, minor);
        let covered = match (architecture.ptx, architecture.suffix) {
            (_, Some('a')) => Ranges::singleton(from),
            (true, None) => Ranges::higher_than(from),
            _ => Ranges::between(from, version(major + 1, 0)),
        };
        all.union(&covered)
    })
}

fn version(major: u32, minor: u32) -> Version {
    Version::new([u64::from(major), u64::from(minor)])
}
