"""What a GPU can do now: the largest block of memory, copies, matrix products in each number format. Takes one JSON argument: `device` (its number),
`reserve` (bytes that are left free), `seconds`, `copy` (bytes), `sizes` (of the products). Talks to the driver and to cuBLAS through ctypes: no
framework is loaded, the process ends with all it took. Ends with one line of JSON; each part says its own error."""

import ctypes
import glob
import json
import os
import sys
import time

GRAIN = 2 << 20
c_void_p, c_size_t, c_int, byref = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.byref


class Refused(Exception):
    pass


class Driver:
    def __init__(self):
        for place in ("libcuda.so.1", "/usr/lib64-nvidia/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"):
            try:
                self.library = ctypes.CDLL(place)
                return
            except OSError:
                continue
        raise Refused("libcuda.so.1 is not here: no NVIDIA driver")

    def __call__(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(c_int(code), byref(text))
            raise Refused(f"{name}: {(text.value or b'?').decode()} ({code})")


def memory(cuda):
    free, total = c_size_t(), c_size_t()
    cuda("cuMemGetInfo_v2", byref(free), byref(total))
    return free.value, total.value


def allocate(cuda, size):
    place = ctypes.c_uint64()
    cuda("cuMemAlloc_v2", byref(place), c_size_t(size))
    return place


def largest(cuda, reserve, until):
    """The largest block that the driver gives, to 2 MiB; each is held for as long as a call takes."""
    free, total = memory(cuda)
    upper = max(free - reserve, 0) // GRAIN * GRAIN
    lower, asked, size = 0, 0, upper
    while size > lower and time.perf_counter() < until:
        asked += 1
        try:
            cuda("cuMemFree_v2", allocate(cuda, size))
            lower = size
        except Refused:
            upper = size - GRAIN
        if lower == upper:
            break
        size = (lower + upper + GRAIN) // 2 // GRAIN * GRAIN
    return {"free": free, "total": total, "largest": lower, "asked": asked, "reserve": reserve, "free_after": memory(cuda)[0]}


class Clock:
    """Times on the device, by events."""

    def __init__(self, cuda):
        self.cuda, self.events = cuda, (c_void_p(), c_void_p())
        for event in self.events:
            cuda("cuEventCreate", byref(event), 0)

    def __call__(self, work):
        work()
        self.cuda("cuCtxSynchronize")
        times = []
        for _ in range(5):
            self.cuda("cuEventRecord", self.events[0], None)
            work()
            self.cuda("cuEventRecord", self.events[1], None)
            self.cuda("cuEventSynchronize", self.events[1])
            took = ctypes.c_float()
            self.cuda("cuEventElapsedTime_v2" if hasattr(self.cuda.library, "cuEventElapsedTime_v2") else "cuEventElapsedTime", byref(took), *self.events)
            times.append(took.value / 1000)
        return sorted(times)[2], (max(times) / min(times) if min(times) > 0 else None)


def copies(cuda, clock, size):
    device, other, host = allocate(cuda, size), allocate(cuda, size), c_void_p()
    cuda("cuMemHostAlloc", byref(host), c_size_t(size), 0)
    try:
        ctypes.memset(host, 0x5A, size)
        up, up_spread = clock(lambda: cuda("cuMemcpyHtoDAsync_v2", device, host, c_size_t(size), None))
        within, within_spread = clock(lambda: cuda("cuMemcpyDtoDAsync_v2", other, device, c_size_t(size), None))
        ctypes.memset(host, 0, size)
        down, down_spread = clock(lambda: cuda("cuMemcpyDtoHAsync_v2", host, other, c_size_t(size), None))
        right = ctypes.string_at(host, size) == b"\x5a" * size
        # A copy on the device reads and writes.
        return {"up": size / up, "down": size / down, "within": 2 * size / within, "right": right, "spread": max(up_spread or 1, down_spread or 1, within_spread or 1)}
    finally:
        cuda("cuMemFreeHost", host)
        cuda("cuMemFree_v2", device)
        cuda("cuMemFree_v2", other)


def blas():
    for folder in sys.path:
        for place in sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", "libcublas.so.1?")), reverse=True):
            light = glob.glob(os.path.join(os.path.dirname(place), "libcublasLt.so.1?"))
            for needed in light:
                ctypes.CDLL(needed, ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(place), place
    for name in ("libcublas.so.13", "libcublas.so.12", "libcublas.so"):
        try:
            return ctypes.CDLL(name), name
        except OSError:
            continue
    raise Refused("cuBLAS is not here: neither a wheel nor the system carries libcublas.so")


# name: cudaDataType of the matrices, cublasComputeType, bytes of an element, type of alpha and beta, capability from
KINDS = {
    "fp32": (0, 68, 4, ctypes.c_float, (0, 0)),
    "tf32": (0, 77, 4, ctypes.c_float, (8, 0)),
    "fp16": (2, 68, 2, ctypes.c_float, (5, 3)),
    "bf16": (14, 68, 2, ctypes.c_float, (8, 0)),
    "fp64": (1, 70, 8, ctypes.c_double, (0, 0)),
}


def products(cuda, clock, size, capability, until):
    library, place = blas()
    handle = c_void_p()

    def call(name, *arguments):
        code = getattr(library, name)(*arguments)
        if code:
            raise Refused(f"{name}: status {code}")

    call("cublasCreate_v2", byref(handle))
    found = {"library": place, "kinds": {}}
    try:
        for kind, (data, compute, width, scalar, since) in KINDS.items():
            if capability < since:
                found["kinds"][kind] = {"rate": None, "error": f"needs compute capability {since[0]}.{since[1]}"}
                continue
            if time.perf_counter() > until:
                found["kinds"][kind] = {"rate": None, "error": "the time was over"}
                continue
            edge = size // 4 if kind == "fp64" else size
            buffers, one, zero = [], scalar(1), scalar(0)
            try:
                for _ in range(3):
                    buffers.append(allocate(cuda, edge * edge * width))
                    # Not zeros: they take less power, and a card is faster on them.
                    cuda("cuMemsetD8_v2", buffers[-1], 0x3C, c_size_t(edge * edge * width))
                a, b, c = buffers
                work = lambda: call(
                    "cublasGemmEx", handle, 0, 0, edge, edge, edge, byref(one), a, data, edge, b, data, edge, byref(zero), c, data, edge, compute, -1
                )
                took, spread = clock(work)
                found["kinds"][kind] = {"rate": 2 * edge**3 / took, "spread": spread, "error": None}
            except Refused as error:
                found["kinds"][kind] = {"rate": None, "error": str(error)}
            finally:
                for buffer in buffers:
                    cuda("cuMemFree_v2", buffer)
    finally:
        call("cublasDestroy_v2", handle)
    return found


def attribute(cuda, device, number):
    value = c_int()
    cuda("cuDeviceGetAttribute", byref(value), c_int(number), device)
    return value.value


def main(wanted):
    report = {"error": None, "memory": None, "copies": None, "products": None}
    until = time.perf_counter() + wanted["seconds"]
    try:
        cuda = Driver()
        cuda("cuInit", 0)
        device, context = c_int(), c_void_p()
        cuda("cuDeviceGet", byref(device), wanted["device"])
        name = ctypes.create_string_buffer(256)
        cuda("cuDeviceGetName", name, 256, device)
        capability = (attribute(cuda, device, 75), attribute(cuda, device, 76))
        report.update(name=name.value.decode(), capability=list(capability), virtual_memory=bool(attribute(cuda, device, 102)))
        begun = time.perf_counter()
        cuda("cuDevicePrimaryCtxRetain", byref(context), device)
        cuda("cuCtxSetCurrent", context)
        report["context_seconds"] = time.perf_counter() - begun
        try:
            clock = Clock(cuda)
            free, _ = memory(cuda)
            copy = min(wanted["copy"], max(free - wanted["reserve"], 0) // 4)
            edge = next((size for size in wanted["sizes"] if 12 * size * size <= max(free - wanted["reserve"], 0)), None)
            parts = [
                ("memory", lambda: largest(cuda, wanted["reserve"], until)),
                ("copies", lambda: copies(cuda, clock, copy)),
                ("products", lambda: products(cuda, clock, edge, capability, until)),
            ]
            for part, work in parts:
                try:
                    if part == "products" and edge is None or part == "copies" and copy < GRAIN:
                        raise Refused("too little memory is free")
                    report[part] = work()
                except Refused as error:
                    report[part] = {"error": str(error)}
        finally:
            cuda("cuDevicePrimaryCtxRelease_v2", device)
    except Refused as error:
        report["error"] = str(error)
    print(json.dumps(report))


# Ends with the one who asked (prctl(2), PR_SET_PDEATHSIG).
ctypes.CDLL(None).prctl(1, 9)
main(json.loads(sys.argv[1]))
