//! Golden repositories where they lie: read from a folder or an address, kept in a folder, signed by the user's own
//! `ssh-keygen`; and what is remembered of those who sign.

mod attach_evidence;
mod trusted_read;
mod stray_files;
mod cells;
mod cell_homes;
mod repository_changes;
mod ssh_keygen;
mod named_keys;
mod new_release;
mod pin_check;
mod repository_address;
mod release_files;
mod signer_change;
mod source_request;
mod status_text;
mod release_diff;
mod signer_list;
mod unexpected;
mod page_file;
mod pin_holder;
mod trusted;
mod withdrawn;

pub use attach_evidence::{Attached, attach_record};
pub use cell_homes::{cell_findings, last_address};
pub use cells::{carry, home, lacks_binary, named_binary, no_binary};
pub use named_keys::{lines_of, must_be_fingerprint, must_be_signed, notebook_line};
pub use new_release::{Made, make_release, with_lock};
pub use page_file::{outdated_page, refresh_page};
pub use pin_check::{Pinned, check_pin, check_pinned_files};
pub use pin_holder::{Holder, Read, into_option};
pub use release_diff::{between, find_release};
pub use release_files::{missing_again, must_be_free, republished};
pub use repository_address::{Repository, TO_ASK, TO_READ};
pub use repository_changes::{Kept, OTHER_LIST, may_sign, must_be_signable};
pub use signer_change::{SignerChange, change_findings, sign_all};
pub use signer_list::SignerEdits;
pub use source_request::SourceRequest;
pub use ssh_keygen::{default_key, public_key, sign};
pub use status_text::{pin_findings, standing_findings};
pub use stray_files::{beside, confirmation, strangers, witnesses};
pub use trusted::{forget_others, must_be_known, name_at, remember, trust_of, write_trust};
pub use trusted_read::{address_of, believed, folder_of, leads_to, read_believed, repo_option, with_way_back};
pub use withdrawn::withdrawn;

/// The index.
pub const INDEX_FILE: &str = "golden.toml";
/// Who may sign, for people and `ssh-keygen`.
pub const SIGNERS_FILE: &str = "allowed_signers";
/// The most that is read of that, in bytes.
pub const LARGEST_LIST: u64 = 64 << 10;
/// The statement that the index is still current.
pub const FRESH_FILE: &str = "fresh.toml";
