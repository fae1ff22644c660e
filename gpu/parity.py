#!/usr/bin/env python3
"""How equal the GPU's pixels are to the CPU's: rendering, decoding, and decoding a part; and what is overwritten.

Rendering must be equal in every value. nvJPEG decodes with arithmetic of its own, so there the difference is stated:
largest, mean and 99th percentile, for each sampling and each of its decoders.
"""

import tempfile
from pathlib import Path

import kit
import variants


def collect(section, key, arguments):
    """Keeps the rows of one command."""
    for row in kit.rows(section, arguments):
        section.add(key, row)


def decoders(section, folder):
    """Every kind of file with every decoder."""
    variants.write(folder, tiny=bool(section.simulated))
    for variant in sorted(folder.iterdir()):
        collect(section, "decode", ["decode-parity", "--data", variant, "--name", variant.name])
    # A simulated decoder would take minutes for large files.
    for name, data in section.sized(kit.datasets(), {kit.PHOTOS: kit.DATA / kit.PHOTOS}).items():
        collect(section, "decode", ["decode-parity", "--data", data, "--name", name])


def hazard(section):
    """Decoding into memory right behind its last reader, decoder by decoder and in whole batches.

    On Hopper the hardware decoder writes without waiting for earlier work on its stream, so this is what goes wrong
    first. The rows without the host's wait say whether this GPU is such a one; in the others nothing may differ.
    """
    collect(section, "hazard", ["hazard", "--data", kit.main_dataset(), "--seconds", section.sized(10, 0.5),
                                "--batch-size", section.sized(64, 4)])


def main():
    """Writes parity.json."""
    section = kit.Section("parity", __doc__)
    section.attempt("render", 5, lambda: collect(section, "render", [
        "render-parity", "--data", kit.DATA / kit.PHOTOS, "--seconds", section.sized(16, 1),
        "--batch-size", section.sized(32, 3), "--plans", section.sized(1 << 30, 3)]))
    section.attempt("hazard", 5, lambda: hazard(section))
    with tempfile.TemporaryDirectory() as work:
        section.attempt("decoders", 5, lambda: decoders(section, Path(work)))
        section.attempt("parts", 5, lambda: collect(section, "region", [
            "decode-regions", "--data", work, "--crops", section.sized(16, 1)]))


if __name__ == "__main__":
    main()
