//! `export notebook`: a profile and its lock as a notebook, and as a script.

use std::path::Path;

use serde::Serialize;

use crate::boot::index::IndexSettings;
use crate::boot::lock::lock_path;
use crate::boot::planned::said_of_lock;
use crate::boot::session::Session;
use crate::boot::verdict::{Report, path_text};
use crate::cli::arguments::NotebookOptions;
use crate::cli::output::needed_images;
use crate::core::diag::Failure;
use crate::core::host::destination::write_output;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::golden::cell::{Golden, is_built, render_notebook, render_script};
use crate::golden::repository::{named_binary, with_lock};

#[derive(Serialize)]
struct NotebookReport<'a> {
    #[serde(serialize_with = "path_text")]
    folder: &'a Path,
    check: bool,
}

pub(super) fn run(options: &NotebookOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let path = lock_path(&options.profile, options.lock.as_ref());
    let (profile, lock, text) = with_lock(session, &options.profile, &path)?;
    let binary = named_binary(options.binary.binary_url.as_ref(), options.binary.binary_sha256.as_ref())?;
    let golden = Golden { profile: &profile, lock: &text, binary: binary.as_ref(), home: None, offline: true };
    let needed = lock.targets.iter().flat_map(needed_images);
    let written = [("ipynb", render_notebook(golden)), ("py", render_script(golden))];
    let mut report = Report::new(NotebookReport { folder: &options.out, check: options.check }, String::new());
    report.talk.extend(needed);
    let index = IndexSettings::default();
    report.findings.extend(said_of_lock(session, (&options.profile, &path), &lock, &index));
    if binary.is_none() {
        report.talk.push(
            "the cell uses colab-boot from PATH or COLAB_BOOT_BINARY only; to download it, export with --binary-url"
                .to_owned(),
        );
    }
    for (suffix, content) in written {
        let target = options.out.join(format!("{}.{suffix}", profile.name));
        let here = files::read_optional(&target)?;
        if !options.check {
            must_be_built(&target, here.as_deref())?;
            target.parent().map_or(Ok(()), files::create_folder)?;
            write_output(&target, content.as_bytes())?;
            report.talk.push(format!("wrote {}", target.display()));
        } else if here.as_deref() != Some(content.as_str()) {
            return Err(Failure::answer(format!("`{}` does not match its profile and lock", target.display()))
                .help("run the command without --check to write it"));
        }
    }
    Ok(report)
}

/// Fails where `target` has something of the user's.
fn must_be_built(target: &Path, here: Option<&str>) -> Result<(), Failure> {
    let help = "use another folder with --out; to put the cells into a notebook of your own, publish the profile and run `colab-boot golden add`";
    if target.look_at_entry().is_ok_and(|data| data.is_symlink()) {
        return Err(Failure::input(format!("`{}` is a link", target.display())).help(help));
    }
    if here.is_none_or(is_built) {
        return Ok(());
    }
    Err(Failure::input(format!("`{}` exists and differs from what `export notebook` wrote", target.display()))
        .help(help))
}
