"""How many batches a second worker processes hand over through shared memory. Takes one JSON argument: `folder` (an empty one of its own, in shared
memory), `counts` (numbers of workers to try), `batch` (bytes), `prefetch`, `seconds` (for all of them). Writes into `folder` alone; ends with one line of JSON.

The work of a worker is to unpack its batch (zlib), about what decoding pictures costs; the consumer copies it once, as pinning does."""

import ctypes
import json
import mmap
import os
import signal
import sys
import time
import zlib

clock = time.perf_counter
CHUNK = 1 << 20


class Source:
    """Batches out of packed pieces."""

    def __init__(self):
        words = [b"%d " % (number * 2654435761 % 4294967296) for number in range(CHUNK // 8)]
        self.plain = b"".join(words)[:CHUNK].ljust(CHUNK, b" ")
        self.packed = zlib.compress(self.plain, 1)

    def fill(self, target, size):
        for at in range(0, size, CHUNK):
            piece = zlib.decompress(self.packed)
            count = min(CHUNK, size - at)
            target[at : at + count] = piece[:count]


def slot(folder, name, size):
    path = os.path.join(folder, name)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        # Takes the pages now: a worker that meets a full file system later ends with SIGBUS.
        os.posix_fallocate(handle, 0, size)
        return mmap.mmap(handle, size)
    finally:
        os.close(handle)


def work(source, maps, size, said, heard):
    try:
        for at in range(1 << 30):
            if not os.read(heard, 1):
                break
            source.fill(maps[at % len(maps)], size)
            os.write(said, b"x")
    finally:
        os._exit(0)


def workers(source, folder, count, size, prefetch, seconds):
    """Batches a second with `count` workers; an errno where shared memory ends."""
    lines, pids, paths = [], [], []
    try:
        for number in range(count):
            maps = []
            for turn in range(prefetch):
                name = f"{number}-{turn}"
                paths.append(os.path.join(folder, name))
                maps.append(slot(folder, name, size))
            said_in, said_out = os.pipe()
            heard_in, heard_out = os.pipe()
            pid = os.fork()
            if pid == 0:
                for other in lines:
                    os.close(other[1])
                os.close(said_in)
                os.close(heard_out)
                work(source, maps, size, said_out, heard_in)
            pids.append(pid)
            os.close(said_out)
            os.close(heard_in)
            lines.append((said_in, heard_out, maps))
            os.write(heard_out, b"g" * prefetch)
        kept, done, at = bytearray(size), 0, 0
        # What was ready before the clock runs would count as made in no time.
        for _ in range(prefetch + 1):
            for said, heard, maps in lines:
                os.read(said, 1)
                os.write(heard, b"g")
        taken = [prefetch + 1] * count
        begun = clock()
        while clock() - begun < seconds:
            said, heard, maps = lines[at]
            os.read(said, 1)
            kept[:] = maps[taken[at] % prefetch]
            os.write(heard, b"g")
            taken[at] += 1
            done, at = done + 1, (at + 1) % count
        return {"workers": count, "rate": done / (clock() - begun), "error": None}
    except OSError as error:
        return {"workers": count, "rate": None, "error": os.strerror(error.errno)}
    finally:
        for said, heard, _ in lines:
            os.close(heard)
            os.close(said)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for path in paths:
            if os.path.exists(path):
                os.unlink(path)


def alone(source, size, seconds):
    target, done = bytearray(size), 0
    begun = clock()
    while clock() - begun < seconds:
        source.fill(target, size)
        done += 1
    return {"workers": 0, "rate": done / (clock() - begun), "error": None}


def main(wanted):
    source, seconds = Source(), wanted["seconds"] / len(wanted["counts"])
    rounds = []
    for count in wanted["counts"]:
        if count == 0:
            rounds.append(alone(source, wanted["batch"], seconds))
        else:
            rounds.append(workers(source, wanted["folder"], count, wanted["batch"], wanted["prefetch"], seconds))
    print(json.dumps({"rounds": rounds}))


# Ends with the one who asked (prctl(2), PR_SET_PDEATHSIG).
ctypes.CDLL(None).prctl(1, 9)
main(json.loads(sys.argv[1]))
