"""Whether the verdicts of the matrix are what a real GPU does.

For each set of GPU code below, nvcc builds a library, and the library's kernel is run on this machine's GPU: with the
driver's PTX compiler, and without it (CUDA_DISABLE_PTX_JIT). Beside it stands what `matrix inspect` has read from a
wheel with that library, and what `matrix show` says of such a build on this GPU and driver.

    python3 benches/gpu_truth.py --colab-boot target/release/colab-boot

Needs an NVIDIA GPU and nvcc. Exit code 1 if a reading or a verdict is false.
"""

import argparse
import base64
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# What nvcc is asked for: `sm_*` is machine code, `compute_*` is PTX.
CODES = [
    ["sm_75"], ["sm_80"], ["sm_86"], ["sm_89"], ["sm_90"], ["sm_90a"], ["sm_100"], ["sm_100a"], ["sm_100f"], ["sm_103"], ["sm_120"],
    ["compute_75"], ["compute_80"], ["compute_89"], ["compute_90"], ["compute_90a"], ["compute_100"], ["compute_100f"], ["compute_120"],
    ["sm_80", "compute_80"], ["sm_75", "sm_86"], ["sm_75", "sm_90"], ["sm_100", "compute_80"], ["sm_100", "compute_100"], ["sm_90a", "compute_90a"],
]
SOURCE = """
__global__ void seven(int *to) { *to = 7; }
extern "C" int run() {
    int *there, here = 0;
    cudaError_t error = cudaMalloc(&there, sizeof here);
    if (error == cudaSuccess) { seven<<<1, 1>>>(there); error = cudaGetLastError(); }
    if (error == cudaSuccess) error = cudaMemcpy(&here, there, sizeof here, cudaMemcpyDeviceToHost);
    return error != cudaSuccess ? error : here == 7 ? 0 : -1;
}
"""


def build(folder, name, codes):
    """The library of these codes, or None where this nvcc does not know one."""
    source, library = folder / "seven.cu", folder / f"{name}.so"
    source.write_text(SOURCE)
    flags = [f"-gencode=arch={code.replace('sm_', 'compute_')},code={code}" for code in codes]
    done = subprocess.run(["nvcc", "-shared", "-Xcompiler", "-fPIC", *flags, "-o", library, source], capture_output=True, text=True)
    return library if done.returncode == 0 else None


def wheel(folder, name, library):
    """A wheel with the library."""
    path = folder / f"{name}-1.0-py3-none-manylinux_2_28_x86_64.whl"
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}/{library.name}": library.read_bytes(),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\n",
    }
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record = "".join(f"{place},sha256={digest(data)},{len(data)}\n" for place, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, data in files.items():
            archive.writestr(place, data)
    return path


def run(library, compiles):
    """What the kernel of the library returns in a process of its own: 0, or CUDA's error."""
    environment = {**os.environ, "CUDA_CACHE_DISABLE": "1"}
    if not compiles:
        environment["CUDA_DISABLE_PTX_JIT"] = "1"
    code = f"import ctypes; print(ctypes.CDLL({str(library)!r}).run())"
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment).stdout or -2)


def asked(tool, *arguments):
    """The report of a command."""
    done = subprocess.run([tool, *arguments, "--json"], capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return json.loads(done.stdout)["report"]


def row(name, build):
    """The build as a row of the matrix."""
    listed = json.dumps
    isa = build.get("ptx-isa")
    isa = f'ptx-isa = "{isa}"\n' if isa else ""
    return (
        f'[[build]]\npackage = "{name}"\nversion = "1.0"\ncuda = "{build["cuda"]}"\nsass = {listed(build["sass"])}\nptx = {listed(build["ptx"])}\n'
        f'{isa}basis = "whole-member"\nwheel = "{name}-1.0-py3-none-manylinux_2_28_x86_64.whl"\nsha256 = "{"0" * 64}"\n\n'
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--colab-boot", required=True, type=pathlib.Path)
    tool = parser.parse_args().colab_boot.resolve()
    smi = lambda field: subprocess.run(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"], capture_output=True, text=True, check=True).stdout.split("\n")[0].strip()
    gpu, driver = smi("compute_cap"), smi("driver_version")
    release = re.search(r"release (\d+\.\d+)", subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout)[1]
    print(f"{smi('name')} ({gpu}), driver {driver}, nvcc {release}")
    print(f"{'code':24} {'run':>5} {'no JIT':>7}  verdict")
    false = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for at, codes in enumerate(CODES):
            name = f"seven{at}"
            library = build(folder, name, codes)
            if library is None:
                print(f"{'+'.join(codes):24}  unknown to this nvcc")
                continue
            read = asked(tool, "matrix", "inspect", "--thorough", wheel(folder, name, library))["builds"][0]
            read["cuda"] = read.get("cuda") or release
            overlay = folder / "rows.toml"
            overlay.write_text(row(name, read))
            shown = asked(tool, "matrix", "show", "--matrix", overlay, "--package", name, "--gpu", gpu, "--driver", driver)
            verdict = list(shown["builds"][0]["runs"].values())[0]
            with_compiler, without = run(library, True), run(library, False)
            is_read = set(read["sass"]) | set(read["ptx"]) == set(codes)
            says = {"native": (True, True), "minor-compat": (True, True), "ptx-jit": (True, False)}.get(verdict, (False, False))
            is_right = says == (with_compiler == 0, without == 0)
            false += (not is_read) + (not is_right)
            notes = ("" if is_read else f"  read as {read['sass'] + read['ptx']}") + ("" if is_right else "  FALSE")
            print(f"{'+'.join(codes):24} {with_compiler:5} {without:7}  {verdict}{notes}")
    print(f"{false} false")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
