#!/usr/bin/env python3
"""Finds checks of other packages' versions in the Python code of wheels: `if the version of X is too old, raise`.

    python3 benches/gates.py peft transformers accelerate …          # the newest wheel of each
    python3 benches/gates.py --history peft                          # every release, for the rows of matrix/packages.toml

Needs the package index. Nothing of a wheel is run: its `.py` files are parsed (`ast`). A check counts where a comparison of a version of
X with a constant decides over a `raise` (or over a function that is called `require_version`). Wheels over 40 MB are skipped.
Prints one line a check: package, release, file and line, what X has to be, the exception, and the function.
"""

import argparse
import ast
import concurrent.futures
import io
import json
import re
import sys
import urllib.parse
import urllib.request
import zipfile

from peers import default_index
from record import JSON

LARGEST = 40 << 20
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
VERSION = re.compile(r"\d+(\.\d+)*([a-z]+\d*)?(\.(dev|post)\d+)?")


def releases(name, all_of_them):
    request = urllib.request.Request(f"{default_index().rstrip('/')}/{name}/", headers={"Accept": JSON})
    with urllib.request.urlopen(request, timeout=60) as reply:
        files = json.load(reply)["files"]
    wheels = {}
    for one in files:
        parts = one["filename"].split("-")
        fits = one["filename"].endswith(".whl") and ("none-any" in one["filename"] or "manylinux" in one["filename"])
        if fits and not one.get("yanked") and not re.search(r"[a-z]", parts[1].split("+")[0].replace("post", "")):
            wheels[parts[1]] = one
    order = sorted(wheels.values(), key=lambda one: one.get("upload-time", ""))
    return order if all_of_them else order[-1:]


class Finder(ast.NodeVisitor):
    """Collects the checks of one file."""

    def __init__(self, text):
        self.text = text
        self.names = {}  # variables that hold a version of a package, or a constant
        self.function = []
        self.found = []

    def visit_FunctionDef(self, node):
        self.function.append(node.name)
        self.generic_visit(node)
        self.function.pop()

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Assign(self, node):
        for target in node.targets:
            if isinstance(target, ast.Name):
                what = self.version_of(node.value) or self.constant(node.value)
                if what:
                    self.names[target.id] = what
        self.generic_visit(node)

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name.startswith("require_version") and node.args and isinstance(node.args[0], ast.Constant):
            asked = re.fullmatch(r"([A-Za-z0-9_.-]+)\s*([<>=!]=?)\s*([\w.]+)", str(node.args[0].value).split(",")[0].strip())
            if asked:
                self.found.append((node.lineno, asked[1], asked[2], asked[3], "ImportError", self.place()))
        self.generic_visit(node)

    def visit_If(self, node):
        for package, sign, version in self.comparisons(node.test):
            raised = self.raises(node.body)
            if raised:
                self.found.append((node.lineno, package, OPPOSITE[sign], version, raised, self.place()))
            raised = self.raises(node.orelse)
            if raised and not self.raises(node.body):
                self.found.append((node.lineno, package, sign, version, raised, self.place()))
        # `if version >= minimum: return True` before a `raise` at the end of the function.
        self.generic_visit(node)

    def visit_body(self, body):
        """`if Version(x) >= Version(minimum): return True` followed by `raise` or `else: raise`."""
        for place, node in enumerate(body):
            if isinstance(node, ast.If) and not node.orelse and any(isinstance(one, ast.Return) for one in node.body):
                raised = self.raises(body[place + 1 :][:1])
                for package, sign, version in self.comparisons(node.test) if raised else []:
                    self.found.append((node.lineno, package, sign, version, raised, self.place()))

    def generic_visit(self, node):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                self.visit_body(body)
        super().generic_visit(node)

    def place(self):
        return ".".join(self.function) or "import"

    def raises(self, body):
        for node in body:
            if isinstance(node, ast.Raise) and node.exc is not None:
                call = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                return getattr(call, "id", getattr(call, "attr", "Exception"))
        return None

    def comparisons(self, test):
        if isinstance(test, ast.BoolOp):
            for value in test.values:
                yield from self.comparisons(value)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            for package, sign, version in self.comparisons(test.operand):
                yield package, OPPOSITE[sign], version
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in SIGNS:
            sign = SIGNS[type(test.ops[0])]
            left, right = test.left, test.comparators[0]
            package, version = self.version_of(left), self.constant(right)
            if package and version:
                yield package, sign, version
            package, version = self.version_of(right), self.constant(left)
            if package and version:
                yield package, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign), version

    def version_of(self, node):
        """The package whose version `node` is: `version.parse(importlib.metadata.version("x"))`, `Version(x.__version__)`."""
        if isinstance(node, ast.Name):
            known = self.names.get(node.id)
            return known if isinstance(known, str) and not VERSION.fullmatch(known) else None
        if isinstance(node, ast.Attribute) and node.attr in ("__version__", "base_version", "release"):
            inner = self.version_of(node.value)
            return inner or (node.value.id if isinstance(node.value, ast.Name) and node.attr == "__version__" else None)
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("parse", "Version", "parse_version", "LooseVersion") and node.args:
                return self.version_of(node.args[0])
            if name in ("version", "_get_version", "get_version") and node.args and isinstance(node.args[0], ast.Constant):
                return str(node.args[0].value)
        return None

    def constant(self, node):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and VERSION.fullmatch(node.value):
            return node.value
        if isinstance(node, ast.Name):
            known = self.names.get(node.id)
            return known if isinstance(known, str) and VERSION.fullmatch(known) else None
        if isinstance(node, ast.Call) and node.args:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("parse", "Version", "parse_version", "LooseVersion"):
                return self.constant(node.args[0])
        return None


def checks(name, wheel):
    if wheel.get("size", 0) > LARGEST:
        return [f"# {name}: {wheel['filename']} is over {LARGEST >> 20} MB"]
    url = urllib.parse.urljoin(f"{default_index().rstrip('/')}/{name}/", wheel["url"])
    with urllib.request.urlopen(url, timeout=120) as reply:
        archive = zipfile.ZipFile(io.BytesIO(reply.read()))
    lines = []
    for member in archive.namelist():
        if not member.endswith(".py") or "/tests/" in member or "/testing" in member:
            continue
        text = archive.read(member)
        if b"version" not in text:
            continue
        try:
            finder = Finder(text)
            finder.visit(ast.parse(text))
        except (SyntaxError, ValueError, RecursionError):
            continue
        release = wheel["filename"].split("-")[1]
        for line, package, sign, version, raised, place in dict.fromkeys(finder.found):
            if package.lower().replace("_", "-") not in (name, "python", "torch_version"):
                lines.append(f"{name} {release} {member}:{line} {package}{sign}{version} {raised} {place}")
    return lines


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("packages", nargs="+")
    options.add_argument("--history", action="store_true")
    options = options.parse_args()
    work = []
    for name in options.packages:
        try:
            work += [(name, wheel) for wheel in releases(name, options.history)]
        except OSError as error:
            print(f"# {name}: {error}")
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for lines in pool.map(lambda one: checks(*one), work):
            for line in lines:
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
