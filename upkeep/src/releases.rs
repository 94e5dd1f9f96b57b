//! The releases of watched packages, and their rows.

use std::collections::BTreeMap;

use url::Url;

use colab_boot::boot::index::{Client, IndexSettings};
use colab_boot::boot::reading::WheelReader;
use colab_boot::boot::session::Session;
use colab_boot::core::diag::{Code, Failure, Finding};
use colab_boot::core::matrix::Build;
use colab_boot::core::model::catalog::Candidate;
use colab_boot::core::model::{Libc, PackageName, PythonFacts, Version};

/// Pythons whose wheels are read, the first that a release has.
const PYTHONS: [u64; 8] = [12, 11, 13, 10, 14, 9, 8, 7];

/// The most that a wheel's platform tag may ask for: every one that there is.
const GLIBC: Libc = Libc::Glibc(2, 45);

/// Checks that all of `packages` are watched: a misspelled one would pass as up to date.
pub(crate) fn must_be_watched(session: &Session<'_>, packages: &[PackageName]) -> Result<(), Failure> {
    let names: Vec<&PackageName> = session.matrix.watches.iter().flat_map(|watch| watch.packages.keys()).collect();
    let Some(unknown) = packages.iter().find(|package| !names.contains(package)) else {
        return Ok(());
    };
    let names: Vec<&str> = names.into_iter().map(AsRef::as_ref).collect();
    Err(Failure::input(format!("`{unknown}` is not watched")).help(format!("watched: {}", names.join(", "))))
}

/// The index to read wheels from.
pub(crate) fn online(session: &Session<'_>, settings: &IndexSettings) -> Result<(Client, Url), Failure> {
    if settings.offline {
        return Err(
            Failure::input("--offline: wheels are read from the index").help("run the command without --offline")
        );
    }
    let index = session.default_index(settings, None)?;
    Ok((session.client(std::slice::from_ref(&index), settings.limits)?, index))
}

/// The releases of packages, for whichever Python has a wheel.
pub(crate) struct Releases<'a> {
    pub(crate) session: &'a Session<'a>,
    pub(crate) client: &'a Client,
    pub(crate) index: Url,
}

impl<'a> Releases<'a> {
    /// Every release of `package` from `since` on that has a wheel for `x86_64`, oldest first: stable ones that were
    /// not yanked.
    pub(crate) fn of(
        &self,
        package: &PackageName,
        since: &Version,
    ) -> Result<BTreeMap<Version, (Candidate, u64)>, Failure> {
        let mut found = BTreeMap::new();
        for python in PYTHONS {
            let listing = self.reader(python, false)?.listing(package)?;
            for candidate in &listing.candidates {
                let wanted = candidate.version >= *since && !candidate.version.any_prerelease();
                if wanted && candidate.yanked.is_none() {
                    found.entry(candidate.version.clone()).or_insert_with(|| (candidate.clone(), python));
                }
            }
            let rejected = |version: &Version| version >= since && !found.contains_key(version);
            if !listing.rejected.iter().any(|(version, _)| rejected(version)) {
                break;
            }
        }
        Ok(found)
    }

    /// The row of one wheel, or why there can be none.
    pub(crate) fn row(
        &self,
        candidate: &Candidate,
        python: u64,
        thorough: bool,
    ) -> Result<Result<Build, Finding>, Failure> {
        let reading = self.reader(python, thorough)?.candidate(candidate)?;
        if let Some(doubt) = reading.build.doubt() {
            let message = format!("no row can be made of `{}`", reading.wheel);
            return Ok(Err(Finding::error(Code::WheelMalformed, message).with_note(doubt)));
        }
        Ok(Ok(Build::of_wheel(&reading.wheel, reading.sha256, &reading.build, &reading.metadata)))
    }

    /// A reader of the wheels for `python`, whatever glibc they need.
    pub(crate) fn reader(&self, python: u64, thorough: bool) -> Result<WheelReader<'a>, Failure> {
        self.reader_for(python, GLIBC, thorough)
    }

    pub(crate) fn reader_for(&self, python: u64, libc: Libc, thorough: bool) -> Result<WheelReader<'a>, Failure> {
        let facts = PythonFacts {
            version: Version::new([3, python, 0]),
            architecture: "x86_64".to_owned(),
            libc,
            free_threaded: false,
        };
        WheelReader::new(self.session, self.client, self.index.clone(), facts, thorough)
    }
}
