//! `matrix show`: which releases run how on a GPU and driver, and why the others do not.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::boot::machine::resolve_gpus;
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::ShowOptions;
use crate::cli::output::{RowReport, render_builds};
use crate::core::diag::Failure;
use crate::core::matrix::{Build, Hardware, InstalledGpu};
use crate::core::model::{DriverVersion, PackageName};

#[derive(Serialize)]
struct ShowReport<'a> {
    /// The matrix's version.
    matrix: &'a str,
    driver: Option<&'a DriverVersion>,
    gpus: &'a [InstalledGpu],
    builds: Vec<RowReport<'a>>,
}

pub(super) fn run(options: &ShowOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let matrix = session.matrix;
    let mut gpus = resolve_gpus(&options.gpu, matrix)?;
    if gpus.is_empty() {
        let colab = matrix.gpus.products.iter().filter(|row| row.colab).filter_map(|row| row.names.first().cloned());
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
        text.push_str(&render_builds(matrix, &package, &rows, &hardware));
        builds.extend(rows.iter().map(|row| RowReport::of(matrix, row, &hardware)));
    }
    for package in options
        .package
        .iter()
        .filter(|package| !matrix.builds_of(package).iter().any(Build::is_gpu))
        .filter(|package| matrix.source_only(package).is_none())
    {
        let _ = writeln!(text, "{package}: no GPU code in any of its wheels\n");
    }
    for row in options.package.iter().filter_map(|package| matrix.source_only(package)) {
        let _ = writeln!(text, "{}: no wheels, only source; {}\n{}\n", row.package, row.why, row.link);
        builds.push(RowReport::Source { package: &row.package, source_only: &row.why, link: &row.link });
    }
    let report = ShowReport { matrix: &matrix.version, driver: hardware.driver.as_ref(), gpus: &hardware.gpus, builds };
    Ok(Report::new(report, format!("{}\n", text.trim_end())))
}

fn is_known(session: &Session<'_>, package: &PackageName) -> bool {
    session.matrix.source_only(package).is_some() || !session.matrix.builds_of(package).is_empty()
}

fn unknown(session: &Session<'_>, package: &PackageName) -> Failure {
    let names: Vec<&str> = session.matrix.builds.packages().map(AsRef::as_ref).collect();
    Failure::input(format!("`{package}` is not in the matrix")).help(format!(
        "it contains {}; to read another wheel, run `colab-boot matrix inspect {package}`",
        names.join(", ")
    ))
}

/// The rows of each package, newest first; without `--all`, the newest patch of each minor.
fn tables<'a>(session: &Session<'a>, options: &ShowOptions) -> Vec<(PackageName, Vec<&'a Build>)> {
    let mut packages: BTreeMap<PackageName, Vec<&Build>> = BTreeMap::new();
    for row in session
        .matrix
        .builds
        .all()
        .filter(|row| options.package.is_empty() || options.package.contains(&row.package))
        .filter(|row| row.is_gpu())
    {
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
