//! An archive, unpacked by the system's own tools into a fresh folder beside the destination, and moved from there: all
//! of it, or nothing.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata, Permissions};
use std::io::{Read, Seek};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::core::diag::Failure;
use crate::core::host::command::{Invocation, NoResult, find_program, last_lines};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::log::Progress;
use crate::core::model::Sha256;
use crate::health::stage::copying::{keep_mode, make_folder, make_folders};
use crate::health::stage::journal::{Journal, Line};
use crate::health::stage::listing::{Entry, Listing, changed, list, modified};
use crate::health::stage::not_copied::NotCopied;
use crate::health::stage::parts::Parts;
use crate::health::stage::{MARGIN, Staged, Staging, is_copy, must_hold};

/// How archives begin, with the tools that unpack them and the option of the first one.
const KINDS: &[(&[u8], &[&str], Option<&str>)] = &[
    (b"PK\x03\x04", &["unzip"], None),
    (b"PK\x05\x06", &["unzip"], None),
    (b"\x1f\x8b", &["tar", "gzip"], Some("--gzip")),
    (b"\x28\xb5\x2f\xfd", &["tar", "zstd"], Some("--zstd")),
    (b"\xfd7zXZ\0", &["tar", "xz"], Some("--xz")),
    (b"BZh", &["tar", "bzip2"], Some("--bzip2")),
];

/// A plain tar file says so at byte 257 (POSIX.1-1988); older ones have the name alone.
const TAR: (&[u8], usize) = (b"ustar", 257);

/// What `unzip -Z1` prints for a zip file without members.
const EMPTY_ZIP: &str = "Empty zipfile.";

/// Variables that hold options of the tools.
const OPTIONS: &[&str] = &["TAR_OPTIONS", "UNZIP", "UNZIPOPT", "ZIPINFO", "GZIP", "XZ_OPT"];

/// What GNU tar says with `--block-number` of a block of zeros, and where the file ends.
const ZEROS: &str = ": ** Block of NULs **";
const END: &str = ": ** End of File **";

/// An archive that takes longer is not unpacked at all.
const LIMIT: Duration = Duration::from_hours(48);

/// An archive that is open, and how it is unpacked.
struct Archive<'a> {
    path: &'a Path,
    file: File,
    size: u64,
    /// The same archive of another time has another.
    of: Sha256,
    /// Which file it is, and when it was changed.
    which: [i128; 4],
    tools: &'static [&'static str],
    option: Option<&'static str>,
}

impl<'a> Archive<'a> {
    fn open(path: &'a Path) -> Result<Self, Failure> {
        let failed = |error| Failure::world(format!("could not read `{}`", path.display())).because(&error);
        let file = files::open(path).map_err(failed)?;
        let data = file.metadata().map_err(failed)?;
        if data.is_dir() {
            return Err(Failure::input(format!("`{}` is a folder, but --unpack needs an archive", path.display())));
        }
        let mut start = Vec::new();
        (&file).take(512).read_to_end(&mut start).and_then(|_| (&file).rewind()).map_err(failed)?;
        let is_tar = start.get(TAR.1..).is_some_and(|rest| rest.starts_with(TAR.0))
            || path.to_string_lossy().to_lowercase().ends_with(".tar");
        let kind =
            KINDS.iter().find(|(magic, ..)| start.starts_with(magic)).map(|(_, tools, option)| (*tools, *option));
        let Some((tools, option)) = kind.or_else(|| is_tar.then_some((["tar"].as_slice(), None))) else {
            let failure = Failure::input(format!("`{}` is not a supported archive", path.display()));
            return Err(failure.help(
                "supported are zip and tar files (plain, gzip, zstd, xz, bzip2); without --unpack the file is copied",
            ));
        };
        let of = Sha256::of(format!("{}\0{}", data.len(), modified(&data)).as_bytes());
        Ok(Self { path, file, size: data.len(), of, which: which(&data), tools, option })
    }

    /// Its first tool with `arguments`.
    fn invocation(&self, arguments: &[&str], environment: &BTreeMap<String, String>) -> Result<Invocation, Failure> {
        let search = environment.get("PATH").map_or("", String::as_str);
        let programs = self
            .tools
            .iter()
            .map(|tool| {
                find_program(tool, search).ok_or_else(|| {
                    let path = self.path.display();
                    let package = if *tool == "xz" { "xz-utils" } else { tool };
                    Failure::world(format!("`{path}` needs `{tool}` to unpack, which is not installed"))
                        .help(format!("apt-get install {package}"))
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut environment = environment.clone();
        // What these say is not what was asked for here.
        environment.retain(|name, _| !OPTIONS.contains(&name.as_str()));
        environment.insert("LC_ALL".to_owned(), "C".to_owned());
        Ok(Invocation::new(&programs[0], arguments, &environment))
    }

    /// Unpacks all of it into `folder`, an empty one.
    fn unpack(
        &self,
        folder: &Path,
        environment: &BTreeMap<String, String>,
        sink: &dyn Progress,
    ) -> Result<(), Failure> {
        let mut arguments = match self.tools[0] {
            // Without a password it would ask for one.
            "unzip" => vec!["-q", "-o", "-P", "", "/dev/stdin"],
            // Several archives in one file are one.
            _ => vec![
                "--extract",
                "--ignore-zeros",
                "--block-number",
                "--file=-",
                "--no-same-owner",
                "--no-same-permissions",
            ],
        };
        arguments.extend(self.option);
        let invocation = Invocation { folder: Some(folder.to_owned()), ..self.invocation(&arguments, environment)? };
        // A place in the file is one for all who have it open: how far the tool has read is seen here.
        let shared = self
            .file
            .try_clone()
            .map_err(|error| Failure::world(format!("could not read `{}`", self.path.display())).because(&error))?;
        let (is_full, seen) = (Cell::new(false), Cell::new(0));
        let ended = invocation.output_of(Some(shared), LIMIT, &|| {
            let at = (&self.file).stream_position().unwrap_or_default();
            sink.bytes(&self.path.to_string_lossy(), at.saturating_sub(seen.replace(at.max(seen.get()))));
            is_full.set(files::volume(folder).is_ok_and(|volume| volume.free < MARGIN));
            is_full.get()
        });
        let nothing = "nothing was unpacked";
        let message = format!("`{}` could not be unpacked", self.path.display());
        let is_same = |data: std::io::Result<Metadata>| data.is_ok_and(|data| which(&data) == self.which);
        match ended {
            // Of `unzip` 1 is a warning.
            Ok(finished) if finished.code == 0 || finished.code == 1 && self.tools[0] == "unzip" => {
                if !is_same(self.file.metadata()) || !is_same(self.path.look()) {
                    let failure = Failure::world(format!("`{}` changed while it was unpacked", self.path.display()));
                    return Err(failure.help(format!("{nothing}; run the command again when the file is complete")));
                }
                if self.is_no_tar(&finished.stdout, folder) {
                    return Err(self.one_file());
                }
                if is_cut_off(&finished.stdout) {
                    let message = format!("`{}` is truncated: the end of the tar file is missing", self.path.display());
                    return Err(Failure::world(message).help(format!("{nothing}; copy the archive again")));
                }
                Ok(())
            }
            // `unzip` says so by its exit status alone.
            Ok(finished) if self.tools[0] == "unzip" && (81..=82).contains(&finished.code) => {
                let (why, help) = unzip_refusal(finished.code);
                Err(Failure::world(message).cause(why).help(help))
            }
            Ok(finished) if self.is_no_tar(&finished.stderr, folder) => Err(self.one_file()),
            Ok(finished) => {
                let said = if finished.stderr.trim().is_empty() { &finished.stdout } else { &finished.stderr };
                let failure = Failure::world(message).cause(last_lines(said, 4));
                Err(failure
                    .help(format!("{nothing}; copy the archive again if it was truncated, or unpack it by hand")))
            }
            Err(_) if is_full.get() => {
                let failure = Failure::world(format!("{message}: its content is larger than the free disk space"));
                Err(failure.help(format!("{nothing}; free some space, or name another disk")))
            }
            Err(NoResult::Failed(error)) => Err(Failure::world(message).because(&error).help(nothing)),
            Err(NoResult::NotFound | NoResult::TimedOut(_)) => Err(Failure::world(message).help(nothing)),
        }
    }

    /// Whether nothing came out of it and tar has `said` that it is no archive: data that was compressed alone.
    fn is_no_tar(&self, said: &str, folder: &Path) -> bool {
        let is_none = said.contains("does not look like a tar archive") || is_cut_off(said);
        self.option.is_some() && is_none && files::names_if_any(folder).is_empty()
    }

    fn one_file(&self) -> Failure {
        Failure::input(format!("`{}` is a single compressed file, not an archive", self.path.display()))
            .help("nothing was unpacked; copy it without --unpack, or decompress it by hand")
    }

    /// An error where members of a zip file are missing, or came under another name: `unzip` leaves out those that have
    /// a password, takes the dots out of paths that lead out of the folder, and only warns.
    fn must_be_all(&self, listing: &Listing, environment: &BTreeMap<String, String>) -> Result<(), Failure> {
        if self.tools[0] != "unzip" {
            return Ok(());
        }
        let failed = |why: &str| {
            let failure = Failure::world(format!("not all of `{}` could be unpacked: {why}", self.path.display()));
            failure.help("nothing was unpacked; unpack it by hand, with the password if it has one")
        };
        let list = self.invocation(&["-Z1", "/dev/stdin"], environment)?;
        let input = self.file.try_clone().map_err(|error| failed(&error.to_string()))?;
        let listed = list
            .output_of(Some(input), LIMIT, &|| false)
            .map_err(|_| failed(&format!("`unzip -Z1 {}`", self.path.display())))?;
        // More names than are kept of what it says are not counted.
        let is_outside = |name: &&str| name.starts_with('/') || name.split(['/', '\\']).any(|part| part == "..");
        if let Some(name) = listed.stdout.lines().find(is_outside) {
            let failure = Failure::world(format!("`{name}` in `{}` leads out of the folder", self.path.display()));
            return Err(failure.help("nothing was unpacked; unpack it by hand if you trust it"));
        }
        let names: BTreeSet<&str> =
            listed.stdout.lines().filter(|name| !name.ends_with('/') && *name != EMPTY_ZIP).collect();
        let came = listing.entries.len() + listing.skipped.len() + listing.failed.len();
        let missing = names.len().saturating_sub(came);
        if missing == 0 { Ok(()) } else { Err(failed(&format!("{missing} of {} members are missing", names.len()))) }
    }
}

fn which(data: &Metadata) -> [i128; 4] {
    [data.dev().into(), data.ino().into(), data.len().into(), changed(data)]
}

/// Whether a tar file ends before the block of zeros that ends an archive: of one that was cut off between two members
/// nothing else tells. `said` by tar.
fn is_cut_off(said: &str) -> bool {
    let block =
        |line: &str, what: &str| -> Option<u64> { line.strip_prefix("block ")?.strip_suffix(what)?.parse().ok() };
    let Some(end) = said.lines().rev().find_map(|line| block(line, END)) else { return false };
    said.lines().rev().find_map(|line| block(line, ZEROS)).is_none_or(|zeros| zeros + 1 < end)
}

/// Unpacks the archive that the source is.
pub(super) fn unpack(
    (staging, parts): (&Staging, &Parts),
    journal: &Journal,
    environment: &BTreeMap<String, String>,
    progress: &dyn Fn(u64) -> Arc<dyn Progress>,
) -> Result<Staged, Failure> {
    let archive = Archive::open(&staging.from)?;
    let work = Work { staging, journal, of: archive.of };
    // No member has such a path.
    let whole = staging.from.display().to_string();
    if !staging.verify
        && journal.line(&whole).is_some_and(|line| work.is_its(line) && work.has_all(line))
        && work.stands()
    {
        return Ok(Staged { there: work.lines().count() as u64, ..Staged::default() });
    }
    let fresh = parts.fresh()?;
    // It holds that much at least, unless it is packed better than it can be.
    must_hold(&staging.to, archive.size, 0)?;
    let sink = progress(archive.size);
    archive.unpack(fresh.path(), environment, sink.as_ref())?;
    fresh.open_up();
    let listing = list(fresh.path())?;
    archive.must_be_all(&listing, environment)?;
    let mut staged = Staged::default();
    work.bring(&listing, &mut staged)?;
    staged.skipped = listing.skipped;
    staged.failed.extend(listing.failed);
    if staged.failed.is_empty() {
        let (size, from, of) = (archive.size, journal.from(), Some(archive.of));
        let stored = i128::try_from(listing.entries.len()).unwrap_or_default();
        let line = Line { path: whole, size, modified: 0, stored, from, sha256: None, of, announced: false };
        journal.add(&line).map_err(|error| not_written(&staging.to, &error))?;
    }
    Ok(staged)
}

fn not_written(to: &Path, error: &std::io::Error) -> Failure {
    Failure::world(format!("could not write the record of what was copied to `{}`", to.display()))
        .because(error)
        .help("the files before it are complete; run the same command to continue")
}

/// Whether both paths lead to one file.
fn is_one(a: &Path, b: &Path) -> bool {
    let id = |path: &Path| path.look().ok().map(|data| (data.dev(), data.ino()));
    id(a).is_some_and(|one| id(b) == Some(one))
}

/// What was unpacked, on its way to the destination.
struct Work<'a> {
    staging: &'a Staging,
    journal: &'a Journal,
    of: Sha256,
}

impl Work<'_> {
    /// Whether a file came from this archive; another one may have its size and time.
    fn is_its(&self, line: &Line) -> bool {
        line.of == Some(self.of) && line.from == self.journal.from()
    }

    /// Whether no other archive has taken the place of its files: `whole`, the line of the archive, counts them.
    fn has_all(&self, whole: &Line) -> bool {
        usize::try_from(whole.stored) == Ok(self.lines().count())
    }

    /// What is known of files of this archive.
    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.journal.lines().filter(|line| self.is_its(line) && !line.path.starts_with('/'))
    }

    /// Whether all of them are there.
    fn stands(&self) -> bool {
        self.lines().all(|line| self.staging.to.join(&line.path).look_at_entry().is_ok_and(|data| line.stands(&data)))
    }

    fn bring(&self, listing: &Listing, staged: &mut Staged) -> Result<(), Failure> {
        let to = &self.staging.to;
        make_folders(to, &listing.folders);
        for entry in &listing.entries {
            let place = to.join(&entry.path);
            let line = self.journal.line(&entry.path).filter(|line| self.is_its(line));
            let stands = line.is_some_and(|line| place.look_at_entry().is_ok_and(|data| line.stands(&data)));
            staged.verified += u64::from(stands && self.staging.verify);
            if stands && (!self.staging.verify || is_copy(entry, &place)) {
                keep_mode(entry, &place);
                staged.there += 1;
                continue;
            }
            if is_one(&place, &self.staging.from) {
                staged.failed.push((entry.path.clone(), NotCopied::Archive));
                continue;
            }
            if !stands && !self.staging.overwrite && self.journal.is_foreign(&entry.path, &place) {
                staged.failed.push((entry.path.clone(), NotCopied::Taken));
                continue;
            }
            if let Err(why) = make_folder(to, &place) {
                staged.failed.push((entry.path.clone(), why));
                continue;
            }
            self.give_name(entry, &place).map_err(|error| not_written(to, &error))?;
            staged.files += 1;
            staged.bytes += entry.size;
        }
        Ok(())
    }

    fn give_name(&self, entry: &Entry, place: &Path) -> std::io::Result<()> {
        std::fs::set_permissions(&entry.source, Permissions::from_mode(entry.mode | 0o400))?;
        let (path, size, modified) = (entry.path.clone(), entry.size, entry.modified);
        let (stored, from, of) = (modified, self.journal.from(), Some(self.of));
        let line = Line { path, size, modified, stored, from, sha256: None, of, announced: false };
        self.journal.name(&line, || std::fs::rename(&entry.source, place))
    }
}

/// Why `unzip` ended with this status, and what helps.
const fn unzip_refusal(code: i32) -> (&'static str, &'static str) {
    match code {
        82 => ("it has a password", "unpack it by hand, with the password"),
        _ => (
            "`unzip` does not support its compression or encryption",
            "unpack it by hand, for example with `7z x` or Python",
        ),
    }
}
