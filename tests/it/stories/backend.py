"""A build backend (PEP 517) that lies in the project itself: a wheel of its modules. Its version is that of PKG-INFO, of a tag, or static."""

import base64
import glob
import hashlib
import os
import re
import subprocess
import time
import zipfile


def project():
    text = open("pyproject.toml").read()
    name = re.search(r"^name = '(.*)'", text, re.M).group(1)
    version = re.search(r"^version = '(.*)'", text, re.M)
    if version:
        return name, version.group(1)
    if os.path.exists("PKG-INFO"):
        return name, re.search(r"^Version: (.*)$", open("PKG-INFO").read(), re.M).group(1)
    return name, subprocess.run(["git", "describe", "--tags"], check=True, capture_output=True, text=True).stdout.strip()


def metadata():
    name, version = project()
    needs = re.findall(r"^# needs (.*)$", open("pyproject.toml").read(), re.M)
    lines = "".join(f"Requires-Dist: {one}\n" for one in needs)
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{lines}"


def prepare_metadata_for_build_wheel(directory, config_settings=None):
    name, version = project()
    info = f"{name}-{version}.dist-info"
    os.makedirs(os.path.join(directory, info), exist_ok=True)
    with open(os.path.join(directory, info, "METADATA"), "w") as out:
        out.write(metadata())
    return info


def wheel(directory, files):
    name, version = project()
    info = f"{name}-{version}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": metadata(),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(text.encode())}\n")
    files[f"{info}/RECORD"] = "".join(lines) + f"{info}/RECORD,,\n"
    file = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, file), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return file


def build_wheel(directory, config_settings=None, metadata_directory=None):
    if os.environ.get("BUILD"):
        open(os.environ["BUILD"], "w").close()
        time.sleep(60)
    modules = [path for path in glob.glob("*.py") if path != "backend.py"]
    return wheel(directory, {path: open(path).read() for path in modules})


def build_editable(directory, config_settings=None, metadata_directory=None):
    name, _ = project()
    return wheel(directory, {f"__editable__.{name}.pth": os.getcwd() + "\n"})
