//! `install-wheels`: what the install script calls to put the wheels that an apply has staged in their place.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::boot::apply::stage_built;
use crate::boot::install::{SWITCH, Staged, switch};
use crate::boot::session::Session;
use crate::boot::store::Store;
use crate::boot::verdict::Report;
use crate::cli::arguments::InstallWheelsOptions;
use crate::core::diag::Failure;
use crate::core::host::files;

pub(super) fn run(options: &InstallWheelsOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let path = session.environment.get("COLAB_BOOT_STAGED").map(PathBuf::from);
    let path = path.ok_or_else(|| {
        Failure::input("only the install script of `colab-boot apply` calls `install-wheels`")
            .help("run `colab-boot apply`")
    })?;
    let mut staged = Staged::read(&path)
        .ok_or_else(|| Failure::world(format!("`{}` can't be read: nothing is staged", path.display())))?;
    let mut asked: BTreeSet<String> = options.remove.iter().map(|name| format!("without {name}")).collect();
    for file in &options.requirements {
        asked.extend(requirements(file)?);
    }
    let mut is: BTreeSet<String> = staged.removed.iter().map(|name| format!("without {name}")).collect();
    let lines = staged.packages.iter();
    is.extend(lines.map(|one| format!("{}==={} --hash=sha256:{}", one.name, one.version, one.wheel)));
    if let Some(other) = asked.symmetric_difference(&is).next() {
        return Err(Failure::bug(format!("what is staged is not what the script installs: `{other}`")));
    }
    if !staged.built.is_empty() {
        let python = session.environment.get("COLAB_BOOT_PYTHON").map(PathBuf::from);
        let built = options.built.as_deref().zip(python);
        let (folder, python) = built.ok_or_else(|| Failure::bug("the script has built nothing"))?;
        // What is built here may be another thing elsewhere.
        stage_built(&mut staged, folder, &python, &Store::off())?;
        // What undoes it has to know these files, too.
        staged.write(&path)?;
    }
    switch(&staged, &path.with_file_name(SWITCH))?;
    Ok(Report::new((), String::new()))
}

fn requirements(file: &Path) -> Result<Vec<String>, Failure> {
    let text = files::read_text(file, "list of wheels")?;
    Ok(text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect())
}
