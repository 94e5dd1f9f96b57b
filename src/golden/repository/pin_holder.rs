//! What a reader has taken of a repository, and where it is kept: a folder with `golden.lock`, or the cell of a
//! notebook.

use std::path::{Path, PathBuf};

use crate::boot::lock::read_lock;
use crate::core::diag::{Code, Failure, Finding, Subject, shell_word};
use crate::core::host::destination::{must_be_as_seen, write_output};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;
use crate::core::model::Sha256;
use crate::core::model::ipynb::Ipynb;
use crate::golden::entry::Release;
use crate::golden::in_notebook::{CellFault, boot_cell, cell_faults, held, with_release};
use crate::golden::index_trust::Vouched;
use crate::golden::pin::{PIN_FILE, Pin, Pins};
use crate::golden::repository::Repository;
use crate::golden::repository::source_request::SourceRequest;

/// A repository that was read and is believed.
pub struct Read {
    pub repository: Repository,
    pub vouched: Vouched,
}

impl Read {
    fn text(&self, release: &Release, suffix: &str) -> Result<(String, Vec<u8>), Failure> {
        let file = release
            .file(suffix)
            .ok_or_else(|| Failure::answer(format!("{} has no `{}.{suffix}`", release.title(), release.name)))?;
        Ok((file.name.clone(), self.repository.file(release, file)?))
    }

    /// What pins `release`, which was asked for as `asked`.
    pub fn pin(&self, release: &Release, asked: &str) -> Result<Pin, Failure> {
        let lock = release.file("lock").ok_or_else(|| Failure::answer(format!("{} has no lock", release.title())))?;
        Ok(Pin {
            name: release.name.clone(),
            original: asked.split('#').next().unwrap_or(asked).to_owned(),
            version: release.version.clone(),
            sha256: lock.sha256,
            from: self.repository.name(),
            repository: self.vouched.catalogue.name.clone(),
            seq: self.vouched.catalogue.seq,
            signers: self.vouched.by.clone(),
            allow_yanked: false,
        })
    }

    /// The release that `pin` means, where the index has it still.
    fn release(&self, pin: &Pin) -> Option<&Release> {
        let title = format!("{}@{}", pin.name, pin.version);
        self.vouched.catalogue.releases.iter().find(|release| release.title() == title)
    }
}

/// The option that names a folder or a notebook with pins, where a verb would not find it without one.
pub fn into_option(path: &Path) -> String {
    let is_here = path.as_os_str().is_empty() || path == Path::new(".");
    if is_here { String::new() } else { format!(" --into {}", shell_word(path)) }
}

/// Where releases are taken to.
pub enum Holder {
    Folder(PathBuf),
    Notebook(PathBuf),
}

impl Holder {
    /// A path that ends in `.ipynb`, or has another ending and is no folder, is a notebook.
    pub fn at(path: &Path) -> Self {
        match path.extension() {
            Some(_) if !path.is_folder_there() => Self::Notebook(path.to_owned()),
            _ => Self::Folder(path.to_owned()),
        }
    }

    /// The file that pins, for people.
    pub fn name(&self) -> String {
        match self {
            Self::Folder(folder) => folder.join(PIN_FILE).display().to_string(),
            Self::Notebook(path) => path.display().to_string(),
        }
    }

    /// What is pinned here; nothing where there is no such file yet.
    pub fn pins(&self) -> Result<Pins, Failure> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(PIN_FILE);
                let text = files::read_optional(&path)?;
                // A link that leads nowhere is no folder without pins.
                if text.is_none() && path.look_at_entry().is_ok() {
                    return Err(self.unreadable("it is a link to a file that is missing"));
                }
                Ok(text
                    .map(|text| Pins::parse(&text).map_err(|why| self.unreadable(why)))
                    .transpose()?
                    .unwrap_or_default())
            }
            Self::Notebook(path) => {
                let Some(text) = notebook_text(path)? else { return Ok(Pins::default()) };
                let notebook = Ipynb::parse(&text).map_err(|why| self.unreadable(why))?;
                let all = held(&notebook).into_iter().map(|held| held.pin).collect();
                Ok(Pins { all, ..Pins::default() })
            }
        }
    }

    fn unreadable(&self, why: impl Into<String>) -> Failure {
        let failure = Failure::input(format!("`{}` can't be read", self.name())).cause(why);
        match self {
            Self::Folder(_) => failure
                .help("restore it from version control, or remove it and run `colab-boot golden add` for each release"),
            Self::Notebook(_) => failure.help("save it with Jupyter, or name a file that is not there: it is written"),
        }
    }

    /// Whom to believe: what the user names; else what a cell carries, which is pinned by nobody else here.
    pub fn source(&self, request: &SourceRequest) -> Result<SourceRequest, Failure> {
        let mut source = request.clone();
        let Self::Notebook(path) = self else { return Ok(source) };
        if source.repo.is_some() || !source.trusted_key.is_empty() {
            return Ok(source);
        }
        let text = notebook_text(path)?.unwrap_or_default();
        let cells = Ipynb::parse(&text).map(|notebook| held(&notebook)).unwrap_or_default();
        if let Some(home) = cells.into_iter().find_map(|held| held.home) {
            source.repo = Some(home.at);
            source.trusted_key = home.keys;
            source.threshold = home.threshold;
            source.min_seq = source.min_seq.max(home.min_seq);
        }
        Ok(source)
    }

    /// Puts `release` here, in the place of the release `before`, whole or not at all, and pins it. Names of what was
    /// written. What somebody else has written here, or changed since, is not written over.
    pub fn take(
        &self,
        found: &Read,
        release: &Release,
        before: Option<&Pin>,
        pin: Pin,
    ) -> Result<Vec<String>, Failure> {
        let Taking { names, outputs } = self.taking(found, release, before, pin)?;
        if let Self::Folder(folder) = self {
            files::create_folder(folder)?;
        }
        // An editor may have saved one since it was read; then none is written.
        outputs.iter().try_for_each(|(path, _, seen)| must_be_as_seen(path, *seen))?;
        for (path, bytes, _) in outputs {
            write_output(&path, &bytes)?;
        }
        Ok(names)
    }

    /// What [`take`](Self::take) would write. Fails where that would overwrite what is the user's.
    pub fn taking(&self, found: &Read, release: &Release, before: Option<&Pin>, pin: Pin) -> Result<Taking, Failure> {
        match self {
            Self::Folder(folder) => {
                let mut outputs = into_folder(found, release, folder)?;
                let place = folder.join(PIN_FILE);
                let seen = Stamp::of(&place);
                let mut pins = self.pins()?;
                pins.put(pin);
                let text = pins.to_text().map_err(Failure::bug)?;
                let names =
                    outputs.iter().filter_map(|(path, ..)| path.file_name()?.to_str().map(str::to_owned)).collect();
                // The pin is last: it says that the others are there.
                outputs.push((place, text.into_bytes(), seen));
                Ok(Taking { names, outputs })
            }
            Self::Notebook(path) => {
                let seen = Stamp::of(path);
                let text = into_notebook(found, (release, &pin), before, path)?;
                let outputs = vec![(path.clone(), text.into_bytes(), seen)];
                Ok(Taking { names: vec![path.display().to_string()], outputs })
            }
        }
    }

    /// How what lies here differs from what `pin` means: the lock, and what the release had beside it, where the
    /// repository could be asked.
    pub fn fault(&self, pin: &Pin, found: Option<&Read>) -> Result<Option<Finding>, Failure> {
        let release = found.and_then(|found| Some((found, found.release(pin)?)));
        match self {
            Self::Folder(folder) => fault_of_files(folder, pin, release.map(|(_, release)| release)),
            Self::Notebook(path) => {
                release.map_or(Ok(None), |(found, release)| fault_of_cell(path, pin, found, release))
            }
        }
    }
}

fn fault_of_files(folder: &Path, pin: &Pin, release: Option<&Release>) -> Result<Option<Finding>, Failure> {
    let title = format!("{}@{}", pin.name, pin.version);
    let add = format!("colab-boot golden add {title}{}", into_option(folder));
    let [lock, profile] = ["lock", "toml"].map(|suffix| folder.join(format!("{}.{suffix}", pin.name)));
    let missing =
        |path: &Path| (format!("`{}` of {title} is missing", path.display()), format!("`{add}` writes it again"));
    let Some(locked) = files::read_optional(&lock)? else { return Ok(Some(differs(missing(&lock)))) };
    let is_pinned = has_digest(&locked, pin.sha256);
    let text = files::read_optional(&profile)?;
    // The lock that is pinned names the profile that it was made from.
    let of_lock = read_lock(&locked).ok().filter(|_| is_pinned).map(|lock| lock.profile.sha256);
    let of_release = release.and_then(|release| release.file("toml")).map(|file| file.sha256);
    let mut known = [of_lock, of_release].into_iter().flatten();
    let is_changed = text.as_ref().is_some_and(|text| known.any(|sha256| !has_digest(text, sha256)));
    let quoted = |path: &Path| format!("`{}`", path.display());
    let said = match (is_pinned, is_changed) {
        (false, true) => (
            format!("{} and {} differ from {title}", quoted(&lock), quoted(&profile)),
            format!("move the files, then run `{add}`"),
        ),
        (true, false) if text.is_some() => return Ok(None),
        (true, false) => missing(&profile),
        _ => {
            let path = if is_pinned { &profile } else { &lock };
            (format!("{} differs from {title}", quoted(path)), format!("move the file, then run `{add}`"))
        }
    };
    Ok(Some(differs(said)))
}

fn differs((message, help): (String, String)) -> Finding {
    Finding::error(Code::GoldenFileDiffers, message).with_help(help)
}

fn fault_of_cell(path: &Path, pin: &Pin, found: &Read, release: &Release) -> Result<Option<Finding>, Failure> {
    let (_, bytes) = found.text(release, "ipynb")?;
    let boot = boot_cell(&String::from_utf8_lossy(&bytes)).map_err(Failure::answer)?;
    let text = notebook_text(path)?.unwrap_or_default();
    let cells = Ipynb::parse(&text).map(|notebook| held(&notebook)).unwrap_or_default();
    let edited = cells.iter().find(|held| held.pin.name == pin.name && !same(&held.source, &boot));
    Ok(edited.map(|held| {
        let title = format!("{}@{}", pin.name, pin.version);
        let message = format!("cell {} of `{}` differs from {title}", held.at + 1, path.display());
        let (from, into) = (shell_word(Path::new(&pin.from)), into_option(path));
        let help = format!("remove that cell, then run `colab-boot golden add {title} --repo {from}{into}`");
        Finding::error(Code::GoldenFileDiffers, message).with_help(help)
    }))
}

fn has_digest(text: &str, sha256: Sha256) -> bool {
    Sha256::of(text.as_bytes()) == sha256
}

impl Holder {
    /// What is wrong with the order of the cells, and with those that verify; nothing of a folder.
    pub fn cell_findings(&self) -> Result<Vec<Finding>, Failure> {
        let Self::Notebook(path) = self else { return Ok(Vec::new()) };
        let text = notebook_text(path)?.unwrap_or_default();
        let faults = cell_faults(
            &Ipynb::parse(&text)
                .map_err(|why| Failure::input(format!("`{}` can't be read", path.display())).cause(why))?,
        );
        Ok(faults
            .iter()
            .map(|fault| {
                let message = format!("`{}`: {fault}", path.display());
                let finding = match fault {
                    CellFault::Unverified { .. } | CellFault::OtherPin { .. } => {
                        Finding::error(Code::GoldenFileDiffers, message)
                    }
                    CellFault::Repeated { .. } | CellFault::CodeBefore { .. } => {
                        Finding::warning(Code::GoldenFileDiffers, message)
                    }
                };
                finding.about(Subject::file(path)).with_help(fault.help())
            })
            .collect())
    }
}

/// What is written where a release is taken.
pub struct Taking {
    names: Vec<String>,
    outputs: Vec<Output>,
}

/// A file, its new content, and what it looked like before it was read.
type Output = (PathBuf, Vec<u8>, Stamp);

/// Whether the cell `here` is `boot`, but for marks of cells and what verifies behind it, as a script has them.
fn same(here: &str, boot: &str) -> bool {
    let body = here.trim().trim_start_matches("# %%").trim_start();
    let body = body.split("\n# %%\n").next().unwrap_or(body);
    body.trim_end() == boot.trim_end()
}

/// A notebook is larger than what people write by hand: it holds pictures.
const LARGEST: u64 = 512 << 20;

/// The text of a notebook, as it stands on the disk; `None` where there is none.
fn notebook_text(path: &Path) -> Result<Option<String>, Failure> {
    if !files::is_file(path)? {
        return Ok(None);
    }
    let bytes = files::read_bytes(path, LARGEST)
        .map_err(|error| Failure::world(format!("could not read `{}`", path.display())).because(&error))?;
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| Failure::input(format!("`{}` is not UTF-8; notebooks must be", path.display())))
}

/// The profile and the lock of `release` for `folder`.
fn into_folder(found: &Read, release: &Release, folder: &Path) -> Result<Vec<Output>, Failure> {
    let both: Vec<(String, Vec<u8>)> =
        ["toml", "lock"].into_iter().map(|suffix| found.text(release, suffix)).collect::<Result<_, Failure>>()?;
    if folder.is_there() && !folder.is_folder_there() {
        return Err(Failure::input(format!("--into: `{}` is neither a folder nor a notebook", folder.display())));
    }
    // What any release has put here, in a run that was ended half-way as well, is no work of the user's.
    let published = |name: &str, digest: Sha256| {
        let mut files = found.vouched.catalogue.releases.iter().flat_map(|release| &release.files);
        files.any(|file| file.name == name && file.sha256 == digest)
    };
    let mut outputs = Vec::new();
    for (name, bytes) in both {
        let path = folder.join(&name);
        let seen = Stamp::of(&path);
        let here = files::read_optional(&path)?.map(|text| Sha256::of(text.as_bytes()));
        if here.is_some_and(|here| here != Sha256::of(&bytes) && !published(&name, here)) {
            return Err(Failure::input(format!("`{}` exists and is of no release of this index", path.display()))
                .help("move it away, or name another folder with --into; nothing was changed"));
        }
        outputs.push((path, bytes, seen));
    }
    Ok(outputs)
}

/// The notebook of `release`, and the cell in it that boots.
fn notebook_of(found: &Read, release: &Release) -> Result<(String, String), Failure> {
    let (name, bytes) = found.text(release, "ipynb")?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let boot = boot_cell(&text).map_err(|why| Failure::answer(format!("`{name}`")).cause(why))?;
    Ok((text, boot))
}

/// The notebook at `path` with the cell of `release`, a new one where there is none.
fn into_notebook(
    found: &Read,
    (release, pin): (&Release, &Pin),
    before: Option<&Pin>,
    path: &Path,
) -> Result<String, Failure> {
    let (whole, boot) = notebook_of(found, release)?;
    let text = notebook_text(path)?.unwrap_or(whole);
    let notebook =
        Ipynb::parse(&text).map_err(|why| Failure::input(format!("`{}` can't be read", path.display())).cause(why))?;
    let here = held(&notebook).into_iter().filter(|held| held.pin.name == release.name);
    let old = before.and_then(|pin| found.release(pin)).map(|old| notebook_of(found, old)).transpose()?;
    for here in here {
        let sources = [Some(&boot), old.as_ref().map(|(_, boot)| boot)];
        if !sources.into_iter().flatten().any(|source| same(&here.source, source)) {
            return Err(Failure::input(format!(
                "cell {} of `{}` was changed after `golden add`",
                here.at + 1,
                path.display()
            ))
            .help("move your code into another cell, then undo the change or remove the cell; nothing was changed"));
        }
    }
    Ok(with_release(&notebook, pin, &boot))
}
