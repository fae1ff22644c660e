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


def without_loss(folder):
    """The photographs as PNG, which the CPU decodes for every device: what differs then is not the decoder's."""
    from PIL import Image

    for number, path in enumerate(kit.files_of(kit.DATA / "photos")):
        with Image.open(path) as image:
            (folder / f"{number % 4}").mkdir(exist_ok=True)
            image.convert("RGB").save(folder / f"{number % 4}" / f"{number}.png", compress_level=1)


def main():
    """Writes parity.json."""
    section = kit.Section("parity", __doc__)
    photos = kit.DATA / "photos"

    def collect(key, arguments):
        return lambda: [section.add(key, row) for row in kit.rows(section, arguments)]

    section.attempt("render", 5, collect("render", ["render-parity", "--data", photos,
                                                    "--seconds", section.sized(20, 1)]))
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)

        def loaders():
            (folder / "png").mkdir()
            without_loss(folder / "png")
            collect("loader", ["loader-parity", "--data", folder / "png", "--epochs", section.sized(20, 1)])()

        def decoders():
            (folder / "jpeg").mkdir()
            variants(folder / "jpeg")
            for variant in sorted((folder / "jpeg").iterdir()):
                collect("decode", ["decode-parity", "--data", variant, "--name", variant.name])()

        section.attempt("loaders", 5, loaders)
        section.attempt("decoders", 5, decoders)
        section.attempt("parts", 5, collect("region", ["decode-regions", "--data", folder / "jpeg",
                                                       "--crops", section.sized(40, 2)]))


if __name__ == "__main__":
    main()
