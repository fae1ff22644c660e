"""What the machine is: GPU, driver, libraries, cores. Everything else that is measured depends on it."""

import ctypes
import importlib.metadata
import json
import os
import platform
import shutil
import sys
from pathlib import Path

import kit

PACKAGES = ("torch", "torchvision", "numpy", "pillow", "psutil", "nvidia-ml-py")
SMI_FIELDS = ("name", "driver_version", "memory.total", "clocks.sm", "clocks.mem", "clocks.max.sm", "power.limit",
              "pcie.link.gen.current", "pcie.link.width.current", "compute_mode", "mig.mode.current")


def facts(simulated):
    """What every result file names."""
    about = json.loads((kit.KIT / "about.json").read_text())
    gpu = {"name": "simulated: not a GPU"} if simulated else smi()
    return {
        "gpu": gpu.get("name", gpu.get("why")),
        "driver": gpu.get("driver_version"),
        "nvjpeg": None if simulated else nvjpeg_version(),
        "commit": about["commit"],
        "profile": about["profile"],
        "simulated": bool(simulated),
        "cores": len(os.sched_getaffinity(0)),
        "cpu": cpu_model(),
    }


def smi():
    """nvidia-smi's fields, or why there are none."""
    if not shutil.which("nvidia-smi"):
        return {"why": "no nvidia-smi"}
    command = ["nvidia-smi", f"--query-gpu={','.join(SMI_FIELDS)}", "--format=csv,noheader", "--id=0"]
    status, output, errors = kit.run(command, 20)
    values = [value.strip() for value in output.strip().split(",")]
    if status != 0 or len(values) != len(SMI_FIELDS):
        return {"why": f"nvidia-smi: {kit.tail(errors or output)}"}
    return dict(zip(SMI_FIELDS, values))


def nvjpeg_version():
    """The version that the kit's nvJPEG gives of itself."""
    try:
        library = ctypes.CDLL(str(kit.nvjpeg(None)))
    except OSError as error:
        return f"not loaded: {error}"
    parts = []
    for which in range(3):  # major, minor, patch
        value = ctypes.c_int(-1)
        library.nvjpegGetProperty(which, ctypes.byref(value))
        parts.append(str(value.value))
    return ".".join(parts)


def library(name):
    """Whether a shared library can be opened, or why not."""
    try:
        ctypes.CDLL(name)
        return "there"
    except OSError as error:
        return f"not there: {error}"


def cpu_model():
    """The processor's name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def version(package):
    """An installed package's version."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def doctor(section):
    """What feedline itself says of the machine."""
    status, output, errors = kit.run([kit.BIN / "feedline", "doctor", "--json"], 60,
                                     kit.environment(section.simulated))
    if status != 0:
        raise RuntimeError(f"feedline doctor: exit status {status}: {kit.tail(errors)}")
    return json.loads(output)


def describe(section):
    """All of it."""
    if not section.simulated:
        section.put("nvidia_smi", smi())
        section.put("libraries", {name: library(name) for name in ("libcuda.so.1", "libnvcuvid.so.1")})
    section.put("system", {"kernel": platform.release(), "libc": " ".join(platform.libc_ver()),
                           "python": sys.version.split()[0], "cores": len(os.sched_getaffinity(0)),
                           "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)})
    section.put("packages", {package: version(package) for package in PACKAGES})
    section.put("tools", {tool: bool(shutil.which(tool)) for tool in ("compute-sanitizer", "ncu")})
    section.put("data", {name: len(kit.files_of(folder)) for name, folder in kit.datasets().items()})
    section.attempt("doctor", 0, lambda: section.put("doctor", doctor(section)))
