//! `direct_url.json`: where a package comes from that no index has
//! (<https://packaging.python.org/en/latest/specifications/direct-url/>). Other tools know it by that: `pip freeze`
//! names the place, not a release of an index that is called the same.

use serde_json::{Map, Value, json};
use url::Url;

use crate::boot::index::without_login;
use crate::boot::lock::LockedWheel;
use crate::boot::profile::{OriginPlace, Wanted};

/// What the file says of a package that the profile wants as `wanted` and that `wheel` was locked for; `None` for one
/// from an index.
pub(super) fn direct_url(wanted: &Wanted, wheel: &LockedWheel) -> Option<String> {
    let archive = || json!({ "hashes": wheel.sha256.map(|digest| json!({ "sha256": digest.to_string() })) });
    let said = match wanted.origin.as_ref().map(|origin| &origin.place) {
        Some(OriginPlace::Folder { path, editable }) => {
            let info = if *editable { json!({ "editable": true }) } else { json!({}) };
            json!({ "url": Url::from_directory_path(path).ok()?.as_str().trim_end_matches('/'), "dir_info": info })
        }
        Some(OriginPlace::File(path)) => {
            json!({ "url": Url::from_file_path(path).ok()?.as_str(), "archive_info": archive() })
        }
        Some(OriginPlace::Repository(repository)) => {
            let mut info = Map::from_iter([("vcs".to_owned(), json!("git"))]);
            info.insert("commit_id".to_owned(), json!(wheel.commit.as_ref()?));
            info.extend(repository.revision.as_ref().map(|one| ("requested_revision".to_owned(), json!(one))));
            let folder = || Url::from_file_path(&repository.address).ok().map(String::from);
            let url = folder().unwrap_or_else(|| repository.address.clone());
            let mut said = json!({ "url": url, "vcs_info": info });
            if let Some(folder) = &repository.subdirectory {
                said["subdirectory"] = Value::from(folder.as_str());
            }
            said
        }
        None => {
            // Who may have it is no part of where it is.
            let url = without_login(&wanted.direct.as_ref()?.url);
            json!({ "url": url.as_str(), "archive_info": archive() })
        }
    };
    Some(said.to_string())
}
