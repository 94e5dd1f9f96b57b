//! Colab's public manifest: what `pip freeze`, `apt list` and `lsb_release` print on each kind of its images
//! (<https://github.com/googlecolab/backend-info>).

use std::collections::BTreeMap;
use std::path::Path;

use crate::boot::machine::{Runtime, Runtimes, is_kept, is_of_cuda};
use crate::core::diag::{Failure, counted};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::day::Date;
use crate::core::model::wheel_names::{file_of, sdist_version};
use crate::core::model::{PackageName, Version, WheelName};

/// The files of one kind of image: the accelerator, and what `pip freeze`, `apt list` and `lsb_release` print.
const KINDS: [(&str, [&str; 3]); 3] = [
    ("gpu", ["pip-freeze.gpu.txt", "apt-list-gpu.txt", "os-info-gpu.txt"]),
    ("cpu", ["pip-freeze.txt", "apt-list.txt", "os-info.txt"]),
    ("tpu", ["pip-freeze.tpu.txt", "apt-list-tpu.txt", "os-info-tpu.txt"]),
];

/// So many characters of a line are shown, and so long are names.
const SHOWN: usize = 100;

/// The host whose manifest it is.
const HOST: &str = "colab";

/// What the manifest in `folder` says of images on `day`: each image, and a line for each that it does not describe
/// whole. Driver, GPUs and the pins of the image stand in no list: they are those of the newest image in `known`.
pub fn read_manifest(
    folder: &Path,
    (name, day): (&str, Date),
    known: &Runtimes,
) -> Result<(Vec<Runtime>, Vec<String>), Failure> {
    let (mut images, mut left_out) = (Vec::new(), Vec::new());
    for (accelerator, names) in KINDS {
        let missing = names.iter().find(|name| folder.join(name).is_missing());
        if let Some(missing) = missing {
            left_out.push((accelerator, format!("no {accelerator} image: there is no `{missing}`")));
            continue;
        }
        let [freeze, apt, os] = names.map(|name| folder.join(name));
        let apt_packages = apt_list(&files::read_text(&apt, "list of Debian packages")?);
        // Before the manifest had lists of several images, these were those of the GPU's.
        let has_cuda = apt_packages.keys().any(|name| is_of_cuda(name));
        let accelerator = if has_cuda { "gpu" } else { accelerator };
        let like = known.newest(HOST, accelerator, day).ok_or_else(|| Failure::bug("no bundled image is like it"))?;
        let os_text = files::read_text(&os, "description of the system")?;
        let frozen = Frozen::of(&files::read_text(&freeze, "list of packages")?);
        if frozen.packages.is_empty() {
            return Err(Failure::input(format!("`{}` lists no package", freeze.display()))
                .help("use a whole checkout of Colab's backend-info"));
        }
        if let Some(line) = frozen.unclear.first() {
            let count = counted(frozen.unclear.len(), "line");
            let line: String = line.chars().take(SHOWN).collect();
            left_out.push(("", format!("{count} of `{}` not understood: {line}", freeze.display())));
        }
        images.push(Runtime {
            name: name.to_owned(),
            as_of: day.to_string().parse().ok(),
            moves: !is_kept(name),
            accelerator: Some(accelerator.to_owned()),
            os: line_with(&os, &os_text, "Ubuntu ")?.to_owned(),
            python: python_in(&os, &os_text)?,
            glibc: glibc_in(&apt, &apt_packages)?,
            apt: apt_packages.into_iter().filter(|(name, _)| is_of_cuda(name)).collect(),
            direct_url: frozen.direct,
            packages: frozen.packages,
            requires: BTreeMap::new(),
            ..like.clone()
        });
    }
    if images.is_empty() {
        let names: Vec<String> = KINDS[0].1.iter().map(|name| format!("`{name}`")).collect();
        return Err(Failure::input(format!("`{}` has no list of an image", folder.display()))
            .help(format!("a checkout of Colab's backend-info has {}", names.join(", ")))
            .help("for any other image, run `colab-boot fingerprint --json=FILE` on it and import that file"));
    }
    // Its list may have had another name.
    left_out.retain(|(kind, _)| !images.iter().any(|image| image.accelerator.as_deref() == Some(*kind)));
    Ok((images, left_out.into_iter().map(|(_, line)| line).collect()))
}

/// What `pip freeze` prints.
#[derive(Default)]
struct Frozen {
    packages: BTreeMap<PackageName, Version>,
    /// Installed from an address.
    direct: Vec<PackageName>,
    /// Lines that name no package.
    unclear: Vec<String>,
}

impl Frozen {
    fn of(text: &str) -> Self {
        let mut frozen = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if frozen.line(line).is_none() {
                frozen.unclear.push(line.to_owned());
            }
        }
        frozen
    }

    /// `name==1.0`, `name @ ADDRESS` or `-e ADDRESS#egg=name`. An address tells the version by its file's name.
    fn line(&mut self, line: &str) -> Option<()> {
        if let Some((name, version)) = line.split_once("==") {
            let name = name.trim();
            let name = Some(name).filter(|name| (1..=SHOWN).contains(&name.len()))?;
            self.packages.insert(name.parse().ok()?, version.trim().parse().ok()?);
            return Some(());
        }
        let (name, address) = match line.strip_prefix("-e ") {
            Some(address) => (address.split_once("#egg=")?.1, address),
            None => line.split_once(" @ ")?,
        };
        let name: PackageName = name.trim().parse().ok()?;
        let file = file_of(address.split('#').next()?);
        let of_wheel = file.parse::<WheelName>().ok().map(|wheel| wheel.version);
        if let Some(version) = of_wheel.or_else(|| sdist_version(&file, &name)) {
            self.packages.insert(name.clone(), version);
        }
        self.direct.push(name);
        Some(())
    }
}

/// Names and versions of `libc6/jammy,now 2.35-0ubuntu3.9 amd64 [installed]`.
fn apt_list(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter_map(|line| {
        let (name, rest) = line.split_once('/')?;
        Some((name.to_owned(), rest.split_whitespace().nth(1)?.to_owned()))
    });
    lines.collect()
}

/// The version of the C library, from that of its package: `2.35-0ubuntu3.9`.
fn glibc_in(path: &Path, packages: &BTreeMap<String, String>) -> Result<String, Failure> {
    let version = packages.get("libc6").and_then(|version| version.split(['-', '+']).next());
    version.map(str::to_owned).ok_or_else(|| unclear(path, "libc6"))
}

/// The version in `Python 3.12.13`.
fn python_in(path: &Path, text: &str) -> Result<Version, Failure> {
    let line = line_with(path, text, "Python ")?;
    line.split_whitespace()
        .nth(1)
        .and_then(|version| version.parse().ok())
        .ok_or_else(|| unclear(path, "Python 3.NN.N"))
}

fn line_with<'a>(path: &Path, text: &'a str, start: &str) -> Result<&'a str, Failure> {
    text.lines().map(str::trim).find(|line| line.starts_with(start)).ok_or_else(|| unclear(path, start.trim()))
}

fn unclear(path: &Path, what: &str) -> Failure {
    Failure::input(format!("`{}` has no line about {what}", path.display()))
        .help("use a whole checkout of Colab's backend-info")
}
