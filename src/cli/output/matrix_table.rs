//! Rows of the matrix: how each build runs on each GPU.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::core::matrix::{Basis, Build, Hardware, Matrix, Verdict, code_for, verdict};
use crate::core::model::{Architecture, CudaVersion, PackageName, Version};

/// A row of the matrix in a report.
#[derive(Serialize)]
#[serde(untagged)]
pub enum RowReport<'a> {
    Build(Box<BuildRow<'a>>),
    #[serde(rename_all = "kebab-case")]
    Source {
        package: &'a PackageName,
        source_only: &'a str,
        link: &'a str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct BuildRow<'a> {
    package: &'a PackageName,
    version: &'a Version,
    local: Option<&'a str>,
    cuda: Option<CudaVersion>,
    sass: &'a [Architecture],
    ptx: &'a [Architecture],
    ptx_isa: Option<CudaVersion>,
    basis: &'a Basis,
    wheel: Option<&'a String>,
    link: Option<&'a str>,
    /// How it runs on each GPU, by its name.
    runs: BTreeMap<&'a str, String>,
}

/// The table of one package: how each build runs on each GPU.
pub fn render_builds(matrix: &Matrix, package: &PackageName, rows: &[&Build], hardware: &Hardware) -> String {
    let mut lines = vec![heading(matrix, hardware)];
    for row in rows {
        let local = row.local.as_ref().map(|local| format!("+{local}")).unwrap_or_default();
        let mut cells = vec![format!("{}{local}", row.version)];
        cells.push(row.cuda.map_or_else(|| "-".to_owned(), |cuda| cuda.to_string()));
        cells.extend(hardware.gpus.iter().map(|gpu| {
            let alone = Hardware { gpus: vec![gpu.clone()], ..hardware.clone() };
            how(matrix, row, &alone)
        }));
        lines.push(cells);
    }
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|column| lines.iter().filter_map(|line| line.get(column)).map(String::len).max().unwrap_or(0))
        .collect();
    let mut text = format!("{package}\n");
    for line in lines {
        let padded: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "  {}", padded.join("  ").trim_end());
    }
    let notes = reasons(matrix, rows, hardware);
    text + &notes.iter().map(|note| format!("  {note}\n")).collect::<String>() + "\n"
}

fn heading(matrix: &Matrix, hardware: &Hardware) -> Vec<String> {
    let gpus = hardware.gpus.iter().map(|gpu| match matrix.gpu(&gpu.name) {
        Some(row) => format!("{} ({})", row.names.first().unwrap_or(&row.product), gpu.capability),
        None => gpu.capability.to_string(),
    });
    ["release".to_owned(), "CUDA".to_owned()].into_iter().chain(gpus).collect()
}

/// How `row` runs on one GPU, in a word or two.
fn how(matrix: &Matrix, row: &Build, alone: &Hardware) -> String {
    let gpu = &alone.gpus[0];
    if alone.driver.is_some() {
        return match verdict(matrix, row, alone) {
            Verdict::No(reason) => format!("no [{}]", reason.kind()),
            other => other.to_string(),
        };
    }
    match code_for(matrix, row, alone, gpu) {
        Ok(true) => "machine code".to_owned(),
        Ok(false) => "ptx-jit".to_owned(),
        Err(reason) => format!("no [{}]", reason.kind()),
    }
}

/// The text of each reason in the table, with the first release it is about.
fn reasons(matrix: &Matrix, rows: &[&Build], hardware: &Hardware) -> Vec<String> {
    let mut examples: BTreeMap<&'static str, String> = BTreeMap::new();
    for row in rows {
        for gpu in &hardware.gpus {
            let alone = Hardware { gpus: vec![gpu.clone()], ..hardware.clone() };
            let reason = match verdict(matrix, row, &alone) {
                Verdict::No(reason) if alone.driver.is_some() => Some(reason),
                _ => code_for(matrix, row, &alone, gpu).err(),
            };
            if let Some(reason) = reason {
                examples
                    .entry(reason.kind())
                    .or_insert_with(|| format!("[{}] {}: {reason}", reason.kind(), row.version));
            }
        }
    }
    examples.into_values().collect()
}

fn build_report<'a>(matrix: &Matrix, row: &'a Build, hardware: &'a Hardware) -> BuildRow<'a> {
    let runs: BTreeMap<&str, String> = hardware
        .gpus
        .iter()
        .map(|gpu| {
            let alone = Hardware { gpus: vec![gpu.clone()], ..hardware.clone() };
            (gpu.name.as_str(), how(matrix, row, &alone))
        })
        .collect();
    BuildRow {
        package: &row.package,
        version: &row.version,
        local: row.local.as_deref(),
        cuda: row.cuda,
        sass: &row.sass,
        ptx: &row.ptx,
        ptx_isa: row.ptx_isa,
        basis: &row.basis,
        wheel: row.wheel.as_ref(),
        link: row.link.as_deref(),
        runs,
    }
}

impl<'a> RowReport<'a> {
    /// `row`, with how it runs on each GPU of `hardware`.
    pub fn of(matrix: &Matrix, row: &'a Build, hardware: &'a Hardware) -> Self {
        Self::Build(Box::new(build_report(matrix, row, hardware)))
    }
}
