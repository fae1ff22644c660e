#!/usr/bin/env python3
"""Counts the instructions that programs for 64-bit Arm execute, by stage, under qemu-user: no clock, so exactly repeatable.

    benches/arm/counts.py PLUGIN OUT_JSON -- PROGRAM ARGUMENTS...
    benches/arm/counts.py --half SCALAR_JSON NEON_JSON      whether the vector stages take half of the instructions at most

PLUGIN is count.c, built. Each instruction belongs to the stage in whose file of the library it was written, inlined or
not, as the program's debugging information tells; in C programs, by the function's name. OUT_JSON gets the counts.
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

ADDR2LINE = "aarch64-linux-gnu-addr2line"
READELF = "aarch64-linux-gnu-readelf"
QEMU = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]

# The first that matches, from the innermost inlined function outwards: feedline's by file, libjpeg-turbo's by function.
STAGES = [
    ("inverse DCT", r"src/jpeg/transform/|^j(simd|peg)_idct_"),
    ("upsampling", r"src/jpeg/output/upsample|upsample"),
    ("colour", r"src/jpeg/output/convert|_convert|^ycc_"),
    ("resampling", r"src/device/cpu/resample"),
    ("stores", r"src/device/cpu/(interleave|columns|output)"),
    ("weights", r"src/device/cpu/taps"),
    ("entropy", r"src/jpeg/(entropy|decode)|decode_mcu|^jpeg_(fill_bit_buffer|huff_decode)"),
]

VECTOR_STAGES = ["inverse DCT", "upsampling", "colour", "resampling", "stores"]


def stage_of(frames):
    """The stage of an instruction, from its functions and files."""
    for frame in frames:
        for name, pattern in STAGES:
            if re.search(pattern, frame):
                return name
    return "rest"


def counted(plugin, command):
    """Runs per address of the program itself, by the addresses in its file; and what was run outside of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "counts")
        subprocess.run([*QEMU, "-plugin", f"{plugin},out={path}", *command], check=True, stdout=subprocess.DEVNULL)
        with open(path) as file:
            start = int(file.readline())
            blocks = [tuple(map(int, line.split())) for line in file]
    headers = subprocess.run([READELF, "-lW", command[0]], capture_output=True, text=True, check=True).stdout
    loads = [line.split() for line in headers.splitlines() if line.split()[:1] == ["LOAD"]]
    code = next(load for load in loads if "E" in load[6:9])
    first, length = int(code[2], 16), int(code[5], 16)
    base = start - first
    runs, elsewhere = collections.Counter(), 0
    for address, instructions, times in blocks:
        if first <= address - base < first + length:
            for number in range(instructions):
                runs[address - base + 4 * number] += times
        else:
            elsewhere += instructions * times
    return runs, elsewhere


def stages(program, runs):
    """Instructions by stage."""
    addresses = sorted(runs)
    asked = "".join(f"{address:#x}\n" for address in addresses)
    command = [ADDR2LINE, "--addresses", "--inlines", "--functions", "--exe", program]
    answer = subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout
    counts, frames, address = collections.Counter(), [], None
    for line in [*answer.splitlines(), "0x0"]:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            if address is not None:
                counts[stage_of(frames)] += runs[address]
            address, frames = int(line, 16), []
        else:
            frames.append(line)
    return counts


def half(scalar, vector):
    """Compares the stages that have vector code; exits with 1 where they take more than half."""
    totals = []
    for path in (scalar, vector):
        with open(path) as file:
            counts = json.load(file)
        totals.append((sum(counts[stage] for stage in VECTOR_STAGES), sum(counts.values())))
    (stages, whole), (fast_stages, fast_whole) = totals
    print(f"NEON / scalar: {fast_stages / stages:.3f} of the vector stages, {fast_whole / whole:.3f} of everything")
    sys.exit(fast_stages > stages / 2)


def main():
    """Counts one run."""
    if len(sys.argv) == 4 and sys.argv[1] == "--half":
        half(*sys.argv[2:])
    if len(sys.argv) < 5 or sys.argv[3] != "--":
        sys.exit(__doc__)
    plugin, out, command = sys.argv[1], sys.argv[2], sys.argv[4:]
    runs, elsewhere = counted(plugin, command)
    counts = stages(command[0], runs)
    counts["libraries"] = elsewhere
    assert sum(counts.values()) == sum(runs.values()) + elsewhere
    with open(out, "w") as file:
        json.dump(counts, file, indent=2)
    for name, count in counts.most_common():
        print(f"{count / 1e6:12.1f} million  {name}")


if __name__ == "__main__":
    main()
