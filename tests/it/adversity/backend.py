"""A build backend (PEP 517) that lies in the source archive itself; $BUILD says what it does."""

import base64
import hashlib
import os
import zipfile


def build_wheel(directory, config_settings=None, metadata_directory=None):
    does = os.environ.get("BUILD", "")
    word = "made"
    if "BUILDS" in os.environ:
        with open(os.environ["BUILDS"], "a") as file:
            file.write("a build\n")
    if does == "looks":
        import demo.deep.x
        from importlib.metadata import version as version_of

        word = f"made with {version_of('demo')} {os.environ.get('MAX_JOBS', '').isdigit()}"
    if does == "fails":
        raise SystemExit("no compiler")
    version = "2.0" if does == "other version" else "1.0"
    info = f"made-{version}.dist-info"
    files = {
        "made.py": f"word = {word!r}\n",
        "made-1.0.data/scripts/made-tool": "#!python\nimport made\nprint(made.word)\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: made\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if does == "overwrites":
        files["mine.py"] = "# not the user's\n"
    if does == "pip":
        files["pip/__init__.py"] = ""
    lines = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(text)}\n")
    files[f"{info}/RECORD"] = "".join(lines) + f"{info}/RECORD,,\n"
    name = f"made-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name
