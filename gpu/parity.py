#!/usr/bin/env python3
"""How equal the GPU's pixels are to the CPU's: feedline's decoder, rendering, nvJPEG's decoders; and what is overwritten.

What feedline's decoder and its rendering make must be equal in every value. nvJPEG decodes with arithmetic of its own, so
there the difference is stated: largest, mean and 99th percentile, for each sampling and each of its decoders.
"""

import tempfile
from pathlib import Path

import damage
import kit
import variants

# What the section's first part is called: the run fails where it is left out.
OWN = "feedline's decoder"


def collect(section, key, arguments):
    """Keeps the rows of one command."""
    for row in kit.rows(section, arguments):
        section.add(key, row)


def own(section, data, name, *options):
    """feedline's decoder on every image of a folder, whole and in parts, by every way into the files."""
    # A simulated device would take minutes for many files, or for a few large ones.
    few = section.sized((), ("--files", 12 if data == kit.DATA / kit.PHOTOS else 2, "--parts", 1))
    found = kit.rows(section, ["own-parity", "--data", data, "--name", name, *(options or few)], OWN)
    for row in found:
        section.add("own", row)
    if not found:
        raise RuntimeError(f"nothing of {name} was compared")
    ways = {row["entry"] for row in found if row["files"]}
    if ways and "file of coefficients" not in ways:
        raise RuntimeError(f"nothing of {name} was compared as files of coefficients")


def own_batches(section, data, name):
    """Whole batches from these files, by feedline's decoder and renderer, against the CPU device's."""
    few = section.sized((), ("--samples", 6, "--batch-size", 3))
    for row in kit.rows(section, ["own-batches", "--data", data, "--name", name, *few], OWN):
        section.add("render", row)


def own_decoder(section, kinds, work):
    """All data sets as they are, and with restart markers; every sampling and mode; damaged files; and whole batches."""
    for name, data in kit.datasets().items():
        section.attempt(f"{OWN}, {name}", 2, lambda name=name, data=data: own(section, data, name))
    for name, data in kit.datasets().items():
        def restarted(name=name, data=data):
            variants.restarts(data, work / name, section.sized(None, 4))
            own(section, work / name, f"{name}, restart markers")

        section.attempt(f"{OWN}, {name}, restart markers", 2, restarted)
    for kind in sorted(kinds.iterdir()):
        section.attempt(f"{OWN}, {kind.name}", 1, lambda kind=kind: own(section, kind, kind.name))
    damage.write(Path(kit.files_of(kinds / "420-baseline")[0]), work / "damaged" / "files")
    section.attempt(f"{OWN}, damaged files", 1, lambda: own(
        section, work / "damaged", "damaged files", "--damaged"))
    for name, data in kit.datasets().items():
        section.attempt(f"{OWN}, batches of {name}", 2, lambda name=name, data=data: own_batches(section, data, name))


def decoders(section, kinds):
    """Every kind of file with each of nvJPEG's decoders."""
    for variant in sorted(kinds.iterdir()):
        collect(section, "decode", ["decode-parity", "--data", variant, "--name", variant.name])
    # A simulated decoder would take minutes for large files.
    for name, data in section.sized(kit.datasets(), {kit.PHOTOS: kit.DATA / kit.PHOTOS}).items():
        collect(section, "decode", ["decode-parity", "--data", data, "--name", name])


def hazard(section):
    """Decoding into memory right behind its last reader, decoder by decoder and in whole batches.

    On Hopper the hardware decoder writes without waiting for earlier work on its stream, so this is what goes wrong
    first. The rows without the host's wait say whether this GPU is such a one; in the others nothing may differ.
    """
    collect(section, "hazard", ["hazard", "--data", kit.main_dataset(), "--seconds", section.sized(8, 0.5),
                                "--batch-size", section.sized(64, 4)])


def main():
    """Writes parity.json."""
    section = kit.Section("parity", __doc__)
    with tempfile.TemporaryDirectory() as folder:
        kinds, work = Path(folder) / "kinds", Path(folder) / "own"
        kinds.mkdir()
        variants.write(kinds, tiny=bool(section.simulated))
        section.attempt(OWN, 5, lambda: own_decoder(section, kinds, work))
        section.attempt("render", 5, lambda: collect(section, "render", [
            "render-parity", "--data", kit.DATA / kit.PHOTOS, "--seconds", section.sized(12, 1),
            "--batch-size", section.sized(32, 3), "--plans", section.sized(1 << 30, 3)]))
        section.attempt("parts", 5, lambda: collect(section, "region", [
            "decode-regions", "--data", kinds, "--crops", section.sized(16, 1)]))
        section.attempt("hazard", 5, lambda: hazard(section))
        # Last: opening nvJPEG anew for each kind takes most of the time.
        section.attempt("decoders", 5, lambda: decoders(section, kinds))


if __name__ == "__main__":
    main()
