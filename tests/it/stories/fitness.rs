//! What `doctor` sees of this very machine: each situation is made, with real processes, limits, files and maps, and is
//! gone again. Only the GPU is played by an executable on `PATH`.

use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::stories::Day;
use crate::stories::fitness_scenes::SCENES;
use crate::support::python::{Running, Venv};
use crate::support::test::{Outcome, Test, sample, takes_all};

/// A machine in a situation.
pub struct Scene {
    pub day: Day,
    environment: Vec<(String, String)>,
    arguments: Vec<String>,
    running: Vec<Running>,
    pub group: Option<Group>,
    /// Files outside the test's folder.
    pub left: Vec<PathBuf>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.running.clear();
        self.left.iter().for_each(|path| drop(std::fs::remove_file(path)));
    }
}

/// A control group of version 1 or 2, with the limits that it was made with.
pub struct Group(Vec<PathBuf>);

impl Group {
    /// `None` where control groups can't be made: no root, or no such file system.
    pub fn new(limits: &[(&str, &str, &str, &str)]) -> Option<Self> {
        let base = PathBuf::from("/sys/fs/cgroup");
        let name =
            format!("colab-boot-{}-{:?}", std::process::id(), std::thread::current().id()).replace(['(', ')'], "");
        let two = base.join("cgroup.controllers").is_file();
        let mut folders: Vec<PathBuf> = Vec::new();
        for (controller, file_two, file_one, value) in limits {
            let folder = if two { base.join(&name) } else { base.join(controller).join(&name) };
            if !folders.contains(&folder) {
                std::fs::create_dir(&folder).ok()?;
                folders.push(folder.clone());
            }
            let made = Self(folders.clone());
            if std::fs::write(folder.join(if two { file_two } else { file_one }), value).is_err() {
                drop(made);
                return None;
            }
            std::mem::forget(made);
        }
        Some(Self(folders))
    }

    /// Puts a process that runs into it; whether that could be done.
    pub fn take(&self, pid: u64) -> bool {
        self.0.iter().all(|folder| std::fs::write(folder.join("cgroup.procs"), pid.to_string()).is_ok())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.0 {
            for _ in 0..50 {
                if std::fs::remove_dir(folder).is_ok() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

impl Scene {
    fn new() -> Self {
        let mut test = Test::new();
        let venv = Venv::bare(&test);
        // What is looked at is this machine.
        test.environment.remove("COLAB_BOOT_ROOT");
        let day = Day::with(test, venv, &[("lib", "1.0", &[])]);
        std::fs::create_dir_all(day.test.path("home")).expect("a home");
        Self { day, environment: Vec::new(), arguments: Vec::new(), running: Vec::new(), group: None, left: Vec::new() }
    }

    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.environment.push((name.to_owned(), value.into()));
    }

    pub fn ask(&mut self, arguments: &[&str]) {
        self.arguments.extend(arguments.iter().map(|one| (*one).to_owned()));
    }

    /// A distribution that is installed, as far as its metadata goes.
    pub fn installed(&self, name: &str, version: &str) {
        let folder = self.day.venv.layout().join(format!("{}-{version}.dist-info", name.replace('-', "_")));
        std::fs::create_dir_all(&folder).expect("a folder");
        let text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
        std::fs::write(folder.join("METADATA"), text).expect("METADATA");
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.day.test.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// A process that stands for the kernel: it runs `code`, says so, and sleeps. In the group, where there is one.
    pub fn kernel(&mut self, before: &str, code: &str) {
        let python = self.day.python();
        let script = self.file(
            &format!("kernel{}.py", self.running.len()),
            &format!("import mmap, os, sys, time\nheld = []\n{code}\nprint('ready', flush=True)\ntime.sleep(600)\n"),
        );
        let join: String = self
            .group
            .iter()
            .flat_map(|group| &group.0)
            .map(|folder| format!("echo $$ > {}/cgroup.procs; ", folder.display()))
            .collect();
        let line = format!("{join}{before} exec '{python}' '{}' ipykernel_launcher", script.display());
        let mut child = Command::new("bash").args(["-c", &line]).stdout(Stdio::piped()).spawn().expect("bash starts");
        let mut said = [0_u8; 5];
        std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut said)
            .unwrap_or_else(|_| panic!("not ready: {line}\n{code}"));
        let pid = child.id().to_string();
        self.running.push(Running(child));
        if self.running.len() == 1 {
            self.ask(&["--kernel-pid", &pid]);
        }
    }

    /// A kernel that has these files mapped as code, made for it; those behind `-` are deleted afterwards.
    pub fn maps(&mut self, paths: &[&str]) {
        let mut code = String::new();
        for path in paths {
            let real = self.file(path.trim_start_matches('-'), &"x".repeat(8192));
            let _ = writeln!(
                code,
                "f = open({:?}, 'rb'); held.append(mmap.mmap(f.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE))",
                real.display().to_string()
            );
            if path.starts_with('-') {
                let _ = writeln!(code, "os.remove({:?})", real.display().to_string());
            }
        }
        self.kernel("", &code);
    }

    pub fn facts(&mut self, facts: &Value) {
        let path = self.file("facts.json", &facts.to_string());
        self.ask(&["--kernel-modules", &path.display().to_string()]);
    }

    /// `nvidia-smi` that says this of one GPU.
    pub fn gpu(&self, name: &str, capability: &str, fields: &[(&str, &str)]) {
        let table = json!({ "name": name, "compute_cap": capability, "driver_version": "580.82.07", "memory.total": "15360 MiB", "memory.free": "15000 MiB" });
        let mut table = table.as_object().expect("a table").clone();
        table.extend(fields.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))));
        let script = format!(
            "#!{}\nimport json, sys\ntable = json.loads({:?})\nquery = [one for one in sys.argv if one.startswith('--query-gpu=')]\n\
             print(', '.join(table.get(key, '[N/A]') for key in query[0].split('=')[1].split(',')) if query else '')\n",
            self.day.python(),
            Value::Object(table).to_string()
        );
        let path = self.file("bin/nvidia-smi", &script);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// A package whose files were changed after they were compiled, and not in what they say: `tar` and `cp` do so.
    fn copied(&self) {
        let code = "import os, py_compile, sys, time\nos.mkdir(sys.argv[1])\npath = os.path.join(sys.argv[1], '__init__.py')\nopen(path, 'w').write('a = 1\\n')\npy_compile.compile(path)\ntime.sleep(0.05)\nos.chmod(path, 0o700)";
        let folder = self.day.venv.layout().join("copied");
        let made = Command::new(&self.day.venv.python).args(["-c", code]).arg(folder).status();
        assert!(made.is_ok_and(|done| done.success()));
    }

    fn doctor(&self, code: &str) -> Outcome {
        let python = self.day.python();
        let mut arguments = vec!["doctor", code, "--json", "--python", &python];
        arguments.extend(self.arguments.iter().map(String::as_str));
        let mut command = self.day.test.command(&arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        Outcome::of(command)
    }
}

/// What may be true of the machine that the tests run on: its limits, and what other tests have killed.
const OF_THE_MACHINE: &[&str] = &[
    "ram-limit-hidden",
    "ram-low",
    "child-killed-oom",
    "cpu-quota-hidden",
    "kernel-many",
    "shm-leftover",
    "tmp-in-ram",
];

#[test]
fn each_situation_is_seen_and_its_absence_is_not() {
    let (mut shown, mut wrong) = (0, Vec::new());
    let calm = Scene::new();
    calm.copied();
    for (code, make) in sample(SCENES, 3) {
        let before = calm.doctor(code);
        let mut scene = Scene::new();
        if !make(&mut scene) {
            eprintln!("skipped: {code} can't be shown here");
            continue;
        }
        let found = scene.doctor(code);
        if !found.codes().contains(&(*code).to_owned()) {
            wrong.push(format!(
                "{code} is not seen: {}",
                found.stdout.lines().filter(|line| line.contains("said")).collect::<String>()
            ));
        }
        if before.codes().contains(&(*code).to_owned()) && OF_THE_MACHINE.contains(code) {
            eprintln!("{code} is true of this machine anyway");
        } else if before.codes().contains(&(*code).to_owned()) {
            wrong.push(format!("{code} is seen where nothing is wrong: {}", before.stdout));
        }
        shown += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(shown >= if takes_all() { 40 } else { 12 }, "only {shown} were shown");
}
