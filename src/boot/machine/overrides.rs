//! Facts given by flag instead of seen. What was given is recorded as the origin.

use crate::boot::machine::Machine;
use crate::core::diag::{Code, Failure, Finding};
use crate::core::matrix::{InstalledGpu, Matrix};
use crate::core::model::{ComputeCapability, DriverVersion};

/// `--driver` and `--gpu`, as written.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub driver: Option<String>,
    pub gpus: Vec<String>,
}

/// Puts the given facts in the place of those seen.
pub fn apply_overrides(machine: &mut Machine, overrides: &Overrides, matrix: &Matrix) -> Result<(), Failure> {
    match overrides.driver.as_deref() {
        None => {}
        Some("none") => {
            machine.hardware.driver = None;
            machine.hardware.gpus.clear();
            machine.origins.insert("driver", "--driver".to_owned());
        }
        Some(text) => {
            let driver: DriverVersion = text.parse().map_err(|error| Failure::input("--driver").because(&error))?;
            machine.hardware.driver = Some(driver);
            machine.origins.insert("driver", "--driver".to_owned());
        }
    }
    if !overrides.gpus.is_empty() {
        machine.hardware.gpus = resolve_gpus(&overrides.gpus, matrix)?;
        machine.origins.insert("gpus", "--gpu".to_owned());
        if machine.hardware.driver.is_none() && overrides.driver.is_none() {
            machine.hardware.driver = Some(matrix.driver_for(&machine.hardware.gpus));
            machine.origins.insert("driver", ASSUMED.to_owned());
        }
    }
    Ok(())
}

/// Where a driver comes from that nobody has named or seen.
const ASSUMED: &str = "the oldest in use";

/// A note where the driver was neither seen nor given.
pub fn assumed_driver(machine: &Machine) -> Option<Finding> {
    let driver =
        machine.hardware.driver.as_ref().filter(|_| machine.origins.get("driver").is_some_and(|one| one == ASSUMED))?;
    let message =
        format!("the driver of the named GPU is unknown: assuming {driver}, the oldest in use that supports it");
    Some(Finding::note(Code::DriverAssumed, message).with_help("set its driver with --driver"))
}

/// GPUs by name (`T4`), by what nvidia-smi prints, or by compute capability (`8.9`).
pub fn resolve_gpus(names: &[String], matrix: &Matrix) -> Result<Vec<InstalledGpu>, Failure> {
    names.iter().map(|name| resolve_gpu(name, matrix)).collect()
}

fn resolve_gpu(name: &str, matrix: &Matrix) -> Result<InstalledGpu, Failure> {
    if let Some(row) = matrix.gpu(name) {
        return Ok(InstalledGpu { name: row.product.clone(), capability: row.compute_capability });
    }
    if let Ok(capability) = name.parse::<ComputeCapability>() {
        return Ok(InstalledGpu { name: format!("GPU of compute capability {capability}"), capability });
    }
    let near: Vec<String> = matrix.gpus.near(name).iter().map(|near| format!("`{near}`")).collect();
    let help = match near.as_slice() {
        [] => {
            format!("notebook GPUs: {}; or use a compute capability such as `8.9`", matrix.gpu_names().join(", "))
        }
        near => format!("did you mean {}? or use a compute capability such as `8.9`", near.join(" or ")),
    };
    let finding = Finding::error(Code::GpuUnknown, format!("there is no GPU `{name}` in the matrix")).with_help(help);
    Err(Failure::from_findings(crate::core::diag::Kind::Input, vec![finding]))
}
