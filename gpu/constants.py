"""What a loader's bookkeeping costs on this machine: translating kernels, copies, events, allocations, freeing under load."""

import os
import statistics
import time
from ctypes import c_size_t, c_ubyte

import driver as cuda
import kit

MIB = 1 << 20
COPY_MIB = (1, 16, 64)
REPEATS = 50
EVENTS = 2000
ALLOCATE_MIB = (2, 64, 512)
# So much work is queued before memory is freed: some ten milliseconds of filling on a large GPU.
LOAD_MIB = 2048
LOAD_FILLS = 16


def translation(section, device):
    """Seconds to translate each of the kernels' modules; CUDA_CACHE_DISABLE keeps the driver's cache out of it."""
    times = {}
    for path in sorted((kit.UNPACKED / "kernels").glob("*.ptx")):
        image = path.read_bytes() + b"\0"
        began = time.perf_counter()
        module = device.module(image)
        times[path.stem] = section.figure(time.perf_counter() - began)
        device("cuModuleUnload", module)
    if not times:
        raise RuntimeError("the kit has no kernels")
    section.put("translation_s", times)


def copies(section, device):
    """Gigabytes a second between pinned memory and the device."""
    stream = device.stream()
    for mib in section.sized(COPY_MIB, (1,)):
        size = c_size_t(mib * MIB)
        host, memory = device.pinned(mib * MIB), device.allocate(mib * MIB)
        for way in ("to the device", "to the host"):
            def copy(way=way):
                if way == "to the device":
                    device("cuMemcpyHtoDAsync_v2", memory, host, size, stream)
                else:
                    device("cuMemcpyDtoHAsync_v2", host, memory, size, stream)
                device("cuStreamSynchronize", stream)
            if way == "to the device":
                (c_ubyte * (mib * MIB)).from_address(host.value)[::4096] = bytes(range(256)) * (mib * MIB >> 20)
            seconds = median(copy, section.sized(REPEATS, 2))
            section.add("copies", {"way": way, "mib": mib, "gb_per_s": section.figure(mib * MIB / 1e9 / seconds)})
        device.free(memory)
        device.free_pinned(host)
    device("cuStreamDestroy_v2", stream)


def events(section, device):
    """Microseconds that the host spends on one event, with the device's clock in it and without."""
    stream = device.stream()
    for timing in (False, True):
        event, count = device.event(timing), section.sized(EVENTS, 10)
        times = []
        for _ in range(count):
            began = time.perf_counter()
            device("cuEventRecord", event, stream)
            times.append(time.perf_counter() - began)
        device("cuStreamSynchronize", stream)
        section.add("events", {"timing": timing, "records": count, "us": section.figure(1e6 * statistics.median(times)),
                               "worst_us": section.figure(1e6 * max(times))})
        device("cuEventDestroy_v2", event)
    device("cuStreamDestroy_v2", stream)


def allocations(section, device):
    """Microseconds to allocate and to free, with nothing else going on."""
    for mib in section.sized(ALLOCATE_MIB, (2,)):
        times = {"allocate_us": [], "free_us": []}
        for _ in range(section.sized(20, 2)):
            began = time.perf_counter()
            memory = device.allocate(mib * MIB)
            allocated = time.perf_counter()
            device.free(memory)
            times["allocate_us"].append(allocated - began)
            times["free_us"].append(time.perf_counter() - allocated)
        section.add("allocations", {"mib": mib, **{key: section.figure(1e6 * statistics.median(found))
                                                  for key, found in times.items()}})


def free_under_load(section, device):
    """How long `cuMemFree` takes while another stream has work queued, beside that work's own time."""
    size = section.sized(LOAD_MIB, 1) * MIB
    memory, stream = device.allocate(size), device.stream()

    def load():
        for _ in range(section.sized(LOAD_FILLS, 1)):
            device("cuMemsetD8Async", memory, c_ubyte(1), c_size_t(size), stream)

    def whole():
        load()
        device("cuStreamSynchronize", stream)

    whole()
    work = median(whole, 3)
    waits = []
    for _ in range(section.sized(5, 1)):
        victim = device.allocate(2 * MIB)
        load()
        if section.simulated:
            device("cuStreamSynchronize", stream)  # the simulated driver calls freeing under load a problem
        began = time.perf_counter()
        device.free(victim)
        waits.append(time.perf_counter() - began)
        device("cuStreamSynchronize", stream)
    device.free(memory)
    section.put("free_under_load", {"work_ms": section.figure(1e3 * work),
                                    "free_ms": section.figure(1e3 * statistics.median(waits))})


def median(action, count):
    """The median time of an action, behind one that warms up."""
    action()
    times = []
    for _ in range(count):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def measure(section):
    """All of them, each for itself."""
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    device = section.attempt("driver", 0, lambda: cuda.Driver(kit.driver(section.simulated)))
    if device is None:
        return
    for what, action in {"translation": translation, "copies": copies, "events": events, "allocations": allocations,
                         "free under load": free_under_load}.items():
        section.attempt(what, 1, lambda action=action: action(section, device))
