//! `check`: compares rows with the wheels that they were read from.

use colab_boot::boot::session::Session;
use colab_boot::core::diag::Failure;
use colab_boot::core::matrix::Build;
use colab_boot::core::model::Version;

use crate::Outcome;
use crate::arguments::CheckOptions;
use crate::releases::{Releases, must_be_watched};

pub(crate) fn run(options: &CheckOptions, session: &Session<'_>, releases: &Releases<'_>) -> Result<Outcome, Failure> {
    must_be_watched(session, &options.package)?;
    let mut equal = 0;
    let mut lines = Vec::new();
    for watch in &session.matrix.watches {
        for package in watch.packages.keys() {
            let rows = session.matrix.builds_of(package).iter().filter(|row| row.wheel.is_some());
            let rows: Vec<&Build> = rows.collect();
            if rows.is_empty() || (!options.package.is_empty() && !options.package.contains(package)) {
                continue;
            }
            let published = releases.of(package, &Version::new([0]))?;
            for row in rows {
                let differences = match published.get(&row.version) {
                    Some((candidate, python)) => {
                        session.say(&format!("checking {package} {}", row.version));
                        match releases.row(candidate, *python, watch.thorough)? {
                            Ok(read) => row.differences(&read),
                            Err(finding) => finding.notes,
                        }
                    }
                    None => vec!["the index no longer has this release".to_owned()],
                };
                equal += usize::from(differences.is_empty());
                lines.extend(differences.into_iter().map(|what| format!("{package} {}: {what}", row.version)));
            }
        }
    }
    let is_no = !lines.is_empty();
    lines.push(format!("{equal} rows equal their wheels"));
    if is_no {
        lines.push("update the others with `upkeep refresh --again`".to_owned());
    }
    Ok(Outcome { lines, is_no, ..Outcome::default() })
}
