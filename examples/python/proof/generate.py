"""Draws image sets whose labels are true: textured shapes on textured grounds, the same files each time for a seed.

    python examples/python/proof/generate.py classes out/proof/classes --train 5000 --val 1000
    python examples/python/proof/generate.py objects out/proof/objects --train 600 --val 150

The shape alone decides the class. Its place, size, angle and proportions, all colours and textures, the light, the
sharpness and the noise are drawn anew for each image, and lines lie over it. `classes` has train/ and val/ with a folder
for each of ten shapes; `objects` is a YOLO data set of the same ones, with one to six objects an image, whose boxes are
those of the drawn pixels. Needs NumPy and Pillow, on whose versions the files depend in their last bits.
"""

import argparse
import functools
import math
import multiprocessing
import pathlib
import shutil

import numpy
from PIL import Image, ImageDraw, ImageFilter

#: The drawing's scale over the image's, from which edges are smooth.
FINE = 3
QUALITY = 90
#: Of red, green and blue: shapes are lighter than their grounds, but not all and not everywhere.
GROUND_LEVELS, SHAPE_LEVELS = (20, 150), (110, 250)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["classes", "objects"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--train", type=int, help="images to train on; 5000, or 600 with objects")
    parser.add_argument("--val", type=int, help="images to validate on; 1000, or 150 with objects")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    folder = args.folder.resolve()
    if folder.exists():
        raise SystemExit(f"{folder} is there: name another folder, or remove it")
    part = folder.with_name(f"{folder.name}.part")  # what is there under its own name is whole
    if part.exists():
        shutil.rmtree(part)
    counts = {"classes": (5000, 1000), "objects": (600, 150)}[args.what]
    counts = [usual if said is None else said for usual, said in zip(counts, (args.train, args.val))]
    draw = {"classes": draw_class, "objects": draw_objects}[args.what]
    jobs = [(part, at) for part, count in enumerate(counts) for at in range(count)]
    with multiprocessing.Pool() as pool:
        sizes = pool.starmap(functools.partial(draw, part, args.seed), jobs, chunksize=16)
    if args.what == "objects":
        names = "".join(f"  {label}: {name}\n" for label, name in enumerate(NAMES))
        (part / "data.yaml").write_text(f"path: {folder}\ntrain: images/train\nval: images/val\nnames:\n{names}")
    part.rename(folder)
    kilobytes = sum(sizes) / len(sizes) / 1000
    print(f"{folder}: {counts[0]} images to train on, {counts[1]} to validate on, {kilobytes:.0f} KB each")


def draw_class(folder, seed, part, at):
    """Writes an image of one shape into the folder of its class, and returns its bytes."""
    rng = numpy.random.default_rng([seed, 0, part, at])
    name = NAMES[at % len(NAMES)]
    width, height = rng.integers(256, 401), rng.integers(192, 301)
    image = ground(rng, width, height)
    size = min(width, height) * rng.uniform(0.45, 0.85)
    margin = 0.4 * size
    centre = rng.uniform(margin, width - margin), rng.uniform(margin, height - margin)
    paint(rng, image, mask_of(rng, name, width, height, centre, size), SHAPE_LEVELS)
    return write(rng, image, folder / ("train", "val")[part] / name / f"{at:05}.jpg")


def draw_objects(folder, seed, part, at):
    """Writes an image of several shapes and the file of their boxes, and returns the image's bytes."""
    rng = numpy.random.default_rng([seed, 1, part, at])
    width, height = rng.integers(320, 481), rng.integers(320, 481)
    image = ground(rng, width, height)
    boxes, lines = [], []
    for _ in range(rng.integers(2, 7)):
        label = rng.integers(len(NAMES))
        size = min(width, height) * rng.uniform(0.13, 0.42)
        centre = rng.uniform(size / 2, width - size / 2), rng.uniform(size / 2, height - size / 2)
        mask = mask_of(rng, NAMES[label], width, height, centre, size)
        left, top, right, bottom = box = mask.getbbox()
        if any(left < b[2] and b[0] < right and top < b[3] and b[1] < bottom for b in boxes):
            continue  # no object hides another
        paint(rng, image, mask, SHAPE_LEVELS)
        boxes.append(box)
        place = (left + right) / 2 / width, (top + bottom) / 2 / height, (right - left) / width, (bottom - top) / height
        lines.append(f"{label} {' '.join(f'{part:.6f}' for part in place)}\n")
    name = ("train", "val")[part]
    labels = folder / "labels" / name / f"{at:05}.txt"
    labels.parent.mkdir(parents=True, exist_ok=True)
    labels.write_text("".join(lines))
    return write(rng, image, folder / "images" / name / f"{at:05}.jpg")


def write(rng, image, path):
    """Lights the image, adds lines, blur and noise, and writes a JPEG of sampling 4:2:0."""
    height, width, _ = image.shape
    lit = Image.fromarray(to_levels(image * ramp(rng, width, height, rng.uniform(0.45, 0.95), rng.uniform(0.9, 1.25))))
    pen = ImageDraw.Draw(lit)
    for _ in range(rng.integers(0, 4)):
        ends = rng.uniform(0, 1, 4) * (width, height, width, height)
        pen.line(ends.tolist(), tuple(rng.integers(0, 256, 3).tolist()), int(rng.integers(1, 6)))
    lit = numpy.asarray(lit.filter(ImageFilter.GaussianBlur(rng.uniform(0, 1.4))), numpy.float32)
    noise = rng.standard_normal(image.shape, numpy.float32) * rng.uniform(2, 14)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(to_levels(lit + noise)).save(path, quality=QUALITY, subsampling="4:2:0")
    return path.stat().st_size


def to_levels(image):
    return image.clip(0, 255).astype(numpy.uint8)


def ground(rng, width, height):
    """A texture with a few patches of other textures, so that not every edge is one of a shape."""
    image = texture(rng, width, height, GROUND_LEVELS)
    for _ in range(rng.integers(0, 3)):
        centre = rng.uniform(0, width), rng.uniform(0, height)
        angles = numpy.sort(rng.uniform(0, 2 * math.pi, 7))
        radii = min(width, height) * rng.uniform(0.05, 0.3, 7)
        corners = numpy.stack([radii * numpy.cos(angles), radii * numpy.sin(angles)], 1)
        paint(rng, image, polygons_mask(width, height, centre, [corners]), (20, 250))
    return image


def paint(rng, image, mask, levels):
    """Covers the mask with a texture, in place."""
    box = mask.getbbox()
    if box is None:
        return
    left, top, right, bottom = box
    cover = numpy.asarray(mask.crop(box), numpy.float32)[..., None] / 255
    covered = image[top:bottom, left:right]
    covered += (texture(rng, right - left, bottom - top, levels) - covered) * cover


def texture(rng, width, height, levels):
    """Two colours of levels in a range, mixed by noise, stripes, squares or a ramp."""
    y, x = numpy.mgrid[0:height, 0:width].astype(numpy.float32)
    angle, period = rng.uniform(0, math.pi), rng.uniform(6, 60)
    along, across = x * math.cos(angle) + y * math.sin(angle), y * math.cos(angle) - x * math.sin(angle)
    clouds = noise_field(rng, width, height)
    kind = rng.integers(4)
    if kind == 0:
        share = clouds
    elif kind == 1:
        share = 0.5 + 0.5 * numpy.sin(2 * math.pi * along / period + 4 * clouds)
    elif kind == 2:
        share = ((along // period + across // period) % 2) * 0.8 + 0.2 * clouds
    else:
        share = 0.7 * ramp(rng, width, height, 0, 1)[..., 0] + 0.3 * clouds
    first, second = rng.uniform(*levels, (2, 3)).astype(numpy.float32)
    return first + (second - first) * numpy.float32(rng.uniform(0.1, 0.45)) * share[..., None]


def noise_field(rng, width, height):
    """Smooth noise of three sizes, in 0..1."""
    field = numpy.zeros((height, width), numpy.float32)
    for cells, weight in ((4, 0.5), (12, 0.3), (40, 0.2)):
        small = Image.fromarray(rng.uniform(0, 1, (cells, cells)).astype(numpy.float32))
        field += weight * numpy.asarray(small.resize((int(width), int(height)), Image.Resampling.BICUBIC))
    return field.clip(0, 1)


def ramp(rng, width, height, start, end):
    """From `start` to `end` across the image at a random angle, as (height, width, 1)."""
    angle = rng.uniform(0, 2 * math.pi)
    y, x = numpy.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(numpy.float32)
    share = 0.5 + 0.5 * (x * math.cos(angle) + y * math.sin(angle)) / math.sqrt(2)
    return (start + (end - start) * share)[..., None]


def mask_of(rng, name, width, height, centre, size):
    """A shape about as large as `size`, turned by up to an eighth, stretched and mirrored at random."""
    angle, stretch = rng.uniform(-math.pi / 4, math.pi / 4), math.sqrt(rng.uniform(0.75, 1.33))
    turn = numpy.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    matrix = turn @ numpy.diag([stretch * rng.choice([-1, 1]), 1 / stretch]) * size / 2
    return polygons_mask(width, height, centre, [part @ matrix.T for part in SHAPES[name]])


def polygons_mask(width, height, centre, polygons):
    """An 8-bit mask of the first polygon without the others, with smooth edges."""
    mask = Image.new("L", (int(width) * FINE, int(height) * FINE))
    pen = ImageDraw.Draw(mask)
    for number, points in enumerate(polygons):
        pen.polygon([tuple(point) for point in ((points + centre) * FINE).tolist()], fill=0 if number else 255)
    return mask.reduce(FINE)


def circle(radius=1.0, x=0.0, corners=64):
    angles = numpy.arange(corners) * 2 * math.pi / corners
    return numpy.stack([radius * numpy.cos(angles) + x, radius * numpy.sin(angles)], 1)


def star(points=5, inner=0.42):
    """Corners that lie outside and inside by turns."""
    angles = numpy.arange(2 * points) * math.pi / points
    radii = numpy.where(numpy.arange(2 * points) % 2, inner, 1.0)
    return numpy.stack([radii * numpy.cos(angles), radii * numpy.sin(angles)], 1)


def heart():
    t = numpy.arange(64) * 2 * math.pi / 64
    y = 13 * numpy.cos(t) - 5 * numpy.cos(2 * t) - 2 * numpy.cos(3 * t) - numpy.cos(4 * t)
    return numpy.stack([numpy.sin(t) ** 3, -y / 16], 1)


CROSS = [
    [-0.3, -1],
    [0.3, -1],
    [0.3, -0.3],
    [1, -0.3],
    [1, 0.3],
    [0.3, 0.3],
    [0.3, 1],
    [-0.3, 1],
    [-0.3, 0.3],
    [-1, 0.3],
]
CROSS += [[-1, -0.3], [-0.3, -0.3]]
ARROW = [[1, 0], [0.1, 0.85], [0.1, 0.35], [-1, 0.35], [-1, -0.35], [0.1, -0.35], [0.1, -0.85]]

#: Each a polygon about as large as the circle of radius 1, and the holes in it.
SHAPES = {
    "arrow": [numpy.array(ARROW)],
    "circle": [circle()],
    "crescent": [circle(), circle(0.85, 0.5)],
    "cross": [numpy.array(CROSS)],
    "heart": [heart()],
    "hexagon": [circle(corners=6)],
    "ring": [circle(), circle(0.55)],
    "square": [circle(corners=4)],
    "star": [star()],
    "triangle": [circle(corners=3)],
}
NAMES = list(SHAPES)

if __name__ == "__main__":
    main()
