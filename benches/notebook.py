"""What colab-boot costs in a notebook: the import of the extension, a cell whose packages are installed already, any other cell.

    python benches/notebook.py WHEEL [COUNT]

Makes an environment with the wheel, ipykernel and jupyter_client, starts a real kernel in it, and times cells as the client sees them, in turn with a
cell that does nothing and with `%pip install` of the same packages. Prints median / worst in milliseconds.
"""

import pathlib, statistics, subprocess, sys, tempfile, time, venv

CLIENT = """
import statistics, sys, time
from jupyter_client.manager import start_new_kernel

count, folder = int(sys.argv[1]), sys.argv[2]
manager, client = start_new_kernel(cwd=folder)

def cell(code):
    start = time.perf_counter()
    said = []
    reply = client.execute_interactive(code, timeout=300, output_hook=lambda message: said.append(message["content"]))
    if reply["content"]["status"] != "ok":
        sys.exit(f"{code}: {said}")
    return (time.perf_counter() - start) * 1000, said

def report(what, times):
    print(f"{what:44} {statistics.median(times):8.1f} / {max(times):.1f}")

names = "click==8.1.8\\nrich==14.0.0\\nrequests==2.32.3\\n"
bare = [cell("pass")[0] for _ in range(5 * count)]
cell("%load_ext colab_boot")
print("first %%boot: {:.0f} ms".format(cell("%%boot\\n" + names)[0]))
runs = {"%%boot of what is installed": "%%boot\\n" + names, "%boot verify": "%boot verify", "%pip install of the same": "%pip install -q " + names.replace("\\n", " ")}
times = {what: [] for what in runs}
for _ in range(count):
    for what, code in runs.items():
        taken, said = cell(code)
        times[what].append(taken)
hooked = [cell("pass")[0] for _ in range(5 * count)]
for what in runs:
    report(what, times[what])
report("a cell that does nothing, without extension", bare)
report("a cell that does nothing, with it", hooked)
client.stop_channels()
manager.shutdown_kernel(now=True)
"""

IMPORT = "import time; a = time.perf_counter(); import colab_boot; print((time.perf_counter() - a) * 1000)"

wheel, count = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 20
with tempfile.TemporaryDirectory() as folder:
    home = pathlib.Path(folder, "venv")
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel, "ipykernel", "jupyter_client"], check=True)
    # What a kernel has imported is there already.
    times = [float(subprocess.run([python, "-c", "import ipykernel.kernelapp;" + IMPORT], stdout=subprocess.PIPE, text=True, check=True).stdout) for _ in range(count)]
    print(f"{'import of the extension':44} {statistics.median(times):8.1f} / {max(times):.1f}", flush=True)
    subprocess.run([python, "-c", CLIENT, str(count), folder], check=True)
