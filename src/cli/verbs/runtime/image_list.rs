//! `runtime list`: the notebook images that `--runtime` takes.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::boot::machine::Runtime;
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::core::diag::{Failure, counted};
use crate::core::model::Version;
use crate::core::model::day::{Date, day_of, days_between};

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct RuntimesReport {
    runtimes: Vec<RuntimeReport>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct RuntimeReport {
    name: String,
    /// The day of its list of packages, and how many days ago that was.
    as_of: Option<String>,
    age_days: Option<i64>,
    /// The service changes it.
    moves: bool,
    python: Version,
    torch: Option<Version>,
    packages: usize,
    /// The file that was imported; nothing for a bundled one.
    file: Option<PathBuf>,
}

impl RuntimeReport {
    fn of((image, file): (&Runtime, Option<&Path>), today: Date) -> Self {
        let day = image.day();
        Self {
            name: image.full_name(),
            as_of: day.map(|day| day.to_string()),
            age_days: day.map(|day| days_between(day, today)),
            moves: image.moves,
            python: image.python.clone(),
            torch: image.packages.iter().find(|(name, _)| name.as_ref() == "torch").map(|(_, version)| version.clone()),
            packages: image.packages.len(),
            file: file.map(Path::to_owned),
        }
    }

    fn line(&self) -> String {
        let day = self.as_of.as_deref().unwrap_or_default();
        let age = self.age_days.map(|days| counted(usize::try_from(days).unwrap_or(0), "day") + " old");
        let torch = self.torch.as_ref().map(|torch| format!("torch {torch}")).unwrap_or_default();
        let from = self.file.as_ref().map(|file| format!("imported: {}", file.display())).unwrap_or_default();
        let (name, python, age) = (&self.name, format!("Python {}", self.python), age.unwrap_or_default());
        format!("{name:<20} {day:<10}  {age:<13} {python:<15} {torch:<19} {from}").trim_end().to_owned()
    }
}

pub(super) fn run(session: &Session<'_>) -> Result<Report, Failure> {
    let today = day_of(session.now);
    let known = session.runtimes()?;
    let runtimes: Vec<RuntimeReport> = known.iter().map(|one| RuntimeReport::of(one, today)).collect();
    let mut text = String::new();
    for one in &runtimes {
        let _ = writeln!(text, "{}", one.line());
    }
    Ok(Report::new(RuntimesReport { runtimes }, text).with_findings(known.findings()))
}
