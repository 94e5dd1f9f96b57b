//! Interpreters, virtual environments and the index: found, not assumed.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use colab_boot::core::model::Sha256;

use crate::support::test::Test;

/// The variables by which pip and HTTPS reach the index on this machine.
const NETWORK: &[&str] = &[
    "PIP_INDEX_URL",
    "PIP_CERT",
    "PIP_CONFIG_FILE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTPS_PROXY",
    "https_proxy",
    "NO_PROXY",
];

/// Lets a test reach the index as its caller would, with the newest usable interpreter first on `PATH`.
pub fn with_network(test: Test) -> Test {
    let mut test = test;
    for name in NETWORK {
        if let Ok(value) = std::env::var(name) {
            test = test.set(name, value);
        }
    }
    let folder = interpreter().parent().expect("a folder").display().to_string();
    let path = format!("{}:{folder}:{}", test.path("bin").display(), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    test.set("PATH", path)
}

/// Whether the index answers, asked once.
pub fn reachable() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let profile = "[profile]\nname='probe'\nversion='1.0.0'\n[packages]\nsix='*'\n";
        let test = with_network(Test::new()).file("p.toml", profile);
        test.run(&["lock", "p.toml"]).code == 0
    })
}

/// A CPython of 3.12, 3.13 or 3.11 that can make virtual environments: on `PATH`, or below pyenv.
pub fn interpreter() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| {
        let minors = [12, 13, 11];
        let home = std::env::var("HOME").unwrap_or_default();
        let mut candidates = Vec::new();
        for minor in minors {
            candidates.push(PathBuf::from(format!("python3.{minor}")));
            let versions = std::fs::read_dir(format!("{home}/.pyenv/versions")).into_iter().flatten().flatten();
            let ours = versions.filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("3.{minor}.")));
            candidates.extend(ours.map(|entry| entry.path().join("bin/python3")));
        }
        candidates.push(PathBuf::from("python3"));
        let usable = candidates.into_iter().find_map(|candidate| {
            let probe = "import ensurepip, ssl, sys, venv; assert sys.version_info >= (3, 11); print(sys.executable)";
            let output = Command::new(candidate).args(["-I", "-c", probe]).output().ok()?;
            output.status.success().then(|| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
        });
        usable.expect("a CPython of 3.11 or newer with venv and ensurepip")
    })
}

/// Every CPython below pyenv, and the tests' own.
pub fn interpreters() -> Vec<PathBuf> {
    let home = std::env::var("HOME").unwrap_or_default();
    let versions = std::fs::read_dir(format!("{home}/.pyenv/versions")).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin/python3")).collect();
    all.push(interpreter().to_owned());
    all.retain(|python| {
        let modern = Command::new(python)
            .args(["-c", "import pip, sys; assert sys.version_info >= (3, 8)"])
            .output()
            .is_ok_and(|output| output.status.success());
        modern && python.exists()
    });
    all.sort();
    all.dedup();
    all
}

/// A folder with uv alone; `None` where the index can't be reached.
pub fn uv() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<(Test, PathBuf)>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let test = Test::new();
        let folder = uv_in(&test, "uv")?;
        Some((test, folder))
    });
    found.as_ref().map(|(_, folder)| folder.as_path())
}

/// A folder of `test` with uv alone, of this requirement.
pub fn uv_in(test: &Test, requirement: &str) -> Option<PathBuf> {
    let venv = kept(&[requirement])?;
    let folder = test.path("uv");
    std::fs::create_dir(&folder).expect("a folder");
    std::os::unix::fs::symlink(venv.python.with_file_name("uv"), folder.join("uv")).expect("a link");
    Some(folder)
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().expect("cp starts");
    assert!(copied.success(), "{}", from.display());
}

/// A package that Jupyter's servers use where it is there, and that takes each of them 2.7 s to import.
const SLOW: &str = "rfc3987-syntax";

/// A virtual environment with pip and `packages` that nothing else is ever installed into, kept among the files of the
/// build for as long as interpreter and packages are the same; `None` where packages are asked for and the index can't
/// be reached.
pub fn kept(packages: &[&str]) -> Option<Venv> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock();
    let which = Command::new(interpreter()).args(["-c", "import sys; print(sys.executable, sys.version)"]).output();
    let mut key = which.expect("Python starts").stdout;
    key.extend(packages.join(" ").bytes());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("venv-{}", &Sha256::of(&key).to_string()[..16]));
    if !folder.exists() {
        if !packages.is_empty() && !reachable() {
            return None;
        }
        // Another process may be at the same; the second one keeps what is there.
        let beside = folder.with_extension(std::process::id().to_string());
        let made = Command::new(interpreter()).args(["-m", "venv"]).arg(&beside).status();
        assert!(made.expect("venv starts").success());
        let venv = Venv { python: beside.join("bin/python") };
        if !packages.is_empty() {
            venv.pip(&["install", "--only-binary", ":all:"], packages);
            venv.pip(&["uninstall", "--yes"], &[SLOW]);
        }
        let _ = std::fs::rename(&beside, &folder).or_else(|_| std::fs::remove_dir_all(&beside));
    }
    Some(Venv { python: folder.join("bin/python") })
}

/// The one that has pip alone.
fn first() -> &'static Path {
    static FIRST: OnceLock<PathBuf> = OnceLock::new();
    FIRST.get_or_init(|| kept(&[]).expect("no packages").prefix())
}

/// Puts `parts` of the first one in `folder`, with its paths, as `python -m venv` would have: that takes 0.3 s of CPU,
/// and ensurepip five.
fn copy_first(parts: &[&str], folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    for part in parts {
        copy(&first().join(part), folder);
    }
    let settings = folder.join("pyvenv.cfg");
    let command = std::fs::read_to_string(&settings).expect("pyvenv.cfg");
    let was = command.lines().find_map(|line| line.strip_prefix("command = ")?.rsplit(' ').next()).expect("a path");
    let programs = std::fs::read_dir(folder.join("bin")).expect("bin").flatten().map(|entry| entry.path());
    for file in programs.chain([settings]).filter(|file| !file.is_symlink()) {
        let text = std::fs::read_to_string(&file).expect("a text");
        std::fs::write(&file, text.replace(was, &folder.display().to_string())).expect("a write");
    }
}

/// A virtual environment of its own.
pub struct Venv {
    pub python: PathBuf,
}

impl Venv {
    /// One without pip, for where uv installs: there is little to copy.
    pub fn bare(test: &Test) -> Self {
        let folder = test.path("venv");
        copy_first(&["bin", "include", "lib64", "pyvenv.cfg"], &folder);
        for program in std::fs::read_dir(folder.join("bin")).expect("bin").flatten() {
            if program.file_name().to_string_lossy().starts_with("pip") {
                std::fs::remove_file(program.path()).expect("a script");
            }
        }
        let layout = kept(&[]).expect("no packages").layout();
        let layout = layout.strip_prefix(first()).expect("a part of it");
        std::fs::create_dir_all(folder.join(layout)).expect("a folder");
        Self { python: folder.join("bin/python") }
    }

    /// One with pip in `folder`.
    pub fn at(folder: &Path) -> Self {
        copy_first(&["bin", "include", "lib", "lib64", "pyvenv.cfg"], folder);
        Self { python: folder.join("bin/python") }
    }

    pub fn new(test: &Test, packages: &[&str]) -> Self {
        let venv = Self::at(&test.path("venv"));
        if !packages.is_empty() {
            venv.pip(&["install", "--only-binary", ":all:"], packages);
        }
        venv
    }

    fn pip(&self, command: &[&str], packages: &[&str]) {
        let mut pip = Command::new(&self.python);
        let options = ["--quiet", "--disable-pip-version-check"];
        let pip = pip.args(["-m", "pip"]).args(command).args(options).args(packages);
        assert!(pip.status().expect("pip starts").success(), "{command:?} {packages:?}");
    }

    fn prefix(&self) -> PathBuf {
        self.python.parent().and_then(Path::parent).expect("a prefix").to_owned()
    }

    /// Its site-packages.
    pub fn layout(&self) -> PathBuf {
        let lib = self.prefix().join("lib");
        let versions = std::fs::read_dir(lib).expect("lib").flatten().map(|entry| entry.path());
        versions.map(|path| path.join("site-packages")).find(|path| path.exists()).expect("site-packages")
    }

    /// What lies there, but for the file that colab-boot knows the environment by.
    pub fn site_packages(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.layout()).expect("site-packages").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name != ".colab-boot-id").collect()
    }
}

/// Writes `NAME-VERSION-py3-none-any.whl`, as build tools do, and prints its digest.
const BUILD: &str = "
import base64, hashlib, os, sys, zipfile
folder, name, version, word = sys.argv[1:]
info = f'{name}-{version}.dist-info'
files = {
    f'{name}.py': f'word = {word!r}\\n',
    f'{info}/METADATA': f'Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n',
    f'{info}/WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
}
record = ''
path = os.path.join(folder, f'{name}-{version}-py3-none-any.whl')
with zipfile.ZipFile(path, 'w') as wheel:
    for file, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()
        record += f'{file},sha256={digest},{len(text)}\\n'
        wheel.writestr(zipfile.ZipInfo(file), text)
    wheel.writestr(zipfile.ZipInfo(f'{info}/RECORD'), record + f'{info}/RECORD,,\\n')
print(hashlib.sha256(open(path, 'rb').read()).hexdigest())
";

/// Makes a wheel in `folder` whose one module says `word`; returns its digest.
pub fn wheel(folder: &Path, (name, version): (&str, &str), word: &str) -> String {
    let output = Command::new(interpreter())
        .args(["-I", "-c", BUILD])
        .arg(folder)
        .args([name, version, word])
        .output()
        .expect("Python starts");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A process that ends with its test.
pub struct Running(pub Child);

impl Running {
    /// A process that does nothing, to stand in for a kernel.
    pub fn idle() -> Self {
        Self(Command::new("sleep").arg("3600").spawn().expect("sleep starts"))
    }

    pub fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The first line that a process says, with its end.
pub fn first_line(pipe: Option<impl Read>) -> String {
    let mut line = String::new();
    BufReader::new(pipe.expect("a pipe")).read_line(&mut line).expect("a line");
    line
}

/// Waits until an apply installs wheels.
pub fn wait_for_installer(test: &Test, child: &mut Child) {
    let started = Instant::now();
    let installing =
        || std::fs::read_to_string(test.state_file("apply.journal")).is_ok_and(|text| text.contains("begin wheels"));
    while !installing() {
        assert!(started.elapsed() < Duration::from_mins(5), "the install never began");
        assert!(child.try_wait().expect("a child").is_none(), "apply ended before it could be killed");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts `arguments` and kills it with all its children while the wheels are being installed.
pub fn kill_in_the_middle(test: &Test, arguments: &[&str]) {
    let mut command = test.command(arguments);
    let mut child = command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("apply starts");
    wait_for_installer(test, &mut child);
    // pip needs about a second to start; then it moves the old version away and writes the new one.
    let old = || std::fs::read_dir(test.path("venv/lib")).is_ok() && !numpy_is_whole(test);
    let began = Instant::now();
    while !old() && began.elapsed() < Duration::from_secs(30) && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    // The installer has a group of its own.
    let script = std::fs::read_to_string(test.state_file("apply.process")).unwrap_or_default();
    let groups = [Some(child.id().to_string()), script.split(' ').next().map(str::to_owned)];
    for group in groups.into_iter().flatten().filter(|group| !group.is_empty()) {
        let killed = Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status().expect("kill starts");
        assert!(killed.success(), "{group}");
    }
    child.wait().expect("a child");
}

/// Whether the old numpy still lies where it was.
fn numpy_is_whole(test: &Test) -> bool {
    let lib = std::fs::read_dir(test.path("venv/lib")).expect("lib").flatten().next().expect("a version").path();
    lib.join("site-packages/numpy-2.2.6.dist-info").exists()
}
