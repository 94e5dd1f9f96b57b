#!/usr/bin/env python3
"""Checks `matrix/import-names.toml` against the files of the newest wheel of each distribution on the default index.

    python3 benches/import_names.py

Needs the package index. Reads the directory of each wheel by ranges; a row is confirmed where the wheel has the module as a file or folder.
Prints the rows that are not, and those without a wheel.
"""

import json
import pathlib
import sys
import tomllib
import urllib.error
import urllib.parse
import urllib.request
import zipfile

from peers import default_index
from record import JSON, Wheel


def newest_wheel(name):
    request = urllib.request.Request(f"{default_index().rstrip('/')}/{name}/", headers={"Accept": JSON})
    with urllib.request.urlopen(request, timeout=60) as reply:
        files = json.load(reply)["files"]
    wheels = [one for one in files if one["filename"].endswith(".whl") and not one.get("yanked")]
    linux = [one for one in wheels if "none-any" in one["filename"] or "linux" in one["filename"]] or wheels
    return max(linux, key=lambda one: one.get("upload-time", ""), default=None)


def has(files, module):
    path = module.replace(".", "/")
    return any(
        file.startswith((f"{path}/", f"{path}.")) or f".data/purelib/{path}" in file or f".data/platlib/{path}" in file
        for file in files
    )


def main():
    rows = tomllib.loads(pathlib.Path("matrix/import-names.toml").read_text())["distribution"]
    confirmed, wrong = 0, []
    for module, name in rows.items():
        try:
            wheel = newest_wheel(name)
        except urllib.error.HTTPError as error:
            wrong.append(f"{module}: {name} is not on the index ({error.code})")
            continue
        if wheel is None:
            wrong.append(f"{module}: {name} has no wheel")
            continue
        files = zipfile.ZipFile(Wheel(urllib.parse.urljoin(f"{default_index()}/{name}/", wheel["url"]))).namelist()
        if has(files, module):
            confirmed += 1
        else:
            wrong.append(f"{module}: not in {wheel['filename']}")
    print("\n".join(wrong))
    print(f"{confirmed} of {len(rows)} confirmed")
    return 1 if any("not in" in line or "not on" in line for line in wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
