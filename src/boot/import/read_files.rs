//! Files of other tools, read for a profile.

use std::path::PathBuf;

use crate::boot::goal::read_listed_text;
use crate::boot::import::profile_text::{Imported, imported};
use crate::boot::import::script_block::script_block;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::matrix::Matrix;
use crate::core::model::PythonFacts;
use crate::core::model::ipynb::Ipynb;
use crate::core::model::requirement::lenient_specifiers;
use crate::core::model::version::range_of;

/// The profile `name` that asks for what `from` asks for, with `python`; `-` is stdin.
pub fn of_files(name: &str, from: &[PathBuf], python: &PythonFacts, matrix: &Matrix) -> Result<Imported, Failure> {
    let (mut all, mut notes) = (Vec::new(), Vec::new());
    for file in from {
        let path = if file.as_os_str() == "-" { PathBuf::from("/dev/stdin") } else { file.clone() };
        let shown = file.display().to_string();
        let text = files::read_text(&path, "file")?;
        if let Some(block) = cells_of(&text).iter().find_map(|cell| script_block(cell)) {
            let block = block.map_err(|why| Failure::input(format!("the metadata of `{shown}`")).cause(why))?;
            let lines: String = block.dependencies.iter().map(|line| format!("{line}\n")).collect();
            all.push((shown.clone(), read_listed_text(&path.with_extension("txt"), &lines, python)?));
            let is_met = |wanted: &String| {
                let range = lenient_specifiers(wanted).map(|specifiers| range_of(&specifiers));
                range.is_none_or(|range| range.contains(&python.version.only_release()))
            };
            let other = block.requires_python.filter(|wanted| !is_met(wanted));
            notes
                .extend(other.map(|wanted| format!("{shown}: requires-python `{wanted}`: this Python is another one")));
        } else {
            all.push((shown, read_listed_text(&path, &text, python)?));
        }
    }
    Ok(imported(name, &all, (python, matrix), notes))
}

/// The code cells of a notebook; any other text as it is.
fn cells_of(text: &str) -> Vec<String> {
    let Ok(notebook) = Ipynb::parse(text) else { return vec![text.to_owned()] };
    notebook.cells.into_iter().filter(|cell| cell.is_code).map(|cell| cell.source).collect()
}
