"""Runs verbs beside a mount whose server is stopped (`silent`) and one whose server was killed (`dead`), in a mount namespace of its own.

Reads lines `FOLDER:ARGUMENTS` from its first argument; writes `CODE FOLDER: ARGUMENTS` for each, then what it said, indented. A verb that has not
ended after six seconds `HANGS`. Nothing here touches the working folder once its server is stopped: a shell would."""

import os
import pathlib
import signal
import subprocess
import sys
import time

lines = [line.split(":", 1) for line in sys.argv[1].splitlines()]
for name in ("src", "silent", "dead", "home"):
    os.makedirs(name, exist_ok=True)
pathlib.Path("src/a.pt").write_text("x")
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
silent, dead = (subprocess.Popen(["bindfs", "-f", "src", name], **quiet) for name in ("silent", "dead"))
end = time.monotonic() + 10
while not (os.path.exists("silent/a.pt") and os.path.exists("dead/a.pt")) and time.monotonic() < end:
    time.sleep(0.05)
places = {name: os.open(name or ".", os.O_PATH) for name in {folder for folder, _ in lines}}
program, top = os.environ["COLAB_BOOT"], os.getcwd()
# Whoever changes into a folder of a silent mount may hang: a process for each stands there before.
for folder, words in lines:
    os.set_inheritable(places[folder], True)
workers = {}
for folder in places:
    ask, told = os.pipe()
    answer, say = os.pipe()
    if os.fork() == 0:
        os.fchdir(places[folder])
        os.close(told)
        for line in os.fdopen(ask):
            environment = dict(os.environ, PWD=os.path.join(top, folder))
            with open(os.path.join(top, "said"), "w") as said:
                verb = subprocess.Popen([program, *line.split()], stdout=said, stderr=subprocess.STDOUT, env=environment)
            end = time.monotonic() + 6
            while verb.poll() is None and time.monotonic() < end:
                time.sleep(0.02)
            hangs = verb.poll() is None
            if hangs:
                os.kill(silent.pid, signal.SIGCONT)
                verb.kill()
                verb.wait()
                os.kill(silent.pid, signal.SIGSTOP)
            os.write(say, f"{'HANGS' if hangs else verb.returncode}\n".encode())
        os._exit(0)
    os.close(ask)
    os.close(say)
    workers[folder] = (told, os.fdopen(answer))
silent.send_signal(signal.SIGSTOP)
dead.kill()
time.sleep(0.2)
for folder, words in lines:
    told, answer = workers[folder]
    os.write(told, f"{words}\n".encode())
    print(answer.readline().strip(), f"{folder}: {words}")
    with open(os.path.join(top, "said")) as said:
        print("".join(f"  {line}" for line in said), end="", flush=True)
silent.send_signal(signal.SIGCONT)
silent.terminate()
