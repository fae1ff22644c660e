#!/usr/bin/env python3
"""How equal the GPU's pixels are to the CPU's: rendering, decoding, and decoding a part.

Rendering must be equal in every value. nvJPEG decodes with arithmetic of its own, so there the difference is stated:
largest, mean and 99th percentile, for each sampling and each of its decoders.
"""

import tempfile
from pathlib import Path

import kit

SAMPLINGS = {"444": "4:4:4", "422": "4:2:2", "420": "4:2:0"}
QUALITY = 92
PHOTOS = 8


def variants(folder):
    """Re-encodings of some photographs, one folder for each sampling and mode: what the decoders are told apart by."""
    from PIL import Image

    sources = kit.files_of(kit.DATA / "photos")
    for number, path in enumerate(sources[::max(len(sources) // PHOTOS, 1)]):
        with Image.open(path) as image:
            colour, grey = image.convert("RGB"), image.convert("L")
        for name, sampling in SAMPLINGS.items():
            for mode, options in {"baseline": {}, "progressive": {"progressive": True},
                                  "restarts": {"restart_marker_rows": 1}}.items():
                save(colour, folder / f"{name}-{mode}", number, subsampling=sampling, **options)
        save(grey, folder / "grey-baseline", number)


def save(image, folder, number, **options):
    """One file of a variant."""
    folder.mkdir(exist_ok=True)
    image.save(folder / f"{number}.jpg", quality=QUALITY, **options)


def collect(section, key, arguments):
    """Keeps the rows of one command."""
    for row in kit.rows(section, arguments):
        section.add(key, row)


def decoders(section, folder):
    """Every kind of file with every decoder."""
    variants(folder)
    for variant in sorted(folder.iterdir()):
        collect(section, "decode", ["decode-parity", "--data", variant, "--name", variant.name])
    for name, data in kit.datasets().items():
        collect(section, "decode", ["decode-parity", "--data", data, "--name", name])


def main():
    """Writes parity.json."""
    section = kit.Section("parity", __doc__)
    section.attempt("render", 5, lambda: collect(section, "render", [
        "render-parity", "--data", kit.DATA / "photos", "--seconds", section.sized(24, 1),
        "--batch-size", section.sized(32, 3), "--plans", section.sized(1 << 30, 3)]))
    with tempfile.TemporaryDirectory() as work:
        section.attempt("decoders", 5, lambda: decoders(section, Path(work)))
        section.attempt("parts", 5, lambda: collect(section, "region", [
            "decode-regions", "--data", work, "--crops", section.sized(16, 1)]))


if __name__ == "__main__":
    main()
