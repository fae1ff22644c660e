#!/usr/bin/env python3
"""Compares `feedline apply` with Albumentations 2.0.8 and OpenCV, given the same parameters.

    pip install albumentations==2.0.8 "opencv-python-headless<5" numpy pillow
    python tests/python/albumentations_parity.py --feedline target/release/feedline --data data/photos

Random numbers are not compared, but for noise and fields of displacements, of which deviations and correlations are. Exits
with 1 where a value is further away than its row says, or more values are different.
"""

import argparse
import math
import os
import random
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"

import albucore
import cv2
import numpy as np
from albumentations.augmentations.blur import functional as fblur
from albumentations.augmentations.dropout import functional as fdropout
from albumentations.augmentations.geometric import functional as fgeometric
from albumentations.augmentations.pixel import functional as fpixel
from scipy.special import ndtri
from scipy.stats import poisson

from feedline_apply import run, write_images

ROOT = Path(__file__).resolve().parents[2]


def gamma(rng, height, width):
    """RandomGamma."""
    value = rng.choice([0.8, 1.0, 1.2, rng.uniform(0.3, 3)])
    return [{"op": "gamma", "gamma": value}], lambda image: fpixel.gamma_transform(image, value)


def brightness_contrast(rng, height, width):
    """RandomBrightnessContrast."""
    alpha, beta = 1 + rng.uniform(-0.5, 0.5), rng.uniform(-0.4, 0.4) * 255
    op = {"op": "brightness_contrast", "alpha": alpha, "beta": beta}
    return [op], lambda image: albucore.multiply_add(image, alpha, beta, inplace=False)


def shift_rgb(rng, height, width):
    """RGBShift."""
    shift = [rng.uniform(-60, 60) for _ in range(3)]
    return [{"op": "shift_rgb", "shift": shift}], lambda image: fpixel.add_noise(image, np.array(shift))


def shift_hsv(rng, height, width):
    """HueSaturationValue."""
    hue, saturation, value = rng.uniform(-180, 180), rng.uniform(-60, 60), rng.uniform(-60, 60)
    op = {"op": "shift_hsv", "hue": hue, "saturation": saturation, "value": value}
    return [op], lambda image: fpixel.shift_hsv(image, hue, saturation, value)


def to_gray(rng, height, width):
    """ToGray."""
    return [{"op": "to_gray"}], lambda image: fpixel.to_gray(image, 3, "weighted_average")


TURN = {"op": "rotate", "expand": True, "interpolation": "nearest"}
SYMMETRIES = {
    "e": [], "r90": [TURN | {"angle": 90}], "r180": [TURN | {"angle": 180}], "r270": [TURN | {"angle": 270}],
    "v": [{"op": "vflip"}], "hvt": [TURN | {"angle": 180}, {"op": "transpose"}], "h": [{"op": "hflip"}],
    "t": [{"op": "transpose"}],
}


def symmetry(rng, height, width):
    """D4, RandomRotate90 and Transpose."""
    member = rng.choice(sorted(SYMMETRIES))
    return SYMMETRIES[member], lambda image: fgeometric.d4(image, member)


def rectangles(rng, height, width):
    """CoarseDropout."""
    def hole():
        left, top = rng.randrange(width), rng.randrange(height)
        return [left, top, rng.randint(left, width), rng.randint(top, height)]
    holes, fill = [hole() for _ in range(rng.randint(1, 5))], rng.randrange(256)
    op = {"op": "fill_rectangles", "rectangles": holes, "fill": fill}
    return [op], lambda image: fdropout.cutout(image, np.array(holes), fill, np.random.default_rng(0))


def downscale(rng, height, width):
    """Downscale, by nearest neighbours."""
    # OpenCV makes no image without a pixel.
    scale = max(rng.choice([0.25, 0.5, rng.uniform(0.1, 0.9)]), 1 / min(height, width))
    small = [max(1, round(edge * scale)) for edge in (height, width)]
    ops = [{"op": "resize", "size": size, "interpolation": "nearest"} for size in (small, [height, width])]
    return ops, lambda image: fpixel.downscale(image, scale, cv2.INTER_NEAREST, cv2.INTER_NEAREST)


def downscale_evenly(rng, height, width):
    """The same of an image whose edges are multiples of what it is shrunk by."""
    factor = rng.choice([factor for factor in (1, 2, 4) if factor <= min(height, width)])
    height, width = height // factor * factor, width // factor * factor
    crop = {"op": "crop", "top": 0, "left": 0, "height": height, "width": width}
    ops = [{"op": "resize", "size": size, "interpolation": "nearest"}
           for size in ([height // factor, width // factor], [height, width])]
    return [crop, *ops], lambda image: fpixel.downscale(
        np.ascontiguousarray(image[:height, :width]), 1 / factor, cv2.INTER_NEAREST, cv2.INTER_NEAREST)


def affine(rng, height, width):
    """ShiftScaleRotate and Affine; the matrix counts from the centre of the first pixel, and the op from its corner."""
    matrix = fgeometric.create_affine_transformation_matrix(
        {"x": rng.randint(-20, 20), "y": rng.randint(-20, 20)},
        {"x": rng.uniform(-10, 10), "y": rng.uniform(-10, 10)},
        {"x": rng.uniform(0.7, 1.4), "y": rng.uniform(0.7, 1.4)},
        rng.uniform(-45, 45), fgeometric.center((height, width)))
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    moved = (half @ matrix @ np.linalg.inv(half))[:2].tolist()
    return [{"op": "warp_affine", "matrix": moved}], lambda image: fgeometric.warp_affine(
        image, matrix, cv2.INTER_LINEAR, 0, cv2.BORDER_CONSTANT, (height, width))


def box_blur(rng, height, width):
    """Blur."""
    edge = rng.choice([3, 5, 7, 21])
    return [{"op": "box_blur", "kernel_size": [edge] * 2}], lambda image: fblur.box_blur(image, edge)


def median_blur(rng, height, width):
    """MedianBlur."""
    edge = rng.choice([3, 5, 7, 9])
    return [{"op": "median_blur", "kernel_size": edge}], lambda image: fblur.median_blur(image, edge)


def convolved(kernel):
    """The op of a kernel, and OpenCV's side of it."""
    return [{"op": "convolve", "kernel": kernel.astype(float).tolist()}], lambda image: fpixel.convolve(image, kernel)


def motion_blur(rng, height, width):
    """MotionBlur."""
    kernel = fblur.create_motion_kernel(
        rng.choice([3, 5, 7]), rng.uniform(0, 360), rng.uniform(-1, 1), rng.random() < 0.7, rng)
    return convolved(kernel.astype(np.float32) / np.sum(kernel))


def sharpen(rng, height, width):
    """Sharpen and Emboss."""
    alpha, strength = rng.uniform(0.2, 0.5), rng.uniform(0.2, 1)
    effect = [[-1, -1, -1], [-1, 8 + strength, -1], [-1, -1, -1]]
    if rng.random() < 0.5:
        effect = [[-1 - strength, -strength, 0], [-strength, 1, strength], [0, strength, 1 + strength]]
    same = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], dtype=np.float32)
    return convolved((1 - alpha) * same + alpha * np.array(effect, dtype=np.float32))


def clahe(rng, height, width):
    """CLAHE."""
    limit, grid = rng.uniform(1, 4), rng.choice([[8, 8], [8, 8], [3, 5]])
    op = {"op": "clahe", "clip_limit": limit, "tile_grid_size": grid}
    return [op], lambda image: fpixel.clahe(image, limit, tuple(grid))


def remapped(maps, fill):
    """Their side of a distortion."""
    return lambda image: fgeometric.remap(image, *maps, cv2.INTER_LINEAR, cv2.BORDER_CONSTANT, fill)


def grid_distortion(rng, height, width):
    """GridDistortion, of images that its cells divide as it expects."""
    cells = rng.choice([cells for cells in (1, 2, 3, 5, 8) if min(height, width) // cells >= cells] or [1])
    steps_x, steps_y = ([1 + rng.uniform(-0.3, 0.3) for _ in range(cells + 1)] for _ in "xy")
    if rng.random() < 0.7:
        steps = fgeometric.normalize_grid_distortion_steps((height, width), cells, steps_x, steps_y)
        steps_x, steps_y = steps["steps_x"].tolist(), steps["steps_y"].tolist()
    fill = rng.choice([0, 114])
    op = {"op": "grid_distortion", "steps_x": steps_x, "steps_y": steps_y, "fill": fill}
    return [op], remapped(fgeometric.generate_grid((height, width), steps_x, steps_y, cells), [fill] * 3)


def optical_distortion(rng, height, width):
    """OpticalDistortion, by a camera's matrix, which is that of the new image too: without it, OpenCV takes one whose middle is
    half a pixel further to the left and to the top."""
    k, fill = rng.uniform(-0.3, 0.6), rng.choice([0, 114])
    matrix = np.array([[width, 0, width / 2], [0, height, height / 2], [0, 0, 1]], np.float32)
    maps = cv2.initUndistortRectifyMap(
        matrix, np.array([k, k, 0, 0, 0], np.float32), None, matrix, (width, height), cv2.CV_32FC1)
    return [{"op": "optical_distortion", "k": k, "fill": fill}], remapped(maps, [fill] * 3)


def fisheye(rng, height, width):
    """OpticalDistortion, by a fisheye."""
    k, fill = rng.uniform(-0.3, 0.6), rng.choice([0, 114])
    maps = fgeometric.get_fisheye_distortion_maps((height, width), k)
    return [{"op": "optical_distortion", "k": k, "mode": "fisheye", "fill": fill}], remapped(maps, [fill] * 3)


def words(key, shape):
    """The words of the counter hash (Philox 4x32-10) for each pixel of an image."""
    low = np.uint64(0xFFFFFFFF)
    counter = [np.arange(math.prod(shape), dtype=np.uint64)] + [np.uint64(0)] * 3
    first, second = (np.uint64(word) for word in key)
    for _ in range(10):
        upper, lower = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [(lower >> np.uint64(32)) ^ counter[1] ^ first, lower & low,
                   (upper >> np.uint64(32)) ^ counter[3] ^ second, upper & low]
        first, second = (first + np.uint64(0x9E3779B9)) & low, (second + np.uint64(0xBB67AE85)) & low
    return [word.reshape(shape) for word in counter]


def any_key(rng):
    """A key of the counter hash."""
    return [rng.getrandbits(32), rng.getrandbits(32)]


def multiplicative_noise(rng, height, width):
    """MultiplicativeNoise of each pixel, whose uniform numbers are handed to Albumentations."""
    key, low, shared = any_key(rng), rng.uniform(0, 1), rng.random() < 0.5
    high = low + rng.uniform(0, 2)
    parts = [word >> np.uint64(8) for word in words(key, (height, width))[:3]]
    uniform = np.dstack([parts[0]] * 3 if shared else parts) / 2**24
    factors = (uniform.astype(np.float32) * np.float32(high - low) + np.float32(low)).astype(np.float32)
    op = {"op": "multiplicative_noise", "key": key, "multiplier": [low, high], "per_channel": not shared}
    return [op], lambda image: albucore.multiply(image, factors)


def iso_noise(rng, height, width):
    """ISONoise, whose random numbers are handed to Albumentations."""
    key, shift, intensity = any_key(rng), rng.uniform(0, 1), rng.uniform(0.1, 1)
    grains, turn, *_ = words(key, (height, width))
    place, normal = (grains + 0.5) / 2**32, ndtri(((turn >> np.uint64(9)) + 0.5) / 2**23)
    drawn = SimpleNamespace(poisson=lambda rate, size: poisson.ppf(place, rate),
                            normal=lambda mean, deviation, size: normal * deviation)
    op = {"op": "iso_noise", "key": key, "color_shift": shift, "intensity": intensity}
    return [op], lambda image: fpixel.iso_noise(image, shift, intensity, drawn)


def jpeg_compression(rng, height, width):
    """ImageCompression, of an image whose channels stand as OpenCV expects them."""
    quality = rng.choice([1, 10, 30, 49, 50, 75, 90, 95, 99, 100])

    def reference(image):
        bgr = np.ascontiguousarray(image[..., ::-1])
        return fpixel.image_compression(bgr, quality, ".jpg")[..., ::-1]
    return [{"op": "jpeg_compression", "quality": quality}], reference


# What is compared, how it is drawn, how far a value may be away, and the share of values that may be different.
ROWS = {
    "gamma": (gamma, 0, 0),
    "brightness_contrast": (brightness_contrast, 0, 0),
    "shift_rgb": (shift_rgb, 0, 0),
    "to_gray": (to_gray, 0, 0),
    "shift_hsv": (shift_hsv, 3, 0.1),
    "rotate, flips, transpose": (symmetry, 0, 0),
    "fill_rectangles": (rectangles, 0, 0),
    "resize, nearest, to a half or a quarter and back": (downscale_evenly, 0, 0),
    "resize, nearest, to any size and back": (downscale, 255, 0.6),
    "warp_affine": (affine, 16, 0.2),
    "box_blur": (box_blur, 0, 0),
    "median_blur": (median_blur, 0, 0),
    "convolve, motion": (motion_blur, 0, 0),
    "convolve, sharpen and emboss": (sharpen, 1, 1e-6),
    "clahe": (clahe, 3, 0.001),
    "multiplicative_noise": (multiplicative_noise, 0, 0),
    "iso_noise": (iso_noise, 8, 0.01),
    "jpeg_compression": (jpeg_compression, 0, 0),
    "grid_distortion": (grid_distortion, 0, 0),
    "optical_distortion, camera": (optical_distortion, 16, 1e-4),
    "optical_distortion, fisheye": (fisheye, 16, 1e-3),
}


def apply(feedline, ops, inputs, work):
    """What feedline makes of the images, as integers of rows, columns and channels."""
    cases = [SimpleNamespace(ops=each, input=path) for each, path in zip(ops, inputs)]
    for case, (got, cause) in zip(cases, run(cases, feedline, True, work)):
        if got is None:
            sys.exit(f"{cause}: {case.ops}")
        yield got.astype(int)


def compare(row, images, options, work):
    """Prints one row; returns whether it keeps to its bounds."""
    drawn, most_allowed, share_allowed = ROWS[row]
    rng = random.Random(f"{options.seed} {row}")
    ops, inputs, wanted = [], [], []
    for _ in range(options.draws):
        path, pixels = images[rng.choice(sorted(images))]
        done, reference = drawn(rng, *pixels.shape[:2])
        ops.append(done)
        inputs.append(path)
        wanted.append(np.asarray(reference(pixels.copy())).astype(int))
    got = apply(options.feedline, ops, inputs, work)
    values = np.concatenate([np.abs(mine - theirs).ravel() for mine, theirs in zip(got, wanted)])
    share, most = np.mean(values > 0), values.max()
    print(f"| {row} | {len(values):,} | {100 * share:.4f} % | {most} | {values.mean():.5f} |", flush=True)
    return most <= most_allowed and share <= share_allowed


def compare_noise(options, work):
    """Noise on grey, where nothing is cut off: mean, deviation and the correlation of neighbours, theirs beside ours."""
    grey = np.full((512, 512, 3), 128, np.uint8)
    path = work / "grey.png"
    cv2.imwrite(str(path), grey)
    op = {"op": "gauss_noise", "key": [options.seed, 5], "mean": 5, "std": 20}
    (mine,) = apply(options.feedline, [[op]], [path], work)
    noise = np.random.default_rng(options.seed)
    params = {"mean_range": (5 / 255, 5 / 255), "std_range": (20 / 255, 20 / 255)}
    theirs = fpixel.add_noise(grey, fpixel.generate_noise("gaussian", "per_pixel", grey.shape, params, 255, 1.0, noise))
    figures = []
    for name, values in (("feedline", mine), ("Albumentations", theirs.astype(int))):
        values = values - 128.0
        centred = values - values.mean()
        along = [np.mean(centred[1:] * centred[:-1]), np.mean(centred[:, 1:] * centred[:, :-1]),
                 np.mean(centred[..., 1:] * centred[..., :-1])]
        figures.append((values.mean(), values.std(), max(map(abs, along)) / values.var()))
        print(f"gauss_noise, {name}: mean {figures[-1][0]:.3f}, deviation {figures[-1][1]:.3f}, "
              f"correlation of neighbours at most {figures[-1][2]:.4f}")
    (mean, deviation, correlation), (their_mean, their_deviation, _) = figures
    # Theirs is cut off before it is added, and so is nearer to 0 by up to a level.
    return math.isclose(mean, their_mean, abs_tol=0.5) and abs(deviation - their_deviation) < 0.5 and correlation < 0.01


def compare_fields(options, work):
    """Displacements of an elastic transform, seen on ramps of x and y: deviations inside and at an edge, and how far
    neighbours move together, theirs beside ours."""
    edge, sigma, alpha, draws = 256, 8, 100, 24
    y, x = np.mgrid[:edge, :edge]
    path = work / "ramps.png"
    cv2.imwrite(str(path), np.dstack([np.full((edge, edge), 255), y, x]).astype(np.uint8))
    ops = [[{"op": "elastic_transform", "key": [options.seed, draw], "alpha": alpha, "sigma": sigma}] for draw in range(draws)]
    mine = [(np.dstack([image[..., 0] - x, image[..., 1] - y]), image[..., 2] == 255)
            for image in apply(options.feedline, ops, [path] * draws, work)]
    # Uniform noise deviates by the root of a third.
    noise = np.random.default_rng(options.seed)
    theirs = [fgeometric.generate_displacement_fields(
        (edge, edge), alpha * 3 ** 0.5, sigma, False, (0, 0), noise, "uniform") for _ in range(draws)]
    theirs = [(np.dstack(fields), np.full((edge, edge), True)) for fields in theirs]
    figures = []
    for name, fields in (("feedline", mine), ("Albumentations", theirs)):
        inner = np.stack([field for field, _ in fields])[:, 48:-48, 48:-48]
        # What lies beyond the left edge is not seen, but up and down nothing is hidden.
        along = np.concatenate([field[48:-48, 0, 1][seen[48:-48, 0]] for field, seen in fields])
        together = np.mean(inner[:, :, sigma:] * inner[:, :, :-sigma]) / np.mean(inner ** 2)
        figures.append((inner.std(), np.sqrt(np.mean(along ** 2)), together))
        print(f"elastic_transform, {name}: deviation {figures[-1][0]:.2f} inside and {figures[-1][1]:.2f} at an edge, "
              f"correlation {figures[-1][2]:.3f} at sigma")
    mine, theirs = figures
    return (abs(mine[0] / theirs[0] - 1) < 0.05 and abs(mine[1] / theirs[1] - 1) < 0.25
            and abs(mine[2] - theirs[2]) < 0.03)


def main():
    """Compares every row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feedline", type=Path, default=ROOT / "target/release/feedline")
    parser.add_argument("--data", type=Path, nargs="+", default=[ROOT / "data/photos"])
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        images = write_images(options.data, Path(work))
        print("| operation | values compared | different values | max difference | mean difference |\n|---|---:|---:|---:|---:|")
        kept = [compare(row, images, options, Path(work)) for row in ROWS]
        kept.append(compare_noise(options, Path(work)))
        kept.append(compare_fields(options, Path(work)))
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()
