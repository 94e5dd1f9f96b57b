"""How fast a folder is: large files, small files, names. Takes one JSON argument: `folder` (an empty one of its own, or null), `sample` (a folder
of the user's files to read, or null), `bytes`, `files`, `seconds`. Writes into `folder` alone. Ends with one line of JSON.

What was just written is read from memory, so the page cache is dropped and asked whether it was (mincore); where it stays, the file is read past
it (O_DIRECT); where that is refused as well, the figure is called cached."""

import ctypes
import json
import mmap
import os
import random
import sys
import time

MIB = 1 << 20
clock = time.perf_counter


def quantiles(times):
    times = sorted(times)
    if not times:
        return None
    at = lambda share: times[min(len(times) - 1, int(len(times) * share))]
    return {"p50": at(0.5), "p95": at(0.95), "worst": times[-1], "count": len(times)}


def resident(path):
    """The share of the file's pages that are in memory; None where that can't be asked."""
    try:
        size = os.path.getsize(path)
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY) as pages:
            count = (size + mmap.PAGESIZE - 1) // mmap.PAGESIZE
            vector = (ctypes.c_ubyte * count)()
            start = ctypes.c_char.from_buffer(pages)
            address = ctypes.addressof(start)
            code = ctypes.CDLL(None, use_errno=True).mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), vector)
            del start
            return None if code else sum(byte & 1 for byte in vector) / count
    except (OSError, ValueError, AttributeError, BufferError):
        return None


def read_through(path, until, flags=0):
    """Bytes and seconds of one reading from front to end."""
    block = mmap.mmap(-1, MIB)
    handle = os.open(path, os.O_RDONLY | flags)
    try:
        begun, total = clock(), 0
        while True:
            count = os.readv(handle, [block])
            total += count
            if not count or clock() > until:
                return total, clock() - begun
    finally:
        os.close(handle)


def large(folder, size, seconds):
    path = os.path.join(folder, "large")
    blocks = [random.randbytes(MIB) if hasattr(random, "randbytes") else os.urandom(MIB) for _ in range(8)]
    until = clock() + seconds
    begun, written = clock(), 0
    with open(path, "wb", buffering=0) as file:
        while written < size and clock() < until:
            written += file.write(blocks[(written // MIB) % len(blocks)])
        cached = clock() - begun
        os.fdatasync(file.fileno())
        synced = clock() - begun
    found = {"bytes": written, "write_cached": written / cached, "write_synced": written / synced}
    total, took = read_through(path, clock() + seconds)
    found["read_warm"] = total / took
    handle = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)
    stays = resident(path)
    found["resident"] = stays
    rounds, how = [], "cold" if stays is not None and stays <= 0.05 else "cached"
    if how == "cached":
        try:
            rounds.append(read_through(path, clock() + seconds, os.O_DIRECT))
            how = "direct"
        except OSError:
            pass
    while how == "cold" and len(rounds) < 3:
        handle = os.open(path, os.O_RDONLY)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)
        rounds.append(read_through(path, clock() + seconds))
        if rounds[-1][1] > 0.3:
            break
    found["read_how"] = how
    found["reads"] = [total / took for total, took in rounds if took > 0]
    os.unlink(path)
    return found


def small(folder, count, seconds):
    data = random.randbytes(4096) if hasattr(random, "randbytes") else os.urandom(4096)
    until = clock() + seconds
    paths, times = [], {"create": [], "stat": [], "open_read": [], "unlink": []}

    def timed(what, work, path):
        begun = clock()
        work(path)
        times[what].append(clock() - begun)

    def create(path):
        with open(path, "wb", buffering=0) as file:
            file.write(data)

    def read(path):
        handle = os.open(path, os.O_RDONLY)
        os.read(handle, 4096)
        os.close(handle)

    for number in range(count):
        path = os.path.join(folder, f"small-{number}")
        timed("create", create, path)
        paths.append(path)
        if clock() > until:
            break
    for what, work in (("stat", os.stat), ("open_read", read)):
        until = clock() + seconds
        for path in paths:
            timed(what, work, path)
            if clock() > until:
                break
    begun = clock()
    os.listdir(folder)
    listed = clock() - begun
    for path in paths:
        timed("unlink", os.unlink, path)
    return {**{what: quantiles(all) for what, all in times.items()}, "list": listed, "files": len(paths)}


def existing(folder, seconds):
    """Reads the beginning of up to fifty of the user's own files, chosen evenly; changes nothing."""
    until = clock() + seconds
    found, names, waiting = [], 0, [folder]
    begun = clock()
    while waiting and clock() < until and len(found) < 20000:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    names += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        found.append(entry.path)
                    if clock() > until or len(found) >= 20000:
                        break
        except OSError:
            continue
    listed = clock() - begun
    found.sort()
    chosen = found[:: max(1, len(found) // 50)][:50]
    opens, total, sizes = [], 0, []
    reading = clock()
    for path in chosen:
        try:
            begun = clock()
            handle = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
                first = os.read(handle, 4096)
                opens.append(clock() - begun)
                total += len(first) + len(os.read(handle, 61440))
                sizes.append(os.fstat(handle).st_size)
            finally:
                os.close(handle)
        except OSError:
            continue
        if clock() > reading + seconds:
            break
    took = clock() - reading
    return {
        "open_read": quantiles(opens), "read": total / took if took > 0 else 0.0, "files": len(opens), "names": names,
        "list": listed, "whole": not waiting and clock() <= until + seconds, "size": sorted(sizes)[len(sizes) // 2] if sizes else None,
    }


def main(wanted):
    seconds = wanted["seconds"]
    report = {"large": None, "small": None, "existing": None}
    if wanted["folder"]:
        report["large"] = large(wanted["folder"], wanted["bytes"], seconds / 6)
        report["small"] = small(wanted["folder"], wanted["files"], seconds / 8)
    if wanted["sample"]:
        report["existing"] = existing(wanted["sample"], seconds / 3)
    print(json.dumps(report))


# Ends with the one who asked (prctl(2), PR_SET_PDEATHSIG).
ctypes.CDLL(None).prctl(1, 9)
main(json.loads(sys.argv[1]))
