//! Golden repositories where they lie: read from a folder or an address, kept in a folder, signed by the user's own
//! `ssh-keygen`; and what is remembered of those who sign.

mod attaching;
mod believed;
mod beside;
mod cells;
mod keeping;
mod ssh_keygen;
mod new_release;
mod pin_check;
mod place;
mod placing;
mod source;
mod standing;
mod taken;
mod trusted;
mod withdrawn;

pub use attaching::{Attached, attach_record};
pub use believed::{folder_of, read_believed, repo_option};
pub use beside::{beside, freshness, strangers, witnesses};
pub use cells::{carry, home, lacks_binary, no_binary};
pub use keeping::{Kept, OTHER_LIST, may_sign};
pub use new_release::{Made, make_release, with_lock};
pub use pin_check::{Pinned, check_pin, check_pinned_files};
pub use place::{Repository, TO_ASK, TO_READ};
pub use placing::{missing_again, must_be_free};
pub use source::SourceRequest;
pub use ssh_keygen::{default_key, public_key, sign};
pub use standing::{pin_findings, standing_findings};
pub use taken::{Holder, Read, into_option};
pub use trusted::{forget_others, must_be_known, name_at, remember, trust_of, write_trust};
pub use withdrawn::withdrawn;

/// The index.
pub const INDEX_FILE: &str = "golden.toml";
/// Who may sign, for people and `ssh-keygen`.
pub const SIGNERS_FILE: &str = "allowed_signers";
/// The statement that the index is still current.
pub const FRESH_FILE: &str = "fresh.toml";
