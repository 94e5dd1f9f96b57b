"""Tries what the matrix says of NumPy: of every package with such a row, the last release before the border is installed beside NumPy 2 and imported.

    python3 benches/imports.py --uv PATH [--python 3.12]... [--matrix FOLDER]

For each: `metadata` (its METADATA says so itself, uv refuses), `fails` (the import fails, as the row says), `imports` (it does not: the row is wrong) or
`other` (something else is missing). Environments are made by uv, and deleted.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

# What has to be imported for the compiled code to be loaded, where the package alone does not load it.
MODULES = {
    "astropy": "astropy.io.fits", "gensim": "gensim.models", "matplotlib": "matplotlib.path", "pycocotools": "pycocotools.mask", "scipy": "scipy.linalg",
    "scikit-image": "skimage.measure", "scikit-learn-extra": "sklearn_extra.cluster", "statsmodels": "statsmodels.api", "biopython": "Bio.PDB.kdtrees",
    "nibabel": "nibabel", "mdanalysis": "MDAnalysis.lib.distances", "rdkit": "rdkit.Chem", "pyamg": "pyamg.amg_core", "tomopy": "tomopy",
}
OWN = """
import importlib, importlib.metadata as metadata, re, sys
name = re.sub("[-_.]+", "-", sys.argv[1]).lower()
tops = [top for top, all in metadata.packages_distributions().items() if name in [re.sub("[-_.]+", "-", one).lower() for one in all]]
for top in [top for top in tops if not top.startswith("_")] or tops:
    importlib.import_module(top)
"""


def rows(folder):
    """Packages with the last release that was compiled against NumPy 1."""
    for path in sorted(folder.glob("*.toml")):
        old = [row for row in tomllib.loads(path.read_text()).get("releases", []) if row.get("numpy-1")]
        if old:
            yield path.stem, old[-1]["last"]


def tried(uv, pythons, name, version):
    for python in pythons:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([uv, "venv", "-q", "--python", python, folder, "--clear"], check=True)
            interpreter = f"{folder}/bin/python"
            wanted = [f"{name}=={version}", "numpy>=2", "setuptools<80", "packaging"]
            install = subprocess.run(
                [uv, "pip", "install", "-q", "--python", interpreter, "--only-binary", ":all:", *wanted], capture_output=True, text=True
            )
            if install.returncode:
                if "numpy" in install.stderr:
                    return "metadata", ""
                continue
            code = [f"import {MODULES[name]}"] if name in MODULES else [OWN, name]
            run = subprocess.run([interpreter, "-W", "ignore", "-c", *code], capture_output=True, text=True, cwd="/")
            said = (run.stderr.strip().splitlines() or [""])[-1]
            if run.returncode == 0:
                return "imports", said
            return ("fails" if re.search("numpy", run.stderr, re.IGNORECASE) else "other"), said
    return "other", "no wheel for the Pythons that were tried"


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--uv", required=True)
parser.add_argument("--python", action="append", help="a version or path that uv knows; may be repeated")
parser.add_argument("--matrix", type=Path, default=Path("matrix/linking"))
options = parser.parse_args()
counts = Counter()
for name, version in rows(options.matrix):
    state, said = tried(options.uv, options.python or ["3.12", "3.11"], name, version)
    counts[state] += 1
    print(f"{name} {version}: {state} {said[:110]}", flush=True)
print(dict(counts))
sys.exit(1 if counts["imports"] else 0)
