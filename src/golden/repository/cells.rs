//! What cells are to know of the repository that they are published in, and what they take from it.

use std::path::Path;

use url::Url;

use crate::core::diag::{Code, Failure, Finding, without_secrets};
use crate::core::host::files;
use crate::core::model::{PackageName, Sha256, Version};
use crate::golden::cell::{Binary, Home};
use crate::golden::repository::Kept;

/// As much is read of an executable, here and by cells.
const LARGEST: u64 = 64 << 20;

/// Puts the executable or wheel at `path` into the repository, by its digest, and says where cells find it, once that
/// is served at `at`.
pub fn carry(kept: &Kept, path: &Path, at: Option<&Url>) -> Result<Binary, Failure> {
    let at = at.ok_or_else(|| {
        Failure::input("--binary needs the address that the repository is served at").help("pass it with --at URL")
    })?;
    let bytes = files::read_bytes(path, LARGEST)
        .map_err(|error| Failure::input(format!("--binary: could not read `{}`", path.display())).because(&error))?;
    if !bytes.starts_with(b"\x7fELF") && !bytes.starts_with(b"PK") {
        return Err(Failure::input(format!("--binary: `{}` is neither a program nor a wheel", path.display()))
            .help("pass a wheel or an executable of colab-boot"));
    }
    let sha256 = Sha256::of(&bytes);
    let end = if bytes.starts_with(b"PK") { ".whl" } else { "" };
    let place = format!("bin/{}/colab-boot{end}", sha256.short());
    files::write_whole(&kept.folder.join(&place), &bytes)?;
    Ok(Binary { url: format!("{}/{place}", at.as_str().trim_end_matches('/')), sha256 })
}

/// What `--binary-url` and `--binary-sha256` name; an error where a cell would carry a secret, or no one version.
pub fn named_binary(url: Option<&String>, sha256: Option<&String>) -> Result<Option<Binary>, Failure> {
    match (url, sha256) {
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

/// What the cells are to know of the repository; nothing where it is not said where that will be.
pub fn home(kept: &Kept, at: Option<&Url>) -> Result<Option<Home>, Failure> {
    let Some(url) = at else { return Ok(None) };
    if without_secrets(url.as_str()) != url.as_str() {
        return Err(Failure::input("--at: the address contains a password or a token, which the cells would show"));
    }
    let signers = kept.signers_in(&kept.list_text()?)?;
    let threshold = kept.catalogue.threshold();
    let min_seq = kept.catalogue.seq + 1;
    Ok(Some(Home { url: url.to_string(), keys: signers.index_keys(), threshold, min_seq }))
}

/// A warning that the cells of `what` have no source for colab-boot.
pub fn no_binary(what: &str) -> Finding {
    let message =
        format!("{what} do not state where to download colab-boot: users need it on PATH or in COLAB_BOOT_BINARY");
    Finding::warning(Code::GoldenNoBinary, message)
        .with_help("publish with `--binary FILE`, or with `--binary-url` and its digest")
}

/// Whether a published file is a cell without a source for colab-boot.
pub fn lacks_binary(name: &str, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).replace("\\\"", "\"");
    name.ends_with(".py") && text.contains("\"binary\": {\"url\": None")
}
