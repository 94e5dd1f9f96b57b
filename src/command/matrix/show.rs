//! `matrix show`: which releases run how on a GPU and driver, and why the others do not.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::cli::ShowOptions;
use crate::diag::Failure;
use crate::machine::resolve_gpus;
use crate::matrix::{Basis, Build, Hardware, InstalledGpu, Verdict, code_for, verdict};
use crate::model::{Architecture, CudaVersion, DriverVersion, PackageName, Version};
use crate::output::Report;
use crate::session::Session;

#[derive(Serialize)]
struct ShowReport<'a> {
    /// The matrix's version.
    matrix: &'a str,
    driver: Option<&'a DriverVersion>,
    gpus: &'a [InstalledGpu],
    builds: Vec<Row<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Row<'a> {
    Build(Box<BuildReport<'a>>),
    #[serde(rename_all = "kebab-case")]
    Source {
        package: &'a PackageName,
        source_only: &'a str,
        link: &'a str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct BuildReport<'a> {
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

pub(super) fn run(options: &ShowOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let matrix = session.matrix;
    let mut gpus = resolve_gpus(&options.gpu, matrix)?;
    if gpus.is_empty() {
        let colab = matrix.gpus.iter().filter(|row| row.colab).filter_map(|row| row.names.first().cloned());
        gpus = resolve_gpus(&colab.collect::<Vec<_>>(), matrix)?;
        gpus.dedup_by_key(|gpu| gpu.capability);
    }
    let driver = options.driver.as_ref().filter(|text| *text != "none");
    let driver = driver.map(|text| text.parse::<DriverVersion>()).transpose();
    let driver = driver.map_err(|error| Failure::input("--driver").because(&error))?;
    if let Some(package) = options.package.iter().find(|package| !is_known(session, package)) {
        return Err(unknown(session, package));
    }
    let hardware = Hardware { driver, gpus, compat: Vec::new() };
    let mut text = String::new();
    let mut builds = Vec::new();
    for (package, rows) in tables(session, options) {
        text.push_str(&table(session, &package, &rows, &hardware));
        builds.extend(rows.iter().map(|row| Row::Build(Box::new(build_report(session, row, &hardware)))));
    }
    let codeless = |package: &&PackageName| !matrix.builds_of(package).iter().any(Build::is_gpu);
    for package in options.package.iter().filter(codeless).filter(|package| matrix.source_only(package).is_none()) {
        let _ = writeln!(text, "{package}: no GPU code in any of its wheels\n");
    }
    for row in options.package.iter().filter_map(|package| matrix.source_only(package)) {
        let _ = writeln!(text, "{}: only as source, no wheel to read; {}\n{}\n", row.package, row.why, row.link);
        builds.push(Row::Source { package: &row.package, source_only: &row.why, link: &row.link });
    }
    let report = ShowReport { matrix: &matrix.version, driver: hardware.driver.as_ref(), gpus: &hardware.gpus, builds };
    Ok(Report::new(report, format!("{}\n", text.trim_end())))
}

fn is_known(session: &Session<'_>, package: &PackageName) -> bool {
    session.matrix.source_only(package).is_some() || !session.matrix.builds_of(package).is_empty()
}

fn unknown(session: &Session<'_>, package: &PackageName) -> Failure {
    let names: Vec<&str> = session.matrix.builds.packages().map(AsRef::as_ref).collect();
    Failure::input(format!("the matrix has no rows for `{package}`"))
        .help(format!("it has {}; `colab-boot matrix inspect {package}` reads any other wheel", names.join(", ")))
}

/// The rows of each package, newest first; without `--all`, the newest patch of each minor.
fn tables<'a>(session: &Session<'a>, options: &ShowOptions) -> Vec<(PackageName, Vec<&'a Build>)> {
    let wanted = |row: &&Build| options.package.is_empty() || options.package.contains(&row.package);
    let mut packages: BTreeMap<PackageName, Vec<&Build>> = BTreeMap::new();
    for row in session.matrix.builds.all().filter(wanted).filter(|row| row.is_gpu()) {
        packages.entry(row.package.clone()).or_default().push(row);
    }
    let sorted = packages.into_iter().map(|(package, mut rows)| {
        rows.sort_by(|a, b| (&b.version, &a.local).cmp(&(&a.version, &b.local)));
        if !options.all {
            let minor =
                |row: &Build| (row.version.release().iter().copied().take(2).collect::<Vec<_>>(), row.local.clone());
            rows.dedup_by(|later, earlier| minor(later) == minor(earlier));
        }
        (package, rows)
    });
    sorted.collect()
}

fn table(session: &Session<'_>, package: &PackageName, rows: &[&Build], hardware: &Hardware) -> String {
    let mut lines = vec![heading(session, hardware)];
    for row in rows {
        let local = row.local.as_ref().map(|local| format!("+{local}")).unwrap_or_default();
        let mut cells = vec![format!("{}{local}", row.version)];
        cells.push(row.cuda.map_or_else(|| "-".to_owned(), |cuda| cuda.to_string()));
        cells.extend(hardware.gpus.iter().map(|gpu| {
            let alone = Hardware { gpus: vec![gpu.clone()], ..hardware.clone() };
            how(session, row, &alone)
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
    let notes = reasons(session, rows, hardware);
    text + &notes.iter().map(|note| format!("  {note}\n")).collect::<String>() + "\n"
}

fn heading(session: &Session<'_>, hardware: &Hardware) -> Vec<String> {
    let name = |gpu: &InstalledGpu| match session.matrix.gpu(&gpu.name) {
        Some(row) => format!("{} ({})", row.names.first().unwrap_or(&row.product), gpu.capability),
        None => gpu.capability.to_string(),
    };
    let gpus = hardware.gpus.iter().map(name);
    ["release".to_owned(), "CUDA".to_owned()].into_iter().chain(gpus).collect()
}

/// How `row` runs on one GPU, in a word or two.
fn how(session: &Session<'_>, row: &Build, alone: &Hardware) -> String {
    let gpu = &alone.gpus[0];
    if alone.driver.is_some() {
        return match verdict(session.matrix, row, alone) {
            Verdict::No(reason) => format!("no [{}]", reason.kind()),
            other => other.to_string(),
        };
    }
    match code_for(session.matrix, row, alone, gpu) {
        Ok(true) => "machine code".to_owned(),
        Ok(false) => "ptx-jit".to_owned(),
        Err(reason) => format!("no [{}]", reason.kind()),
    }
}

/// Each reason that stands in the table, in words, with the first release it is about.
fn reasons(session: &Session<'_>, rows: &[&Build], hardware: &Hardware) -> Vec<String> {
    let mut told: BTreeMap<&'static str, String> = BTreeMap::new();
    for row in rows {
        for gpu in &hardware.gpus {
            let alone = Hardware { gpus: vec![gpu.clone()], ..hardware.clone() };
            let reason = match verdict(session.matrix, row, &alone) {
                Verdict::No(reason) if alone.driver.is_some() => Some(reason),
                _ => code_for(session.matrix, row, &alone, gpu).err(),
            };
            if let Some(reason) = reason {
                told.entry(reason.kind()).or_insert_with(|| format!("[{}] {}: {reason}", reason.kind(), row.version));
            }
        }
    }
    told.into_values().collect()
}

fn build_report<'a>(session: &Session<'_>, row: &'a Build, hardware: &'a Hardware) -> BuildReport<'a> {
    let runs: BTreeMap<&str, String> = hardware
        .gpus
        .iter()
        .map(|gpu| {
            let alone = Hardware { gpus: vec![gpu.clone()], ..hardware.clone() };
            (gpu.name.as_str(), how(session, row, &alone))
        })
        .collect();
    BuildReport {
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
