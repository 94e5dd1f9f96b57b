//! Golden repositories where they lie: read from a folder or an address, kept in a folder, signed by the user's own
//! `ssh-keygen`; and what is remembered of those who sign.

mod attach_evidence;
mod trusted_read;
mod stray_files;
mod cells;
mod repository_changes;
mod ssh_keygen;
mod new_release;
mod pin_check;
mod repository_address;
mod release_files;
mod signer_change;
mod source_request;
mod status_text;
mod pin_holder;
mod trusted;
mod withdrawn;

pub use attach_evidence::{Attached, attach_record};
pub use cells::{carry, home, lacks_binary, no_binary};
pub use new_release::{Made, make_release, with_lock};
pub use pin_check::{Pinned, check_pin, check_pinned_files};
pub use pin_holder::{Holder, Read, into_option};
pub use release_files::{missing_again, must_be_free};
pub use repository_address::{Repository, TO_ASK, TO_READ};
pub use repository_changes::{Kept, OTHER_LIST, may_sign};
pub use signer_change::{SignerChange, change_findings, sign_all};
pub use source_request::SourceRequest;
pub use ssh_keygen::{default_key, public_key, sign};
pub use status_text::{pin_findings, standing_findings};
pub use stray_files::{beside, freshness, strangers, witnesses};
pub use trusted::{forget_others, must_be_known, name_at, remember, trust_of, write_trust};
pub use trusted_read::{believed, folder_of, leads_to, read_believed, repo_option};
pub use withdrawn::withdrawn;

/// The index.
pub const INDEX_FILE: &str = "golden.toml";
/// Who may sign, for people and `ssh-keygen`.
pub const SIGNERS_FILE: &str = "allowed_signers";
/// The statement that the index is still current.
pub const FRESH_FILE: &str = "fresh.toml";
