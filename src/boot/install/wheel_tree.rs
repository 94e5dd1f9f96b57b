//! The files that a wheel becomes
//! (<https://packaging.python.org/specifications/binary-distribution-format/>).

use std::path::{Path, PathBuf};

use crate::boot::files::Downloaded;
use crate::boot::install::launcher::{entry_points, script};
use crate::boot::machine::Layout;
use crate::core::host::mounts::Look;
use crate::core::model::PackageName;
use crate::core::model::contents::Member;

/// What a member of a wheel becomes.
#[derive(Debug)]
pub(super) struct PlannedFile {
    /// Its number in the directory.
    pub member: usize,
    /// Where it will stand.
    pub place: PathBuf,
    pub executable: bool,
    /// A script, whose first line may have to name the interpreter.
    pub is_script: bool,
}

/// A script that is made for a wheel.
#[derive(Debug)]
pub(super) struct MadeFile {
    pub place: PathBuf,
    pub bytes: Vec<u8>,
}

/// All files of a wheel but for the metadata that installers write.
#[derive(Debug)]
pub(super) struct WheelTree {
    pub site: PathBuf,
    /// The name of its dist-info folder.
    pub info: String,
    pub planned: Vec<PlannedFile>,
    pub scripts: Vec<MadeFile>,
    /// Nothing of the wheel is left out in this environment.
    pub is_whole: bool,
}

/// What installers write, and a wheel can't know; a signature of RECORD is void once RECORD is written anew.
pub const OF_INSTALLERS: [&str; 6] =
    ["RECORD", "RECORD.jws", "RECORD.p7s", "INSTALLER", "REQUESTED", "direct_url.json"];

impl WheelTree {
    /// The tree of `wheel`, the distribution `name`, for the interpreter `python` in `layout`. An error says which
    /// member can't become a file.
    pub(super) fn of(wheel: &Downloaded, name: &PackageName, layout: &Layout, python: &Path) -> Result<Self, String> {
        let site = if wheel.is_pure() { &layout.purelib } else { &layout.platlib };
        let record = wheel.files.dist_info("RECORD").and_then(|member| member.path.split_once('/'));
        let info = record.map(|(info, _)| info.to_owned()).ok_or("has no RECORD")?;
        let mut planned = Vec::new();
        let members = wheel.files.members.iter().enumerate();
        for (at, member) in members.filter(|(_, member)| !member.path.ends_with('/')) {
            // `S_IFLNK` among the bits of `S_IFMT`.
            if member.mode & 0o170_000 == 0o120_000 {
                return Err(format!("has a symbolic link, `{}`", member.path.escape_debug()));
            }
            let of_info = member.path.strip_prefix(&info).and_then(|rest| rest.strip_prefix('/'));
            if of_info.is_some_and(|file| OF_INSTALLERS.contains(&file)) {
                continue;
            }
            planned.push(planned_of((at, member), name, site, layout)?);
        }
        let (mut scripts, all) = (Vec::new(), planned.len());
        for (name, object) in entry_points(&wheel.entry_points) {
            let is_name = !name.is_empty() && !name.contains(['/', '\0']) && !matches!(name, "." | "..");
            let bytes = script(python, object).filter(|_| is_name);
            let bytes = bytes.ok_or_else(|| {
                format!(
                    "has an entry point that can't become a script: `{} = {}`",
                    name.escape_debug(),
                    object.escape_debug()
                )
            })?;
            let place = layout.scripts.join(name);
            // One that the wheel brings itself is replaced, as by other installers.
            planned.retain(|one| one.place != place);
            scripts.retain(|one: &MadeFile| one.place != place);
            scripts.push(MadeFile { place, bytes });
        }
        Ok(Self { site: site.clone(), info, is_whole: planned.len() == all, planned, scripts })
    }

    /// Where its files will stand.
    pub(super) fn places(&self) -> impl Iterator<Item = &PathBuf> {
        self.planned.iter().map(|one| &one.place).chain(self.scripts.iter().map(|one| &one.place))
    }
}

fn planned_of(
    (at, member): (usize, &Member),
    name: &PackageName,
    site: &Path,
    layout: &Layout,
) -> Result<PlannedFile, String> {
    let shown = || member.path.escape_debug().to_string();
    let data = member.path.split_once('/').filter(|(first, _)| first.ends_with(".data")).map(|(_, rest)| rest);
    let (folder, rest, is_script) = match data.map(|rest| rest.split_once('/').unwrap_or((rest, ""))) {
        Some(("purelib", rest)) => (layout.purelib.clone(), rest, false),
        Some(("platlib", rest)) => (layout.platlib.clone(), rest, false),
        Some(("scripts", rest)) => (layout.scripts.clone(), rest, true),
        Some(("data", rest)) => (layout.data.clone(), rest, false),
        Some(("headers", rest)) => (headers_of(layout, name), rest, false),
        Some(_) => return Err(format!("has a file in a scheme that does not exist, `{}`", shown())),
        None => (site.to_owned(), member.path.as_str(), false),
    };
    let is_within = rest.split('/').all(|part| !matches!(part, "" | "." | "..")) && !rest.contains('\0');
    if !is_within {
        return Err(format!("has a file that can't be created, `{}`", shown()));
    }
    let executable = is_script || member.mode & 0o111 != 0;
    Ok(PlannedFile { member: at, place: folder.join(rest), executable, is_script })
}

/// Where C headers of a distribution go: as pip has it, in a folder of their own below `include`.
fn headers_of(layout: &Layout, name: &PackageName) -> PathBuf {
    let library = layout.purelib.parent().and_then(Path::file_name).unwrap_or_default();
    let in_venv = layout.data.join("pyvenv.cfg").is_file_there();
    let include = layout.data.join(if in_venv { "include/site" } else { "include" });
    include.join(library).join(name.as_ref())
}
