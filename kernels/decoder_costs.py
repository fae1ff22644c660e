#!/usr/bin/env python3
"""Counts what feedline's JPEG decoder executes on a device, without one.

    kernels/decoder_costs.py VENV PROGRAM FOLDER

Decodes the JPEGs of FOLDER on the simulated device, by the kernels' PTX with counters (testdouble/ptx/count/warps.cpp), as
random crops and whole, with decode indexes and without, and as files of coefficients, 256 at once; and one by one, for the
rounds of synchronisation.
PROGRAM is examples/device_decode.rs, built. What is executed is brought to machine code as kernels/report.py says. Prints
Markdown: what an image takes, and what that means in time, computed. VENV is the one of build.py.
"""

import collections
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import report
from build import installed

DOUBLE = report.FOLDER.parent / "testdouble"
KERNELS = ["huffman_tables", "entropy", "synchronise", "prefix", "expand", "inverse_dct", "planes_to_rgb"]
CASES = [("crops", "index"), ("crops", "search"), ("whole", "search"), ("crops", "packed"), ("whole", "packed")]
# Whose threads meet again behind each of several loops.
MANY_LOOPS = {"expand"}
# Name, architecture, processors, GHz, and instructions that one issues in a cycle.
DEVICES = [("H200", "sm_90", 132, 1.75, 4), ("T4", "sm_75", 40, 1.35, 4)]
# How much of what it could issue a device is seen to issue: little where threads wait for memory and for each other.
USED = (0.25, 0.5)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    tools, program, folder = installed(pathlib.Path(sys.argv[1])), sys.argv[2], sys.argv[3]
    out = report.FOLDER.parent / "target/testdouble/counted"
    subprocess.run(["make", "--silent", "--directory", DOUBLE, "KERNELS=ptx", "COUNT=yes", f"OUT={out}"], check=True)
    counts = {case: counted(out, program, folder, *case, 256) for case in CASES}
    print("| an image, in the mean | " + " | ".join(f"{parts}, {entry}" for parts, entry in CASES) + " |")
    print("|---|" + "---:|" * len(CASES))
    for name, value in ROWS:
        print(f"| {name} | " + " | ".join(value(*counts[case]) for case in CASES) + " |")
    for device in DEVICES:
        for kernel in KERNELS:
            print(f"| `{kernel}` on {device[1]}, warp-instructions | " + " | ".join(
                f"{issued(tools, kernel, device[1], counts[case][1]) / counts[case][0]['files']:,.0f}" for case in CASES) + " |")
    for device in DEVICES:
        cells = [time(tools, device, *counts[case]) for case in CASES]
        print(f"| microseconds on {device[0]}, computed | " + " | ".join(cells) + " |")
    rounds = [rounds_of(launches) for launches in alone(out, program, folder)]
    print(f"\nRounds of synchronisation of a whole file: median {statistics.median(rounds):.0f}, "
          f"nine of ten {sorted(rounds)[len(rounds) * 9 // 10]}, most {max(rounds)}")


def counted(out, program, folder, parts, entry, batch):
    """What the program says; and by kernel and line, how many threads and warps ran that; and the launches."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, "counts")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(out / "ptx"), "FAKECUDA": "mode=sync",
                       "FAKECUDA_COUNTS": str(path)}
        said = subprocess.run([program, parts, entry, folder, str(batch)], env=environment, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.split()
        lines, launches = collections.defaultdict(dict), []
        for line in path.read_text().splitlines():
            match line.split():
                case ["line", kernel, number, threads, warps, least]:
                    lines[kernel][int(number)] = int(threads), int(least if kernel in MANY_LOOPS else warps)
                case ["launch", kernel, blocks, steps]:
                    launches.append((kernel, int(blocks), int(steps)))
    return {name: int(value) for name, value in zip(said[::2], said[1::2])}, lines, launches


def alone(out, program, folder):
    """The launches of each file, decoded alone."""
    _, _, launches = counted(out, program, folder, "whole", "search", 1)
    files = []
    for launch in launches:
        if launch[0] == "huffman_tables":
            files.append([])
        files[-1].append(launch)
    return files


def rounds_of(launches):
    """Rounds until nothing changed: in those behind, no thread goes round the kernel's loop, so all are alike."""
    steps = [steps for kernel, _, steps in launches if kernel == "synchronise"]
    return sum(count != steps[-1] for count in steps) if steps else 0


def head(lines):
    """How often threads came to the line that they came to most."""
    return max((threads for threads, _ in lines.values()), default=0)


def issued(tools, kernel, architecture, lines):
    """Instructions of warps."""
    text = (report.PREBUILT / f"{kernel}.ptx").read_text()
    return report.ran(report.disassembled(tools, text, architecture), text, lines[kernel])[1]


def time(tools, device, said, lines, _):
    _, architecture, processors, gigahertz, width = device
    total = sum(issued(tools, kernel, architecture, lines) for kernel in KERNELS) / said["files"]
    slow, fast = (total / (processors * gigahertz * 1e3 * width * used) for used in USED)
    return f"{fast:.1f} to {slow:.1f}"


ROWS = [
    ("pixels", lambda said, lines, launches: f"{said['pixels'] / said['files']:,.0f}"),
    ("bytes of the file", lambda said, lines, launches: f"{said['bytes'] / said['files']:,.0f}"),
    ("bytes between host and device", lambda said, lines, launches: f"{said['moved'] / said['files']:,.0f}"),
    ("symbols", lambda said, lines, launches: f"{head(lines['entropy']) / said['files']:,.0f}"),
    ("symbols on the way to places", lambda said, lines, launches: f"{head(lines['synchronise']) / said['files']:,.0f}"),
    ("threads of a warp that decode, of 32", lambda said, lines, launches: f"{busy(lines['entropy']):.1f}"),
    ("files left to the CPU", lambda said, lines, launches: f"{said['files'] - said['decoded']}"),
]


def busy(lines):
    threads, warps = max(lines.values(), default=(0, 1))
    return threads / warps


if __name__ == "__main__":
    main()
