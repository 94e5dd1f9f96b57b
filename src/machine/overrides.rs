//! Facts given by flag instead of seen. What was given is recorded as the origin.

use crate::diag::{Code, Failure, Finding};
use crate::machine::Machine;
use crate::matrix::{InstalledGpu, Matrix};
use crate::model::{ComputeCapability, DriverVersion};

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
    }
    Ok(())
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
    let help = format!("known: {}; or give a compute capability such as `8.9`", matrix.gpu_names().join(", "));
    let finding = Finding::error(Code::GpuUnknown, format!("there is no GPU `{name}` in the matrix")).with_help(help);
    Err(Failure::from_findings(crate::diag::Kind::Input, vec![finding]))
}
