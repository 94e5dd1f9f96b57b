"""Runs verbs beside a mount whose server is stopped (`silent`), one whose server was killed (`dead`), and two that answer for their own folder
and are silent below: `deep/below`, and `one`, which is silent as a whole once its one thread waits, and is mounted for the last lines alone; `held`,
which opens nothing; and `slow`, which has one thread that takes 0.3 s for each call, and is mounted late, too. In a mount namespace of its own; `pth` is a virtual environment with `silent` in a `.pth`.

Reads lines `FOLDER:ARGUMENTS` from its first argument, the arguments after variables (`PATH=@/silent:/usr/bin`, `@` is the folder of it all), `cell` for
the cell of `q.toml` in the Python that the environment names; writes
`CODE FOLDER: ARGUMENTS` for each, then what it said, indented. A verb that has not ended after six seconds `HANGS`. Nothing here touches the working folder once its server is stopped: a shell would."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

lines = [line.split(":", 1) for line in sys.argv[1].splitlines()]
for name in ("src", "silent", "dead", "home", "deep", "one", "held", "slow", "heldsrc", "deepsrc/below"):
    os.makedirs(name, exist_ok=True)
pathlib.Path("src/a.pt").write_text("x")
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
subprocess.run([sys.executable, "-m", "venv", "--without-pip", "pth"], check=True)
site = next(pathlib.Path("pth").glob("lib/python*/site-packages"))
(site / "slow.pth").write_text(os.path.abspath("silent") + "\n")
pathlib.Path("heldsrc/p.toml").write_text("")
served = [("src", "silent"), ("src", "dead"), ("src", "deepsrc/below"), ("deepsrc", "deep")]
servers = [subprocess.Popen(["bindfs", "-f", "--multithreaded", *names], **quiet) for names in served]
silent, dead, below = servers[:3]
serve = [sys.executable, os.path.join(os.path.dirname(__file__), "server.py"), "heldsrc"]
servers.append(subprocess.Popen([*serve, "held", "0", "open,opendir"], **quiet))
end = time.monotonic() + 10
there = ["held/p.toml", "silent/a.pt", "dead/a.pt", "deepsrc/below/a.pt", "deep/below/a.pt"]
while not all(map(os.path.exists, there)) and time.monotonic() < end:
    time.sleep(0.05)
# An overlay that answers for its root from this machine's memory, whatever becomes of its lower layer.
os.makedirs("ram", exist_ok=True)
os.makedirs("over", exist_ok=True)
subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "ram"], check=True)
os.makedirs("ram/upper")
os.makedirs("ram/work")
layers = ",".join(f"{name}={os.path.abspath(place)}" for name, place in (("lowerdir", "silent"), ("upperdir", "ram/upper"), ("workdir", "ram/work")))
subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, "over"], check=True)
places = {name: os.open(name or ".", os.O_PATH) for name in {folder for folder, _ in lines}}
program, top = os.environ["COLAB_BOOT"], os.getcwd()
# A process that enters a folder of a silent mount may hang: so the workers enter theirs while all mounts answer.
for fd in places.values():
    os.set_inheritable(fd, True)
workers, stopped = [], (silent, below)


def work(number, folder, ask, say):
    os.fchdir(places[folder])
    for line in ask:
        variables, words = {}, []
        for word in line.replace("@", top).split():
            name, _, value = word.partition("=")
            if name.isupper():
                variables[name] = value
            else:
                words.append(word)
        environment = dict(os.environ, PWD=os.path.join(top, folder), **variables)
        with open(os.path.join(top, f"said-{number}"), "w") as said:
            command = [os.environ["PYTHON"], os.path.join(top, "cells/q.py")] if words == ["cell"] else [program, *words]
            verb = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, env=environment)
        end = time.monotonic() + 30
        while verb.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        hangs = verb.poll() is None
        if hangs:
            for server in stopped:
                server.send_signal(signal.SIGCONT)
            verb.kill()
            verb.wait()
            for server in stopped:
                server.send_signal(signal.SIGSTOP)
        say.write(f"{'HANGS' if hangs else verb.returncode}\n")
        say.flush()


# They wait most of the time: three at once for each folder.
for number, folder in enumerate([*places] * 3):
    ask, told = os.pipe()
    answer, say = os.pipe()
    if os.fork() == 0:
        os.close(told)
        work(number, folder, os.fdopen(ask), os.fdopen(say, "w"))
        os._exit(0)
    os.close(ask)
    os.close(say)
    workers.append((folder, os.fdopen(told, "w"), os.fdopen(answer)))
for server in stopped:
    server.send_signal(signal.SIGSTOP)
dead.kill()
time.sleep(0.2)


def tell(number, at):
    folder, told, answer = workers[number]
    told.write(f"{lines[at][1]}\n")
    told.flush()
    code = answer.readline().strip()
    with open(os.path.join(top, f"said-{number}")) as said:
        results[at] = f"{code} {folder}: {lines[at][1]}\n" + "".join(f"  {line}" for line in said)


def tell_all(number):
    mine = [at for at, (folder, _) in enumerate(lines) if folder == workers[number][0] and at not in late]
    for at in mine[number // len(places) :: 3]:
        tell(number, at)


results, late = [""] * len(lines), [at for at, (_, line) in enumerate(lines) if " one " in line or "slow" in line]
threads = [threading.Thread(target=tell_all, args=[number]) for number in range(len(workers))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if late:
    servers.append(subprocess.Popen(["bindfs", "-f", "deepsrc", "one"], **quiet))
    servers.append(subprocess.Popen([*serve, "slow", "0.3", ""], **quiet))
    while not (os.path.ismount("one") and os.path.ismount("slow")):
        time.sleep(0.05)
    number = next(number for number, (folder, _, _) in enumerate(workers) if folder == lines[late[0]][0])
    for at in late:
        tell(number, at)
print("".join(results))
for server in stopped:
    server.send_signal(signal.SIGCONT)
for server in servers:
    server.terminate()
