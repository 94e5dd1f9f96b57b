#!/usr/bin/env python3
"""Makes a resolver scenario of a recorded set: `tests/scenarios/recorded-NAME.toml`, from what `record.py` kept.

    python3 benches/scenario.py --recorded /tmp/recorded --colab-boot target/release/colab-boot --server target/release/examples/index-server a b c e

Of each package those releases are kept whose METADATA a tool asked for, with the tags of their Linux wheels; the expected versions are
what colab-boot chooses today from the whole recording, to be read before they are committed.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

from peers import ROOT, SETS, colab_boot, profile


def releases(folder, name):
    """{version: (tags, requires-python, requires, extras)}"""
    page = json.loads((folder / "pages" / f"{name}.json").read_text())
    found = {}
    for file in page["files"]:
        metadata = folder / "metadata" / f"{file['filename']}.metadata"
        if not metadata.exists():
            continue
        headers = metadata.read_text(errors="replace").split("\n\n")[0].replace("\r", "")
        values = lambda key: [line.partition(":")[2].strip() for line in headers.splitlines() if line.startswith(f"{key}:")]
        version = file["filename"].split("-")[1]
        linux = [other["filename"] for other in page["files"] if other["filename"].startswith(file["filename"].split("-")[0] + f"-{version}-")
                 and re.search(r"-any\.whl$|linux[^-]*x86_64\.whl$", other["filename"])]
        tags = sorted(one.removesuffix(".whl").split("-", 2)[2] for one in linux)
        found[version] = (tags, file.get("requires-python"), values("Requires-Dist"), values("Provides-Extra"))
    return found


def toml(value):
    return json.dumps(value, ensure_ascii=False)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--recorded", required=True, type=pathlib.Path)
    options.add_argument("--colab-boot", required=True)
    options.add_argument("--server", required=True)
    options.add_argument("sets", nargs="+")
    options = options.parse_args()
    server = subprocess.Popen([options.server, options.recorded, "0"], stdout=subprocess.PIPE, text=True)
    index = server.stdout.readline().strip()
    for name in options.sets:
        with tempfile.TemporaryDirectory() as folder:
            pins, why = colab_boot(str(pathlib.Path(options.colab_boot).resolve()), pathlib.Path(folder), SETS[name], index)
        assert pins, why
        wanted = profile(SETS[name]).partition("version = '1.0.0'\n")[2]
        lines = [f'about = "recorded: {" ".join(SETS[name])}"', f'profile = """\n{wanted}"""',
                 'options = ["--driver", "580.82.07", "--gpu", "T4"]', 'python = { libc = "glibc 2.28" }', ""]
        found = {package: releases(options.recorded, package) for package in sorted(pins)}
        missing = [f"{package} {version}" for package, (version, _) in sorted(pins.items()) if version not in found[package]]
        if missing:
            print(f"{name}: nobody asked for the METADATA of {', '.join(missing)}: it is bundled; no scenario is made")
            continue
        for package in sorted(pins):
            lines.append(f"[index.{package}]")
            for version, (tags, python, requires, extras) in sorted(found[package].items()):
                fields = [f"tags = {toml(tags)}", f"requires = {toml(requires)}"]
                fields += [f"python = {toml(python)}"] if python else []
                fields += [f"extras = {toml(extras)}"] if extras else []
                lines.append(f"{toml(version)} = {{ {', '.join(fields)} }}")
            lines.append("")
        lines += ["[expect.packages]", *(f"{package} = {toml(version)}" for package, (version, _) in sorted(pins.items()))]
        (ROOT / "tests/scenarios" / f"recorded-{name}.toml").write_text("\n".join(lines) + "\n")
    server.terminate()


main()
