//! `golden page`: a repository as one file for a browser.

use std::collections::BTreeMap;

use crate::boot::lock::{Lock, differences, read_lock};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::PageOptions;
use crate::cli::verbs::golden::folder_of;
use crate::core::diag::{Failure, bytes, counted};
use crate::core::host::destination::write_output;
use crate::core::host::files;
use crate::golden::catalogue_page::{Products, Shown, render_page};
use crate::golden::entry::Release;
use crate::golden::repository::{Kept, Repository, TO_READ};

pub(super) fn run(options: &PageOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let kept = Kept::open(&folder_of(options.repo.as_ref()), session)?;
    let repository = Repository::open(&kept.folder.display().to_string(), TO_READ, session)?;
    let shown = |release: &Release| Ok((release.title(), shown(&kept, &repository, release, options)?));
    let shown = kept.catalogue.releases.iter().map(shown).collect::<Result<BTreeMap<String, Shown>, Failure>>()?;
    let page = render_page(&kept.catalogue, &shown, &products(session), &bytes).map_err(Failure::bug)?;
    let path = options.out.clone().unwrap_or_else(|| kept.folder.join("index.html"));
    let there = files::read_optional(&path)?;
    if !options.check && there.as_ref().is_some_and(|text| !text.starts_with("<!doctype html>")) {
        return Err(Failure::input(format!("`{}` exists and is not a catalog page", path.display()))
            .help("name another file with --out"));
    }
    if !options.check {
        write_output(&path, page.as_bytes())?;
    } else if there.as_deref() != Some(page.as_str()) {
        return Err(Failure::answer(format!("`{}` does not match index {}", path.display(), kept.catalogue.seq))
            .help("run the command without --check to write it"));
    }
    let text = format!(
        "{}: {}, {}\n",
        path.display(),
        counted(kept.catalogue.releases.len(), "release"),
        bytes(page.len() as u64)
    );
    Ok(Report::new(page.len(), text))
}

/// What the page shows of a release beside its row: the cell, and how its lock differs from that of the release before.
fn shown(kept: &Kept, repository: &Repository, release: &Release, options: &PageOptions) -> Result<Shown, Failure> {
    let script = text_of(repository, release, "py")?;
    // The first of its cells boots; the others look at what came of it.
    let cell = script.split("\n# %%\n").next().unwrap_or_default().trim_start_matches("# %%\n").to_owned();
    let older = kept.catalogue.releases.iter().filter(|other| other.name == release.name);
    let before = older.filter(|other| other.version < release.version).max_by(|a, b| a.version.cmp(&b.version));
    let both = match before {
        Some(before) => lock_of(repository, before)?.zip(lock_of(repository, release)?),
        None => None,
    };
    let mut lines = both.map(|(old, new)| differences(&old, &new)).unwrap_or_default();
    lines.retain(|line| !line.starts_with("it was made with matrix") && line != "the profile has changed since");
    let colab = options.colab.as_ref().and_then(|place| colab(place, release));
    Ok(Shown { cell, differences: lines, before: before.map(Release::title), colab })
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
