//! Mounts whose files are on another machine, or served by another process. Touching one whose server is silent blocks
//! for ever, and no signal helps; so a child process touches each of them first, and paths below one that does not
//! answer are errors.

mod asked;
mod entries;
mod look;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Result as IoResult;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

pub use asked::{Unreachable, avoided, limited, must_reach, reach, silent_at, unreachable, without_unreachable};
pub use entries::list_remote;
pub use look::{Look, must_be_folder, must_be_there};

/// As many as Linux follows (`path_resolution(7)`).
const LINKS: usize = 40;

/// Kinds of file system whose files are somewhere else; so are those of FUSE.
const REMOTE: &[&str] =
    &["nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "lustre", "ceph", "beegfs", "gpfs", "afs", "glusterfs"];

/// Whether files of this kind of file system are somewhere else.
pub fn is_remote(kind: &str) -> bool {
    let is_local = ["fuse.lxcfs", "fuse.fuse-overlayfs"].contains(&kind);
    kind == "fuse" || kind == "fuseblk" || kind.starts_with("fuse.") && !is_local || REMOTE.contains(&kind)
}

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub path: PathBuf,
    /// `ext4`, `fuse.drive`, `nfs4`.
    pub kind: String,
    /// The folders that an overlay is made of.
    layers: Vec<PathBuf>,
    /// One of them is below a remote mount.
    is_over_remote: bool,
}

impl Mount {
    /// Whether it is an overlay with a layer below `folder`.
    fn has_layer_below(&self, folder: &Path) -> bool {
        self.layers.iter().any(|layer| layer.starts_with(folder)) && self.path != Path::new("/")
    }

    /// Whether it has to be asked before it is touched. Without the root nothing here would run.
    pub fn is_remote(&self) -> bool {
        (is_remote(&self.kind) || self.is_over_remote) && self.path != Path::new("/")
    }
}

/// The mounts of this process, those that hide others last.
fn mounts() -> &'static [Mount] {
    static MOUNTS: OnceLock<Vec<Mount>> = OnceLock::new();
    MOUNTS.get_or_init(|| {
        let bytes = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
        mounts_of(&String::from_utf8_lossy(&bytes)).collect()
    })
}

/// Whether any mount is remote.
pub fn has_remote() -> bool {
    mounts().iter().any(Mount::is_remote)
}

/// The mounts that a text of `/proc/<pid>/mountinfo` names, in its order.
pub fn mounts_of(mountinfo: &str) -> impl Iterator<Item = Mount> {
    let mut all: Vec<Mount> = mountinfo.lines().filter_map(mount_of_line).collect();
    let remote: Vec<PathBuf> = all.iter().filter(|mount| mount.is_remote()).map(|mount| mount.path.clone()).collect();
    for mount in &mut all {
        mount.is_over_remote = mount.layers.iter().any(|layer| remote.iter().any(|path| layer.starts_with(path)));
    }
    all.into_iter()
}

/// `36 35 98:0 / /mnt/with\040space rw,noatime shared:1 - ext3 /dev/root rw` (proc(5)).
fn mount_of_line(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let path = before.split(' ').nth(4)?;
    let plain = ["\\040", "\\011", "\\012", "\\134"].into_iter().zip([" ", "\t", "\n", "\\"]);
    let path = plain.fold(path.to_owned(), |path, (code, letter)| path.replace(code, letter));
    let (kind, rest) = after.split_once(' ')?;
    // The options of an overlay name its layers (<https://docs.kernel.org/filesystems/overlayfs.html>).
    let options = rest.split_once(' ').filter(|_| kind == "overlay").map_or("", |(_, options)| options);
    let named = options.split(',').filter_map(|option| option.split_once('='));
    let folders = named.filter(|(name, _)| ["lowerdir", "lowerdir+", "datadir+", "upperdir"].contains(name));
    let layers = folders.flat_map(|(_, value)| value.split(':')).map(PathBuf::from).collect();
    Some(Mount { path: path.into(), kind: kind.to_owned(), layers, is_over_remote: false })
}

/// Whether an entry of a folder of this machine is neither a mount nor a link.
fn is_plain(path: &Path) -> bool {
    let is_mount = mounts().iter().any(|mount| mount.path == path);
    !is_mount && !std::fs::symlink_metadata(path).is_ok_and(|data| data.is_symlink())
}

/// The remote mount that `path` leads into.
fn remote_mount_of(path: &Path) -> IoResult<Option<&'static Mount>> {
    Ok(resolve(path)?.0)
}

/// The remote mount that `path` leads into, else its place without links. Nothing below a remote mount is touched to
/// find out.
fn resolve(path: &Path) -> IoResult<(Option<&'static Mount>, PathBuf)> {
    let mut open: VecDeque<OsString> = parts(&std::path::absolute(path)?).collect();
    let mut place = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = open.pop_front() {
        if part == ".." {
            place.pop();
            continue;
        }
        place.push(&part);
        // What is mounted last at the longest path counts.
        let inside = mounts().iter().enumerate().filter(|(_, mount)| place.starts_with(&mount.path));
        let mount = inside.max_by_key(|(at, mount)| (mount.path.components().count(), *at)).map(|(_, mount)| mount);
        if let Some(mount) = mount.filter(|mount| mount.is_remote()) {
            return Ok((Some(mount), place));
        }
        let Ok(target) = std::fs::read_link(&place) else { continue };
        links += 1;
        if links > LINKS {
            return Ok((None, place));
        }
        place.pop();
        if target.is_absolute() {
            place = PathBuf::from("/");
        }
        for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
            open.push_front(part);
        }
    }
    Ok((None, place))
}

/// Whether `path` leads to a remote mount.
pub fn is_elsewhere(path: &Path) -> bool {
    remote_mount_of(path).is_ok_and(|mount| mount.is_some())
}

/// What `path` leads to without links; of what is on a remote mount, the mount.
pub fn place_of(path: &Path) -> PathBuf {
    resolve(path).map_or_else(|_| path.to_owned(), |(_, place)| place)
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_remote, mount_of_line, mounts_of};

    #[test]
    fn mounts_are_read_as_linux_writes_them() {
        let mount =
            mount_of_line("36 35 98:0 / /mnt/my\\040drive rw,noatime shared:1 - fuse.drive drive rw").expect("a mount");
        assert_eq!((mount.path.to_str(), mount.kind.as_str()), (Some("/mnt/my drive"), "fuse.drive"));
        let text = "36 35 0:40 / /mnt/d rw - fuse.drive drive rw\n37 35 0:41 / /over rw - overlay overlay rw,lowerdir=/mnt/d/a:/b,upperdir=/c\n\
            38 35 0:42 / /plain rw - overlay overlay rw,lowerdir=/a\n";
        let remote: Vec<_> = mounts_of(text).filter(super::Mount::is_remote).map(|mount| mount.path).collect();
        assert_eq!(remote, [Path::new("/mnt/d"), Path::new("/over")]);
        for (kind, remote) in
            [("fuse.drive", true), ("fuse", true), ("nfs4", true), ("ext4", false), ("fuse.lxcfs", false)]
        {
            assert_eq!(is_remote(kind), remote, "{kind}");
        }
    }
}
