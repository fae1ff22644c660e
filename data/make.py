#!/usr/bin/env python3
"""Cuts the bundled photographs out of the public-domain and CC0 images of the scikit-image wheel.

    python -m venv /tmp/photos
    /tmp/photos/bin/pip install --no-deps scikit-image==0.26.0 pillow==13.0.0
    /tmp/photos/bin/python data/make.py            # writes data/photos and data/LICENSES.md
    /tmp/photos/bin/python data/make.py --check    # fails where the committed files differ

`--no-deps` is enough because scikit-image is never imported here: only the image files in its wheel are read. The same
versions give the same bytes: no clock and no random number goes in, and Pillow's wheel brings its own encoder. The
cuts vary what a JPEG decoder must handle: chroma sampling, grey, progressive scans, restart markers, EXIF orientation.
"""

import argparse
import hashlib
import importlib.util
import io
import sys
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageOps

HERE = Path(__file__).resolve().parent
SCIKIT_IMAGE = "scikit-image 0.26.0"
DOCUMENTED_IN = "skimage/data/_fetchers.py"
SIZE_LIMIT_BYTES = 4_000_000
ORIENTATION_TAG = 0x0112

# What must be done to an upright image so that a reader that honours the tag shows it upright again.
STORE_AS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


@dataclass(frozen=True)
class Source:
    """One image of the wheel, with what its documentation says about its rights."""

    file: str
    sha256: str
    author: str
    licence: str
    stated: str


@dataclass(frozen=True)
class Cut:
    """One photograph: `box` (left, top, right, bottom) of the source, scaled to `size` (width, height)."""

    box: tuple
    size: tuple
    quality: int
    sampling: str
    progressive: bool = False
    restart_mcus: int = 0
    orientation: int = 1

    def note(self):
        """The coding in words, for the licence table's list of files."""
        words = [f"{self.size[0]}x{self.size[1]}", self.sampling, f"q{self.quality}"]
        if self.progressive:
            words.append("progressive")
        if self.restart_mcus:
            words.append(f"restart every {self.restart_mcus} MCUs")
        if self.orientation != 1:
            words.append(f"EXIF orientation {self.orientation}")
        return " ".join(words)


# Only sources whose documentation *dedicates* them. Left out although they are in the wheel: coins and
# immunohistochemistry ("no known copyright restrictions" is no dedication), moon and page (nothing is stated),
# the Middlebury motorcycle (no licence), and drawings that are no photographs.
SOURCES = {
    "astronaut": Source(
        "astronaut.png", "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
        "NASA (portrait of Eileen Collins)", "public domain",
        "`astronaut()`: \"No known copyright restrictions, released into the public domain.\""),
    "brick": Source(
        "brick.png", "7966caf324f6ba843118d98f7a07746d22f6a343430add0233eca5f6eaaa8fcf",
        "CC0Textures, Bricks25", "CC0 1.0",
        "`brick()`: \"licensed under the Creative Commons CC0 License\""),
    "camera": Source(
        "camera.png", "b0793d2adda0fa6ae899c03989482bff9a42d3d5690fc7e3648f2795d730c23a",
        "Lav Varshney", "CC0 1.0",
        "`camera()`: \"No copyright restrictions. CC0 by the photographer (Lav Varshney).\""),
    "cat": Source(
        "chelsea.png", "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
        "Stefan van der Walt", "CC0 1.0",
        "`chelsea()`: \"No copyright restrictions. CC0 by the photographer (Stefan van der Walt).\""),
    "cell": Source(
        "cell.png", "8d23a7fb81f7cc877cd09f330357fc7f595651306e84e17252f6e0a1b3f61515",
        "Paul Müller, Mirjam Schürmann, Salvatore Girardo, Gheorghe Cojoc, Jochen Guck", "CC0 1.0",
        "`cell()`: \"This image is CC0, dedicated to the public domain.\""),
    "clock": Source(
        "clock_motion.png", "f029226b28b642e80113d86622e9b215ee067a0966feaf5e60604a1e05733955",
        "Stefan van der Walt", "public domain",
        "`clock()`: \"Released into the public domain by the photographer (Stefan van der Walt).\""),
    "coffee": Source(
        "coffee.png", "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
        "Rachel Michetti (courtesy of Pikolo Espresso Bar)", "CC0 1.0",
        "`coffee()`: \"No copyright restrictions. CC0 by the photographer (Rachel Michetti).\""),
    "galaxies": Source(
        "hubble_deep_field.jpg", "3a19c5dd8a927a9334bb1229a6d63711b1c0c767fb27e2286e7c84a3e2c2f5f4",
        "NASA (Hubble eXtreme Deep Field)", "public domain",
        "`hubble_deep_field()`: \"captured by NASA and may be freely used in the public domain\""),
    "grass": Source(
        "grass.png", "b6b6022426b38936c43a4ac09635cd78af074e90f42ffa8227ac8b7452d39f89",
        "linolafett (DeviantArt, Grass 01)", "CC0 1.0",
        "`grass()`: \"licensed under the Creative Commons CC0 License\""),
    "gravel": Source(
        "gravel.png", "c48615b451bf1e606fbd72c0aa9f8cc0f068ab7111ef7d93bb9b0f2586440c12",
        "CC0Textures, Gravel04", "CC0 1.0",
        "`gravel()`: \"licensed under the Creative Commons CC0 License\""),
    "retina": Source(
        "retina.jpg", "38a07f36f27f095e818aea7b96d34202c05176d30253c66733f2e00379e9e0e6",
        "Mikael Häggström", "CC0 1.0",
        "`retina()`: \"made available under the Creative Commons CC0 1.0 Universal Public Domain Dedication\""),
    "rocket": Source(
        "rocket.jpg", "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c",
        "SpaceX (launch of DSCOVR)", "public domain",
        "`rocket()`: \"captured by SpaceX and released in the public domain\""),
}

CUTS = {
    "astronaut": [
        Cut((0, 0, 512, 384), (500, 375), 90, "4:2:0"),
        Cut((60, 0, 420, 480), (375, 500), 85, "4:4:4"),
        Cut((100, 0, 400, 225), (400, 300), 92, "4:2:2"),
        Cut((256, 20, 512, 404), (334, 500), 88, "4:2:0", orientation=6),
        Cut((80, 212, 480, 512), (500, 375), 80, "4:2:0", progressive=True),
        Cut((0, 0, 160, 240), (227, 341), 95, "4:4:4"),
    ],
    "brick": [
        Cut((0, 0, 512, 384), (500, 375), 75, "grey"),
        Cut((140, 10, 501, 491), (375, 499), 80, "4:2:0", restart_mcus=4),
    ],
    "camera": [
        Cut((0, 32, 512, 416), (500, 375), 85, "grey"),
        Cut((60, 30, 444, 512), (333, 418), 90, "4:2:0"),
        Cut((150, 60, 470, 300), (400, 300), 90, "grey", progressive=True),
        Cut((20, 40, 340, 253), (600, 400), 78, "4:2:2", orientation=3),
    ],
    "cat": [
        Cut((0, 0, 451, 300), (500, 333), 90, "4:2:0"),
        Cut((25, 0, 425, 300), (400, 300), 85, "4:4:4"),
        Cut((120, 0, 345, 300), (375, 500), 88, "4:2:0", orientation=8),
        Cut((100, 50, 360, 245), (500, 375), 92, "4:2:2", progressive=True),
        Cut((110, 70, 211, 171), (257, 257), 95, "4:4:4"),
    ],
    "cell": [
        Cut((150, 270, 550, 570), (400, 300), 85, "grey", restart_mcus=25),
    ],
    "clock": [
        Cut((0, 0, 400, 300), (400, 300), 90, "grey"),
    ],
    "coffee": [
        Cut((0, 0, 600, 400), (600, 400), 85, "4:2:0"),
        Cut((50, 20, 550, 395), (500, 375), 90, "4:2:0", restart_mcus=16),
        Cut((150, 0, 450, 400), (375, 500), 82, "4:4:4"),
        Cut((60, 0, 460, 300), (400, 300), 75, "4:2:2"),
        Cut((280, 180, 581, 400), (499, 365), 90, "4:2:0", orientation=5),
        Cut((170, 0, 430, 195), (500, 375), 95, "4:4:4", progressive=True),
    ],
    "galaxies": [
        Cut((0, 0, 500, 375), (500, 375), 85, "4:2:0"),
        Cut((500, 10, 1000, 385), (500, 375), 90, "4:4:4"),
        Cut((40, 372, 415, 872), (375, 500), 80, "4:2:0", restart_mcus=32),
        Cut((400, 470, 1000, 870), (600, 400), 75, "4:2:0", progressive=True),
        Cut((0, 0, 1000, 750), (400, 300), 90, "4:2:2"),
    ],
    "grass": [
        Cut((0, 0, 480, 360), (480, 360), 75, "grey"),
        Cut((112, 112, 512, 412), (400, 300), 78, "4:2:0"),
    ],
    "gravel": [
        Cut((0, 0, 375, 500), (375, 500), 75, "grey", progressive=True),
        Cut((100, 200, 511, 511), (411, 311), 80, "4:2:0", orientation=2),
    ],
    "retina": [
        Cut((0, 150, 1411, 1208), (500, 375), 90, "4:2:0"),
        Cut((0, 330, 800, 930), (400, 300), 88, "4:4:4"),
        Cut((30, 400, 430, 933), (375, 500), 85, "4:2:0", orientation=7),
        Cut((500, 60, 1300, 593), (600, 400), 92, "4:2:0", progressive=True),
    ],
    "rocket": [
        Cut((0, 0, 640, 427), (640, 427), 85, "4:2:0"),
        Cut((20, 0, 520, 375), (500, 375), 90, "4:2:0", orientation=4),
        Cut((320, 20, 620, 420), (375, 500), 88, "4:2:2"),
        Cut((0, 187, 320, 427), (400, 300), 80, "4:4:4", restart_mcus=50),
        Cut((340, 207, 640, 427), (461, 338), 92, "4:2:0"),
    ],
}


def wheel_images():
    """The folder of images in the installed wheel, found without importing the package and its dependencies."""
    spec = importlib.util.find_spec("skimage")
    if spec is None:
        sys.exit(f"{SCIKIT_IMAGE} is not installed: pip install --no-deps scikit-image==0.26.0")
    return Path(spec.submodule_search_locations[0]) / "data"


def open_source(folder, source):
    """Opens one source after making sure that it is the file whose licence was read."""
    content = (folder / source.file).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        sys.exit(f"{source.file}: sha256 {found} is not the one the licence was checked for")
    return Image.open(io.BytesIO(content))


def encode(image, cut):
    """Cuts, scales, turns and encodes one photograph; returns the file's bytes."""
    picture = image.convert("L" if cut.sampling == "grey" else "RGB").crop(cut.box)
    if picture.size != cut.size:
        picture = picture.resize(cut.size, Image.Resampling.LANCZOS)
    options = {"quality": cut.quality, "optimize": False, "progressive": cut.progressive}
    if cut.sampling != "grey":
        options["subsampling"] = cut.sampling
    if cut.restart_mcus:
        options["restart_marker_blocks"] = cut.restart_mcus
    stored = picture
    if cut.orientation != 1:
        stored = turned(picture, cut.orientation)
        options["exif"] = stored.getexif()
    out = io.BytesIO()
    stored.save(out, "JPEG", **options)
    return out.getvalue()


def turned(picture, orientation):
    """The picture as a camera would store it, with the tag; makes sure that honouring the tag undoes the turn."""
    stored = picture.transpose(STORE_AS[orientation])
    stored.getexif()[ORIENTATION_TAG] = orientation
    if ImageOps.exif_transpose(stored).tobytes() != picture.tobytes():
        sys.exit(f"orientation {orientation} does not give the upright picture back")
    return stored


def make_photos(folder):
    """All photographs as {path relative to data/: bytes}; ends the program where two are identical."""
    photos = {}
    for name, source in SOURCES.items():
        image = open_source(folder, source)
        for number, cut in enumerate(CUTS[name]):
            photos[f"photos/{name}/{number:04}.jpg"] = encode(image, cut)
    if len(set(photos.values())) != len(photos):
        sys.exit("two photographs are identical")
    if sum(map(len, photos.values())) > SIZE_LIMIT_BYTES:
        sys.exit(f"the photographs are larger than {SIZE_LIMIT_BYTES} bytes in total")
    return photos


def licence_page():
    """data/LICENSES.md, written from the same tables as the photographs so that the two cannot part."""
    lines = [
        "# Where the photographs come from",
        "",
        "Written by `data/make.py`. Every source is an image in the wheel of",
        f"[{SCIKIT_IMAGE}](https://pypi.org/project/scikit-image/0.26.0/); the last column quotes its documentation,",
        f"`{DOCUMENTED_IN}`. Cutting adds no rights: every file is as free as its source.",
        "",
        "| class | source image | author | licence | where it is stated |",
        "|---|---|---|---|---|",
    ]
    for name, source in SOURCES.items():
        image = f"`skimage/data/{source.file}`"
        lines.append(f"| {name} | {image} | {source.author} | {source.licence} | {source.stated} |")
    lines += ["", "| file | cut (left, top, right, bottom) of | coding |", "|---|---|---|"]
    for name, source in SOURCES.items():
        for number, cut in enumerate(CUTS[name]):
            box = ", ".join(map(str, cut.box))
            lines.append(f"| `photos/{name}/{number:04}.jpg` | {source.file} ({box}) | {cut.note()} |")
    return ("\n".join(lines) + "\n").encode()


def check(files):
    """Compares with what is on disk, both ways; returns the paths that differ, are missing or are not ours."""
    wrong = [path for path, content in files.items()
             if not (HERE / path).is_file() or (HERE / path).read_bytes() != content]
    present = {path.relative_to(HERE).as_posix() for path in (HERE / "photos").rglob("*") if path.is_file()}
    return wrong + sorted(present - files.keys())


def main():
    """Writes or checks the photographs and their licence page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a committed file differs")
    arguments = parser.parse_args()
    files = make_photos(wheel_images())
    size = sum(map(len, files.values()))
    count = len(files)
    files["LICENSES.md"] = licence_page()
    if arguments.check:
        wrong = check(files)
        for path in wrong:
            print(f"differs: {path}")
        sys.exit(1 if wrong else 0)
    for path, content in files.items():
        target = HERE / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    print(f"{count} photographs, {size} bytes")


if __name__ == "__main__":
    main()
