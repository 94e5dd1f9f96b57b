"""What every cell and the extension do in a kernel: run colab-boot, show what it says, restart once. A cell is this text with the profile and the lock."""

import html, json, os, pathlib, re, signal, subprocess, sys, sysconfig, tempfile, time

from .facts import colab_boot_facts, colab_boot_silent, colab_boot_text

# What the cell or the extension is about; see there. They define colab_boot_binary and colab_boot_files.
COLAB_BOOT = {"variables": [], "golden": None, "silent": set()}


def colab_boot_front():
    """What runs this code: the "kernel" of a notebook, "ipython" without one, or plain "python"."""
    shell = sys.modules["IPython"].get_ipython() if hasattr(sys.modules.get("IPython"), "get_ipython") else None
    if shell is None:
        return "python"
    return "ipython" if getattr(shell, "kernel", None) is None else "kernel"


class ColabBootStop(SystemExit if colab_boot_front() == "python" else Exception):
    """Ends the cell, and with it the cells queued behind it, in one line instead of a traceback. A script ends with its exit code."""

    def __init__(self, message, code=1):
        super().__init__(message)
        if colab_boot_front() == "kernel":
            colab_boot_escalate(self)
        if isinstance(self, SystemExit):
            print(message, file=sys.stderr, flush=True)
            self.code = code

    def _render_traceback_(self):
        return [str(self)]


def colab_boot_escalate(stop):
    """`%%capture` runs its cell in a cell: what stops the inner one is only printed, into what is captured, and the queued cells would run. The outer
    cell gets the error, too."""
    shell, frame, depth = sys.modules["IPython"].get_ipython(), sys._getframe(), 0
    while frame:
        depth += frame.f_code.co_name == "run_cell_async"
        frame = frame.f_back

    def fail(result):
        if result.error_in_exec is not stop:
            shell.events.unregister("post_run_cell", fail)
            result.error_in_exec = stop
            shell.showtraceback((type(stop), stop, None))

    if depth > 1:
        shell.events.register("post_run_cell", fail)


def colab_boot_home():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(os.environ.get("COLAB_BOOT_CACHE_DIR") or os.path.join(home, "colab-boot"))


def colab_boot_temporary():
    """Where temporary files go, as far as that is known without a look at it."""
    return tempfile.tempdir or next(filter(None, map(os.environ.get, ("TMPDIR", "TEMP", "TMP"))), "/tmp")


def colab_boot_reach():
    """Finds out what can't be reached of the places that this cell needs: the server of a mount may be silent, and who touches it waits for ever."""
    home, binary = str(colab_boot_home()), os.environ.get("COLAB_BOOT_BINARY")
    COLAB_BOOT["silent"] = silent = colab_boot_silent([home, binary, colab_boot_temporary(), *os.get_exec_path()])
    for place, name in ((home, "COLAB_BOOT_CACHE_DIR"), (binary, "COLAB_BOOT_BINARY")):
        if place in silent:
            raise ColabBootStop(f"colab-boot: {place} can't be reached: its mount does not answer; unmount it, or name another place with {name}")
    for place in sorted(silent):
        colab_boot_say(f"colab-boot: {place} is left out: its mount does not answer\n")


def colab_boot_write(path, data, mode=0o644):
    """Writes a file whole: beside its place, then renamed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, mode)
        os.replace(name, path)
    except OSError as error:
        raise ColabBootStop(f"colab-boot: {path} could not be written: {error}; name another folder with COLAB_BOOT_CACHE_DIR") from None


# What `doctor` wants to know of this kernel's environment.
COLAB_BOOT_ASKED = "CUDA_VISIBLE_DEVICES LD_LIBRARY_PATH OMP_NUM_THREADS PYTHONHASHSEED PYTORCH_ALLOC_CONF PYTORCH_CUDA_ALLOC_CONF".split()
COLAB_BOOT_ASKED += "TF_FORCE_GPU_ALLOW_GROWTH XLA_CLIENT_MEM_FRACTION XLA_PYTHON_CLIENT_MEM_FRACTION XLA_PYTHON_CLIENT_PREALLOCATE".split()


def colab_boot_folder(facts):
    """A folder that goes when it is left, with the facts of this kernel in it."""
    try:
        folder = tempfile.TemporaryDirectory(dir="/tmp" if colab_boot_temporary() in COLAB_BOOT["silent"] else None)
        with open(os.path.join(folder.name, "facts.json"), "w") as file:
            json.dump(facts, file)
        return folder
    except OSError as error:
        raise ColabBootStop(f"colab-boot: there is no place for temporary files: {error}") from None


def colab_boot_run(verb, *options):
    """Runs colab-boot for this kernel, passes on what it says, returns its exit code and its report."""
    if verb != "apply":  # the cell itself has
        colab_boot_reach()
    profile = None if verb in ("fingerprint", "restore", "status") else colab_boot_files()
    about = [str(profile)] if profile else []
    if verb == "doctor" and profile:
        about = ["--profile", str(profile)]
    if not sys.executable:  # a program that embeds Python may leave it so
        raise ColabBootStop("colab-boot: sys.executable is empty, so this Python has no name: set it to the path of its interpreter")
    command = [colab_boot_binary(), verb, *about, "--python", sys.executable, *options]
    named = [name for name in os.environ.get("COLAB_BOOT_ENV_NAMES", "").split(",") if name]
    try:  # the file that sets them for the next kernel
        with open(os.path.join(sysconfig.get_paths()["purelib"], "colab-boot-env.pth")) as file:
            named += json.loads(file.read().split(".update(", 1)[1].strip()[:-1])
    except (OSError, ValueError, IndexError):
        pass
    if verb == "doctor":
        named += COLAB_BOOT_ASKED
    known = {**colab_boot_facts({*COLAB_BOOT["variables"], *named, "COLAB_BOOT_ENV"}), "release": COLAB_BOOT.get("unchecked")}
    with colab_boot_folder(known) as folder:
        facts, report = os.path.join(folder, "facts.json"), os.path.join(folder, "report.json")
        command += ["--kernel-pid", str(os.getpid()), "--kernel-modules", facts, f"--json={report}"]
        COLAB_BOOT["report"] = None
        try:
            code = colab_boot_follow(command)
            COLAB_BOOT["report"] = {}
        finally:  # one that was stopped says what it has left
            try:
                with open(report) as file:
                    COLAB_BOOT["report"] = json.load(file)["report"] or {}
            except (OSError, ValueError):
                pass
        said = COLAB_BOOT["report"]
        # Another thread may have collected the exit code: the report counts.
        ends = {"restart-pending": 10, "unproven": 1, "refused": 1}
        return code or ends.get((said.get("verdict") or {}).get("word"), 0), said


def colab_boot_say(text):
    """Prints. Where nothing reads it any more (`| head -1`), or the disk is full, the work goes on."""
    try:
        print(text, end="", flush=True)
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def colab_boot_size(bytes):
    """`1.5 MB`, as the program writes sizes."""
    return f"{bytes / 1e6:,.1f} MB" if bytes >= 1e6 else f"{bytes / 1e3:,.1f} kB"


class ColabBootScreen:
    """Where a command's output is seen: its progress in one line that moves, its report as text with a page beside it."""

    handle, printed = None, 0.0

    def show(self, line):
        if not line.startswith("\x1e"):
            return colab_boot_say(line.replace("`colab-boot ", "`%boot ") if COLAB_BOOT.get("magic") else line)
        record = json.loads(line[1:])
        if "html" in record:
            COLAB_BOOT["codes"] = re.findall(r"^error\[([a-z-]+)\]", record["text"], re.M)
            texts = {"text/plain": record["text"].rstrip(), "text/html": record["html"]}
            if COLAB_BOOT.get("magic"):  # so that the next step can be typed in a cell
                made, cell = r"\.notebook(-plan-\d+)?\.toml:\d+:\d+", "the profile made of the cell"
                if COLAB_BOOT.get("made"):  # of requirement lines: what helps is one, too
                    texts = {kind: re.sub(made, cell, text) for kind, text in texts.items()}
                    line = r'`([\w.-]+) = (?:"|&quot;|&#34;|&#x22;)(?:\*|((?:[=<>!~]|&[gl]t;)[^`]*?))(?:"|&quot;|&#34;|&#x22;)`'
                    texts = {kind: re.sub(line, lambda line: f"`{line[1]}{line[2] or ''}`", text) for kind, text in texts.items()}
                texts = {kind: re.sub(r"\.notebook(-plan-\d+\.toml|\.toml(?=:\d))", "cell", text).replace("`colab-boot ", "`%boot ") for kind, text in texts.items()}
            return self.display(texts)
        speed, left = record["speed"], max(record["total"] - record["done"], 0)
        text = f"{colab_boot_size(record['done'])} of {colab_boot_size(record['total'])}"
        text += f", {record['files_done']} of {record['files']} files" if record["files"] else ""
        text += f", {colab_boot_size(speed)}/s" if speed else ""
        text += f", {left // speed} s left: {' '.join(record['file'].split('-')[:2])}" if speed and not record["ended"] else ""
        if colab_boot_runner():  # it keeps the first state of what is displayed
            if record["ended"] or time.monotonic() - self.printed >= 5:
                self.printed = time.monotonic()
                colab_boot_say(f"colab-boot: {text}\n")
            return
        part = 100 if record["ended"] or not record["total"] else min(100 * record["done"] / record["total"], 100)
        bar = f'<progress value="{part:.1f}" max="100" aria-label="download" style="width:100%;max-width:40em"></progress>'
        self.display({"text/plain": text, "text/html": f"<div>{bar}<br>{html.escape(text)}</div>"}, moves=True)

    def display(self, bundle, moves=False):
        try:
            from IPython.display import display
        except ImportError:
            return colab_boot_say(bundle["text/plain"] + "\n")
        if not moves:
            display(bundle, raw=True)
        elif self.handle:
            self.handle.update(bundle, raw=True)
        else:
            self.handle = display(bundle, raw=True, display_id=True)


def colab_boot_follow(command, text=None):
    """Runs a command, which reads `text`, and shows what it says. The stop button stops the command, which puts right what it has begun: its end is waited for.
    At the third press it is killed."""
    screen, stopped = ColabBootScreen(), 0
    how = {"stdin": subprocess.DEVNULL if text is None else subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    if colab_boot_front() == "kernel":
        how["env"] = {**os.environ, "COLAB_BOOT_PROGRESS": "records"}
    try:
        process = subprocess.Popen(command, **how)
        if text is not None:  # it says nothing before it has read all
            process.stdin.write(text)
            process.stdin.close()
    except OSError as error:
        raise ColabBootStop(f"colab-boot: {command[0]} does not run: {error}") from None
    while True:
        try:
            for line in process.stdout:
                screen.show(line)
            code = process.wait()
            break
        except KeyboardInterrupt:
            stopped += 1
            colab_boot_say("colab-boot: stopping after the current step\n")
            try:  # a front end interrupts the kernel alone, or all that it has started
                process.kill() if stopped > 2 else process.send_signal(signal.SIGINT)
            except OSError:
                pass
    process.stdout.close()
    if stopped:
        then = "; the same cell goes on from where it was" if command[1] in ("apply", "fetch", "restore") else ""
        raise ColabBootStop(f"colab-boot {command[1]} was stopped{then}", 130)
    return code


def colab_boot_allowed():
    """The option that allows a withdrawn release, where the user does."""
    return ["--allow-yanked"] if os.environ.get("COLAB_BOOT_ALLOW_YANKED", "").lower() not in ("", "0", "n", "no", "f", "false", "off") else []


def colab_boot_golden():
    """Asks the golden repository, once a boot and once a day in each environment, whether this release was withdrawn. One that can't be asked changes nothing."""
    golden = COLAB_BOOT["golden"]
    if not golden:
        return
    try:
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        boot = ""
    asked = colab_boot_files().parent / "asked"
    when, _, of = asked.read_text().partition(" ") if asked.is_file() else ("", "", "")
    here = f"{boot.strip()} {os.stat(sys.prefix).st_ino} {sys.prefix}"  # another environment asks for itself
    if boot and of == here and when.isdigit() and 0 <= time.time() - int(when) < 86400:
        return
    release = f"{golden['release']}#sha256={COLAB_BOOT['lock']['sha256']}"
    command = [colab_boot_binary(), "golden", "verify", "--repo", golden["at"]]
    if golden["keys"]:
        command += [release, "--threshold", str(golden["threshold"]), "--min-seq", str(golden["min-seq"])]
    else:  # what was pinned when it was taken
        command += ["--into", str(colab_boot_files().parent)]
    for key in golden["keys"]:
        command += ["--trusted-key", key]
    command += colab_boot_allowed()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=8)
    except (OSError, subprocess.TimeoutExpired):
        colab_boot_say(f"colab-boot: {golden['at']} did not answer; whether this release was withdrawn is unchecked\n")
        COLAB_BOOT["unchecked"] = f"{golden['release']} unchecked, its repository did not answer"
        return
    colab_boot_say(done.stdout)
    if done.returncode not in (0, 3):  # 3: the machine or the network failed
        withdrawn = "error[golden-yanked]" in done.stdout or "error[golden-file-differs]" in done.stdout
        must = "must not be used" if withdrawn else "can't be checked, so it is not used"
        raise ColabBootStop(f"colab-boot: {golden['release']} {must}; see the reason above")
    if done.returncode or "golden-unchecked" in done.stdout:
        COLAB_BOOT["unchecked"] = f"{golden['release']} unchecked, its repository can't be reached"
    elif "--allow-yanked" not in command:
        colab_boot_write(asked, f"{int(time.time())} {here}".encode())


def colab_boot_set(variables):
    """Gives this kernel the variables that it has not read too early; the others came with its restart."""
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def colab_boot_server():
    """Address and token of the Jupyter server that owns this kernel; None where there is no way to find out."""
    if os.environ.get("COLAB_JUPYTER_IP"):
        port = os.environ.get("KMP_TARGET_PORT", "9000")
        return f"http://{os.environ['COLAB_JUPYTER_IP']}:{port}/", os.environ.get("COLAB_JUPYTER_TOKEN", "")
    try:
        from jupyter_core.paths import jupyter_runtime_dir
    except ImportError:
        return None
    for path in pathlib.Path(jupyter_runtime_dir()).glob("jpserver-*.json"):
        try:
            server = json.loads(path.read_text())
            if str(server["pid"]) == os.environ.get("JPY_PARENT_PID"):
                return server["url"], server.get("token", "")
        except (OSError, ValueError, TypeError, KeyError):
            pass  # of a server that was killed while it wrote, or of something else
    return None


def colab_boot_runner():
    """The program that runs this notebook without a person, such as papermill; None where there is none."""
    try:
        words = pathlib.Path(f"/proc/{os.getppid()}/cmdline").read_text().split("\0")
    except OSError:
        return None
    names = {os.path.basename(os.path.dirname(word) if word.endswith("__main__.py") else word) for word in words}
    known = ("papermill", "jupyter-nbconvert", "nbconvert", "jupyter-execute", "execute", "nbclient", "pytest", "jupytext", "quarto")
    return next((name for name in known if name in names), None)


# Runs apart from the kernel: asks the server for a restart, which no front end takes for a crash. By then the queued cells are
# gone. If the server won't, the kernel is ended, and the server starts another. Without a server it has ended itself by then, but for threads that it waits
# for. A process that has its number by then is left alone.
COLAB_BOOT_RESTART = """
import os, signal, sys, time, urllib.request
url, pid, token = sys.argv[1], int(sys.argv[2]), sys.stdin.readline().strip()
def started():
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[19]
    except OSError:
        return None
before = started()
time.sleep(0.7 if url else 5)
try:
    request = urllib.request.Request(url, data=b"{}", method="POST", headers={"Authorization": "token " + token})
    urllib.request.urlopen(request, timeout=30).read()
except Exception:
    if before and started() == before:
        os.kill(pid, signal.SIGKILL)
"""


def colab_boot_restart(then="run all cells again when it is back"):
    """Restarts this kernel so that no queued cell runs in it: raising aborts them, a plain shutdown would let them run."""
    if os.environ.get("COLAB_BOOT_RESTART") == "external":
        raise ColabBootStop("colab-boot: restart the kernel from outside, then run this cell again", 10)
    if colab_boot_front() != "kernel":
        raise ColabBootStop("colab-boot: this Python is not a notebook kernel: exit it, start it again, and run this once more", 10)
    server, runner = colab_boot_server(), colab_boot_runner()
    if os.environ.get("COLAB_BOOT_RESTART") == "run-all" and not runner:
        colab_boot_run_all()
    if runner and not server:
        raise ColabBootStop(f"colab-boot: {runner} does not restart kernels: run it once more, it starts a new one")
    from ipykernel.connect import get_connection_file

    kernel = pathlib.Path(get_connection_file()).stem.split("-", 1)[-1]
    url, token = (f"{server[0]}api/kernels/{kernel}/restart", server[1]) if server else ("", "")
    arguments = [sys.executable, "-I", "-c", COLAB_BOOT_RESTART, url, str(os.getpid())]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen(arguments, start_new_session=True, stdin=subprocess.PIPE, text=True, **quiet)
    child.stdin.write(token + "\n")  # not an argument: those can be read by everybody
    child.stdin.close()
    if not server:
        sys.modules["IPython"].get_ipython().kernel.do_shutdown(True)
    raise ColabBootStop(f"colab-boot: the kernel restarts now, once; {then}")


def colab_boot_run_all():
    """Has JupyterLab restart this kernel and run all cells again, by its own command. A lock restarts a kernel once, so this comes to an end."""
    try:
        from ipylab import JupyterFrontEnd
    except ImportError:
        return colab_boot_say("colab-boot: COLAB_BOOT_RESTART=run-all needs ipylab, in JupyterLab and in this environment; without it, run all cells yourself\n")
    JupyterFrontEnd().commands.execute("notebook:restart-run-all")
    raise ColabBootStop("colab-boot: JupyterLab restarts the kernel now, once, and runs all cells again. If nothing happens, restart the kernel and run all cells yourself")


def colab_boot_record():
    """Has the recorder watch this kernel, so that `colab-boot doctor --after-crash` knows how it ended. COLAB_BOOT_RECORD=0 leaves it out."""
    if os.environ.get("COLAB_BOOT_RECORD") == "0" or colab_boot_front() != "kernel":
        return
    command = [colab_boot_binary(), "record", "--start", "--kernel-pid", str(os.getpid())]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=10)
        import faulthandler

        COLAB_BOOT["crash"] = open(done.stdout.strip(), "w")
        faulthandler.enable(COLAB_BOOT["crash"])
    except (OSError, ValueError, subprocess.SubprocessError):
        pass  # a boot goes on without it; `doctor` says that nothing records the kernel


def colab_boot_seed(seed):
    """Seeds what this kernel has loaded, and asks it to be deterministic. What that promises, `colab-boot plan` says."""
    import random

    random.seed(seed)
    numpy, torch, tensorflow = (sys.modules.get(name) for name in ("numpy", "torch", "tensorflow"))
    if numpy:
        numpy.random.seed(seed % 2**32)
    if torch:
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = False
    if tensorflow:
        tensorflow.keras.utils.set_random_seed(seed % 2**32)
        tensorflow.config.experimental.enable_op_determinism()


def colab_boot_apply(options=("--locked",)):
    colab_boot_reach()
    colab_boot_golden()
    code, report = colab_boot_run("apply", *options)
    colab_boot_set(report.get("set-live") or {})
    if code == 10:
        colab_boot_restart()
    elif code:
        raise ColabBootStop(f"colab-boot apply ended with exit code {code}; see the messages above", code)
    colab_boot_record()
