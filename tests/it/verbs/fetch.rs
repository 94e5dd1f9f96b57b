//! `fetch`, and what is installed from the folder that it fills.

use std::os::unix::fs::MetadataExt;

use crate::support::address::{Loaded, build};
use crate::support::python::Venv;
use crate::support::test::Test;

#[test]
fn a_folder_of_wheels_needs_no_network() {
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo = '==1.0'\n");
    let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", test.path("bin").display());
    let test = test.set("PATH", path).set("COLAB_BOOT_INDEX_URL", "http://127.0.0.1:9/simple");
    let folder = test.path("wheels");
    std::fs::create_dir(&folder).expect("a folder");
    build(&folder, "first");
    let venv = Venv::new(&test, &[]);
    // What pip can't uninstall does not stop it.
    let torn = venv.layout().join("demo-0.9.dist-info");
    std::fs::create_dir(&torn).expect("a folder");
    std::fs::write(torn.join("METADATA"), "Metadata-Version: 2.1\nName: demo\nVersion: 0.9\n").expect("metadata");
    let (python, folder) = (venv.python.display().to_string(), folder.display().to_string());
    let more = ["--python", &python, "--find-links", &folder, "--offline"];
    test.run(&[&["lock", "p.toml"], more.as_slice()].concat()).expect(0);
    test.run(&[&["apply", "p.toml"], more.as_slice()].concat()).expect(0);
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    // The same from a wheelhouse; the lock is not asked whose folder it was.
    let fetch = ["fetch", "p.lock", "--into", "house", "--find-links", &folder, "--offline"];
    let refused = test.run(&[fetch.as_slice(), &["--budget", "10B"]].concat()).expect(1);
    assert!(refused.stderr.contains("the budget is 10 B") && refused.stderr.contains("demo 1.0"), "{}", refused.stderr);
    assert!(!test.path("house").exists());
    let fetched = test.run(&fetch).expect(0);
    assert!(fetched.stdout.starts_with("fetched: 1 wheel, "), "{}", fetched.stdout);
    // No second name of the user's own file.
    let links = |folder: &str| {
        let files = std::fs::read_dir(test.path(folder)).expect("a folder").flatten();
        files.map(|file| file.metadata().expect("a file").nlink()).max()
    };
    assert_eq!((links("wheels"), links("house")), (Some(1), Some(1)));
    // A file of the user's stays, in a folder of wheels and in the place of a lock.
    let wheel = std::fs::read_dir(test.path("house")).expect("a folder").flatten().map(|entry| entry.path());
    let wheel = wheel.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl")).expect("a wheel");
    let whole = std::fs::read(&wheel).expect("a wheel");
    std::fs::write(&wheel, "mine").expect("a file");
    assert!(test.run(&fetch).expect(2).stderr.contains("differs from the locked file"));
    assert_eq!(std::fs::read(&wheel).expect("a file"), b"mine");
    std::fs::write(&wheel, whole).expect("a wheel");
    std::fs::write(test.path("uv.lock"), "version = 1\n# of another tool\n").expect("a file");
    std::fs::copy(test.path("p.toml"), test.path("uv.toml")).expect("a copy");
    let refused = test.run(&[&["lock", "uv.toml"], more.as_slice()].concat()).expect(2);
    assert!(refused.stderr.contains("is not a lock and would be overwritten"), "{refused:?}");
    std::fs::remove_file(venv.layout().join("demo.py")).expect("a file");
    test.run(&["verify", "p.toml", "--python", &python]).expect(1);
    test.run(&["apply", "p.toml", "--python", &python, "--wheelhouse", "house"]).expect(0);
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    // Another wheel in its place is refused; the store would not need it.
    test.run(&["cache", "clean"]).expect(0);
    build(test.path("wheels").as_path(), "second");
    std::fs::remove_file(venv.layout().join("demo.py")).expect("a file");
    test.run(&["verify", "p.toml", "--python", &python]).expect(1);
    let outcome = test.run(&[&["apply", "p.toml"], more.as_slice()].concat()).expect(1);
    assert!(outcome.stderr.contains("is not the locked file"), "{}", outcome.stderr);
}

#[test]
fn a_wheelhouse_is_never_written_to() {
    let world = Loaded::new();
    build(&world.served, "first");
    let house = world.served.display().to_string();
    let (python, test) = (world.venv.python.display().to_string(), &world.test);
    let profile = "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='==1.0'\n";
    std::fs::write(test.path("p.toml"), profile).expect("a profile");
    test.run(&["lock", "p.toml", "--python", &python, "--find-links", &house, "--offline"]).expect(0);
    let lock = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    let wheel = world.served.join("demo-1.0-py3-none-any.whl");
    let whole = std::fs::read(&wheel).expect("a wheel");
    // As an apply leaves it that is killed while it fetches, whatever it was doing.
    test.run(&["apply", "p.toml", "--python", &python, "--wheelhouse", &house]).expect(0);
    let cache = test.path("cache/wheels").join(lock_folder(&lock));
    for name in ["demo-1.0-py3-none-any.whl.linked", "demo-1.0-py3-none-any.whl"] {
        std::fs::create_dir_all(&cache).expect("a folder");
        std::fs::hard_link(&wheel, cache.join(name)).expect("a link");
        std::fs::remove_file(world.venv.layout().join("demo.py")).expect("a file");
        test.run(&["verify", "p.toml", "--python", &python]).expect(1);
        test.run(&["apply", "p.toml", "--python", &python, "--wheelhouse", &house]).expect(0);
        assert_eq!(std::fs::read(&wheel).expect("a wheel"), whole, "{name}");
        assert!(!cache.exists(), "the folder of the lock is another one");
    }
}

/// The folder of a lock's wheels in the cache.
fn lock_folder(lock: &str) -> String {
    colab_boot::core::model::Sha256::of(lock.as_bytes()).short()
}
