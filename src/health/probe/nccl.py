"""Whether several GPUs can work together: peer access by the driver, then an all-reduce through NCCL in one process. Takes one JSON argument: `devices`
(numbers), `bytes`. No framework is loaded. Ends with one line of JSON; what NCCL warned of stands on stderr (NCCL_DEBUG=WARN)."""

import ctypes
import glob
import json
import os
import struct
import sys
import time

c_void_p, c_size_t, c_int, byref = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.byref


class Refused(Exception):
    pass


def library(names, folder):
    for path in sys.path:
        for place in sorted(glob.glob(os.path.join(path, "nvidia", "*", "lib", folder)), reverse=True):
            return ctypes.CDLL(place)
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise Refused(f"{names[0]} is not here")


def checked(library, words):
    def call(name, *arguments):
        code = getattr(library, name)(*arguments)
        if code:
            raise Refused(f"{name}: {words(code)} ({code})")

    return call


def main(wanted):
    report = {"error": None, "peers": [], "right": None, "seconds": None, "rate": None, "version": None}
    try:
        driver = library(["libcuda.so.1"], "libcuda.so.1")

        def cuda_word(code):
            text = ctypes.c_char_p()
            driver.cuGetErrorName(c_int(code), byref(text))
            return (text.value or b"?").decode()

        cuda = checked(driver, cuda_word)
        cuda("cuInit", 0)
        count = len(wanted["devices"])
        devices = []
        for number in wanted["devices"]:
            device = c_int()
            cuda("cuDeviceGet", byref(device), number)
            devices.append(device)
        for one, device in zip(wanted["devices"], devices):
            for other, peer in zip(wanted["devices"], devices):
                if one != other:
                    can = c_int()
                    cuda("cuDeviceCanAccessPeer", byref(can), device, peer)
                    report["peers"].append([one, other, bool(can.value)])
        lib = library(["libnccl.so.2", "libnccl.so"], "libnccl.so.2")
        lib.ncclGetErrorString.restype = ctypes.c_char_p
        nccl = checked(lib, lambda code: (lib.ncclGetErrorString(code) or b"?").decode())
        version = c_int()
        nccl("ncclGetVersion", byref(version))
        report["version"] = version.value
        contexts, streams, buffers = [], [], []
        words = wanted["bytes"] // 4
        ones = (ctypes.c_float * words)(*([1.0] * words))
        for device in devices:
            context, stream, buffer = c_void_p(), c_void_p(), ctypes.c_uint64()
            cuda("cuDevicePrimaryCtxRetain", byref(context), device)
            cuda("cuCtxSetCurrent", context)
            cuda("cuStreamCreate", byref(stream), 0)
            cuda("cuMemAlloc_v2", byref(buffer), c_size_t(words * 4))
            cuda("cuMemcpyHtoD_v2", buffer, ones, c_size_t(words * 4))
            contexts.append(context), streams.append(stream), buffers.append(buffer)
        comms = (c_void_p * count)()
        begun = time.perf_counter()
        nccl("ncclCommInitAll", comms, count, (c_int * count)(*wanted["devices"]))
        report["seconds"] = time.perf_counter() - begun

        def reduce():
            nccl("ncclGroupStart")
            for context, stream, buffer, comm in zip(contexts, streams, buffers, comms):
                cuda("cuCtxSetCurrent", context)
                nccl("ncclAllReduce", c_void_p(buffer.value), c_void_p(buffer.value), c_size_t(words), 7, 0, c_void_p(comm), stream)
            nccl("ncclGroupEnd")
            for context, stream in zip(contexts, streams):
                cuda("cuCtxSetCurrent", context)
                cuda("cuStreamSynchronize", stream)

        reduce()
        back, sums, right = (ctypes.c_float * words)(), struct.pack("f", count) * words, True
        for context, buffer in zip(contexts, buffers):
            cuda("cuCtxSetCurrent", context)
            cuda("cuMemcpyDtoH_v2", back, buffer, c_size_t(words * 4))
            right = right and bytes(back) == sums
        report["right"] = right
        begun = time.perf_counter()
        for _ in range(5):
            reduce()
        took = (time.perf_counter() - begun) / 5
        # Bus bandwidth, as nccl-tests counts it.
        report["rate"] = words * 4 / took * 2 * (count - 1) / count
        for comm in comms:
            nccl("ncclCommDestroy", c_void_p(comm))
        for device in devices:
            cuda("cuDevicePrimaryCtxRelease_v2", device)
    except Refused as error:
        report["error"] = str(error)
    print(json.dumps(report))


# Ends with the one who asked (prctl(2), PR_SET_PDEATHSIG).
ctypes.CDLL(None).prctl(1, 9)
main(json.loads(sys.argv[1]))
