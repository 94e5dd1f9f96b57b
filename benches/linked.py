"""Locks pairs of packages on the real index and says which are refused: what METADATA allows and an import does not.

    python3 benches/linked.py [--colab-boot PATH] [--import]

With `--import` each pair that must be refused is installed as METADATA allows it, and imported: that it fails is what the refusal rests on. Pairs
that need CUDA at the import say so without a GPU, for the libraries are missing there too.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

BARE = ["--runtime", "bare-3.12", "--gpu", "L4", "--driver", "580.82.07"]
# What is asked for, whether it must be refused, what would be imported.
PAIRS = [
    ("torch==2.9.1 torchcodec==0.17.0", True, "torchcodec"),
    ("torch==2.9.1 torchcodec==0.9.1", False, ""),
    ("torch==2.11.0 torchcodec==0.10.0", True, "torchcodec"),
    ("torch==2.11.0 torchcodec==0.11.1", False, ""),
    ("torch==2.15.0 torchcodec==0.17.0", False, ""),
    ("torch==2.10.0 torchaudio==2.11.0", True, "torchaudio"),
    ("torch==2.11.0 sgl-kernel==0.3.21", True, "sgl_kernel"),
    ("torch==2.8.0 sgl-kernel==0.3.21", False, ""),
    ("torch==2.9.1 sgl-kernel==0.3.21", False, ""),
    ("torch==2.11.0 xformers==0.0.35", True, "xformers._C"),
    ("torch==2.8.0 onnxruntime-gpu==1.31.1", True, ""),
    ("torch==2.9.1 torchao==0.15.0", False, ""),
    ("torch==2.6.0 tensorflow==2.18.1", True, ""),
    ("h5py==3.10.0 numpy>=2", True, "h5py"),
    ("h5py==3.11.0 numpy>=2", False, ""),
    ("faiss-cpu==1.8.0 numpy>=2", True, "faiss"),
    ("spacy==3.7.5 numpy>=2", True, "spacy"),
    ("pyarrow==15.0.2 numpy>=2", True, "pyarrow"),
    ("scikit-image==0.22.0 numpy>=2", True, "skimage.measure"),
    ("shapely==2.0.3 numpy>=2", True, "shapely"),
    ("tables==3.9.2 numpy>=2", True, "tables"),
    ("gensim==4.3.3 numpy>=2", True, "gensim.models"),
    ("statsmodels==0.14.1 numpy>=2", True, "statsmodels.api"),
    ("numexpr==2.9.0 numpy>=2", True, "numexpr"),
    ("hdbscan==0.8.37 numpy>=2", True, "hdbscan"),
    ("onnxruntime==1.18.1 numpy>=2", True, "onnxruntime"),
    ("pycocotools==2.0.7 numpy>=2", True, "pycocotools.mask"),
    ("rasterio==1.3.9 numpy>=2", True, "rasterio"),
    ("osqp==0.6.7 numpy>=2", True, "osqp"),
    ("fastparquet==2024.2.0 numpy>=2", True, "fastparquet"),
    ("soxr==0.3.7 numpy>=2", True, "soxr"),
    ("opencv-python-headless==4.9.0.80 numpy>=2", True, "cv2"),
    ("ydf==0.14.0 numpy>=2", False, ""),
    ("taichi==1.7.4", True, ""),
    ("lightgbm numpy>=2", False, ""),
    ("pandas scipy scikit-learn matplotlib numpy>=2", False, ""),
    # Up to 0.47 there is no library for CUDA 13; later ones ask for a newer glibc than 2.28 or have none for CUDA 13.2.
    ("bitsandbytes torch==2.15.0", True, ""),
    ("bitsandbytes torch==2.8.0", False, ""),
    ("cupy-cuda12x torch==2.8.0", False, ""),
    ("tensorflow==2.21.0 scann==1.4.2", True, "scann"),
    ("tensorflow==2.20.0 scann==1.4.2", False, ""),
    ("tensorflow==2.20.0 scann==1.4.0", True, "scann"),
    ("tensorflow==2.19.1 scann==1.4.0", False, ""),
    ("tensorflow==2.20.0 tensorflow-io==0.37.1", True, "tensorflow_io; tensorflow_io.audio.decode_wav(b'RIFF', dtype='int16')"),
    ("tensorflow==2.16.2 tensorflow-io==0.37.1", False, ""),
    ("peft==0.19.1 torchao==0.10.0", True, "peft.import_utils; peft.import_utils.is_torchao_available()"),
    # Its tag says manylinux1; its libraries ask for glibc 2.29, and bare-3.12 has 2.28.
    ("vllm==0.11.2", True, ""),
]


def profile(packages):
    lines = ["[profile]", 'name = "p"', 'version = "1.0.0"', "[packages]"]
    for one in packages.split():
        name = one.split("=")[0].split(">")[0]
        lines.append(f'{name} = "{one[len(name):] or "*"}"')
    return "\n".join(lines) + "\n"


def fails(packages, module, folder):
    """What the import says where METADATA alone decides."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(Path(folder) / "bin/python")
    wanted = [one.replace("torch==", "torch==") for one in packages.split()]
    done = subprocess.run([python, "-m", "pip", "-q", "install", "--only-binary", ":all:", *wanted], capture_output=True, text=True)
    if done.returncode:
        return "refused by METADATA"
    done = subprocess.run([python, "-c", f"import {module}"], capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1][:110] if done.returncode else "imported"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--colab-boot", default="target/release/colab-boot")
    parser.add_argument("--import", action="store_true", dest="imports")
    options = parser.parse_args()
    wrong = 0
    for packages, refused, module in PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "p.toml"
            path.write_text(profile(packages))
            done = subprocess.run([options.colab_boot, "lock", str(path), *BARE], capture_output=True, text=True)
            right = (done.returncode == 1) == refused and done.returncode in (0, 1)
            wrong += not right
            said = next((line.strip() for line in done.stderr.splitlines() if "can't be used" in line or "error[" in line), "")
            said = next((line.strip() for line in done.stderr.splitlines() if "can't be used" in line), said)
            seen = fails(packages, module, Path(folder) / "venv") if options.imports and refused and module else ""
            print(f"{'right' if right else 'WRONG'}  {'refused' if done.returncode else 'locked':8}{packages}\n       {said[:150]}" + (f"\n       import: {seen}" if seen else ""), flush=True)
    print(f"{len(PAIRS)} pairs, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
