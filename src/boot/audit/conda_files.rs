//! What conda installs: an `environment.yml`, and the lists that `conda list` writes.

use pep508_rs::MarkerEnvironment;
use saphyr::{LoadableYamlNode, Yaml};

use crate::boot::audit::listed_lines::Listed;
use crate::boot::audit::requirements_txt::{Include, read_requirements};
use crate::boot::audit::yaml_depth::is_shallow;
use crate::core::diag::{Source, without_secrets};

/// Keys of an `environment.yml` that choose no package.
const NAMES: [&str; 3] = ["name", "prefix", "dependencies"];

/// Channels whose packages have the names that [`crate::core::matrix::CondaPackage`] knows.
const CHANNELS: [&str; 5] = ["defaults", "conda-forge", "pytorch", "nvidia", "nodefaults"];

/// The `pip:` part and the variables of an `environment.yml`; what conda installs is no wheel of an index.
pub(super) fn environment_file(
    source: &Source,
    markers: &MarkerEnvironment,
    include: Include<'_>,
) -> Result<Listed, String> {
    is_shallow(&source.text)?;
    let documents = Yaml::load_from_str(&source.text).map_err(|error| error.to_string())?;
    let document = documents.first();
    let dependencies = document.and_then(|document| document.as_mapping_get("dependencies"));
    let dependencies = dependencies.and_then(Yaml::as_sequence).ok_or("it has no `dependencies`")?;
    let mut listed = Listed::default();
    for (key, value) in document.and_then(Yaml::as_mapping).into_iter().flatten() {
        match key.as_str().unwrap_or_default() {
            "variables" => listed.variables.extend(value.as_mapping().into_iter().flatten().filter_map(variable)),
            "channels" => {
                let channels = value.as_sequence().into_iter().flatten().filter_map(Yaml::as_str);
                let others = channels.filter(|channel| !CHANNELS.contains(channel));
                listed.unread.extend(others.map(|channel| format!("the channel {}", without_secrets(channel))));
            }
            key if NAMES.contains(&key) => {}
            key => listed.unread.push(key.to_owned()),
        }
    }
    for entry in dependencies {
        if let Some(of_conda) = entry.as_str() {
            listed.conda.push(of_conda.to_owned());
        }
        if entry.as_mapping_get("pip").is_some_and(|pip| pip.as_sequence().is_none()) {
            return Err("its `pip` is not a list".to_owned());
        }
        let lines = entry.as_mapping_get("pip").and_then(Yaml::as_sequence).into_iter().flatten();
        for line in lines.filter_map(Yaml::as_str) {
            let known = listed.sizes();
            let own = Source { name: source.name.clone(), text: line.into() };
            listed.merge(read_requirements(&own, markers, include));
            if let Some(start) = source.text.find(line) {
                listed.place(known, source, start..start + line.len());
            }
        }
    }
    Ok(listed)
}

/// A variable with its value, as conda exports it.
fn variable((name, value): (&Yaml<'_>, &Yaml<'_>)) -> Option<(String, String)> {
    let text = value.as_str().map(str::to_owned).or_else(|| value.as_integer().map(|number| number.to_string()));
    Some((name.as_str()?.to_owned(), text.or_else(|| value.as_bool().map(|is| is.to_string()))?))
}

/// Whether `text` is what `conda list --export` or `conda list --explicit` writes.
pub(super) fn is_package_list(text: &str) -> bool {
    text.starts_with("# This file may be used to create an environment using:")
        || text.lines().any(|line| line.trim() == "@EXPLICIT")
}

/// Reads such a list: `name=version=build`, or the addresses of conda's packages. What pip had installed has the build
/// `pypi_0` (<https://docs.conda.io/projects/conda/en/stable/commands/list.html>).
pub(super) fn package_list(source: &Source, markers: &MarkerEnvironment, include: Include<'_>) -> Listed {
    let (mut of_conda, mut of_pip) = (Vec::new(), String::new());
    for line in source.text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '@']) && !line.is_empty()) {
        let line = if line.contains("://") { of_address(line) } else { Some(line.to_owned()) };
        match line.as_deref().map(|line| (line, line.strip_suffix("=pypi_0"))) {
            Some((_, Some(installed))) => of_pip.push_str(&(installed.replacen('=', "==", 1) + "\n")),
            Some((line, None)) => of_conda.push(line.to_owned()),
            None => {}
        }
    }
    let of_pip = Source { name: source.name.clone(), text: of_pip.into() };
    Listed { conda: of_conda, ..read_requirements(&of_pip, markers, include) }
}

/// The package that is at an address: `https://…/linux-64/numpy-1.26.4-py312_0.conda#…` is `numpy=1.26.4=py312_0`.
fn of_address(line: &str) -> Option<String> {
    let file = line.split('#').next()?.rsplit('/').next()?;
    let stem = file.strip_suffix(".conda").or_else(|| file.strip_suffix(".tar.bz2"))?;
    let mut parts = stem.rsplitn(3, '-');
    let (build, version, name) = (parts.next()?, parts.next()?, parts.next()?);
    Some(format!("{name}={version}={build}"))
}
