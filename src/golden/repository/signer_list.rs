//! The list of signers, edited.

use std::path::PathBuf;

use crate::core::diag::Failure;
use crate::golden::repository::ssh_keygen::public_key;
use crate::golden::signers::{Role, Signer, Signers, signer_line};

/// What is to change in the list.
#[derive(Clone, Copy, Debug)]
pub struct SignerEdits<'a> {
    /// Public key files of signers, and of keys for CI.
    pub add: &'a [PathBuf],
    pub add_ci_key: &'a [PathBuf],
    /// Names or fingerprints.
    pub remove: &'a [String],
}

impl SignerEdits<'_> {
    /// The new text of the list, and who is off it.
    pub fn applied(self, text: &str, old: &Signers) -> Result<(String, Vec<String>), Failure> {
        let known = || old.all.iter().map(Signer::shown).collect::<Vec<_>>().join(", ");
        if let Some(name) = self.remove.iter().find(|name| !old.all.iter().any(|signer| is_meant(name, signer))) {
            return Err(
                Failure::input(format!("--remove: `{name}` is not a signer")).help(format!("it has {}", known()))
            );
        }
        let removed: Vec<&Signer> =
            old.all.iter().filter(|signer| self.remove.iter().any(|name| is_meant(name, signer))).collect();
        let signer_in = |line: &str| Signers::parse(line).ok().and_then(|signers| signers.all.into_iter().next());
        let mut new: String = text
            .lines()
            .filter(|line| signer_in(line).is_none_or(|signer| !removed.contains(&&signer)))
            .map(|line| format!("{line}\n"))
            .collect();
        let added = self.add.iter().map(|file| (file, Role::Signer));
        for (file, role) in added.chain(self.add_ci_key.iter().map(|file| (file, Role::Ci))) {
            let line = signer_line(&public_key(file)?, role);
            let fingerprint = signer_in(&line).map(|signer| signer.fingerprint());
            if let Some(known) = old.all.iter().find(|signer| Some(signer.fingerprint()) == fingerprint) {
                return Err(Failure::input(format!("--add: `{}` is already a signer", known.shown())));
            }
            new.push_str(&line);
        }
        Ok((new, removed.into_iter().map(Signer::shown).collect()))
    }
}

fn is_meant(name: &String, signer: &Signer) -> bool {
    *name == signer.principal || *name == signer.fingerprint()
}
