//! Signatures by the user's own `ssh-keygen`: with its agents, passphrases and hardware, none of which is our business.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::boot::session::Session;
use crate::core::diag::Failure;
use crate::core::host::mounts::Look;
use crate::core::host::{Invocation, files};

/// Somebody may have to find a passphrase, or touch a device.
const LIMIT: Duration = Duration::from_mins(5);

/// The block that `ssh-keygen` makes of `text` with the private key `key`, or with the agent's, where `key` is a public
/// one.
pub fn sign(session: &Session<'_>, key: &Path, text: &str, namespace: &str) -> Result<String, Failure> {
    let folder = tempfile::Builder::new().prefix("colab-boot-sign-").tempdir();
    let folder = folder.map_err(|error| Failure::world("could not create a folder").because(&error))?;
    let file = folder.path().join("golden.toml");
    files::write_whole(&file, text.as_bytes())?;
    let key = files::absolute(key)?;
    if !files::is_file(&key)? {
        return Err(Failure::input(format!("there is no key `{}`", key.display()))
            .help("pass one with --key, or create one with `ssh-keygen -t ed25519`"));
    }
    let (key, shown) = (key.display().to_string(), file.display().to_string());
    let arguments = ["-q", "-Y", "sign", "-f", &key, "-n", namespace, &shown];
    Invocation::new("ssh-keygen", &arguments, session.environment).must_succeed(LIMIT)?;
    files::read_text(&file.with_extension("toml.sig"), "signature")
}

/// The key that the user signs with: git's `user.signingkey`, where it is a file.
pub fn default_key(session: &Session<'_>) -> Option<PathBuf> {
    let arguments = ["config", "--global", "--get", "user.signingkey"];
    let said = Invocation::new("git", &arguments, session.environment).output(Duration::from_secs(5)).ok()?;
    let path = PathBuf::from(said.stdout.trim());
    let home = session.environment.get("HOME").map(PathBuf::from).unwrap_or_default();
    let path = path.strip_prefix("~").map(|rest| home.join(rest)).unwrap_or(path);
    (path.is_absolute() && path.is_file_there()).then_some(path)
}

/// The line of the public key that belongs to `key`, a private one or a public one.
pub fn public_key(key: &Path) -> Result<String, Failure> {
    let path = if key.extension().is_some_and(|end| end == "pub") {
        key.to_owned()
    } else {
        PathBuf::from(format!("{}.pub", key.display()))
    };
    Ok(files::read_text(&path, "public key")?.trim().to_owned())
}
