"""colab-boot in a notebook.

    %load_ext colab_boot
    %%boot                  a profile (TOML) or requirement lines below it: installs them, restarts the kernel once if it must
    %%boot plan             shows what that would do
    %boot VERB [OPTION...]  any command of colab-boot; `%boot explain` takes the last error of this kernel

Imports the standard library alone. Nothing that runs after a cell raises: COLAB_BOOT_HOOKS=0 leaves it out.
"""

import hashlib, json, os, pathlib, re, subprocess, sys, sysconfig

from . import kernel
from .facts import colab_boot_imports
from .kernel import COLAB_BOOT, ColabBootStop, colab_boot_apply, colab_boot_follow, colab_boot_home, colab_boot_run, colab_boot_say, colab_boot_write

# The profile of `%%boot`, and its lock, lie beside the notebook: paths in it start there.
NOTEBOOK = ".notebook.toml"

# Verbs that are about a profile, and those that are about the kernel or its environment.
WITH_PROFILE = {"apply", "plan", "verify"}
WITH_KERNEL = WITH_PROFILE | {"doctor", "fingerprint", "restore", "status"}


def binary():
    """COLAB_BOOT_BINARY, that of the wheel that this module lies in, or that of this environment."""
    named = os.environ.get("COLAB_BOOT_BINARY")
    archive = getattr(__loader__, "archive", None)
    if named or archive:
        return named or unpacked(archive)
    import shutil

    own = os.path.join(sysconfig.get_path("scripts"), "colab-boot")
    found = own if os.access(own, os.X_OK) else shutil.which("colab-boot")
    if not found:
        raise ColabBootStop("colab-boot: the program is not in this environment: install the wheel again, or name it with COLAB_BOOT_BINARY")
    return found


def unpacked(archive):
    """The program of a wheel, in the cache. Its bytes are compared with the RECORD of the wheel each time."""
    import base64, zipfile

    with zipfile.ZipFile(archive) as wheel:
        names = wheel.namelist()
        program = next(name for name in names if name.endswith(".data/scripts/colab-boot"))
        record = wheel.read(next(name for name in names if name.endswith(".dist-info/RECORD"))).decode()
        wanted = next(line.split(",")[1] for line in record.splitlines() if line.startswith(program + ",")).partition("=")[2]
        path = colab_boot_home() / "bin" / wanted / "colab-boot"
        there = hashlib.sha256(path.read_bytes()).digest() if path.is_file() and os.access(path, os.X_OK) else b""
        if base64.urlsafe_b64encode(there).decode().rstrip("=") != wanted:
            colab_boot_write(path, wheel.read(program), 0o755)
    return str(path)


def profile():
    """The profile that this kernel is about; None where there is none."""
    known = COLAB_BOOT.get("profile")
    return known or next((pathlib.Path(name) for name in (NOTEBOOK, "profile.toml") if os.path.isfile(name)), None)


kernel.colab_boot_binary, kernel.colab_boot_files = binary, profile


def written(body):
    """The profile that the body of a cell is, in its file. Requirement lines, as pip takes them, become one."""
    path, lines = pathlib.Path(NOTEBOOK), (line.strip() for line in body.splitlines())
    there = path.read_text() if path.is_file() else ""
    first = next((line for line in lines if line and not line.startswith("#")), "")
    text = body if first.startswith("[") else from_requirements(body, there)
    if there != text:
        colab_boot_write(path, text.encode())
    # Which variables it sets; to ask for one too many does no harm.
    COLAB_BOOT["variables"] = sorted({*re.findall(r'([A-Za-z_]\w*)"?\s*=', text), *kernel.COLAB_BOOT_ASKED, "CUBLAS_WORKSPACE_CONFIG"})
    return path


def from_requirements(body, there):
    """The profile that asks for these requirement lines; `there`, where it was made of them."""
    mark = f"# Made of the lines below %%boot, sha256 {hashlib.sha256(body.encode()).hexdigest()[:16]}\n"
    if there.startswith(mark):
        return there
    command = [binary(), "init", "-", "--from", "-", "--python", sys.executable]
    done = subprocess.run(command, input=body, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    colab_boot_say(done.stderr)
    if done.returncode:
        raise ColabBootStop("colab-boot: this is neither a profile nor a list of requirements; see the message above")
    # That it was made in this folder says nothing.
    return mark + re.sub(r'(?m)^name = ".*"$', 'name = "notebook"', done.stdout, count=1)


def split(line):
    """The words of a line; a verb that is left out is `apply`."""
    import shlex

    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise ColabBootStop(f"colab-boot: {error}: {line}") from None
    return ("apply", words) if not words or words[0].startswith("-") else (words[0], words[1:])


def boot(line, cell=None):
    """`%boot` and `%%boot`."""
    # The front end may give a line magic a blank cell.
    body = cell if cell and cell.strip() else None
    if body is None and not line.strip():
        return colab_boot_say(__doc__.split("\n\n", 1)[1] + "\n")
    verb, words = split(line)
    if body is not None and verb not in WITH_PROFILE | {"lock", "explain"}:
        raise ColabBootStop(f"colab-boot: %%boot {verb} takes no text below it; write %boot {verb}")
    if verb == "explain":
        return explain(body or " ".join(words))
    if verb == "add" and any(word == "--from" or word.startswith("--from=") for word in words):
        return add_release(words)
    if body is not None:
        COLAB_BOOT["profile"] = written(body)
    elif verb in WITH_PROFILE and words and words[0].endswith(".toml"):
        COLAB_BOOT["profile"] = pathlib.Path(words.pop(0))
    if verb in WITH_PROFILE and profile() is None:
        raise ColabBootStop(f"colab-boot: there is no profile: write one below %%boot {verb}, or name its file")
    if verb == "apply":
        return applied(words)
    ends(verb, run(verb, words))


def run(verb, words):
    """Runs a verb; its exit code."""
    if verb in WITH_KERNEL and "--help" not in words:
        return colab_boot_run(verb, *words)[0]
    if body_profile(verb, words):
        words = [str(profile()), *words]
    return colab_boot_follow([binary(), verb, *words])


def body_profile(verb, words):
    """Whether a verb that names no profile means that of the notebook."""
    return verb == "lock" and profile() and not any(word.endswith(".toml") for word in words)


def applied(options):
    colab_boot_apply(options)
    COLAB_BOOT["seen"] = packages_stamp()


def ends(verb, code):
    if code == 10:
        kernel.colab_boot_restart()
    if code:
        raise ColabBootStop(f"colab-boot {verb} ended with exit code {code}; see the messages above", code)


def add_release(words):
    """`%boot add NAME@VERSION#DIGEST --from REPOSITORY [--trusted-key KEY]...`: takes a release and applies it. What is here already is not fetched
    again; whether it was withdrawn is asked once a day."""
    words = [part for word in words for part in (["--from", word[7:]] if word.startswith("--from=") else [word])]
    release, _, digest = next((word for word in words if "@" in word and not word.startswith("-") and "://" not in word), "").partition("#")
    digest = digest.rpartition("=")[2]
    if not re.fullmatch(r"[a-z0-9._-]+@[0-9][^/\s]*", release) or not re.fullmatch("[0-9a-f]{64}", digest):
        raise ColabBootStop("colab-boot: write %boot add NAME@VERSION#SHA256 --from REPOSITORY; SHA256 is the digest of its lock")
    at = words[words.index("--from") + 1] if words.index("--from") + 1 < len(words) else ""
    rest = [word for word in words if word not in ("--from", at) and not word.startswith(release)]
    keys = [rest[place + 1] for place, word in enumerate(rest[:-1]) if word == "--trusted-key"]
    name = release.partition("@")[0]
    folder = colab_boot_home() / "releases" / digest[:12]
    lock = folder / f"{name}.lock"
    if not lock.is_file() or hashlib.sha256(lock.read_bytes()).hexdigest() != digest:
        folder.mkdir(parents=True, exist_ok=True)
        ends("add", colab_boot_follow([binary(), "golden", "add", f"{release}#sha256={digest}", "--repo", at, "--into", str(folder), *rest]))
    COLAB_BOOT["profile"] = folder / f"{name}.toml"
    COLAB_BOOT["golden"] = {"at": at, "release": release, "keys": keys, "threshold": 1, "min-seq": 0}
    COLAB_BOOT["lock"] = {"sha256": digest}
    COLAB_BOOT["variables"] = sorted({*re.findall(r'([A-Za-z_]\w*)"?\s*=', COLAB_BOOT["profile"].read_text()), *kernel.COLAB_BOOT_ASKED})
    applied(["--locked"])


def explain(text=""):
    """What an error means: that of `text`, else the last one of this kernel."""
    if not text.strip():
        text = last_error()
    if not text:
        raise ColabBootStop("colab-boot: no cell of this kernel has failed; write the text of the error behind %boot explain")
    is_one_word = not text.strip().count(" ") and not text.strip().count("\n")
    if is_one_word:
        return ends("explain", colab_boot_follow([binary(), "explain", text.strip()]))
    ends("explain", colab_boot_follow([binary(), "explain", "-"], text))


def last_error(error=None):
    import traceback

    error = error or getattr(sys, "last_value", None)
    return "".join(traceback.format_exception(type(error), error, error.__traceback__)) if error is not None else ""


def packages_stamp():
    """Changes when a package is installed or removed."""
    try:
        return os.stat(sysconfig.get_path("purelib")).st_mtime_ns
    except OSError:
        return None


def after_cell(result):
    """Runs after each cell: offers `%boot explain` for a known error, and says when something has changed the packages that colab-boot installed."""
    try:
        if os.environ.get("COLAB_BOOT_HOOKS") == "0":
            return
        if result.error_in_exec is not None:
            return offer(result.error_in_exec)
        stamp = packages_stamp()
        if COLAB_BOOT.get("seen") not in (None, stamp):
            COLAB_BOOT["seen"] = stamp
            notice()
    except Exception:  # IPython would print a traceback below every cell
        pass


def offer(error):
    """One line for an error that `explain` knows; once for each."""
    known = COLAB_BOOT.setdefault("offered", set())
    kind = (type(error).__name__, str(error)[:200])
    if isinstance(error, (ColabBootStop, SyntaxError)) or type(error).__name__ == "UsageError" or not isinstance(error, Exception) or kind in known:
        return
    known.add(kind)
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "timeout": 3}
    done = subprocess.run([binary(), "explain", "-", "--json"], input=last_error(error), **quiet)
    found = [one for one in json.loads(done.stdout)["report"] or [] if not one["near"]] if done.returncode == 0 else []
    if found:
        colab_boot_say(f"colab-boot knows this error: {found[0]['means'].split('. ')[0].rstrip('.')}. What helps: %boot explain\n")


def notice():
    """Says what another tool has changed of the locked packages. Packages that no lock names are the user's business."""
    place = profile()
    if place is None or not place.with_suffix(".lock").is_file():
        return
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "timeout": 10}
    command = [binary(), "plan", str(place), "--locked", "--python", sys.executable, "--offline", "--json"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, **quiet)
    changes = ((json.loads(done.stdout)["report"] or {}).get("plan") or {}).get("changes") or []
    if changes:
        words = [f"{one['name']} is {one['from'] or 'not installed'}, locked is {one['to'] or 'none'}" for one in changes]
        more = f" and {len(words) - 3} more" if len(words) > 3 else ""
        colab_boot_say(f"colab-boot: packages differ from the lock: {'; '.join(words[:3])}{more}. Put them back: %boot apply\n")


def load_ipython_extension(shell):
    shell.register_magic_function(boot, "line_cell", "boot")
    unload_ipython_extension(shell)
    shell.events.register("post_run_cell", after_cell)
    COLAB_BOOT["hook"] = after_cell
    if COLAB_BOOT.get("seen") is None and profile() is not None:
        COLAB_BOOT["seen"] = packages_stamp()
    colab_boot_imports()


def unload_ipython_extension(shell):
    hook = COLAB_BOOT.pop("hook", None)
    if hook is not None:
        shell.events.unregister("post_run_cell", hook)
