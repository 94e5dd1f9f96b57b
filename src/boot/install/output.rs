//! Files that are written for an install.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::boot::files::WrittenFile;
use crate::boot::install::launcher::FirstLine;
use crate::boot::install::packed::{MemberTarget, Packed};
use crate::boot::store::mode_of;
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::host::files::writing_failed;
use crate::core::host::mutex::held;
use crate::core::inspect::{Flow, Malformed, Sink};
use crate::core::model::Sha256;
use crate::core::model::digest::Hasher;

/// A file that is being written.
pub(super) struct Output<'a> {
    target: &'a MemberTarget,
    file: File,
    hasher: Hasher,
    first: Option<FirstLine>,
    pub(super) failed: Option<std::io::Error>,
}

impl<'a> Output<'a> {
    pub(super) fn create(target: &'a MemberTarget) -> Result<Self, Failure> {
        let mode = mode_of(target.executable);
        let file = File::options().write(true).create_new(true).mode(mode).open(&target.path).map_err(|error| {
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                return twice(target);
            }
            writing_failed(&target.path, &error)
        })?;
        let first = target.python.as_ref().map(|_| FirstLine::new());
        Ok(Self { target, file, hasher: Hasher::default(), first, failed: None })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if let Some((first, python)) = self.first.as_mut().zip(self.target.python.as_deref()) {
            let (made, behind) = first.take(bytes, python);
            rest = behind;
            self.write_as_it_is(&made);
        }
        self.write_as_it_is(rest);
    }

    fn write_as_it_is(&mut self, bytes: &[u8]) {
        if self.failed.is_none() && !bytes.is_empty() {
            self.hasher.update(bytes);
            self.failed = self.file.write_all(bytes).err();
        }
    }

    pub(super) fn close(mut self, packed: &Packed) -> Result<WrittenFile, Failure> {
        if let Some((first, python)) = self.first.as_mut().zip(self.target.python.as_deref()) {
            let made = first.finish(python);
            self.write_as_it_is(&made);
        }
        if let Some(error) = self.failed {
            return Err(writing_failed(&self.target.path, &error));
        }
        let template = self.first.take().and_then(FirstLine::into_template);
        held(&packed.templates).extend(template.map(|template| (self.target.member, template)));
        let (path, place) = (&self.target.path, self.target.place.clone());
        looked_at(&self.file, path, place, self.target.executable, self.hasher.finish())
    }
}

impl Sink for Output<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<Flow, Malformed> {
        self.write(bytes);
        Ok(if self.failed.is_some() { Flow::Enough } else { Flow::More })
    }
}

pub(super) fn twice(target: &MemberTarget) -> Failure {
    let message = format!("the wheel has two files for one place, `{}`", target.place.display());
    let finding = Finding::error(Code::WheelMalformed, message);
    Failure::from_findings(Kind::Answer, vec![finding.with_help("nothing was changed; choose another release")])
}

/// Writes a whole file, which no wheel has.
pub(super) fn write_made(path: &Path, place: PathBuf, bytes: &[u8], executable: bool) -> Result<WrittenFile, Failure> {
    let failed = |error: std::io::Error| writing_failed(path, &error);
    let options = File::options().write(true).create_new(true).mode(mode_of(executable)).clone();
    let mut file = options.open(path).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    looked_at(&file, path, place, executable, Sha256::of(bytes))
}

/// What a file looks like that was just written, once it has its mode, whatever the umask is.
fn looked_at(
    file: &File,
    path: &Path,
    place: PathBuf,
    executable: bool,
    sha256: Sha256,
) -> Result<WrittenFile, Failure> {
    let failed = |error: std::io::Error| writing_failed(path, &error);
    let data = file.metadata().map_err(failed)?;
    if data.mode() & 0o777 != mode_of(executable) {
        file.set_permissions(std::fs::Permissions::from_mode(mode_of(executable))).map_err(failed)?;
    }
    Ok(WrittenFile::of(place, &data, sha256))
}
