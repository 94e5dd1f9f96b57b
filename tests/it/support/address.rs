//! A wheel served at an address of this machine, and an environment that has it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::python::{Running, Venv, first_line, interpreter, wheel};
use crate::support::said::Said as _;
use crate::support::test::{Outcome, Test};

/// Serves a folder on loopback and prints the port. It knows no ranges, as some servers don't.
const SERVE: &str = "
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.HTTPServer(('127.0.0.1', 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
";

pub fn serve(folder: &Path) -> (Running, String) {
    let mut child = Command::new(interpreter())
        .args(["-I", "-c", SERVE])
        .arg(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("Python starts");
    let port = first_line(child.stdout.take());
    (Running(child), format!("http://127.0.0.1:{}/demo-1.0-py3-none-any.whl", port.trim()))
}

pub fn build(folder: &Path, word: &str) -> String {
    wheel(folder, ("demo", "1.0"), word)
}

/// A virtual environment whose `demo` comes from an address, and a list of modules that a kernel has loaded it.
pub struct Loaded {
    pub test: Test,
    pub venv: Venv,
    pub served: PathBuf,
    pub url: String,
    _server: Running,
}

impl Loaded {
    pub fn new() -> Self {
        let test = Test::new().file("modules", "demo\n");
        let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", test.path("bin").display());
        let mut test = test.set("PATH", path).set("COLAB_BOOT_INDEX_URL", "http://127.0.0.1:9/simple");
        // The kernel's stand-in is a process of this machine.
        test.environment.remove("COLAB_BOOT_ROOT");
        let served = test.path("served");
        std::fs::create_dir(&served).expect("a folder");
        let (server, url) = serve(&served);
        let venv = Venv::new(&test, &[]);
        Self { test, venv, served, url, _server: server }
    }

    /// Another wheel was applied under a kernel, which has restarted since: the new one.
    pub fn restarted() -> (Self, Running) {
        let world = Self::new();
        let first = Running::idle();
        world.apply("first", &first.pid(), &[]).expect(0);
        world.apply("second", &first.pid(), &[]).expect(10);
        drop(first);
        let second = Running::idle();
        assert!(world.apply("second", &second.pid(), &[]).expect(0).concludes("ready"));
        (world, second)
    }

    /// Applies a profile whose `demo` says `word`, for the kernel `pid`.
    pub fn apply(&self, word: &str, pid: &str, more: &[&str]) -> Outcome {
        let (url, digest) = (&self.url, build(&self.served, word));
        let text = format!(
            "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo = {{ url = '{url}', sha256 = '{digest}' }}\n"
        );
        std::fs::write(self.test.path("p.toml"), text).expect("a profile");
        let python = self.venv.python.display().to_string();
        let base = ["apply", "p.toml", "--python", &python, "--kernel-pid", pid, "--kernel-modules", "modules"];
        self.test.run(&[base.as_slice(), more].concat())
    }
}
