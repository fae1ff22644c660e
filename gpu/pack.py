#!/usr/bin/env python3
"""Packs what `gpu/check` has collected: programs and packages as archives, and the kit's size against its limit.

    gpu/pack.py peers WHEELS OUT.tar.xz      what the other loaders need, out of their wheels
    gpu/pack.py programs FOLDER OUT.tar.xz   the programs, libraries and the Python package
    gpu/pack.py size KIT                     fails above the limit
"""

import io
import lzma
import re
import sys
import tarfile
import zipfile
from pathlib import Path

MIB = 1 << 20
MOST_MIB = 55
# Versions of Python whose peers are carried; feedline's own package is of the stable interface and serves all.
PYTHONS = ("cp311", "cp312", "cp313")
# Programs are alike, and so are the libraries of one wheel for several Pythons: the window spans them.
FILTERS = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 2, "dict_size": 128 * MIB}]
# Not needed to decode JPEGs: sources, video, other formats' plug-ins, tools.
UNWANTED = re.compile(r"\.(cpp|h|hpp|c|cmake|pyi)$|/libtorchcodec_(core|custom_ops)\d|/libtorchcodec_heic"
                      r"|/lib(opencv|tiff|nvtiff|nvjpeg2k|nvpnm|nvbmp)_ext|/tools/|/samples/|CMakeLists")


def pythons_of(wheel):
    """The versions that a wheel serves."""
    named = re.search(r"-(cp\d+)-", wheel)
    return (named[1],) if named else PYTHONS


def wanted(member, python):
    """Whether a file of a wheel is needed to decode JPEGs under this Python."""
    other = re.search(r"\.cpython-(\d+t?)-", member)
    if other and f"cp{other[1]}" != python:
        return False
    return not UNWANTED.search(member)


def peers(wheels):
    """The needed files of all wheels: path in the archive, and bytes."""
    for wheel in sorted(wheels):
        with zipfile.ZipFile(wheel) as archive:
            for python in pythons_of(wheel.name):
                for member in sorted(archive.namelist()):
                    if not member.endswith("/") and wanted(member, python):
                        yield f"site/{python}/{member}", archive.read(member), False


def programs(folder):
    """All files below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes(), bool(path.stat().st_mode & 0o100)


def write(files, target):
    """One archive; a broken-off one leaves nothing behind."""
    unfinished = target.with_suffix(".unfinished")
    with lzma.open(unfinished, "wb", filters=FILTERS) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data, executable in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755 if executable else 0o644
            archive.addfile(entry, io.BytesIO(data))
    unfinished.rename(target)


def bytes_of(folder):
    """The bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def check_size(folder):
    """Prints what the kit weighs; ends the program above the limit."""
    parts = sorted((bytes_of(path) if path.is_dir() else path.stat().st_size, path.name) for path in folder.iterdir())
    for size, name in reversed(parts):
        print(f"    {size / MIB:6.1f} MiB  {name}")
    total = sum(size for size, _ in parts)
    print(f"{folder}: {total / MIB:.1f} MiB of at most {MOST_MIB}")
    if total > MOST_MIB * MIB:
        raise SystemExit("too large to be carried: give --data smaller folders")


def main():
    """One of the three."""
    what, first, *rest = sys.argv[1:]
    if what == "size":
        check_size(Path(first))
    elif what == "programs":
        write(programs(Path(first)), Path(rest[0]))
    else:
        write(peers(Path(first).glob("*.whl")), Path(rest[0]))


if __name__ == "__main__":
    main()
