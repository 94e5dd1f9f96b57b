//! Wheels that are staged: whatever the bytes, a package whose files all lie in its staging folder, or an error that
//! leaves nothing. The first byte chooses between bytes as they are and a well-formed zip file with names and contents
//! from them.

#![no_main]

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use colab_boot::boot::files::Downloaded;
use colab_boot::boot::index::WheelSource;
use colab_boot::boot::install::{Incoming, Staging, stage};
use colab_boot::boot::machine::Layout;
use colab_boot::boot::store::Store;
use colab_boot::core::model::Sha256;
use colab_boot_fuzz::wheel;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else { return };
    let bytes = if kind % 4 == 0 { rest.to_vec() } else { wheel(rest, kind % 4 == 1) };
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
    let (env, file) = (folder.path().join("env"), folder.path().join("demo-1.0-py3-none-any.whl"));
    std::fs::write(&file, &bytes).expect("a wheel");
    std::fs::create_dir_all(env.join("lib")).expect("a folder");
    let layout = Layout {
        purelib: env.join("lib"),
        platlib: env.join("lib"),
        scripts: env.join("bin"),
        data: env.clone(),
        externally_managed: false,
    };
    let Ok(opened) = Downloaded::open(&WheelSource::Here(file)) else { return };
    let staging = Staging {
        layout: &layout,
        python: Path::new("/usr/bin/python3"),
        store: &Store::new(&folder.path().join("cache"), None, 0),
        is_stopped: &|| false,
        bell: &Arc::default(),
        give_up: &|_| (),
    };
    let (name, version) = ("demo".parse().expect("a name"), "1.0".parse().expect("a version"));
    let incoming =
        Incoming { name, version, wheel: Arc::new(opened), sha256: Sha256::of(&bytes), requested: kind % 2 == 0 };
    let staged = stage(&staging, |stage| stage.add(incoming));
    let there = files_of(folder.path());
    let own = |path: &Path| path.starts_with("demo-1.0-py3-none-any.whl") || path.starts_with("cache");
    match staged {
        Err(_) => assert!(there.iter().all(|path| own(path)), "something is left: {there:?}"),
        Ok(((), staged)) => {
            let stages: Vec<&Path> =
                staged.folders.iter().filter_map(|one| one.strip_prefix(folder.path()).ok()).collect();
            let is_staged = |path: &Path| stages.iter().any(|one| path.starts_with(one));
            assert!(there.iter().all(|path| own(path) || is_staged(path)), "outside of {stages:?}: {there:?}");
            let files = staged.packages.iter().flat_map(|package| &package.files);
            assert!(files.clone().all(|file| file.place.starts_with(&env)));
            let places: BTreeSet<&PathBuf> = files.clone().map(|file| &file.place).collect();
            assert_eq!(places.len(), files.count(), "two files have one place");
        }
    }
});

/// Every file below `folder`, seen from there; no link, and no mode but those of installers.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let (mut open, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(one) = open.pop() {
        for entry in std::fs::read_dir(&one).expect("a folder").map(|entry| entry.expect("an entry")) {
            let data = entry.metadata().expect("an entry");
            assert!(data.is_file() || data.is_dir(), "{:?} is neither file nor folder", entry.path());
            assert_eq!(data.mode() & 0o7022, 0, "{:?}", entry.path());
            if data.is_dir() {
                open.push(entry.path());
            } else {
                files.push(entry.path().strip_prefix(folder).expect("inside").to_owned());
            }
        }
    }
    files
}
