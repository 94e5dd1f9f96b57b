//! A real Jupyter server with kernels in a day's virtual environment.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stories::Day;
use crate::support::python::{Running, Venv, kept};
use crate::support::said::Said as _;
use crate::support::test::{Test, takes_all};

pub const TOKEN: &str = "a-token-of-this-test";

/// Colab's notebook stack, and the current one.
pub const STACKS: [&[&str]; 2] = [
    &[
        "ipython==7.34.0",
        "ipykernel==6.17.1",
        "jupyter_client==7.4.9",
        "jupyter_server",
        "websocket-client",
        "setuptools<81",
    ],
    &["ipykernel", "jupyter_server", "websocket-client"],
];

/// `JupyterLab` with what its notebooks ask it to do, and what runs notebooks without it.
const LAB: &[&str] = &["jupyterlab", "ipylab", "ipykernel", "papermill"];

/// Which of [`STACKS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    Colab,
    Current,
}

/// Those that a test runs on: one of them, which its name decides; both with `CASES=all`.
pub fn stacks() -> Vec<Stack> {
    let both = [Stack::Colab, Stack::Current];
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let one = name.bytes().map(usize::from).sum::<usize>() % 2;
    if takes_all() { both.to_vec() } else { vec![both[one]] }
}

/// Links the stack into the environment of a test, as an image would have it; returns the environment that it lies in.
/// `None` without the index.
pub fn give_stack(to: &Venv, which: Stack) -> Option<Venv> {
    let Some(venv) = kept(STACKS[which as usize]) else {
        eprintln!("skipped: the index can't be reached, so there is no Jupyter");
        return None;
    };
    std::fs::write(to.layout().join("stack.pth"), format!("{}\n", venv.layout().display())).expect("a link");
    Some(venv)
}

/// A notebook server and its user.
pub struct Notebook {
    _server: Running,
    _user: Running,
    input: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What the last cells have shown as HTML.
    pub page: String,
}

impl Notebook {
    /// Serves kernels in the environment of `day`, which gets the stack as an image would have it. `None` without the
    /// index.
    pub fn open(day: &Day, which: Stack) -> Option<Self> {
        Self::of(&day.test, &day.venv, which)
    }

    /// The same in another environment.
    pub fn of(test: &Test, kernels: &Venv, which: Stack) -> Option<Self> {
        let stack = give_stack(kernels, which)?;
        Some(Self::with_server(test, (kernels, &stack), &stack.python))
    }

    /// The same with a server that runs in the day's own environment, and so with what its environment file sets.
    pub fn open_within(day: &Day, which: Stack) -> Option<Self> {
        let stack = give_stack(&day.venv, which)?;
        Some(Self::with_server(&day.test, (&day.venv, &stack), &day.venv.python))
    }

    fn with_server(test: &Test, (kernels, stack): (&Venv, &Venv), python: &Path) -> Self {
        give_kernels(test, kernels);
        let (server, url) = serve(test, python, &["jupyter_server"]);
        let mut user = Command::new(&stack.python)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stories/kernel.py"))
            .env("JUPYTER_URL", url)
            .env("JUPYTER_TOKEN", TOKEN)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the user starts");
        let input = user.stdin.take().expect("a pipe");
        let answers = BufReader::new(user.stdout.take().expect("a pipe"));
        Self { _server: server, _user: Running(user), input, answers, page: String::new() }
    }

    fn tell(&mut self, line: &Value) -> Value {
        writeln!(self.input, "{line}").expect("the user listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("an answer");
        serde_json::from_str(&answer).unwrap_or_else(|_| panic!("no answer to {line}"))
    }

    /// Starts a kernel; returns it with its process.
    pub fn kernel(&mut self) -> Kernel {
        let answer = self.tell(&json!(["start"]));
        let id = answer["kernel"].as_str().expect("a kernel").to_owned();
        Kernel { id, pid: answer["pid"].as_u64().expect("a process") }
    }

    fn settle(&mut self, id: &str, old: u64) -> u64 {
        self.tell(&json!(["settle", id, old]))["pid"].as_u64().expect("a process")
    }

    /// Runs one cell; its output.
    pub fn run(&mut self, kernel: &Kernel, cell: &str) -> String {
        self.run_all(kernel, &[cell]).1.concat()
    }

    /// Queues cells; how each ended and what it said.
    pub fn run_all(&mut self, kernel: &Kernel, cells: &[&str]) -> (Vec<String>, Vec<String>) {
        let answer = self.tell(&json!(["run", kernel.id, cells]));
        let texts = |key: &str| -> Vec<String> {
            let all = answer[key].as_array().expect("a list");
            all.iter().map(|one| one.as_str().unwrap_or("none").to_owned()).collect()
        };
        self.page = texts("pages").concat();
        (texts("statuses"), texts("outputs"))
    }

    /// Has a cell run and waits for nothing.
    pub fn send(&mut self, kernel: &Kernel, cell: &str) {
        self.tell(&json!(["send", kernel.id, cell]));
    }

    /// Presses the stop button.
    pub fn interrupt(&mut self, kernel: &Kernel) {
        self.tell(&json!(["interrupt", kernel.id]));
    }

    /// Ends a kernel for good.
    pub fn stop(&mut self, kernel: &Kernel) {
        self.tell(&json!(["stop", kernel.id]));
    }

    /// Restarts a kernel, as the menu does.
    pub fn restart(&mut self, kernel: &mut Kernel) {
        self.tell(&json!(["restart", kernel.id]));
        *kernel = self.restarted(kernel);
    }

    /// Waits until the kernel runs in another process.
    pub fn restarted(&mut self, kernel: &Kernel) -> Kernel {
        Kernel { id: kernel.id.clone(), pid: self.settle(&kernel.id, kernel.pid) }
    }

    /// Runs the boot cell; whether it asked for a restart, with what it said. Anything but "ready", "applied" and a
    /// restart fails.
    #[track_caller]
    pub fn boot(&mut self, kernel: &mut Kernel, cell: &str) -> (bool, String) {
        let said = self.run(kernel, cell);
        let restarts = said.contains("the kernel restarts now, once");
        assert!(restarts || said.concludes("ready") || said.concludes("applied"), "{said}");
        if restarts {
            *kernel = self.restarted(kernel);
        }
        (restarts, said)
    }
}

/// A kernel of the server.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub id: String,
    pub pid: u64,
}

/// Gives the day's kernels what [`LAB`] has and the extension; returns the environment that the former lies in. `None`
/// without the index.
pub fn give_lab(day: &Day) -> Option<Venv> {
    let lab = kept(LAB)?;
    let links = format!("{}/src/python\n{}\n", env!("CARGO_MANIFEST_DIR"), lab.layout().display());
    std::fs::write(day.venv.layout().join("links.pth"), links).expect("a link");
    give_kernels(&day.test, &day.venv);
    Some(lab)
}

/// Writes a notebook of these cells, for kernels called `day`.
pub fn write_notebook(path: &Path, cells: &[&str]) {
    let cell = |(at, source): (usize, &&str)| json!({ "cell_type": "code", "id": at.to_string(), "execution_count": null, "metadata": {}, "outputs": [], "source": source });
    let notebook = json!({
        "cells": cells.iter().enumerate().map(cell).collect::<Vec<_>>(),
        "metadata": { "kernelspec": { "name": "day", "display_name": "day", "language": "python" } },
        "nbformat": 4,
        "nbformat_minor": 5,
    });
    std::fs::write(path, notebook.to_string()).expect("a notebook");
}

/// Kernels called `day`, of an environment.
pub fn give_kernels(test: &Test, of: &Venv) {
    let folder = test.path("jupyter/kernels/day");
    std::fs::create_dir_all(&folder).expect("a folder");
    let spec = json!({
        "argv": [of.python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "day",
        "language": "python",
    });
    std::fs::write(folder.join("kernel.json"), spec.to_string()).expect("a kernel");
}

/// The server that `words` start, a module with its options, in the folder of the test; and its address.
pub fn serve(test: &Test, python: &Path, words: &[&str]) -> (Running, String) {
    let runtime = test.path("runtime");
    let mut environment = test.environment.clone();
    environment.insert("COLAB_BOOT_BINARY".into(), env!("CARGO_BIN_EXE_colab-boot").into());
    environment.insert("JUPYTER_RUNTIME_DIR".into(), runtime.display().to_string());
    environment.insert("JUPYTER_PATH".into(), test.path("jupyter").display().to_string());
    let log = test.path("server.log");
    let child = Command::new(python)
        .arg("-m")
        .args(words)
        .args(["--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"])
        .arg(format!("--IdentityProvider.token={TOKEN}"))
        .env_clear()
        .envs(&environment)
        .current_dir(test.folder.path())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&log).expect("a log"))
        .spawn()
        .expect("the server starts");
    let server = Running(child);
    let started = Instant::now();
    loop {
        let files = std::fs::read_dir(&runtime).into_iter().flatten().flatten().map(|file| file.path());
        let mut records = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
        let url = records.find_map(|path| {
            let record: Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
            Some(record["url"].as_str()?.to_owned())
        });
        if let Some(url) = url {
            return (server, url);
        }
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        assert!(started.elapsed() < Duration::from_mins(1), "{}", said());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The boot cell and the verify cell of the profile at `path`, which is called like its file; locked for the day's
/// environment.
pub fn cells(day: &Day, path: &str) -> (String, String) {
    let profile = format!("{path}.toml");
    day.run(&["lock", &profile]).expect(0);
    day.test.run(&["export", "notebook", &profile, "--out", "cells"]).expect(0);
    let name = Path::new(path).file_name().expect("a name");
    let path: PathBuf = day.test.path("cells").join(name).with_extension("ipynb");
    let notebook: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("a notebook")).expect("JSON");
    let sources = notebook["cells"].as_array().expect("cells").iter().filter(|cell| cell["cell_type"] == "code");
    let text = |cell: &Value| -> String {
        cell["source"].as_array().expect("lines").iter().filter_map(Value::as_str).collect()
    };
    let mut sources: Vec<String> = sources.map(text).collect();
    let verify = sources.pop().expect("a verify cell");
    (sources.pop().expect("a boot cell"), verify)
}
