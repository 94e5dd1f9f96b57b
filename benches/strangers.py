#!/usr/bin/env python3
"""Holds `colab-boot audit FILE` against pip itself, on files of other people: requirements.txt, pyproject.toml, environment.yml and notebooks.

    python3 benches/strangers.py FOLDER --python PYTHON [--colab-boot PATH] [--runtime colab-2026.07] [--gpu T4] [--only NAME]... [--workers 2] [--json FILE]

FOLDER holds the files (files that they name with `-r` too). Nothing of FOLDER is run or built: pip may take wheels only. PYTHON has the minor version of
the image. For each file:

 - an environment is made whose site-packages holds the dist-info of every package of the image, with its requirements (from `runtimes/`);
 - pip resolves it: a list as one command, a notebook one command after the other, with `pip install --dry-run --report`; what it would
   install is put there as dist-info. `pip check` before and after says which installed packages lost what they need;
 - `colab-boot audit` answers the same: can it be installed from wheels, which packages change, which break.

`right`: pip agrees on all three; what audit says breaks beyond METADATA, of which pip knows nothing, is printed. `half`: on whether it can be installed,
not on the rest (the difference is printed). `wrong`: not on whether it can be installed. `open`: pip can't be asked (sources from git or an address,
another index, files that are not there), or audit says that it did not look. GPU code is not judged here: pip knows nothing of it.

With `--init`, what `init --from FILE --runtime …` makes of each file: a profile with a `plan`, one whose plan is `impossible` (the codes say why), one
with a place that is `unreachable`, or `nothing`.

Needs `packaging` in the Python that runs it, and pip in PYTHON.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib

from packaging.specifiers import SpecifierSet

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
INSTALL = re.compile(r"^\s*(?:[!%]\s*)?(?:uv\s+|python3?\s+-m\s+|/usr/bin/|/usr/local/bin/)?pip3?\s+install\s+(.*)$")
TAKEN = {"-U", "--upgrade", "--no-deps", "--pre"}
SKIPPED = {"-q", "-qq", "-qqq", "--quiet", "-v", "--user", "--system", "--no-cache-dir", "--no-cache", "--force-reinstall", "-I", "--ignore-installed",
           "--break-system-packages", "--disable-pip-version-check", "--progress-bar=off", "-y", "--root-user-action=ignore"}


class Open(Exception):
    """Pip can't be asked."""


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def image(runtime):
    path = next(path for path in [REPOSITORY / f"runtimes/{runtime}.toml", REPOSITORY / f"runtimes/{runtime}-gpu.toml"] if path.is_file())
    image = tomllib.loads(path.read_text())
    minor = ".".join(image["python"].split(".")[:2])
    known = {}
    for line in (REPOSITORY / f"runtimes/requires-{minor}.txt").read_text().splitlines():
        if not line.startswith("#"):
            title, _, requires = line.partition(":")
            known[tuple(title.split(" "))] = [one.strip() for one in requires.split(";") if one.strip()]
    packages = {name: (version, known.get((name, version), [])) for name, version in image["packages"].items()}
    return minor, packages


def put(site, name, version, requires):
    """Writes the dist-info of a release; that of another one goes."""
    for old in list(site.glob("*.dist-info")):
        if normal(old.name.removesuffix(".dist-info").rsplit("-", 1)[0]) == normal(name):
            shutil.rmtree(old)
    folder = site / f"{normal(name).replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"] + [f"Requires-Dist: {one}" for one in requires]
    (folder / "METADATA").write_text("\n".join(lines) + "\n")
    (folder / "RECORD").write_text("")
    (folder / "INSTALLER").write_text("pip\n")


def commands(path):
    """What each command of the file gives to pip, as argument lists."""
    if path.suffix == ".ipynb":
        found = []
        for cell in json.loads(path.read_text())["cells"]:
            text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            if cell["cell_type"] != "code":
                continue
            if re.search(r"(os\.system|subprocess|get_ipython\(\)|run_line_magic|pip\.main)\b.*pip", text):
                raise Open("a call in Python installs")
            shell = text.startswith(("%%bash", "%%sh", "%%shell", "%%capture\n%%bash"))
            for line in re.sub(r"\\\n\s*", " ", text).splitlines():
                if "pip" in line and "install" in line and not line.lstrip().startswith("#"):
                    if line[:1] == " ":
                        raise Open("a line under a condition")
                    if re.search(r"[{$]", line):
                        raise Open("a variable")
                    for part in re.split(r"&&|\|\||;|\|", line.partition(" #")[0].split(" >")[0]):
                        match = INSTALL.match(part)
                        if match and (shell or part.lstrip()[:1] in "!%" or found and line.lstrip()[:1] in "!%"):
                            found.append(shlex.split(match[1]))
        return found
    if path.name.endswith(".toml"):
        project = tomllib.loads(path.read_text()).get("project", {})
        if "requires-python" in project:
            return [["--requires-python", project["requires-python"], *project.get("dependencies", [])]]
        return [project.get("dependencies", [])]
    if path.suffix in (".yml", ".yaml"):
        lines, inside = [], False
        for line in path.read_text().splitlines():
            bare = line.strip()
            if re.match(r"-\s*pip\s*:\s*$", bare):
                inside = True
            elif inside and bare.startswith("- "):
                lines.append(bare[2:].partition(" #")[0].strip().strip("'\""))
            elif bare:
                inside = False
        return [[word for line in lines for word in (shlex.split(line) if line.startswith("-") else [line])]]
    return [["-r", path.name]]


def names_an_index(text):
    return text.startswith(("-i", "--index-url", "--extra-index-url", "-f", "--find-links"))


def is_source(text):
    return text.startswith(("-e", "--editable", "./", "/", "../")) or "git+" in text or "://" in text or text == "."


def asked(words):
    """The arguments that pip gets."""
    given, rest = [], iter(words)
    for word in rest:
        if names_an_index(word):
            raise Open("another index")
        if is_source(word):
            raise Open("a source")
        if word in ("-r", "--requirement"):
            given += ["-r", next(rest)]
        elif word in SKIPPED:
            continue
        elif word in TAKEN or not word.startswith("-"):
            given.append(word)
        elif re.fullmatch(r"-[qUv]+", word):
            given += ["-U"] if "U" in word else []
        else:
            raise Open(f"the option {word}")
    return given


def included(folder, name):
    text = (folder / name).read_text() if (folder / name).is_file() else None
    if text is None:
        raise Open(f"{name} is not there")
    for line in text.splitlines():
        line = line.partition(" #")[0].strip()
        if names_an_index(line):
            raise Open("another index")
        if is_source(line):
            raise Open("a source")


class Environment:
    def __init__(self, python, packages):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="strangers-"))
        subprocess.run([python, "-m", "venv", "--without-pip", self.folder / "venv"], check=True)
        self.python = self.folder / "venv/bin/python"
        self.site = next((self.folder / "venv/lib").glob("python3*/site-packages"))
        self.pip = [python, "-m", "pip", "--python", self.python]
        for name, (version, requires) in packages.items():
            put(self.site, name, version, requires)

    def run(self, words, folder):
        report = self.folder / "report.json"
        line = [*self.pip, "install", "--dry-run", "--quiet", "--only-binary", ":all:", "--report", report, *words]
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=240)
        if done.returncode:
            return done.stderr.strip().splitlines()[-1:] or ["failed"]
        for one in json.loads(report.read_text())["install"]:
            metadata = one["metadata"]
            put(self.site, metadata["name"], metadata["version"], metadata.get("requires_dist", []))
        return None

    def broken(self):
        said = subprocess.run([*self.pip, "check"], capture_output=True, text=True, timeout=300).stdout
        return {normal(line.split(" ")[0]) for line in said.splitlines() if " requires " in line or " has requirement " in line}

    def versions(self):
        parts = (path.name.removesuffix(".dist-info").rsplit("-", 1) for path in self.site.glob("*.dist-info"))
        return {normal(name): version for name, version in parts}


def truth(python, path, packages):
    environment = Environment(python, packages)
    try:
        before, known = environment.broken(), environment.versions()
        why = None
        for words in commands(path):
            if words[:1] == ["--requires-python"]:
                version = subprocess.run([python, "-c", "import platform; print(platform.python_version())"], capture_output=True, text=True).stdout.strip()
                if not SpecifierSet(words[1]).contains(version):
                    why = why or [f"requires-python {words[1]}"]
                words = words[2:]
            for at, word in enumerate(words):
                if word == "-r":
                    included(path.parent, words[at + 1])
            given = asked(words)
            if given:
                why = environment.run(given, path.parent) or why
        after = environment.versions()
        replaced = {name: after[name] for name in known if after.get(name) != known[name]}
        return {"installs": why is None, "why": why, "breaks": sorted(environment.broken() - before), "replaces": replaced}
    finally:
        shutil.rmtree(environment.folder, ignore_errors=True)


def ours(program, path, runtime, gpu):
    line = [program, "audit", path.name, "--runtime", runtime, "--gpu", gpu, "--json"]
    done = subprocess.run(line, cwd=path.parent, capture_output=True, text=True, timeout=600)
    answer = json.loads(done.stdout)
    report = answer.get("report") or {}
    refused = any(one["severity"] == "error" and one["code"] == "audit-unread" for one in answer["findings"])
    installs = report.get("installs")
    return {"installs": None if installs is None else installs and not refused, "built": report.get("built", []),
            "breaks": sorted(normal(name) for name in report.get("breaks", [])), "replaces": {name: pair[1] for name, pair in report.get("replaces", {}).items()}}


def judge(true, own):
    if own["installs"] is None:
        return "open", "audit did not look"
    built = [title.split(" ")[0] for title in own["built"]]
    if own["installs"] and built:
        # Pip may take wheels only here: it takes an older release, or names what has none.
        if true["installs"]:
            return "open", f"pip would build {', '.join(own['built'])}"
        return ("right", "") if any(name in normal(str(true["why"])) for name in built) else ("wrong", f"pip: {true['why']}; audit: builds {own['built']}")
    if true["installs"] != own["installs"]:
        return "wrong", f"pip: {true['why'] or 'installs'}; audit: {'installs' if own['installs'] else 'does not install'}"
    if not true["installs"]:
        return "right", ""
    differences = []
    for key in ("breaks", "replaces"):
        theirs, mine = set(true[key]), set(own[key])
        if theirs - mine or key == "replaces" and mine - theirs:
            differences.append(f"{key}: pip alone {sorted(theirs - mine)[:6]}, audit alone {sorted(mine - theirs)[:6]}")
    other = [f"{name} {version} / {own['replaces'][name]}" for name, version in true["replaces"].items() if own["replaces"].get(name, version) != version]
    if other:
        differences.append(f"versions: {other[:6]}")
    more = set(own["breaks"]) - set(true["breaks"])
    return ("half", "; ".join(differences)) if differences else ("right", f"audit also: {', '.join(sorted(more))}" if more else "")


def taken_over(program, path, runtime):
    """What `init --from` makes of the file: the word, and why the profile has no plan that can be applied."""
    profile = path.with_name(path.name + ".boot.toml")
    command = [program, "init", profile.name, "--from", path.name, "--runtime", runtime, "--solve-timeout", "60"]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=300)
    errors = re.findall(r"^error(?:\[([\w-]+)\])?: (.*)$", done.stderr, re.MULTILINE)
    why = "; ".join(dict.fromkeys(code or text[:100] for code, text in errors))
    words = {0: "plan", 1: "impossible", 3: "unreachable"}
    return words.get(done.returncode, "wrong") if profile.is_file() else "nothing", why


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--python", default="python3.12", help="an interpreter with pip and packaging, of the image's minor version")
    parser.add_argument("--colab-boot", type=pathlib.Path, default=REPOSITORY / "target/release/colab-boot")
    parser.add_argument("--runtime", default="colab-2026.07")
    parser.add_argument("--gpu", default="T4")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--init", action="store_true", help="what `init --from` makes of the files, instead")
    options = parser.parse_args()
    minor, packages = image(options.runtime)
    own = subprocess.run([options.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True).stdout.strip()
    if own != minor and not options.init:
        sys.exit(f"the image has Python {minor}, {options.python} is {own}")
    kinds = (".txt", ".toml", ".yml", ".yaml", ".ipynb")
    paths = sorted(path for path in options.folder.iterdir() if path.suffix in kinds and (not options.only or any(one in path.name for one in options.only)))

    def one(path):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="strangers-"))
        try:
            shutil.copytree(path.parent, folder / "files", dirs_exist_ok=True)
            copy = folder / "files" / path.name
            if path.suffix == ".toml":
                copy = copy.rename(folder / "files" / "pyproject.toml")
            if options.init:
                return path.name, *taken_over(options.colab_boot.resolve(), copy, options.runtime), None, None
            mine = ours(options.colab_boot.resolve(), copy, options.runtime, options.gpu)
            try:
                true = truth(options.python, copy, packages)
            except Open as why:
                return path.name, "open", str(why), mine, None
            if "git+" in str(true["why"]):
                return path.name, "open", "a source", mine, true
            return path.name, *judge(true, mine), mine, true
        except (subprocess.TimeoutExpired, json.JSONDecodeError, StopIteration, KeyError, ValueError) as error:
            return path.name, "open", f"{type(error).__name__}: {error}"[:120], None, None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    counts, rows = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        for name, word, why, mine, true in pool.map(one, paths):
            counts[word] += 1
            rows.append({"file": name, "judged": word, "why": why, "audit": mine, "pip": true})
            print(f"{word:6} {name} {why}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in counts.most_common()), f"of {len(paths)}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
