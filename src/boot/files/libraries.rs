//! What an installed distribution is linked against: the same reading as of a wheel, of the files that its RECORD
//! names.

use std::io::{Error as IoError, Read, Result as IoResult};
use std::path::{Path, PathBuf};

use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::inspect::{SharedObject, Sink, chosen, parse_record};
use crate::core::model::linking::{Linking, Object};
use crate::core::model::{Sha256, WheelName};

/// The records of a distribution with compiled code.
pub struct Compiled {
    /// Of the text of RECORD, which holds the digests of all files.
    pub digest: Sha256,
    /// The wheel that it was installed from, but for the build number; platform tags are all there.
    pub wheel: WheelName,
    folder: PathBuf,
    paths: Vec<String>,
}

impl Compiled {
    /// Reads WHEEL and RECORD in the dist-info folder `info`; `None` where one is not there, or where WHEEL says that
    /// there is no compiled code.
    pub fn of(info: &Path) -> Option<Self> {
        let text = |name: &str| files::read_optional(&info.join(name)).ok().flatten();
        let wheel = text("WHEEL")?;
        let mut tags = wheel.lines().filter_map(|line| line.strip_prefix("Tag:")).map(str::trim);
        let first = tags.next().filter(|tag| !tag.ends_with("-any"))?;
        let platforms = tags.filter_map(|tag| tag.rsplit('-').next());
        let title = info.file_name()?.to_str()?.strip_suffix(".dist-info")?;
        let file = platforms.fold(format!("{title}-{first}"), |file, platform| format!("{file}.{platform}"));
        let record = text("RECORD")?;
        let paths = parse_record(&record).into_iter().map(|entry| entry.path).collect();
        let wheel = format!("{file}.whl").parse().ok()?;
        Some(Self { digest: Sha256::of(record.as_bytes()), wheel, folder: info.parent()?.to_owned(), paths })
    }
}

/// What the distribution is linked against, as far as `limit` bytes of its files tell it. What is not read is named in
/// it.
pub fn linking_of(compiled: &Compiled, limit: u64) -> Linking {
    let place = |path: &str| compiled.folder.join(path);
    let size = |path: &str| place(path).look().map_or(0, |data| data.len());
    let sizes: Vec<(&str, u64)> = compiled.paths.iter().map(|path| (path.as_str(), size(path))).collect();
    let (members, mut linking) = chosen(&sizes, limit);
    for (path, size) in members.into_iter().map(|at| sizes[at]) {
        match object(path, &place(path), size) {
            Ok(object) => linking.objects.extend(object),
            Err(error) => linking.unread.push(format!("{path}: {error}")),
        }
    }
    linking.objects.sort_by(|a, b| a.path.cmp(&b.path));
    linking
}

fn object(path: &str, place: &Path, size: u64) -> IoResult<Option<Object>> {
    let mut file = files::open(place)?;
    let mut object = SharedObject::new(path, size);
    let mut buffer = vec![0; 256 << 10];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return object.finish().map_err(IoError::other);
        }
        object.take(&buffer[..count]).map_err(IoError::other)?;
    }
}
