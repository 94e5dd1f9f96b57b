//! Files of other tools, read for a profile.

use std::path::{Path, PathBuf};

use crate::boot::goal::read_listed_text;
use crate::boot::import::index_answers::IndexAnswers;
use crate::boot::import::profile_text::{Imported, ProfileHead, World, imported};
use crate::boot::import::script_block::script_block;
use crate::boot::index::project_metadata;
use crate::boot::profile::AskedLine;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::model::ipynb::Ipynb;

/// The profile that asks for what `from` asks for, with the Python and the indexes of `answers`; `-` is stdin.
/// Paths in it are written for a profile in the folder `beside`.
pub fn of_files(
    head: &ProfileHead<'_>,
    (from, beside): (&[PathBuf], &Path),
    answers: &IndexAnswers<'_>,
) -> Result<Imported, Failure> {
    let python = answers.python;
    let mut all = Vec::new();
    for file in from {
        let path = if file.as_os_str() == "-" { PathBuf::from("/dev/stdin") } else { file.clone() };
        let shown = file.display().to_string();
        let text = files::read_text(&path, "file")?;
        if let Some(block) = cells_of(&text).iter().find_map(|cell| script_block(cell)) {
            let block = block.map_err(|why| Failure::input(format!("the metadata of `{shown}`")).cause(why))?;
            all.push((shown, read_listed_text(&path.with_file_name("pyproject.toml"), &block, python)?));
        } else if path.extension().is_some_and(|end| end == "py")
            && path.file_name().is_none_or(|name| name != "setup.py")
        {
            let failure = Failure::input(format!("`{shown}` has no inline metadata"));
            return Err(
                failure.help("list its packages in a `# /// script` block at its top, or in a requirements.txt")
            );
        } else {
            all.push((shown, read_listed_text(&path, &text, python)?));
        }
    }
    let placed = |file: &str, line: &str| placed_line(Path::new(file), line, beside);
    let folder = |file: &str, path: &str| folder_in(Path::new(file), path, beside);
    let world = World { python, matrix: answers.session.matrix, indexes: answers };
    Ok(imported(head, &all, &world, (&placed, &folder)))
}

/// What `line` of `file` asks for from a folder, a file or a repository, as a profile in `beside` writes it.
fn placed_line(file: &Path, line: &str, beside: &Path) -> Result<AskedLine, String> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let name_in = |path: &str| {
        project_metadata(&folder.join(path), false, None)
            .map(|project| project.name)
            .map_err(|failure| failure.to_string())
    };
    if line.contains(" = {") || line.contains(" = [") {
        let is_member = line.contains("workspace");
        let why = if is_member {
            "a project of the workspace: add it by its folder"
        } else {
            "colab-boot has no such source"
        };
        return Err(why.to_owned());
    }
    let asked = AskedLine::parse(line, &name_in)?;
    if asked.place.is_empty() {
        return Err("not a release of an index".to_owned());
    }
    if folder == beside {
        return Ok(asked);
    }
    files::absolute(here).map(|here| asked.below(&here)).map_err(|failure| failure.to_string())
}

/// The folder that `file` calls `path`, as a profile in `beside` writes it.
fn folder_in(file: &Path, path: &str, beside: &Path) -> Result<String, Failure> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let path = path.strip_prefix("file://").unwrap_or(path);
    let there = if folder == beside { PathBuf::from(path) } else { files::absolute(&folder.join(path))? };
    Ok(there.display().to_string())
}

/// The code cells of a notebook; any other text as it is.
fn cells_of(text: &str) -> Vec<String> {
    let Ok(notebook) = Ipynb::parse(text) else { return vec![text.to_owned()] };
    notebook.cells.into_iter().filter(|cell| cell.is_code).map(|cell| cell.source).collect()
}

/// A name for the profile at `path`: that of the file, or of its folder.
pub fn profile_name(path: &Path) -> String {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let of_folder = || Some(files::absolute(path).ok()?.parent()?.file_name()?.to_string_lossy().into_owned());
    let name = stem(path).filter(|name| name != "profile" && name != "-").or_else(of_folder).unwrap_or_default();
    let clean = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(clean).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "my-notebook".to_owned() } else { name.to_owned() }
}
