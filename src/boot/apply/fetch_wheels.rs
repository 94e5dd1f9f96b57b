//! What an apply installs from: fetched, opened and judged before the first change.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use crate::boot::apply::malformed_wheels::{Opened, open_all};
use crate::boot::apply::metadata_differs::unmet;
use crate::boot::apply::one_apply::Work;
use crate::boot::apply::prepared::Brought;
use crate::boot::apply::unowned_files::{AllWritten, Written, written};
use crate::boot::files::behind_links;
use crate::boot::index::{IndexSettings, WheelSource, not_locked};
use crate::boot::lock::LockedPackage;
use crate::boot::machine::Layout;
use crate::boot::retrieval::{Fetched, Retrieval, enough_space};
use crate::core::diag::{Failure, Kind};
use crate::core::host::command::find_program;
use crate::core::host::digests::digest;
use crate::core::host::files;
use crate::core::host::locks;
use crate::core::host::mounts::Look;

/// How long another apply that uses the same wheels is waited for: the largest sets take a quarter of an hour.
const AT_MOST: Duration = Duration::from_mins(30);

impl Work<'_> {
    /// The wheels of `packages`, each of which can be installed and used; and what is to be said of them.
    pub(super) fn bring(
        &self,
        settings: &IndexSettings,
        packages: &[&LockedPackage],
        folder: &Path,
    ) -> Result<Brought, Failure> {
        must_lie_in_the_environment(self.layout)?;
        self.must_have_installer()?;
        let fetched = self.fetch(settings, packages, folder)?;
        let brought = if self.is_own() {
            self.stage(packages, &fetched)
        } else {
            fetched.finish(&|| false)?;
            self.judged(packages, &fetched, &|_, _| Ok(())).and_then(|brought| {
                let unpacked = brought.wheels.values().map(|wheel| wheel.files.unpacked()).sum();
                enough_space(&self.layout.purelib, unpacked, "the unpacked wheels need").map(|()| brought)
            })
        };
        brought.or_else(|failure| match failure.kind {
            // What a wheel says is worth nothing where it is another file than the lock has.
            Kind::Answer => must_be_locked(packages, &fetched).and(Err(failure)),
            _ => Err(failure),
        })
    }

    /// What the wheels of `packages` say. Calls `opened` with each that can be installed as soon as it is known.
    pub(super) fn judged(
        &self,
        packages: &[&LockedPackage],
        fetched: &Fetched,
        opened: Opened<'_>,
    ) -> Result<Brought, Failure> {
        let (wheels, mut findings) = open_all(self.layout, packages, fetched, opened)?;
        let mut said = fetched.findings.clone();
        let (lacking, broken): (Vec<_>, Vec<_>) =
            unmet(self.session, self.planned, packages, &wheels).into_iter().partition(|one| !one.is_error());
        findings.extend(broken);
        said.extend(lacking);
        findings.extend(self.hidden_before(&wheels));
        let all_written: AllWritten<'_> =
            wheels.iter().map(|(name, wheel)| (name, written(wheel, self.layout).collect())).collect();
        for (name, files) in &all_written {
            let folders = files.iter().filter_map(|one: &Written| one.place.parent().map(ToOwned::to_owned)).collect();
            findings.extend(behind_links(name, &folders, self.layout));
        }
        let in_the_way = self.in_the_way(&wheels, &all_written)?;
        // A wheel that is refused for a file of the interpreter needs no second reason.
        let refused: Vec<_> = findings.iter().map(|finding| finding.about.clone()).collect();
        findings.extend(self.refused_for(&in_the_way).into_iter().filter(|one| !refused.contains(&one.about)));
        if !findings.is_empty() {
            return Err(Failure::from_findings(Kind::Answer, findings));
        }
        let touched = self.touched_files(&all_written)?;
        self.must_be_permitted(&touched)?;
        let records = self.records(packages, &wheels)?;
        Ok(Brought { wheels, in_the_way, touched, records, staged: None, said })
    }

    /// Fails before a download where neither uv nor pip could install it.
    fn must_have_installer(&self) -> Result<(), Failure> {
        let search = self.session.environment.get("PATH").map_or("", String::as_str);
        let mut installed = self.planned.seen.machine.installed.iter();
        let pip = installed.find(|(name, _)| name.as_ref() == "pip").and_then(|(_, pip)| pip.location.as_ref());
        let has_pip =
            self.layout.folders().into_iter().chain(pip).any(|folder| folder.join("pip/__main__.py").is_file_there());
        let plan = &self.planned.decision.plan;
        if plan.changes.is_empty() || self.is_own() && !plan.builds() || has_pip || find_program("uv", search).is_some()
        {
            return Ok(());
        }
        let python = self.python()?;
        Err(Failure::world(format!("`{}` has no pip, and uv is not on PATH", python.display())).help(format!(
            "install one of them, such as with `{} -m ensurepip`, then run the command again; nothing was changed",
            python.display()
        )))
    }

    /// Waits for another apply of this lock that shares the cache, under another state folder or in another container:
    /// it would delete the wheels when it has done.
    pub(super) fn hold_wheels(&self, folder: &Path) -> Result<File, Failure> {
        let parent = folder.parent().unwrap_or(folder);
        let waiting = || self.session.say("waiting for another colab-boot that is using the same wheels");
        files::create_private_folder(parent)
            .and_then(|()| locks::lock_exclusively(&folder.with_extension("lock"), AT_MOST, &waiting))
            .map_err(|failure| {
                let help = "nothing was changed; set `COLAB_BOOT_CACHE_DIR` to a folder that this user can write to";
                if failure.help.is_empty() { failure.help(help) } else { failure }
            })
    }

    /// Brings the wheels of what changes. Ends before the first change.
    pub(super) fn fetch(
        &self,
        settings: &IndexSettings,
        packages: &[&LockedPackage],
        folder: &Path,
    ) -> Result<Fetched, Failure> {
        files::create_private_folder(folder)?;
        if packages.is_empty() {
            return Ok(Fetched::default());
        }
        self.sources(settings)?.begin(packages, folder, self.manner.style, self.is_own())
    }

    /// Where the files of this apply come from.
    pub(super) fn sources<'b>(&'b self, settings: &'b IndexSettings) -> Result<Retrieval<'b>, Failure> {
        let planned = self.planned;
        self.session.sources(settings, &planned.seen, planned.target.libc(), planned.goal.profile())
    }
}

/// Fails where a wheel of `packages` has another digest than the lock says.
fn must_be_locked(packages: &[&LockedPackage], fetched: &Fetched) -> Result<(), Failure> {
    fetched.finish(&|| false)?;
    for wheel in packages.iter().filter_map(|package| package.wheel()) {
        let Some((source, expected)) = fetched.sources.get(&wheel.file).zip(wheel.sha256) else { continue };
        let path = source.path();
        // What is stored was checked when it came there.
        if matches!(source, WheelSource::Stored(_)) {
            continue;
        }
        match digest(path) {
            Ok((own, _)) if own != expected => return Err(not_locked(path, expected, Some(own))),
            _ => {}
        }
    }
    Ok(())
}

/// Fails where site-packages is a link out of the environment: installers would look for scripts and data beside the
/// folder that it leads to.
fn must_lie_in_the_environment(layout: &Layout) -> Result<(), Failure> {
    let (Ok(site), Ok(prefix)) = (layout.purelib.real(), layout.data.real()) else { return Ok(()) };
    if site.starts_with(&prefix) {
        return Ok(());
    }
    let (link, site) = (layout.purelib.display(), site.display());
    Err(Failure::input(format!("`{link}` is a link to `{site}`, outside of the environment"))
        .help("nothing was changed; move the folder back, or link the whole environment instead"))
}
