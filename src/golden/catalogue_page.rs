//! The page of a golden repository: one file that asks nobody for anything, made from the index. What a reader chooses
//! stays in the reader's browser.

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::BASE64;
use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::core::page::STYLE;
use crate::golden::catalogue::Catalogue;
use crate::golden::entry::Release;

const TEMPLATE: &str = include_str!("catalogue_page.html");
const SCRIPT: &str = include_str!("catalogue_page.js");

/// What is shown of a release beside its row in the index.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The Python of its first cell.
    pub cell: String,
    /// How it differs from the release before, line by line, and which that is.
    pub differences: Vec<String>,
    pub before: Option<String>,
    /// An address that opens its notebook in Colab.
    pub colab: Option<String>,
}

/// What the page knows of GPUs: names by compute capability, and the other way round, in lower case.
#[derive(Clone, Debug, Default)]
pub struct Products {
    pub names: BTreeMap<String, String>,
    pub capabilities: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: String,
    title: String,
    standing: &'static str,
    status: crate::golden::entry::Status,
    deprecate_on: Option<String>,
    expires: Option<String>,
    description: &'a str,
    frameworks: BTreeMap<String, String>,
    frameworks_text: String,
    runtimes: &'a [String],
    gpus: &'a BTreeMap<String, String>,
    driver: Option<String>,
    hardware: String,
    /// What is downloaded, by target where that is known.
    download_text: String,
    fetch_text: BTreeMap<&'a str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<ShownRow<'a>>,
}

/// What is written into the text of the page alone.
#[derive(Serialize)]
struct ShownRow<'a> {
    rows: Vec<(&'static str, String)>,
    files: &'a [crate::golden::entry::ReleaseFile],
    folder: String,
    shown_cell: &'a str,
    differences: &'a [String],
    before: Option<&'a str>,
    colab: Option<&'a str>,
    usable: bool,
}

/// The page of `catalogue`, whose releases have `shown` by their titles, with links to what is published at `place`
/// (`OWNER/REPO/COMMIT`); `bytes` writes numbers of bytes for people.
/// Standings are those of the day of the index, so that the same index makes the same page; a browser brings them up to
/// date. Fails only where the template is wrong.
pub fn render_page(
    catalogue: &Catalogue,
    (shown, place): (&BTreeMap<String, Shown>, Option<&str>),
    products: &Products,
    bytes: &dyn Fn(u64) -> String,
) -> Result<String, String> {
    let mut releases: Vec<&Release> = catalogue.releases.iter().collect();
    releases.sort_by(|a, b| (&a.name, &b.version).cmp(&(&b.name, &a.version)));
    let gpus: BTreeSet<&String> = releases.iter().flat_map(|release| release.gpus.keys()).collect();
    let mut gpus: Vec<&String> = gpus.into_iter().collect();
    gpus.sort_by_key(|gpu| gpu.split('.').map(|part| part.parse::<u32>().unwrap_or_default()).collect::<Vec<_>>());
    let rows: Vec<Row<'_>> =
        releases.iter().map(|release| row(catalogue, release, shown.get(&release.title()), bytes)).collect();
    let bare: Vec<serde_json::Value> = rows.iter().map(without_shown).collect();
    let names: BTreeMap<String, String> = gpus
        .iter()
        .filter_map(|gpu| Some(((*gpu).clone(), format!("{} ({gpu})", products.names.get(*gpu)?))))
        .collect();
    let data = serde_json::json!({
        "gpus": gpus, "names": names, "products": products.capabilities, "releases": bare,
    });
    let digest = BASE64.encode(&Sha256::digest(SCRIPT.as_bytes()));
    let csp = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    );
    let flat: Vec<serde_json::Value> = rows.iter().map(flattened).collect();
    let mut environment = Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Chainable);
    environment.add_template("catalogue_page.html", TEMPLATE).map_err(|error| error.to_string())?;
    let template = environment.get_template("catalogue_page.html").map_err(|error| error.to_string())?;
    let context = context! {
        name => catalogue.name.to_string(),
        seq => catalogue.seq,
        issued => catalogue.issued.to_string(),
        fresh_until => catalogue.fresh_until.to_string(),
        tool => env!("CARGO_PKG_VERSION"),
        releases => Value::from(Serde(&flat)),
        gpus => Value::from(Serde(&gpus)),
        data => Value::from(Serde(&data)),
        script => SCRIPT,
        csp => csp,
        style => STYLE,
        place => place,
    };
    template.render(context).map_err(|error| error.to_string())
}

fn row<'a>(
    catalogue: &Catalogue,
    release: &'a Release,
    shown: Option<&'a Shown>,
    bytes: &dyn Fn(u64) -> String,
) -> Row<'a> {
    let frameworks: BTreeMap<String, String> =
        release.frameworks.iter().map(|(name, version)| (name.to_string(), version.to_string())).collect();
    let texts: Vec<String> = frameworks.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let standing = release.standing(catalogue.issued);
    let shown = shown.map(|shown| ShownRow {
        rows: rows(release, bytes),
        files: &release.files,
        folder: release.folder(),
        shown_cell: &shown.cell,
        differences: &shown.differences,
        before: shown.before.as_deref(),
        colab: shown.colab.as_deref(),
        usable: standing <= crate::golden::entry::Standing::Deprecated,
    });
    Row {
        id: format!("{}-{}", release.name, release.version).replace(['.', '+'], "-"),
        title: release.title(),
        standing: standing.as_str(),
        status: release.status,
        deprecate_on: release.deprecate_on.map(|day| day.to_string()),
        expires: release.expires.map(|day| day.to_string()),
        description: &release.description,
        frameworks,
        frameworks_text: texts.join(", "),
        runtimes: &release.runtimes,
        gpus: &release.gpus,
        driver: release.driver_floor.as_ref().map(ToString::to_string),
        hardware: release.hardware(),
        download_text: downloads(release, bytes),
        fetch_text: release.fetch.iter().map(|(name, size)| (name.as_str(), bytes(*size))).collect(),
        shown,
    }
}

/// What the targets of a release download, from the least to the most.
fn downloads(release: &Release, bytes: &dyn Fn(u64) -> String) -> String {
    let sizes = || release.fetch.values().copied();
    match (sizes().min(), sizes().max()) {
        (Some(least), Some(most)) if least != most => format!("{} to {}", bytes(least), bytes(most)),
        (Some(one), _) => bytes(one),
        _ => format!("up to {}", bytes(release.download)),
    }
}

/// The facts of a release, for people.
fn rows(release: &Release, bytes: &dyn Fn(u64) -> String) -> Vec<(&'static str, String)> {
    let fetch = release.fetch.iter().map(|(name, size)| format!("{} on {name}", bytes(*size)));
    let mut rows = vec![
        ("made for", release.runtimes.join(", ")),
        ("Python", release.python.join(", ")),
        ("CUDA", release.cuda.map(|cuda| cuda.to_string()).unwrap_or_default()),
        ("driver", release.driver_floor.as_ref().map(|floor| format!("{floor} or newer")).unwrap_or_default()),
        ("GPU", if release.gpus.is_empty() { "not needed".to_owned() } else { "needed".to_owned() }),
        ("packages", release.packages.to_string()),
        ("downloads", fetch.collect::<Vec<_>>().join(", ")),
        ("published", release.published.to_string()),
        ("deprecated from", release.deprecate_on.map(|day| day.to_string()).unwrap_or_default()),
        ("because", release.because.clone().unwrap_or_default()),
        ("replaced by", release.replaced_by.clone().unwrap_or_default()),
    ];
    let verified = release.verified.iter().map(|one| {
        format!(
            "GPU {} on {} ({}{})",
            one.gpu,
            one.on,
            one.runtime,
            one.by.as_ref().map(|by| format!(", signed by {by}")).unwrap_or_default()
        )
    });
    let verified = verified.collect::<Vec<_>>().join(", ");
    rows.push(("verified", if verified.is_empty() { "never".to_owned() } else { verified }));
    rows.retain(|(_, value)| !value.is_empty());
    rows
}

/// For the script, which needs no file and no cell.
fn without_shown(row: &Row<'_>) -> serde_json::Value {
    let mut value = serde_json::to_value(row).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("shown");
    }
    value
}

/// For the template, which reads all fields from one place.
fn flattened(row: &Row<'_>) -> serde_json::Value {
    let mut value = serde_json::to_value(row).unwrap_or_default();
    let shown = value.as_object_mut().and_then(|fields| fields.remove("shown"));
    if let (Some(fields), Some(serde_json::Value::Object(shown))) = (value.as_object_mut(), shown) {
        fields.extend(shown);
    }
    value
}
