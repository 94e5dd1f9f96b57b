//! Where credentials are, who may read them, when they end. Their values are read for nothing else, and kept nowhere.

use std::path::{Path, PathBuf};
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use serde_json::Value;

use crate::core::host::mounts::Look;
use crate::core::host::{Invocation, files};
use crate::core::matrix::{CredentialPlace, credential_places};
use crate::health::doctor::look_context::Sight;
use crate::health::doctor::vitals::Credential;

/// A file of credentials is not larger.
const LARGEST: u64 = 1 << 20;

/// All that are found in the usual places, in variables and in the working folder.
pub(super) fn credentials(sight: &Sight<'_>) -> Vec<Credential> {
    let Ok((places, working)) = credential_places() else { return Vec::new() };
    let mut found: Vec<Credential> = places.iter().flat_map(|place| of_place(sight, place)).collect();
    let known = |found: &[Credential], place: &str| found.iter().any(|one| one.place == place);
    for name in files::names_if_any(&sight.place.here) {
        let is_meant = working.names.contains(&name)
            || name.ends_with(".json") && working.parts.iter().any(|part| name.contains(part.as_str()));
        let path = sight.place.here.join(&name);
        if is_meant && path.is_file_there() && !known(&found, &path.display().to_string()) {
            found.push(of_file(sight, "a file", &path, None));
        }
    }
    found.extend(sight.environment.iter().filter_map(|(name, value)| {
        let expires = Some(jwt_end(value)?);
        Some(Credential { service: "token".to_owned(), place: format!("${name}"), expires, ..Credential::default() })
    }));
    if let Some(end) =
        sight.environment.get("AWS_CREDENTIAL_EXPIRATION").and_then(|text| moment(&Value::from(text.as_str())))
    {
        let place = "$AWS_CREDENTIAL_EXPIRATION".to_owned();
        found.push(Credential { service: "AWS".to_owned(), place, expires: Some(end), ..Credential::default() });
    }
    found
}

fn of_place(sight: &Sight<'_>, row: &CredentialPlace) -> Vec<Credential> {
    let home = sight.environment.get("HOME").map(PathBuf::from);
    let under = |path: &str| match path.strip_prefix("~/") {
        Some(rest) => home.as_ref().map(|home| home.join(rest)),
        None => Some(sight.paths.under_root(path)),
    };
    let mut found: Vec<Credential> = Vec::new();
    for name in row.variables.iter().filter(|name| sight.environment.get(*name).is_some_and(|value| !value.is_empty()))
    {
        found.push(Credential { service: row.service.clone(), place: format!("${name}"), ..Credential::default() });
    }
    let folder = row.folder.as_deref().and_then(under);
    let in_folder =
        folder.iter().flat_map(|folder| files::names_if_any(folder).into_iter().map(|name| folder.join(name)));
    let paths = row
        .files
        .iter()
        .filter_map(|path| under(path))
        .chain(in_folder.filter(|path| path.extension().is_some_and(|end| end == "json")));
    found.extend(paths.filter(|path| path.is_file_there()).map(|path| of_file(sight, &row.service, &path, Some(row))));
    found
}

fn of_file(sight: &Sight<'_>, service: &str, path: &Path, row: Option<&CredentialPlace>) -> Credential {
    use std::os::unix::fs::PermissionsExt;
    let mode = path.look().ok().map(|data| data.permissions().mode() & 0o777);
    let json = || serde_json::from_slice::<Value>(&files::read_bytes(path, LARGEST).ok()?).ok();
    let asked = row.filter(|row| row.expires.is_some() || row.kind.is_some());
    let json = asked.and_then(|_| json());
    let expires = asked.and_then(|row| latest(json.as_ref()?, row.expires.as_deref()?));
    let kind = asked.and_then(|row| json.as_ref()?[row.kind.as_deref()?].as_str().map(str::to_owned));
    let in_work =
        path.starts_with(&sight.place.here) && sight.place.here.parent().is_some() || path.starts_with("/content");
    Credential {
        service: service.to_owned(),
        place: path.display().to_string(),
        mode,
        expires,
        renewed: row.is_some_and(|row| row.renewed),
        kind,
        in_work,
        in_git: in_work && is_in_git(sight, path),
    }
}

/// The latest moment that a field called `name` has, anywhere in `value`: a file holds old credentials beside the one
/// that is used.
fn latest(value: &Value, name: &str) -> Option<u64> {
    let inner: Box<dyn Iterator<Item = Option<u64>>> = match value {
        Value::Object(map) => {
            let own = map.get(name).and_then(moment);
            Box::new(std::iter::once(own).chain(map.values().map(|inner| latest(inner, name))))
        }
        Value::Array(all) => Box::new(all.iter().map(|inner| latest(inner, name))),
        _ => return None,
    };
    inner.flatten().max()
}

/// Seconds since 1970, of a number, a number in a text, or an RFC 3339 moment.
fn moment(value: &Value) -> Option<u64> {
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let text = value.as_str()?;
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let moment: jiff::Timestamp = text.replace("UTC", "Z").parse().ok()?;
    u64::try_from(moment.as_second()).ok()
}

/// When a JSON web token ends (RFC 7519): `exp` of its middle part.
fn jwt_end(value: &str) -> Option<u64> {
    let mut parts = value.split('.');
    let (head, body) = (parts.next()?, parts.next()?);
    parts.next().filter(|_| head.starts_with("eyJ"))?;
    let claims: Value =
        serde_json::from_slice(&BASE64URL_NOPAD.decode(body.trim_end_matches('=').as_bytes()).ok()?).ok()?;
    claims["exp"].as_u64()
}

/// Whether `path` would be committed: it lies in a work tree and git does not ignore it.
fn is_in_git(sight: &Sight<'_>, path: &Path) -> bool {
    if !path.ancestors().any(|folder| folder.join(".git").is_there()) {
        return false;
    }
    let (Some(folder), Some(text)) = (path.parent(), path.to_str()) else { return false };
    let arguments = ["-C", &folder.display().to_string(), "check-ignore", "--quiet", text];
    let git = Invocation::new("git", &arguments, sight.environment);
    // 0: ignored; 1: not; anything else is no repository of ours.
    git.output(Duration::from_secs(2)).is_ok_and(|done| done.code == 1)
}
