//! The page of a repository, one file for a browser: every change of the index writes it.

use std::collections::BTreeMap;

use crate::boot::lock::{Lock, read_lock};
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, bytes};
use crate::core::host::destination::write_output;
use crate::core::host::files;
use crate::golden::catalogue_page::{Products, Shown, render_page};
use crate::golden::entry::Release;
use crate::golden::repository::release_diff::between_locks;
use crate::golden::repository::repository_changes::Kept;
use crate::golden::repository::{Repository, TO_READ, repo_option};

/// The file that browsers get for a folder.
const PAGE_FILE: &str = "index.html";

/// Writes the page of `kept`; `place` is the repository on GitHub and its commit, for links to Colab. Returns what is
/// to be said: a page that can't be written is no reason to keep an index back.
pub fn refresh_page(kept: &Kept, place: Option<&str>, session: &Session<'_>) -> Option<String> {
    let path = kept.folder.join(PAGE_FILE);
    let written = files::read_optional(&path).and_then(|there| {
        if there.is_some_and(|text| !is_ours(&text)) {
            return Ok(Some(format!("`{}` is not a page of colab-boot, and stays as it is", path.display())));
        }
        let page = rendered(kept, place, session)?;
        write_output(&path, page.as_bytes())?;
        Ok(None)
    });
    written.unwrap_or_else(|failure| Some(format!("`{}` was not updated: {failure}", path.display())))
}

/// A warning where the page is not the one of the index; nothing where the folder has a page of another kind.
pub fn outdated_page(kept: &Kept, session: &Session<'_>) -> Option<Finding> {
    let help = format!("write it again with `colab-boot golden publish{}`", repo_option(&kept.folder));
    let Some(there) = files::read_optional(&kept.folder.join(PAGE_FILE)).ok()? else {
        let message = format!("there is no `{PAGE_FILE}`, the page for browsers");
        return Some(Finding::warning(Code::GoldenFileDiffers, message).with_help(help));
    };
    let there = Some(there).filter(|text| is_ours(text))?;
    let place = there.split_once("<meta name=\"colab\" content=\"").and_then(|(_, rest)| Some(rest.split_once('"')?.0));
    let place = place.map(|place| place.replace("&#x2f;", "/"));
    let page = rendered(kept, place.as_deref(), session).ok()?;
    let message = format!("`{PAGE_FILE}` does not match index {}", kept.catalogue.seq);
    (page != there).then(|| Finding::warning(Code::GoldenFileDiffers, message).with_help(help))
}

/// Whether colab-boot has made a page.
fn is_ours(text: &str) -> bool {
    text.contains("<meta name=\"generator\" content=\"colab-boot\">")
        || text.starts_with("<!doctype html>") && text.contains("<p>Golden profiles: ")
}

fn rendered(kept: &Kept, place: Option<&str>, session: &Session<'_>) -> Result<String, Failure> {
    let repository = Repository::open(&kept.folder.display().to_string(), TO_READ, session)?;
    let shown = |release: &Release| Ok((release.title(), shown(kept, &repository, release, place)?));
    let shown = kept.catalogue.releases.iter().map(shown).collect::<Result<BTreeMap<String, Shown>, Failure>>()?;
    render_page(&kept.catalogue, (&shown, place), &products(session), &bytes).map_err(Failure::bug)
}

/// What the page shows of a release beside its row: the cell, and how its lock differs from that of the release before.
fn shown(kept: &Kept, repository: &Repository, release: &Release, place: Option<&str>) -> Result<Shown, Failure> {
    // Of older releases the page links the files: a thousand cells are 25 MB.
    let newest = kept.catalogue.find(release.name.as_ref(), kept.catalogue.issued);
    let cell = if newest.is_some_and(|newest| newest.version == release.version) {
        let script = text_of(repository, release, "py")?;
        // The first of its cells boots; the others look at what came of it.
        script.split("\n# %%\n").next().unwrap_or_default().trim_start_matches("# %%\n").to_owned()
    } else {
        String::new()
    };
    let older = kept.catalogue.releases.iter().filter(|other| other.name == release.name);
    let before = older.filter(|other| other.version < release.version).max_by(|a, b| a.version.cmp(&b.version));
    let both = match before {
        Some(before) => lock_of(repository, before)?.zip(lock_of(repository, release)?),
        None => None,
    };
    let differences = both.map(|(old, new)| between_locks(&old, &new)).unwrap_or_default();
    let colab = place.and_then(|place| colab(place, release));
    Ok(Shown { cell, differences, before: before.map(Release::title), colab })
}

/// The lock of `release`; `None` for one of another format.
fn lock_of(repository: &Repository, release: &Release) -> Result<Option<Lock>, Failure> {
    Ok(read_lock(&text_of(repository, release, "lock")?).ok())
}

fn text_of(repository: &Repository, release: &Release, suffix: &str) -> Result<String, Failure> {
    let file = release.file(suffix);
    let file = file.ok_or_else(|| Failure::answer(format!("{} has no `.{suffix}`", release.title())))?;
    Ok(String::from_utf8_lossy(&repository.file(release, file)?).into_owned())
}

/// The address that opens the notebook of `release` in Colab: with the commit, so that it opens what was published.
fn colab(place: &str, release: &Release) -> Option<String> {
    let mut parts = place.splitn(4, '/');
    let (owner, repo, commit) = (parts.next()?, parts.next()?, parts.next()?);
    let folder = parts.next().map(|folder| format!("{}/", folder.trim_matches('/'))).unwrap_or_default();
    Some(format!(
        "https://colab.research.google.com/github/{owner}/{repo}/blob/{commit}/{folder}{}/{}.ipynb",
        release.folder(),
        release.name
    ))
}

/// The GPUs that notebooks hand out, by compute capability; and every product by its name, for those who paste what
/// `nvidia-smi` says.
fn products(session: &Session<'_>) -> Products {
    let mut products = Products::default();
    for row in &session.matrix.gpus.products {
        let capability = row.compute_capability.to_string();
        if let Some(name) = row.names.first().filter(|_| row.colab) {
            products.names.entry(capability.clone()).or_insert_with(|| name.clone());
        }
        for name in std::iter::once(&row.product).chain(&row.names).filter(|name| name.len() > 1) {
            products.capabilities.insert(name.to_lowercase(), capability.clone());
        }
    }
    products
}
