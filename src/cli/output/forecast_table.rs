//! What would become of profiles, as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::boot::planned::Outlook;
use crate::core::diag::bytes;

/// One line for GPUs on which the same happens.
pub fn render_forecast(all: &[Outlook]) -> String {
    let mut text = String::new();
    let mut last = "";
    for group in all.chunk_by(|a, b| a.profile == b.profile && a.runtime == b.runtime && said(a) == said(b)) {
        let one = &group[0];
        if one.profile != last {
            let _ = writeln!(text, "{}", one.profile);
            last = &one.profile;
        }
        let gpus: Vec<&str> = group.iter().filter_map(|one| one.gpu.as_deref()).map(short).collect();
        let gpus = if gpus.is_empty() { "no GPU".to_owned() } else { gpus.join(", ") };
        let _ = writeln!(text, "  {:<18} {gpus}\n  {:<18} {}", one.runtime, "", said(one));
    }
    let broken = all.iter().filter(|one| !one.survives).count();
    let _ = writeln!(text, "forecast: {} of {} survive", all.len() - broken, all.len());
    text
}

/// What happens, in one line.
fn said(one: &Outlook) -> String {
    if one.survives {
        let restart = if one.restart { "one restart" } else { "no restart" };
        let warnings = if one.warnings.is_empty() { String::new() } else { format!("; {}", one.warnings.join(", ")) };
        let fetched = bytes(one.download);
        return format!(
            "survives: {} to change, {} kept, {fetched} to fetch, {restart}{warnings}",
            one.changes, one.kept
        );
    }
    let code = one.code.as_ref().map(|code| format!("{code}: ")).unwrap_or_default();
    let because = one.because.as_deref().unwrap_or_default();
    format!("breaks: {code}{}", because.lines().next().unwrap_or_default())
}

/// A GPU's name without its maker's, and what distinguishes none that notebooks have.
fn short(name: &str) -> &str {
    let name = name.trim_start_matches("NVIDIA ").trim_start_matches("Tesla ");
    name.trim_end_matches(" Server Edition").split("-SXM").next().unwrap_or(name)
}

/// From which image on something breaks that all older ones run, by profile and GPU.
pub fn forecast_edges(all: &[Outlook]) -> Vec<String> {
    let mut by_gpu: BTreeMap<(&str, String), Vec<&Outlook>> = BTreeMap::new();
    for one in all.iter().filter(|one| one.is_image) {
        let kind = one.runtime.rsplit('-').next().unwrap_or_default();
        let gpu = one.gpu.as_deref().map_or_else(|| format!("{kind} images"), |gpu| short(gpu).to_owned());
        by_gpu.entry((&one.profile, gpu)).or_default().push(one);
    }
    let mut lines: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for ((profile, gpu), mut outlooks) in by_gpu {
        outlooks.sort_by(|a, b| a.runtime.cmp(&b.runtime));
        let good = outlooks.iter().take_while(|one| one.survives).count();
        let rest = &outlooks[good..];
        if let Some(first) = rest.first().filter(|_| good > 0 && rest.iter().all(|one| !one.survives)) {
            lines.entry((profile, &first.runtime)).or_default().push(gpu);
        }
    }
    lines
        .into_iter()
        .map(|((profile, from), gpus)| format!("{profile} breaks from {from}: {}", gpus.join(", ")))
        .collect()
}
