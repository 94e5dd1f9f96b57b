//! `golden build`: the notebook cell of a profile and its lock.

use std::path::Path;

use serde::Serialize;

use crate::boot::lock::lock_path;
use crate::boot::session::Session;
use crate::boot::verdict::{Report, path_text};
use crate::cli::arguments::{BinaryOptions, BuildOptions};
use crate::cli::output::needed_images;
use crate::core::diag::{Failure, without_secrets};
use crate::core::host::destination::write_output;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::{PackageName, Version};
use crate::golden::cell::{Binary, Golden, is_built, render_notebook, render_script};
use crate::golden::repository::with_lock;

#[derive(Serialize)]
struct GoldenReport<'a> {
    #[serde(serialize_with = "path_text")]
    folder: &'a Path,
    check: bool,
}

pub(super) fn run(options: &BuildOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let path = lock_path(&options.profile, options.lock.as_ref());
    let (profile, lock, text) = with_lock(session, &options.profile, &path)?;
    let binary = binary(&options.binary)?;
    let golden = Golden { profile: &profile, lock: &text, binary: binary.as_ref(), home: None };
    let needed = lock.targets.iter().flat_map(needed_images);
    let written = [("ipynb", render_notebook(golden)), ("py", render_script(golden))];
    let mut report = Report::new(GoldenReport { folder: &options.out, check: options.check }, String::new());
    report.talk.extend(needed);
    if binary.is_none() {
        report.talk.push(
            "the cell uses colab-boot from PATH or COLAB_BOOT_BINARY only; to download it, build with --binary-url"
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
    Err(Failure::input(format!("`{}` exists and differs from what `golden build` wrote", target.display())).help(help))
}

/// Where cells get colab-boot, as the options say.
pub(super) fn binary(options: &BinaryOptions) -> Result<Option<Binary>, Failure> {
    match (&options.binary_url, &options.binary_sha256) {
        (Some(url), Some(sha256)) => {
            if without_secrets(url) != *url {
                return Err(Failure::input("--binary-url: the address contains a password or a token")
                    .cause("everyone who has the cell could read it")
                    .help("publish the binary at an address that needs no credentials, or put it on PATH in the notebooks"));
            }
            if let Some(wanted) = url.strip_prefix("index:").filter(|wanted| !is_exact(wanted)) {
                return Err(Failure::input(format!("--binary-url: `index:{wanted}` is not `index:NAME==VERSION`"))
                    .help("name one version, such as `index:colab-boot==0.1.0`"));
            }
            let sha256 = sha256.parse().map_err(|error| Failure::input(format!("--binary-sha256: {error}")))?;
            Ok(Some(Binary { url: url.clone(), sha256 }))
        }
        _ => Ok(None),
    }
}

/// Whether `wanted` is one version of a package: it becomes an argument of pip.
fn is_exact(wanted: &str) -> bool {
    let exact =
        |(name, version): (&str, &str)| name.parse::<PackageName>().is_ok() && version.parse::<Version>().is_ok();
    wanted.split_once("==").is_some_and(exact)
}
