//! Libraries that a process has mapped and that are other files by now (`/proc/<pid>/maps`, proc(5)).

use std::path::{Path, PathBuf};

/// A library of a process, below one of the folders that were asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    pub path: PathBuf,
    pub inode: u64,
    /// The file that was mapped is no longer there under this name.
    pub deleted: bool,
}

/// The files below `folders` in the text of `/proc/<pid>/maps`, whose lines are like
/// `7f00-7f01 r-xp 00000000 fe:01 123  /site/numpy/core.so (deleted)`.
pub(super) fn mapped_below(maps: &str, folders: &[PathBuf]) -> Vec<Mapped> {
    let mut found: Vec<Mapped> = Vec::new();
    for line in maps.lines() {
        let Some(place) = line.find('/') else { continue };
        let (path, deleted) =
            line[place..].strip_suffix(" (deleted)").map_or((&line[place..], false), |path| (path, true));
        let path = Path::new(path);
        let inode = line[..place].split_whitespace().nth(4).and_then(|text| text.parse().ok());
        let Some(inode) = inode.filter(|_| folders.iter().any(|folder| path.starts_with(folder))) else { continue };
        let one = Mapped { path: path.to_owned(), inode, deleted };
        if found.last() != Some(&one) && !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// Those of `mapped` that are not what lies under their names now; `inode_of` tells the inode of a path.
pub fn replaced_libraries(mapped: Vec<Mapped>, inode_of: impl Fn(&Path) -> Option<u64>) -> Vec<PathBuf> {
    let is_replaced = |one: &Mapped| one.deleted || inode_of(&one.path) != Some(one.inode);
    mapped.into_iter().filter(is_replaced).map(|one| one.path).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{mapped_below, replaced_libraries};

    #[test]
    fn a_library_that_was_replaced_under_a_process_is_seen() {
        let maps = "55d0-55d1 r--p 00000000 fe:01 11    /usr/bin/python3.12\n\
            7f00-7f01 r--p 00000000 fe:01 21    /venv/site/numpy/a.so (deleted)\n\
            7f01-7f02 r-xp 00001000 fe:01 21    /venv/site/numpy/a.so (deleted)\n\
            7f03-7f04 r-xp 00000000 fe:01 22    /venv/site/with space/b.so\n\
            7f05-7f06 r-xp 00000000 fe:01 23    /venv/site/c.so\n\
            7ffc-7ffd rw-p 00000000 00:00 0     [stack]\n";
        let mapped = mapped_below(maps, &[PathBuf::from("/venv/site")]);
        assert_eq!(mapped.len(), 3);
        // Another file has the name of `c.so` since.
        let now = |path: &std::path::Path| Some(if path.ends_with("c.so") { 99 } else { 22 });
        let replaced = replaced_libraries(mapped, now);
        assert_eq!(replaced, [PathBuf::from("/venv/site/numpy/a.so"), PathBuf::from("/venv/site/c.so")]);
    }
}
