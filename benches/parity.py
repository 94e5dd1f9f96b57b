#!/usr/bin/env python3
"""Forty real sets of requirements, locked by colab-boot and by uv for Python 3.11, 3.12 and 3.13: the same versions, or a reason.

    python3 benches/parity.py --colab-boot target/release/colab-boot --uv uv [--install /tmp/parity] [--pythons 3.12] [--sets 1,7]

Needs the package index. With --install every lock of ours is installed into a virtual environment of that Python (found among pyenv's
and on PATH) with `uv pip install --no-deps --require-hashes`, and `uv pip check` must find nothing wrong. Ends with 1 on a difference
without a reason, or a lock that does not install.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from peers import colab_boot, profile, uv

SETS = """requests
flask gunicorn
django djangorestframework celery redis
fastapi uvicorn[standard] sqlalchemy alembic
pydantic-settings httpx tenacity
pytest pytest-cov pytest-xdist hypothesis
black ruff mypy pre-commit
numpy pandas matplotlib
scikit-learn scipy joblib
xgboost lightgbm catboost
polars duckdb pyarrow
dask[complete] distributed
jupyterlab ipywidgets
notebook nbconvert nbformat
streamlit plotly altair
gradio
boto3 s3fs
google-cloud-storage google-cloud-bigquery
azure-storage-blob azure-identity
openai anthropic tiktoken
langchain langchain-openai langgraph
sentence-transformers
transformers datasets tokenizers
spacy
nltk gensim
opencv-python-headless pillow imageio
torch==2.9.1 torchvision
torch torchvision torchaudio
tensorflow
jax[cuda12] flax optax
jax optax
keras keras-hub tensorboard
statsmodels seaborn
networkx sympy
aiohttp aiofiles orjson
grpcio protobuf googleapis-common-protos
cryptography paramiko
sphinx furo myst-parser
wandb mlflow
numba llvmlite""".splitlines()

# Differences that are meant, by what differs.
REASONS = {
    "torchaudio": "torchaudio 2.11 names no torch and does not load beside another: the family table chooses the one that belongs to torch",
    "requires-python": "an upper bound of Requires-Python counts here, as for pip; uv ignores it",
    "cuda": "one CUDA major for all: uv mixes CUDA 12 and 13",
}


def reason(name, mine, other):
    if name in ("torchaudio",):
        return "torchaudio"
    if re.search(r"nvidia-|cuda|^torch|^triton$", name) and (mine is None or other is None or mine != other):
        return "cuda"
    return None


def interpreter(python):
    found = sorted(pathlib.Path.home().glob(f".pyenv/versions/{python}.*/bin/python"))
    return str(found[-1]) if found else shutil.which(f"python{python}")


def install(uv_binary, folder, python, lock):
    """Why the lock does not install or fit together; nothing where it does."""
    target = interpreter(python)
    if not target:
        return f"there is no Python {python} here"
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"}
    venv = folder / f"venv-{python}"
    shutil.rmtree(venv, ignore_errors=True)

    def call(*arguments):
        return subprocess.run([uv_binary, *map(str, arguments)], capture_output=True, text=True, env=environment)

    lines = [f"{one['name']}==={one['version']} --hash=sha256:{one['sha256']}" for one in lock]
    (folder / "lock.txt").write_text("\n".join(lines) + "\n")
    for arguments in (
        ["venv", "--quiet", "--python", target, venv],
        ["pip", "install", "--quiet", "--python", venv, "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", folder / "lock.txt"],
        ["pip", "check", "--quiet", "--python", venv],
    ):
        done = call(*arguments)
        if done.returncode:
            return f"uv {arguments[0]} {arguments[1]}: {done.stderr.strip()[:400]}"
    shutil.rmtree(venv, ignore_errors=True)
    return None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--colab-boot", required=True)
    options.add_argument("--uv", required=True)
    options.add_argument("--install", type=pathlib.Path)
    options.add_argument("--pythons", default="3.11,3.12,3.13")
    options.add_argument("--sets", default="")
    options = options.parse_args()
    ours = str(pathlib.Path(options.colab_boot).resolve())
    chosen = [int(at) for at in options.sets.split(",") if at] or range(1, len(SETS) + 1)
    same = meant = unexplained = installed = broken = 0
    told = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for at in chosen:
            requirements = SETS[at - 1].split()
            for python in options.pythons.split(","):
                # Markers ask for the patch too (`async-timeout` below 3.11.3).
                mine, why = colab_boot(ours, folder, requirements, python=f"{python}.9")
                other, their_why = uv(options.uv, folder, requirements, python=f"{python}.9")
                if not mine or not other:
                    agree = not mine and not other
                    same, unexplained = same + agree, unexplained + (not agree)
                    print(f"{at} {python} {' '.join(requirements)}: {'both refuse' if agree else why or their_why}", flush=True)
                    continue
                names = sorted(key for key in mine.keys() | other.keys() if mine.get(key, (None,))[0] != other.get(key, (None,))[0])
                reasons = {key: reason(key, mine.get(key, (None,))[0], other.get(key, (None,))[0]) for key in names}
                cuda = any(found == "cuda" for found in reasons.values())
                open_ = [key for key, found in reasons.items() if not found and not cuda]
                same, meant, unexplained = same + (not names), meant + (bool(names) and not open_), unexplained + bool(open_)
                told.update({found: REASONS[found] for found in reasons.values() if found})
                differs = ", ".join(f"{key} {mine.get(key, ('-',))[0]} (uv {other.get(key, ('-',))[0]})" for key in (open_ or names)[:6])
                result = "the same" if not names else f"{'DIFFERS' if open_ else 'meant'}: {differs}"
                if options.install:
                    options.install.mkdir(parents=True, exist_ok=True)
                    lock = json.loads((folder / "report.json").read_text())["report"]["targets"][0]["packages"]
                    fault = install(options.uv, options.install, python, lock)
                    installed, broken = installed + (not fault), broken + bool(fault)
                    result += f"; {fault or 'installs'}"
                print(f"{at} {python} {' '.join(requirements)}: {len(mine)} packages, {result}", flush=True)
    print(f"\n{same} the same, {meant} differ as meant, {unexplained} unexplained; {installed} installed and checked, {broken} not")
    for key, text in told.items():
        print(f"- {key}: {text}")
    sys.exit(bool(unexplained or broken))


if __name__ == "__main__":
    main()
