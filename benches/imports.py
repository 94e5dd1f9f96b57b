"""Tries what the matrix says of NumPy: of every package with such a row, the last release before the border is installed beside NumPy 2 and imported.

    python3 benches/imports.py --uv PATH [--python 3.12]... [--matrix FILE]

For each: `metadata` (its METADATA says so itself, uv refuses), `fails` (the import fails, as the row says), `imports` (it does not: the row is wrong) or
`other` (something else is missing). Environments are made by uv, and deleted.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

MODULES = {
    "PyWavelets": "pywt", "astropy": "astropy.io.fits", "faiss-cpu": "faiss", "gensim": "gensim.models", "matplotlib": "matplotlib.path", "ml-dtypes": "ml_dtypes",
    "opencv-contrib-python": "cv2", "opencv-python": "cv2", "opencv-python-headless": "cv2", "pot": "ot", "pycocotools": "pycocotools.mask",
    "scikit-image": "skimage.measure", "scikit-learn": "sklearn", "scikit-learn-extra": "sklearn_extra.cluster", "scipy": "scipy.linalg",
    "statsmodels": "statsmodels.api",
}
ROW = re.compile(r'package = "([^"]+)"\nversions = "[^"]+"\nadds = "numpy<2"\nwhy = "compiled against NumPy 1"\nsource = "libraries of ([^,"]+)')


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
            module = MODULES.get(name, name.replace("-", "_"))
            run = subprocess.run([interpreter, "-W", "ignore", "-c", f"import {module}"], capture_output=True, text=True, cwd="/")
            said = (run.stderr.strip().splitlines() or [""])[-1]
            if run.returncode == 0:
                return "imports", said
            return ("fails" if re.search("numpy", run.stderr, re.IGNORECASE) else "other"), said
    return "other", "no wheel for the Pythons that were tried"


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--uv", required=True)
parser.add_argument("--python", action="append", help="a version or path that uv knows; may be repeated")
parser.add_argument("--matrix", default="matrix/packages.toml")
options = parser.parse_args()
counts = Counter()
for name, version in ROW.findall(Path(options.matrix).read_text()):
    state, said = tried(options.uv, options.python or ["3.12", "3.11"], name, version)
    counts[state] += 1
    print(f"{name} {version}: {state} {said[:110]}", flush=True)
print(dict(counts))
sys.exit(1 if counts["imports"] else 0)
