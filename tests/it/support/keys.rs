//! Keys of a team and what the real `ssh-keygen` does with them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One person's key pair.
pub struct Key {
    pub path: PathBuf,
    /// The line of the public key, with its comment.
    pub public: String,
}

impl Key {
    /// Makes one in `folder`.
    pub fn new(folder: &Path, name: &str) -> Self {
        let path = folder.join(name);
        let comment = format!("{name}@team");
        run(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", &comment, "-f"]).arg(&path));
        let public = std::fs::read_to_string(path.with_extension("pub")).expect("a public key");
        Self { path, public: public.trim().to_owned() }
    }

    /// A line of `allowed_signers`.
    pub fn line(&self, options: &str) -> String {
        let mut words = self.public.split_whitespace();
        let (kind, key) = (words.next().expect("a kind"), words.next().expect("a key"));
        let comment = words.next().expect("a comment");
        if options.is_empty() {
            format!("{comment} {kind} {key}\n")
        } else {
            format!("{comment} {options} {kind} {key}\n")
        }
    }

    /// What `ssh-keygen -Y sign` makes of `text`.
    pub fn sign(&self, text: &str, namespace: &str, more: &[&str]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("text");
        std::fs::write(&file, text).expect("a text");
        run(Command::new("ssh-keygen")
            .args(["-q", "-Y", "sign", "-n", namespace, "-f"])
            .arg(&self.path)
            .args(more)
            .arg(&file));
        std::fs::read_to_string(file.with_extension("sig")).expect("a signature")
    }
}

/// Whether the real `ssh-keygen` takes `signature` for one of `text` by `principal`.
pub fn keygen_takes(signers: &str, principal: &str, namespace: &str, text: &str, signature: &str) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for (name, content) in [("signers", signers), ("sig", signature), ("text", text)] {
        std::fs::write(path(name), content).expect("a file");
    }
    let input = std::fs::File::open(path("text")).expect("a text");
    let status = Command::new("ssh-keygen")
        .args(["-Y", "verify", "-I", principal, "-n", namespace, "-f"])
        .arg(path("signers"))
        .arg("-s")
        .arg(path("sig"))
        .stdin(input)
        .output()
        .expect("ssh-keygen starts")
        .status;
    status.success()
}

fn run(command: &mut Command) {
    let output = command.output().expect("ssh-keygen starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
