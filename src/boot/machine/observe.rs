//! Collects raw texts about this machine. Decides nothing; a source that fails is recorded with its error.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::boot::machine::Layout;
use crate::boot::machine::debian::Debian;
use crate::boot::machine::kernel_process::observe_kernel;
use crate::boot::machine::looker::{Looker, said, search_path};
use crate::boot::machine::python::observe_python;
use crate::boot::machine::raw::{Observed, RawDistribution, RawPython, Said};
use crate::core::diag::{Failure, Kind};
use crate::core::host::command::{find_program, is_executable};
use crate::core::host::mounts::Look;
use crate::core::host::{Invocation, files, paths};
use crate::core::inspect::parse_record;
use crate::core::model::PackageName;
use crate::core::model::modules::modules_among;
use crate::core::model::wheel_names::{dist_info, metadata_of};

/// How long nvidia-smi may take; it hangs on broken drivers.
pub const SMI_LIMIT: Duration = Duration::from_secs(3);

/// Recorded beside what tells hosts apart: which accelerator the service says it gave out.
const ACCELERATORS: &[&str] = &["COLAB_GPU", "COLAB_TPU_1VM", "TPU_ACCELERATOR_TYPE"];

/// The device file of the NVIDIA driver.
const NVIDIA: &str = "/dev/nvidiactl";

/// Looks at the machine.
pub fn observe(looker: Looker<'_>) -> Observed {
    let read = |path: &str| text_of(looker.paths.under_root(path).as_path(), path);
    let smi = find_smi(looker);
    let mut driver = vec![read("/sys/module/nvidia/version"), read("/proc/driver/nvidia/version")];
    let mut gpus = Vec::new();
    if let Some(smi) = &smi {
        driver.push(ask_smi(looker, smi, &["--query-gpu=driver_version", "--format=csv,noheader"]));
        // One that hangs would hang again.
        if driver.iter().all(|said| !said.timed_out) {
            gpus.push(ask_smi(looker, smi, &["--query-gpu=name,compute_cap", "--format=csv,noheader"]));
            driver.push(ask_smi(looker, smi, &[]));
        }
    }
    let mut unreadable = Vec::new();
    let kernel = observe_kernel(looker).unwrap_or_else(|failure| {
        unreadable.push(unread("/proc", &failure));
        None
    });
    let kernel_pid = kernel.as_ref().map(|kernel| kernel.pid);
    let (python, python_errors) = observe_python(Looker { kernel_pid, ..looker });
    let search = python.as_ref().map(|python| python.search.as_slice()).unwrap_or_default();
    let (distributions, unread_distributions) = distributions(search);
    unreadable.extend(unread_distributions);
    let (status, boot_id) = (read("/var/lib/dpkg/status"), read("/proc/sys/kernel/random/boot_id"));
    // A root that is a copy of some machine's files has no boot.
    if looker.paths.root == Path::new("/") && boot_id.text.is_none() && boot_id.error.is_none() {
        unreadable.push(Said { error: Some("no boot id".to_owned()), ..boot_id.clone() });
    }
    unreadable.extend([&status, &boot_id].into_iter().filter(|said| said.error.is_some()).cloned());
    let recorded = looker.hosts.variables().chain(ACCELERATORS.iter().copied());
    let recorded = recorded.filter_map(|name| Some((name.to_owned(), looker.environment.get(name)?.clone())));
    Observed {
        schema: 1,
        driver,
        gpus,
        debian: Debian::of_status(status.text.unwrap_or_default()),
        library_path: split_path(looker.environment.get("LD_LIBRARY_PATH")),
        os_release: read("/etc/os-release").text.unwrap_or_default(),
        environment: recorded.collect(),
        markers: looker
            .hosts
            .paths()
            .chain([NVIDIA])
            .filter(|path| looker.paths.under_root(path).is_there())
            .map(str::to_owned)
            .collect(),
        is_root: paths::is_root(),
        has_apt: find_program("apt-get", search_path(looker)).is_some(),
        boot_id: boot_id.text.unwrap_or_default().trim().to_owned(),
        kernel,
        unreadable,
        python,
        python_errors,
        distributions,
        conditions: None,
    }
}

/// The interpreter alone, as [`observe`] finds it.
pub fn observe_interpreter(looker: Looker<'_>) -> Option<RawPython> {
    let kernel_pid = observe_kernel(looker).ok().flatten().map(|kernel| kernel.pid);
    observe_python(Looker { kernel_pid, ..looker }).0
}

fn text_of(path: &Path, source: &str) -> Said {
    let (text, error) = match files::read_optional(path) {
        Ok(text) => (text, None),
        Err(failure) => (None, Some(failure.to_string())),
    };
    Said { source: source.to_owned(), text, error, timed_out: false }
}

fn split_path(value: Option<&String>) -> Vec<String> {
    value.map(|value| value.split(':').filter(|part| !part.is_empty()).map(str::to_owned).collect()).unwrap_or_default()
}

/// nvidia-smi on PATH, else where Colab mounts it: login shells there lose both `PATH` and `LD_LIBRARY_PATH`.
fn find_smi(looker: Looker<'_>) -> Option<PathBuf> {
    let mounted =
        ["/opt/bin/nvidia-smi", "/opt/bin/.nvidia/nvidia-smi", "/usr/lib64-nvidia/nvidia-smi", "/usr/bin/nvidia-smi"];
    find_program("nvidia-smi", search_path(looker))
        .or_else(|| mounted.iter().map(|path| looker.paths.under_root(path)).find(|path| is_executable(path)))
}

fn ask_smi(looker: Looker<'_>, smi: &Path, arguments: &[&str]) -> Said {
    let mut environment = looker.environment.clone();
    let libraries = environment.entry("LD_LIBRARY_PATH".to_owned()).or_default();
    if !libraries.contains("/usr/lib64-nvidia") {
        let separator = if libraries.is_empty() { "" } else { ":" };
        *libraries = format!("{libraries}{separator}/usr/lib64-nvidia");
    }
    said(&Invocation::new(smi, arguments, &environment), SMI_LIMIT)
}

fn unread(source: &str, error: &dyn std::error::Error) -> Said {
    let text = error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
    Said { source: source.to_owned(), text: None, error: Some(text), timed_out: false }
}

/// Every dist-info folder on the search path, in its order: what comes first is what `import` finds. And what could not
/// be read.
fn distributions(search: &[PathBuf]) -> (Vec<RawDistribution>, Vec<Said>) {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for folder in search {
        // Zip files may be on the path, too.
        let names = files::names_in(folder).unwrap_or_else(|failure| {
            unreadable.push(unread(&folder.display().to_string(), &failure));
            Vec::new()
        });
        for name in names.iter().filter(|name| name.ends_with(".dist-info")) {
            match distribution(&folder.join(name)) {
                Ok(one) => found.extend(one),
                Err(error) => unreadable.push(unread(&folder.join(name).display().to_string(), &error)),
            }
        }
    }
    (found, unreadable)
}

/// The headers of one METADATA. A folder without it is a leftover of a killed installer, which `verify` looks for.
fn distribution(folder: &Path) -> std::io::Result<Option<RawDistribution>> {
    // A description of many pages may follow.
    let Some(headers) = files::read_to_blank_line(&folder.join("METADATA"))? else {
        return Ok(None);
    };
    let value =
        |name: &str| headers.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
    let (Some(name), Some(version)) = (value("Name:"), value("Version:")) else {
        return Ok(None);
    };
    let installer = files::read_optional(&folder.join("INSTALLER")).ok().flatten().unwrap_or_default();
    Ok(Some(RawDistribution {
        name,
        version,
        installer: installer.trim().to_owned(),
        direct: folder.join("direct_url.json").is_there(),
        requires: headers.lines().filter_map(|line| line.strip_prefix("Requires-Dist:")).map(without_address).collect(),
        requires_python: value("Requires-Python:").unwrap_or_default(),
        folder: folder.to_owned(),
    }))
}

/// A requirement as it may be recorded: an address may carry a token, so of `a @ https://…; marker` the address goes.
fn without_address(line: &str) -> String {
    match line.split_once(" @ ") {
        None => line.trim().to_owned(),
        Some((name, rest)) => match rest.split_once("; ") {
            Some((_, marker)) => format!("{} ; {marker}", name.trim()),
            None => name.trim().to_owned(),
        },
    }
}

/// The RECORD in the metadata at `info`; `None` where what has that name is no list: a folder, a pipe, a link to
/// itself, bytes that are no text.
pub fn record_in(info: &Path) -> Result<Option<String>, Failure> {
    files::read_optional(&info.join("RECORD"))
        .or_else(|failure| if failure.kind == Kind::Input { Ok(None) } else { Err(failure) })
}

/// The modules that the distribution `name` has put into `folder`, by its RECORD; none where it has none.
pub fn installed_modules(name: &PackageName, folder: &Path) -> Result<BTreeSet<String>, Failure> {
    let info = find_info(folder, name)?;
    let record = info.map_or(Ok(None), |info| record_in(&info))?.unwrap_or_default();
    Ok(modules_among(parse_record(&record).iter().map(|entry| entry.path.as_str())))
}

/// Those of `names` that lie in a folder of `search` in which `layout` does not install, such as Debian's. No installer
/// may remove them from there.
pub fn owned_elsewhere(search: &[PathBuf], layout: &Layout, names: &BTreeSet<PackageName>) -> BTreeSet<PackageName> {
    let foreign = search.iter().filter(|folder| !layout.folders().contains(folder));
    let found = foreign.flat_map(|folder| files::names_if_any(folder)).filter_map(|entry| metadata_of(&entry));
    found.filter(|name| names.contains(name)).collect()
}

/// The dist-info of `name` in `folder`.
pub fn find_info(folder: &Path, name: &PackageName) -> Result<Option<PathBuf>, Failure> {
    Ok(files::names_in(folder)?
        .iter()
        .find(|entry| dist_info(entry).is_some_and(|(own, _)| own == *name))
        .map(|entry| folder.join(entry)))
}

#[cfg(test)]
mod tests {
    use super::without_address;

    #[test]
    fn addresses_are_not_recorded() {
        assert_eq!(without_address(" b>=1 ; extra == 'x'"), "b>=1 ; extra == 'x'");
        assert_eq!(without_address("b @ https://token@host/b.whl ; extra == 'x'"), "b ; extra == 'x'");
        assert_eq!(without_address("b @ https://token@host/b.whl"), "b");
    }
}
