#!/usr/bin/env python3
"""Compiles the kernels to the PTX that lies in kernels/prebuilt, with a compiler that pip installs.

    kernels/build.py VENV             write kernels/prebuilt/*.ptx
    kernels/build.py VENV --check     compare them with what the compiler makes of the sources; 1 if they differ
    kernels/build.py VENV --cubins FOLDER
                                      assemble kernels/prebuilt/*.ptx for some architectures, for FEEDLINE_CUBINS=FOLDER
    kernels/build.py VENV --report    write kernels/report.md: what is checked in, in instructions, registers and spills
    kernels/build.py VENV --report --check
                                      compare it with what is checked in; 1 if they differ

VENV is a folder for the compiler (300 MB), made if it is not there; no CUDA toolkit and no GPU is needed, only g++.
The output is the same on every machine. build.rs embeds it, and compares the stamp in its first line with the sources.
"""

import pathlib
import re
import subprocess
import sys
import venv

import report

WHEELS = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
    # The first that there is; it reads what the older ptxas writes.
    "nvidia-cuda-nvdisasm==13.2.51",
]
FLAGS = ["-ptx", "-std=c++17", "-arch=compute_75", "-O3", "-fmad=false"]
# Oldest first: a driver opens what is not newer than itself, and 7.8 is that of CUDA 11.8.
VERSIONS = ["6.3", "6.4", "6.5", "7.0", "7.4", "7.8", "8.0"]
ARCHITECTURES = ["sm_75", "sm_80", "sm_90", "sm_100"]
# Those of data centres; build.rs has the same.
CUBINS = ["sm_80", "sm_90", "sm_100"]

FOLDER = pathlib.Path(__file__).resolve().parent
PREBUILT = FOLDER / "prebuilt"


def main():
    options = sys.argv[1:]
    if options[1:2] == ["--cubins"] and len(options) == 3:
        return cubins(installed(pathlib.Path(options[0])), pathlib.Path(options[2]))
    modes = [option for option in options if option.startswith("--")]
    if len(options) - len(modes) != 1 or modes not in ([], ["--check"], ["--report"], ["--report", "--check"]):
        sys.exit(__doc__)
    tools = installed(pathlib.Path(*(option for option in options if option not in modes)))
    if "--report" in modes:
        # Of what is checked in.
        sys.exit(report.compare(tools) if "--check" in modes else report.write(tools))
    kernels = {source.stem: compiled(tools, source) for source in sorted(FOLDER.rglob("*.cu"))}
    if modes == ["--check"]:
        sys.exit(compare(kernels))
    else:
        PREBUILT.mkdir(exist_ok=True)
        for name, ptx in kernels.items():
            (PREBUILT / f"{name}.ptx").write_text(ptx)
            print(f"kernels/prebuilt/{name}.ptx: {len(ptx)} bytes")


def installed(folder):
    """The folder of nvcc, ptxas and nvdisasm."""
    names = [wheel.replace("-", "_").replace("==", "-") for wheel in WHEELS]
    if not all(list(folder.glob(f"lib/python*/site-packages/{name}.dist-info")) for name in names):
        if not (folder / "bin/python").exists():
            venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", *WHEELS], check=True)
    return next(folder.glob("lib/python*/site-packages/nvidia/cu13/bin"))


def compiled(tools, source):
    """PTX of one file: stamped, without what only a reader wants, of the lowest version that holds it."""
    raw = subprocess.run([tools / "nvcc", *FLAGS, source, "-o", "/dev/stdout"], check=True, capture_output=True)
    lines = (" ".join(line.split("//")[0].split()).replace(", ", ",") for line in raw.stdout.decode().splitlines())
    # A hint for sanitizers about bytes that a wide load does not need; only the newest drivers know the word.
    kept = (line for line in lines if line and not line.startswith('.pragma "used_bytes_mask'))
    body = "\n".join(kept) + "\n"
    for version in VERSIONS:
        ptx = re.sub(r"^\.version .*$", f".version {version}", body, count=1, flags=re.M)
        if all(assembles(tools, ptx, architecture) for architecture in ARCHITECTURES):
            return f"// feedline kernels of sources {stamp()}\n{ptx}"
    sys.exit(f"{source.name}: no version of {VERSIONS} holds what the compiler wrote")


def assembles(tools, ptx, architecture):
    return assembled(tools, ptx, architecture).returncode == 0


def assembled(tools, ptx, architecture):
    command = [tools / "ptxas", "-v", f"-arch={architecture}", "-", "-o", "/dev/null"]
    return subprocess.run(command, input=ptx.encode(), capture_output=True)


def cubins(tools, folder):
    folder.mkdir(parents=True, exist_ok=True)
    heads = set()
    for ptx in sorted(PREBUILT.glob("*.ptx")):
        heads.add(ptx.open().readline())
        for architecture in CUBINS:
            cubin = folder / f"{ptx.stem}.{architecture}.cubin"
            subprocess.run([tools / "ptxas", f"-arch={architecture}", ptx, "-o", cubin], check=True)
    if heads != {f"// feedline kernels of sources {stamp()}\n"}:
        sys.exit("kernels/prebuilt is not what the sources give: run kernels/build.py VENV")
    (folder / "stamp").write_text(heads.pop())
    print(f"{folder}: {sum(path.stat().st_size for path in folder.glob('*.cubin'))} bytes")


def stamp():
    """FNV-1a, 64 bits, over the names and bytes of all sources; build.rs computes the same."""
    state = 0xCBF29CE484222325
    paths = {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*") if path.suffix in (".cu", ".cuh", ".h")}
    for name, path in sorted(paths.items()):
        for byte in name.encode() + b"\0" + path.read_bytes() + b"\0":
            state = (state ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{state:016x}"


def compare(kernels):
    have = {path.stem: path.read_text() for path in PREBUILT.glob("*.ptx")}
    differ = [name for name in sorted(have.keys() | kernels.keys()) if have.get(name) != kernels.get(name)]
    for name in differ:
        print(f"kernels/prebuilt/{name}.ptx is not what the sources give: run kernels/build.py VENV")
    return 1 if differ else 0


if __name__ == "__main__":
    main()
