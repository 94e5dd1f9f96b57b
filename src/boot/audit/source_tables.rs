//! Where tables of uv, pixi and poetry take a package from, in pip's words.

use toml::Value;

/// `name @ ../lib` or `name @ git+https://host/x@main`, with `-e` where it is editable; `None` where `source` names an
/// index or something that pip has no words for.
pub(super) fn placed(name: &str, source: &Value) -> Option<String> {
    let text = |key: &str| source.get(key).and_then(Value::as_str);
    if let Some(path) = text("path") {
        let is_relative = !path.starts_with(['.', '/']);
        let dot = if is_relative { "./" } else { "" };
        let is_set = |key: &str| source.get(key).and_then(Value::as_bool) == Some(true);
        let flag = if is_set("editable") || is_set("develop") { "-e " } else { "" };
        return Some(format!("{flag}{name} @ {dot}{path}"));
    }
    if let Some(address) = text("url") {
        return Some(format!("{name} @ {address}"));
    }
    let address = text("git")?;
    let revision = ["rev", "tag", "branch"].iter().find_map(|key| text(key));
    let revision = revision.map(|revision| format!("@{revision}")).unwrap_or_default();
    let below = text("subdirectory").map(|path| format!("#subdirectory={path}")).unwrap_or_default();
    Some(format!("{name} @ git+{address}{revision}{below}"))
}
