//! Where an installed package came from, if from no index: its `direct_url.json`
//! (<https://packaging.python.org/en/latest/specifications/direct-url/>).

use serde_json::Value;
use url::Url;

use crate::boot::import::shareable_address::shareable;
use crate::boot::machine::Installed;
use crate::core::host::files;
use crate::core::model::PackageName;

/// The keys of a profile that ask for the same: a folder, a wheel, a repository, an address with its digest. `None`
/// where the file does not say enough.
pub(super) fn installed_from(name: &PackageName, installed: &Installed) -> Option<Vec<(&'static str, String)>> {
    let info = format!("{}-{}.dist-info", name.as_ref().replace('-', "_"), installed.version);
    let file = installed.location.as_ref()?.join(info).join("direct_url.json");
    let said: Value = serde_json::from_str(&files::read_optional(&file).ok()??).ok()?;
    let address = Url::parse(said["url"].as_str()?).ok()?;
    if let Some(commit) = said["vcs_info"]["commit_id"].as_str() {
        return Some(vec![("git", shareable(address.as_str()).0), ("rev", commit.to_owned())]);
    }
    if let Ok(path) = address.to_file_path() {
        let mut place = vec![("path", path.display().to_string())];
        place.extend((said["dir_info"]["editable"] == true).then(|| ("editable", "true".to_owned())));
        return Some(place);
    }
    let digest = said["archive_info"]["hashes"]["sha256"].as_str()?;
    Some(vec![("url", shareable(address.as_str()).0), ("sha256", digest.to_owned())])
}
