"""colab-boot in a notebook.

    %load_ext colab_boot
    %%boot                  a profile (TOML) or requirement lines below it: installs them, restarts the kernel once if it must
    %%boot plan             shows what that would do
    %boot plan, %boot apply the same for the last profile of this kernel, else for the inline metadata (`# /// script`) of a cell
    %boot form [plan]       the same for the variables framework, version, packages and gpu of a form
    %boot VERB [OPTION...]  any command of colab-boot; `%boot explain` takes the last error of this kernel

Imports the standard library alone. Nothing that runs after a cell raises: COLAB_BOOT_HOOKS=0 leaves it out.
"""

import hashlib, json, os, pathlib, re, subprocess, sys, sysconfig

# `%reload_ext` loads this module alone; another wheel has other parts.
for part in ("facts", "kernel"):
    sys.modules.pop(f"{__name__}.{part}", None)

from . import kernel
from .facts import colab_boot_imports
from .kernel import COLAB_BOOT, ColabBootStop, colab_boot_apply, colab_boot_follow, colab_boot_home, colab_boot_run, colab_boot_say, colab_boot_write

# The profile of `%%boot`, and its lock, lie beside the notebook: paths in it start there.
FOLDER = os.getcwd() if os.path.isdir(os.curdir) else os.path.expanduser("~")
NOTEBOOK = ".notebook.toml"

# Verbs that are about a profile, those that are about the kernel or its environment, and those that take a profile last.
WITH_PROFILE = {"apply", "plan", "verify"}
WITH_KERNEL = WITH_PROFILE | {"doctor", "fingerprint", "restore", "status"}
PROFILE_LAST = {"export", "forecast", "lock", "tree"}


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


def near(path):
    """The path of a file, by its name alone where the kernel works in its folder."""
    here = os.path.isdir(os.curdir) and os.path.isdir(path.parent) and os.path.samefile(os.curdir, path.parent)
    return pathlib.Path(path.name) if here else path


def place(name):
    """A file beside the notebook."""
    return near(pathlib.Path(FOLDER, name))


def profile():
    """The profile that this kernel is about; None where there is none."""
    known = COLAB_BOOT.get("profile")
    return near(known) if known else next((place(name) for name in (NOTEBOOK, "profile.toml") if place(name).is_file()), None)


def profile_and_variables():
    """The profile; what this kernel says of itself is about the variables that it may set. To ask for one too many does no harm."""
    path = profile()
    text = (path is not None and text_of(path)) or ""
    COLAB_BOOT["variables"] = sorted({*re.findall(r'([A-Za-z_]\w*)"?\s*=', text), *kernel.COLAB_BOOT_ASKED, "CUBLAS_WORKSPACE_CONFIG"})
    return path


COLAB_BOOT["magic"] = True
kernel.colab_boot_binary, kernel.colab_boot_files = binary, profile_and_variables


# Inline metadata of a script (PEP 723), which juv writes into a cell of its own.
BEGIN, HEADER = re.compile(r"^# /// script[ \t]*$", re.M), re.compile(r"^# /// script[ \t]*\n(?:#(?: .*)?\n)*?# ///[ \t]*$", re.M)


def header_of(text):
    """The inline metadata in a text; None without."""
    count, found = len(BEGIN.findall(text)), HEADER.search(text)
    if count > 1 or count and not found:
        why = "there are two `# /// script` blocks in one cell" if count > 1 else "the `# /// script` block has no end: a line `# ///`"
        raise ColabBootStop(f"colab-boot: {why}")
    return found and found.group()


def unix(text):
    """The text with lines as Python ends them."""
    return re.sub("\r\n?", "\n", text)


def cells():
    """What the cells of this kernel said, with the one that runs."""
    return [unix(text) for text in sys.modules["IPython"].get_ipython().history_manager.input_hist_raw]


def header():
    """The inline metadata of the last cell that has some. What a later cell has applied counts more; None then."""
    all = cells()
    last = next((number for number in range(len(all) - 1, -1, -1) if BEGIN.search(all[number])), -1)
    return header_of(all[last]) if last > COLAB_BOOT.get("cell", -1) else None


def of_field(name, value):
    """The text of a field of a form. What is no text would become the name of a package, or another version: 2.10 is 2.1."""
    parts = list(value) if isinstance(value, (list, tuple)) and name == "packages" else [value]
    parts = [""] if parts == [None] else [str(part) if type(part) is int and name == "version" else part for part in parts]
    if not all(isinstance(part, str) and (part.isprintable() or name == "packages") for part in parts):
        example = {"version": '"2.10"', "packages": '"click rich"', "gpu": '"T4"'}.get(name, '"torch"')
        raise ColabBootStop(f"colab-boot: {name} is no text of one line: write it in quotes, such as {name} = {example}")
    return " ".join(parts).strip()


# `%boot form` begins what it asks for with this line: a cell that a user has written begins otherwise.
FORM = "# The form of this notebook, for the GPU: "


def of_form():
    """The lines that a form asks for: variables of this kernel. A list of packages is read as people write it: `a, b >= 2`."""
    names = sys.modules["IPython"].get_ipython().user_ns
    framework, version, packages, gpu = (of_field(name, names.get(name)) for name in ("framework", "version", "packages", "gpu"))
    version = "" if version in ("", "any") else version if version[0] in "=<>~!" else f"=={version.partition('.*')[0]}.*"
    packages = re.sub(r"(^|\s)#.*", "", re.sub(r"^[%!]?pip3? install ", "", packages))
    packages = re.sub(r"\[[^\]]*\]", lambda extras: extras.group().replace(" ", "").replace(",", "\t"), packages)
    packages = re.sub(r",(?=\s*[A-Za-z])", " ", packages).replace("\t", ",")
    packages = re.sub(r"\s*([=<>~!]=+|[<>])\s*", r"\1", packages)
    lines = [framework + version] * (framework.lower() not in ("", "none")) + [word.strip(",'\"") for word in packages.split()]
    if not any(lines):
        raise ColabBootStop("colab-boot: the form names no package: set the variables framework or packages above %boot form")
    return "\n".join([FORM + (gpu or "this machine"), *filter(None, lines)]) + "\n"


# What a profile begins with that was made of other lines than its own.
MADE = "# Made of the lines of a cell, sha256 "


def of_body(body, there):
    """The text of the profile that the body of a cell is. Requirement lines, as pip takes them, and inline metadata become one; `there`, where it was
    made of them."""
    metadata = header_of(body)
    what = "inline metadata" if metadata else "form" if body.startswith(FORM) else "cell"
    lines = (line.strip() for line in body.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if not first and not metadata:
        raise ColabBootStop("colab-boot: the cell names no package: write requirement lines or a profile below %%boot")
    if first.startswith("["):
        return ended(body)
    mark = f"{MADE}{hashlib.sha256(body.encode()).hexdigest()[:16]}\n"
    if there.startswith(mark) and is_ours(there):
        return there
    # A file, for what its lines name lies beside the notebook.
    lines = place(temporary("cell", ".py" if metadata else ".txt"))
    keep(lines, body)
    try:
        command = [binary(), "init", "-", "--from", str(lines), "--python", sys.executable]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        lines.unlink()
    said = done.stderr.replace(f"`{lines}`", f"the {what}").replace(str(lines), f"the {what}").replace("; the profile lists them as comments", "")
    colab_boot_say(re.sub(r"(?m)^ = help: it should be .*\n", "", said))
    if done.returncode:
        right = {"cell": "a profile or requirement lines, such as torch==2.11.*, one package a line", "form": "names of packages, such as torch==2.11.* transformers"}
        raise ColabBootStop(f"colab-boot: the {what} can't be read: write {right.get(what, 'dependencies as a list of requirements')}")
    if "[import-incomplete]" in said:  # without them, packages would be missing or removed
        raise ColabBootStop(f"colab-boot: the {what} says what can't be installed, see above: correct it, or take it out. Nothing was changed")
    # That it was made in this folder says nothing.
    text = mark + re.sub(r'(?m)^name = ".*"$', 'name = "notebook"', done.stdout, count=1)
    gpu = body.partition("\n")[0][len(FORM):] if what == "form" else "this machine"
    return ended(text if gpu == "this machine" else text.replace("[target]\n", f"[target]\ngpus = [{json.dumps(gpu)}]\n", 1))


def ended(text):
    """The text with a last line by which it is known to be ours."""
    text = text if text.endswith("\n") else text + "\n"
    return f"{text}# Written by %%boot, {hashlib.sha256(text.encode()).hexdigest()[:16]}\n"


def is_ours(text):
    """Whether the file is as it was written."""
    text = text.rstrip("\n") + "\n"
    return ended(text[:-1].rpartition("\n")[0]) == text


def keep(path, text):
    """Writes a file beside the notebook."""
    try:
        new = path.with_name(temporary("new", ".toml"))
        new.write_text(text, "utf-8")
        new.replace(path)
    except OSError as error:
        why = f"{path} could not be written: {error.strerror}"
        raise ColabBootStop(f"colab-boot: {why}; %cd to a folder that you may write to, then %reload_ext colab_boot") from None


def temporary(what, end):
    """A name beside the notebook that no other kernel uses, nor a person."""
    return f".notebook-{what}-{os.getpid()}{end}"


def text_of(path):
    """What a file beside the notebook says; None where it is not there."""
    try:
        return path.read_text("utf-8") if path.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        raise ColabBootStop(f"colab-boot: {path} can't be read: {error}; move it away") from None


def written(body):
    """Writes the profile that the body of a cell is; with what was there before. A file of the user's is kept aside."""
    path = place(NOTEBOOK)
    there = text_of(path)
    text = of_body(body, there or "")
    COLAB_BOOT["text"] = text
    if there == text:
        return path, there
    if there is not None and not is_ours(there):
        aside = next(one for one in (path.with_name(f"{path.name}.{count}") for count in range(1, 1000)) if not one.exists())
        path.replace(aside)
        colab_boot_say(f"colab-boot: {path} was edited by hand: it is kept as {aside}\n")
    elif COLAB_BOOT.get("applied", cell_id()) != cell_id():
        colab_boot_say("colab-boot: this replaces the profile that %%boot has applied in this kernel. A notebook has one: write all packages in one cell\n")
    keep(path, text)
    return path, there


def cell_id():
    """Which cell runs, where the front end says so."""
    try:
        return sys.modules["IPython"].get_ipython().kernel.get_parent("shell")["metadata"].get("cellId")
    except Exception:
        return None


def planned(body, words):
    """Plans the profile that a body is: nothing is kept of it."""
    path = place(NOTEBOOK)
    there = text_of(path) or ""
    text = of_body(body, there)
    before = COLAB_BOOT.get("profile"), COLAB_BOOT.get("cell", -1)
    if text != there:
        path = place(temporary("plan", ".toml"))
        keep(path, text if "[profile]" in text else text + '[profile]\nname = "notebook"\n')
    try:
        about(path)
        ends("plan", run("plan", words))
    finally:
        COLAB_BOOT["profile"], COLAB_BOOT["cell"] = before
        if text != there:
            path.unlink()


def applied_body(body, words):
    """Applies the profile that a body is. Where nothing was changed, the one of before stays, with its lock."""
    lock = place(NOTEBOOK).with_suffix(".lock")
    known = {key: COLAB_BOOT.get(key) for key in ("profile", "golden", "made")}
    locked = text_of(lock)
    path, before = written(body)
    about(path)
    COLAB_BOOT["report"] = None
    try:
        applied(words)
        COLAB_BOOT["applied"] = cell_id()
    except BaseException:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        # One that failed was refused or undone; one that was stopped, and reports nothing, may have changed something once the lock is there.
        report = COLAB_BOOT["report"]
        is_undone = report is not None and (report.get("verdict") or {}).get("word") in (None, "refused")
        if is_undone or digest not in (text_of(lock) or ""):
            for file, text in ((path, before), (lock, locked)):
                file.unlink(missing_ok=True) if text is None else keep(file, text)
            COLAB_BOOT.update(known, text=before)
        raise


def split(line):
    """The words of a line; a verb that is left out is `apply`."""
    import shlex

    try:
        words = shlex.split(line)
    except ValueError as error:
        verb, _, text = line.strip().partition(" ")
        if verb == "explain":  # a sentence, which may have an apostrophe
            return verb, [text]
        raise ColabBootStop(f"colab-boot: {error}: quote the text") from None
    return ("apply", words) if not words or words[0].startswith("-") else (words[0], words[1:])


def boot(line, cell=None):
    """`%boot` and `%%boot`."""
    # The front end may give a line magic a blank cell.
    body = unix(cell) if cell and cell.strip() else None
    if body is None and (not line.strip() or line.split()[0] in ("-h", "--help")):
        return colab_boot_say(__doc__.split("\n\n")[1] + "\n\n    %boot help lists the commands\n")
    verb, words = split(line)
    if body is None and verb == "form":
        verb, body = words.pop(0) if words and words[0] in ("apply", "plan") else "apply", of_form()
    options = {word.partition("=")[0] for word in words}
    must_make_sense(verb, options, body)
    if verb == "explain":
        return explain(body or " ".join(words))
    if verb == "add" and "--from" in options:
        return add_release(words)
    if body is not None:
        return of_cell(verb, body, words)
    if verb in WITH_PROFILE and words and words[0].endswith(".toml"):
        path = pathlib.Path(words.pop(0))
        if not path.is_file():
            raise ColabBootStop(f"colab-boot: there is no profile {path} here")
        about(path)
    elif verb in ("apply", "plan"):
        found, before = header(), COLAB_BOOT.get("cell", -1)
        if found:
            try:
                return of_cell(verb, found, words)
            finally:  # what the header says the next time counts
                COLAB_BOOT["cell"] = before
    own = profile()
    if own is not None and verb in WITH_PROFILE and not os.path.isdir(own.parent):
        raise ColabBootStop(gone(own.parent))
    if own is not None and own.name == NOTEBOOK:
        if verb in ("add", "remove", "upgrade"):
            raise ColabBootStop(f"colab-boot: the packages of this notebook are those below %%boot: change its lines instead of %boot {verb}")
        if verb in WITH_PROFILE and COLAB_BOOT.get("text") not in (None, text_of(own)):
            raise ColabBootStop(f"colab-boot: {own} is not what %%boot of this kernel has written: another notebook or a person has changed it. Run the %%boot cell again")
    if verb in WITH_PROFILE and own is None and not options & {"--help", "-h"}:
        raise ColabBootStop(f"colab-boot: there is no profile: write one below %%boot, or name its file: %boot {verb} my.toml")
    if verb == "apply":
        return applied(words)
    code = run(verb, words)
    if verb == "restore":
        COLAB_BOOT["seen"] = None  # what is installed is no lock's any more
        if code == 10:
            kernel.colab_boot_restart("the packages are as before colab-boot; run the cells but those of %%boot when it is back")
    ends(verb, code)


def must_make_sense(verb, options, body):
    """Stops at what has no meaning in a cell."""
    if body is not None and verb not in ("apply", "explain", "lock", "plan"):
        raise ColabBootStop(f"colab-boot: %%boot {verb} takes no text below it; above a profile, write %%boot, %%boot plan or %%boot lock")
    if verb in WITH_KERNEL and "--json" in options:
        raise ColabBootStop("colab-boot: a cell shows the report itself: leave out --json")
    if verb == "apply" and options & {"--no-restart", "--restart"}:
        raise ColabBootStop("colab-boot: in a notebook the cell restarts the kernel where that is needed: leave out --no-restart and --restart")


def gone(folder):
    return f"colab-boot: the folder {folder} is gone; %cd to another one, then %reload_ext colab_boot"


def alone():
    """Holds the folder of the notebook: another notebook in it waits, for they have one profile. The end of the kernel lets it go."""
    import fcntl

    try:
        folder = os.open(FOLDER, os.O_RDONLY)
    except OSError:
        raise ColabBootStop(gone(FOLDER)) from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        colab_boot_say("colab-boot: another notebook of this folder is at work; waiting for it\n")
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError:
        pass  # a file system without locks
    return folder


def of_cell(verb, body, words):
    """Plans, applies or locks the profile that a body is."""
    if verb == "plan":
        return planned(body, words)
    if verb == "apply":
        folder = alone()
        try:
            return applied_body(body, words)
        finally:
            os.close(folder)
    about(written(body)[0])
    ends(verb, run(verb, words))


def about(path):
    """From now on the kernel is about this profile, which no release is known of; this cell has said so."""
    COLAB_BOOT.update({"profile": pathlib.Path(os.path.abspath(path)), "golden": None, "cell": len(cells()) - 1})
    COLAB_BOOT["made"] = (text_of(path) or "").startswith(MADE)


def run(verb, words):
    """Runs a verb; its exit code."""
    asks_for_help = bool({"--help", "-h"} & {*words})
    own = profile()
    if verb in WITH_KERNEL and not asks_for_help:
        return colab_boot_run(verb, *words)[0]
    if own and not asks_for_help:
        if verb in PROFILE_LAST and not any(word.endswith(".toml") for word in words):
            words = [*words, str(own)]
        if verb == "run" and "--profile" not in words:
            words = ["--profile", str(own), *words]
    return colab_boot_follow([binary(), verb, *words])


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
    words = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    release, _, digest = (words[0] if words else "").partition("#")
    digest, options = digest.rpartition("=")[2], list(zip(words[1::2], words[2::2]))
    named = {"--from": "", "--threshold": "1", "--min-seq": "0", **dict(options)}
    if not re.fullmatch(r"[A-Za-z0-9._-]+@[0-9][^/\s]*", release) or not re.fullmatch("[0-9a-f]{64}", digest) or len(words) % 2 == 0:
        raise ColabBootStop("colab-boot: write %boot add NAME@VERSION#SHA256 --from REPOSITORY; SHA256 is the digest of its lock")
    if not {*named} <= {"--from", "--trusted-key", "--threshold", "--min-seq"} or not (named["--threshold"] + named["--min-seq"]).isdigit():
        raise ColabBootStop("colab-boot: %boot add takes --from REPOSITORY, --trusted-key KEY, --threshold N and --min-seq N")
    at, name = named["--from"], release.partition("@")[0]
    folder = colab_boot_home() / "releases" / digest[:12]
    lock = folder / f"{name}.lock"
    if not lock.is_file() or hashlib.sha256(lock.read_bytes()).hexdigest() != digest:
        folder.mkdir(parents=True, exist_ok=True)
        more = [word for option, value in options if option != "--from" for word in (option, value)] + kernel.colab_boot_allowed()
        ends("add", colab_boot_follow([binary(), "golden", "add", f"{release}#sha256={digest}", "--repo", at, "--into", str(folder), *more]))
    keys = [value for option, value in options if option == "--trusted-key"]
    about(folder / f"{name}.toml")
    COLAB_BOOT["golden"] = {"at": at, "release": release, "keys": keys, "threshold": int(named["--threshold"]), "min-seq": int(named["--min-seq"])}
    COLAB_BOOT["lock"] = {"sha256": digest}
    applied(["--locked"])


def explain(text=""):
    """What an error means: that of `text`, else the last one of this kernel."""
    codes = COLAB_BOOT.get("codes")
    if not text.strip() and codes and isinstance(getattr(sys, "last_value", None), ColabBootStop):
        return ends("explain", colab_boot_follow([binary(), "explain", codes[0]]))
    if not text.strip():
        text = last_error()
    if not text:
        raise ColabBootStop("colab-boot: no cell of this kernel has failed; write the text of the error behind %boot explain")
    is_one_word = not text.strip().count(" ") and not text.strip().count("\n")
    if is_one_word:
        return ends("explain", colab_boot_follow([binary(), "explain", text.strip()]))
    ends("explain", colab_boot_follow([binary(), "explain", "-"], text))


def last_error():
    """The traceback of the last cell that failed, but for our own stops."""
    error = getattr(sys, "last_value", None)
    if error is None or isinstance(error, ColabBootStop):
        return COLAB_BOOT.get("failed", "")
    return as_text(error)


def as_text(error):
    import traceback

    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def packages_stamp():
    """Changes when a package is installed or removed."""
    try:
        return os.stat(sysconfig.get_path("purelib")).st_mtime_ns
    except OSError:
        return None


def after_cell(result):
    """Runs after each cell: offers `%boot explain` for a known error, and says when something has changed the packages that colab-boot installed."""
    try:
        error = result.error_in_exec
        if isinstance(error, Exception) and not isinstance(error, ColabBootStop):
            COLAB_BOOT["failed"] = as_text(error)  # the error itself would keep what its frames hold
        if os.environ.get("COLAB_BOOT_HOOKS") == "0":
            return
        if error is not None:
            return offer(error)
        stamp = packages_stamp()
        if COLAB_BOOT.get("seen") not in (None, stamp):
            COLAB_BOOT["seen"] = stamp
            notice()
    except Exception:  # IPython would print a traceback below every cell
        pass


def report_of(words, seconds, text=""):
    """What a command that reads `text` reports, and nothing else of what it says; None where it fails."""
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "timeout": seconds}
    return json.loads(subprocess.run([binary(), *words, "--json"], input=text, **quiet).stdout)["report"]


def offer(error):
    """One line for an error that `explain` knows; once for each."""
    known = COLAB_BOOT.setdefault("offered", set())
    kind = (type(error).__name__, str(error)[:200])
    if isinstance(error, (ColabBootStop, SyntaxError)) or type(error).__name__ == "UsageError" or not isinstance(error, Exception) or kind in known:
        return
    known.add(kind)
    found = [one for one in report_of(["explain", "-"], 3, COLAB_BOOT["failed"]) or [] if not one["near"]]
    if found:
        colab_boot_say(f"colab-boot knows this error: {found[0]['means'].split('. ')[0].rstrip('.')}. What helps: %boot explain\n")


def difference(change):
    """How an installed package differs from the locked one, by the change that would put it right."""
    name, installed, locked = change["name"], change["from"], change["to"]
    if installed == locked:
        return f"{name} {locked}: {change.get('reason') or 'its files differ'}"
    return f"{name} is {installed or 'not installed'}, locked is {locked or 'none'}"


def notice():
    """Says what another tool has changed of the locked packages. Packages that no lock names are the user's business."""
    path = profile()
    if path is None or not path.with_suffix(".lock").is_file():
        return
    report = report_of(["plan", str(path), "--locked", "--python", sys.executable, "--offline"], 10) or {}
    changes = (report.get("plan") or {}).get("changes") or []
    if changes:
        words = [difference(one) for one in changes]
        more = f" and {len(words) - 3} more" if len(words) > 3 else ""
        colab_boot_say(f"colab-boot: packages differ from the lock: {'; '.join(words[:3])}{more}. Put them back: %boot apply\n")


def load_ipython_extension(shell):
    # A wheel that was put first on the path has done its part.
    archive = getattr(__loader__, "archive", None)
    sys.path[:] = [entry for entry in sys.path if not archive or entry != archive]
    shell.register_magic_function(boot, "line_cell", "boot")
    unload_ipython_extension(shell)
    shell.events.register("post_run_cell", after_cell)
    shell.colab_boot_hook = after_cell
    # What verify cells use.
    shell.push({"colab_boot_run": colab_boot_run, "ColabBootStop": ColabBootStop}, interactive=False)
    if COLAB_BOOT.get("seen") is None and profile() is not None:
        COLAB_BOOT["seen"] = packages_stamp()
    colab_boot_imports()


def unload_ipython_extension(shell):
    hook = getattr(shell, "colab_boot_hook", None)
    if hook is not None:
        shell.colab_boot_hook = None
        shell.events.unregister("post_run_cell", hook)
