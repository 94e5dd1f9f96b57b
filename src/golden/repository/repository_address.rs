//! A repository as a reader finds it: a folder, a clone, or an address that serves the same files. Nothing but the
//! index is believed; files are held against the sizes and digests that it names.

use std::path::{Path, PathBuf};
use std::time::Duration;

use url::Url;

use crate::boot::index::{Client, Credentials, Limits, fetch_bytes, is_open, redact, without_login};
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind, shell_word};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::Sha256;
use crate::golden::catalogue::{Catalogue, LARGEST};
use crate::golden::entry::{Release, ReleaseFile};
use crate::golden::index_trust::{Confirmation, Trust, Vouched, vouch};
use crate::golden::repository::{FRESH_FILE, INDEX_FILE, LARGEST_LIST, SIGNERS_FILE};
use crate::golden::signed_text::split;

/// For all that one command reads of an address.
pub const TO_READ: Duration = Duration::from_secs(30);
/// For asking a repository whether a pinned release still stands. One that does not answer leaves that unchecked.
pub const TO_ASK: Duration = Duration::from_secs(5);

/// What Git LFS leaves in place of a file that was not fetched.
const LFS: &[u8] = b"version https://git-lfs";

/// A repository that can be read.
pub struct Repository {
    place: Place,
}

enum Place {
    Folder(PathBuf),
    Web { base: Url, client: Box<Client> },
}

impl Repository {
    /// The one at `text`: a folder, or an address with or without its last slash, which is read from for so much
    /// `time`.
    pub fn open(text: &str, time: Duration, session: &Session<'_>) -> Result<Self, Failure> {
        // Who copies an address from a browser copies that of the index.
        let text = if text == INDEX_FILE { "." } else { text };
        let text = text.strip_suffix(INDEX_FILE).filter(|rest| rest.ends_with('/')).unwrap_or(text);
        let base = match text.split_once("://") {
            None => return Ok(Self { place: Place::Folder(real(Path::new(text))?) }),
            Some(_) => Url::parse(text),
        };
        let mut base = base.map_err(|error| Failure::input("the address of the repository").because(&error))?;
        if let ("file", Ok(folder)) = (base.scheme(), base.to_file_path()) {
            return Ok(Self { place: Place::Folder(real(&folder)?) });
        }
        if !matches!(base.scheme(), "https" | "http") || is_open(&base) {
            return Err(Failure::input(format!("`{}` can't be used as a golden repository", redact(&base)))
                .help("name a folder, or an address that begins with https://"));
        }
        let path = format!("{}/", base.path().trim_end_matches('/'));
        base.set_path(&path);
        if let Some(token) = session.environment.get("COLAB_BOOT_GOLDEN_TOKEN").filter(|token| !token.is_empty()) {
            // It goes into one header, for this address alone.
            let _ = base.set_username("x-access-token").and_then(|()| base.set_password(Some(token)));
        }
        let credentials = Credentials::collect(std::slice::from_ref(&base), session.environment);
        let base = without_login(&base);
        let client = Box::new(Client::new(credentials, Limits { connections: 4, time }, session.log.clone())?);
        Ok(Self { place: Place::Web { base, client } })
    }

    /// For people.
    pub fn name(&self) -> String {
        match &self.place {
            Place::Folder(folder) => folder.display().to_string(),
            Place::Web { base, .. } => redact(base),
        }
    }

    /// The bytes of `path`, which this program has made: `None` where there is no such file. More than `limit` bytes
    /// are an error.
    pub fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        match &self.place {
            Place::Folder(folder) => {
                let path = folder.join(path);
                if !files::is_file(&path)? {
                    return Ok(None);
                }
                files::read_bytes(&path, limit)
                    .map(Some)
                    .map_err(|error| Failure::world(format!("could not read `{}`", path.display())).because(&error))
            }
            Place::Web { base, client } => {
                let url = base.join(path).map_err(|error| Failure::input("an address").because(&error))?;
                fetch_bytes(client, &url, limit).map_err(private)
            }
        }
    }

    /// The index, judged by what `trust` knows.
    pub fn vouched(&self, trust: &Trust, now: u64) -> Result<Vouched, Failure> {
        let index = self.read(INDEX_FILE, LARGEST)?.ok_or_else(|| {
            let none = Failure::world(format!("`{}` has no `{INDEX_FILE}`", self.name()));
            match &self.place {
                Place::Folder(folder) if !folder.is_folder_there() => {
                    none.help("there is no such folder; the URL of a repository begins with `https://`")
                }
                _ => none.help("if it was moved, ask its maintainers and name its new address with --repo"),
            }
        })?;
        let fresh = self.read(FRESH_FILE, LARGEST).ok().flatten();
        let list = fresh.is_some().then(|| self.read(SIGNERS_FILE, LARGEST_LIST).ok().flatten()).flatten();
        let list = list.unwrap_or_default();
        let fresh = fresh.as_deref().map(|statement| Confirmation { statement, list: &list });
        let mut vouched =
            vouch(&index, fresh, trust, now).map_err(|finding| Failure::from_findings(Kind::Answer, vec![finding]))?;
        let help = format!(
            "`colab-boot golden trust --repo {}` shows its keys, and how to pin them",
            shell_word(Path::new(&self.name()))
        );
        for finding in vouched.findings.iter_mut().filter(|finding| finding.code == Code::GoldenUnsigned) {
            finding.help.push(help.clone());
        }
        Ok(vouched)
    }

    /// The number of the last change of the signers, as the index has it: who has signed that is not looked at.
    pub fn steps(&self) -> Result<u64, Failure> {
        let index = self.read(INDEX_FILE, LARGEST)?.unwrap_or_default();
        let catalogue = split(&index).and_then(|signed| Catalogue::parse(signed.text));
        Ok(catalogue.ok().and_then(|catalogue| catalogue.signers).map_or(0, |row| row.step))
    }

    /// The file `file` of `release`, as the index means it.
    pub fn file(&self, release: &Release, file: &ReleaseFile) -> Result<Vec<u8>, Failure> {
        let path = format!("{}/{}", release.folder(), file.name);
        let bytes = self.read(&path, file.size.saturating_add(64 << 10))?;
        match bytes {
            Some(bytes) if bytes.len() as u64 == file.size && Sha256::of(&bytes) == file.sha256 => Ok(bytes),
            other => Err(Failure::from_findings(Kind::Answer, vec![differs(&path, other.as_deref(), file)])),
        }
    }
}

fn private(failure: Failure) -> Failure {
    match failure.to_string() {
        // The time is not one of an option.
        said if said.contains("the network failed") => Failure { help: Vec::new(), ..failure }
            .help("run the command again, or clone the repository and name its folder"),
        said if said.contains("401") || said.contains("403") => {
            failure.help("for a private repository, set COLAB_BOOT_GOLDEN_TOKEN or use netrc")
        }
        _ => failure,
    }
}

/// A folder by its one name: links and dots lead to the same repository, and to the same trust.
fn real(folder: &Path) -> Result<PathBuf, Failure> {
    if folder.as_os_str().is_empty() {
        return Err(Failure::input("no repository is named").help("pass its folder or URL with --repo"));
    }
    folder.real().or_else(|_| files::absolute(folder))
}

/// How a file is not the one that was meant.
fn differs(path: &str, bytes: Option<&[u8]>, file: &ReleaseFile) -> Finding {
    let finding = |code: Code, what: &str| Finding::error(code, format!("`{path}` {what}"));
    let Some(bytes) = bytes else {
        return finding(Code::GoldenFileDiffers, "is missing, but the index names it")
            .with_help("its maintainers must restore it from version control");
    };
    let without_returns: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != b'\r').collect();
    if bytes.starts_with(LFS) {
        return finding(Code::GoldenFileDiffers, "is a Git LFS pointer, not the file")
            .with_help("fetch it with `git lfs pull`, and do not store releases in LFS");
    }
    if without_returns.len() != bytes.len() && Sha256::of(&without_returns) == file.sha256 {
        return finding(Code::GoldenLineEnds, "has different line endings than the published file")
            .with_help("git changed them: clone again with `git -c core.autocrlf=false clone`, and keep `* -text` in .gitattributes");
    }
    let finding = finding(Code::GoldenFileDiffers, "is not the file that was published");
    finding.with_help("its maintainers must restore it from version control").with_note(format!(
        "expected {} bytes with sha256 {}, got {} with {}",
        file.size,
        file.sha256,
        bytes.len(),
        Sha256::of(bytes)
    ))
}
