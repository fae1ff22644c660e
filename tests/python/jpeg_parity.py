"""Compares the JPEG decoder with libjpeg-turbo (as Pillow and simplejpeg carry it), value by value.

    python tests/python/jpeg_parity.py DECODE_RAW [FOLDER...]

DECODE_RAW is the built example `decode_raw`. Every file of the folders is decoded by both; then files are generated
over qualities, samplings, restart intervals, progressive and sizes 1 to 64. Where the decoder says ok, Pillow must agree
in every value unless libjpeg-turbo gives a warning (simplejpeg with strict=True tells). `--only-folders` leaves the
generated files out, `--all` names also the files that both refuse.
"""

import io
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np
import simplejpeg
from PIL import Image, ImageFile

Image.MAX_IMAGE_PIXELS = None
ImageFile.MAXBLOCK = 1 << 24  # room to encode noise in one go


def decode_all(program, paths):
    """The decoder's answer for each path: an array, or its message."""
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, len(paths), 500):
            part = paths[start : start + 500]
            names = os.path.join(folder, "list")
            with open(names, "w") as file:
                file.write("\n".join(part))
            lines = subprocess.run([program, folder, "@" + names], stdout=subprocess.PIPE, check=True)
            for line in lines.stdout.decode().splitlines():
                index, width, height, message = line.split(" ", 3)
                if message == "ok":
                    raw = np.fromfile(os.path.join(folder, index + ".rgb"), np.uint8)
                    answers.append(raw.reshape(int(height), int(width), 3))
                else:
                    answers.append(message)
    assert len(answers) == len(paths)
    return answers


def reference(path):
    """Pillow's pixels, or the reason that there are none."""
    try:
        with Image.open(path) as image:
            if image.format != "JPEG" and image.format != "MPO":
                return "another format"
            return np.asarray(image.convert("RGB"))
    except Exception as error:  # Pillow raises many kinds.
        try:  # Pillow wants the EOI that a whole picture may lack; libjpeg-turbo itself does not.
            with open(path, "rb") as file:
                return simplejpeg.decode_jpeg(file.read(), "RGB", strict=False)
        except Exception:
            return str(error)


def warns(path):
    """Whether libjpeg-turbo warns (or fails) on the file."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        simplejpeg.decode_jpeg(data, "CMYK" if Image.open(path).mode == "CMYK" else "RGB", strict=True)
        return False
    except Exception:
        return True


def compare(program, paths):
    counts = {"equal": 0, "differ": 0, "differ, but libjpeg warns": 0, "refused, and libjpeg too": 0}
    counts |= {"refused, libjpeg warns": 0, "refused, libjpeg decodes": 0, "ok, libjpeg fails": 0}
    for path, ours in zip(paths, decode_all(program, paths)):
        theirs = reference(path)
        if isinstance(ours, str):
            if isinstance(theirs, str):
                kind = "refused, and libjpeg too"
            else:
                kind = "refused, libjpeg warns" if warns(path) else "refused, libjpeg decodes"
        elif isinstance(theirs, str):
            kind = "ok, libjpeg fails"
        elif ours.shape == theirs.shape and (ours == theirs).all():
            kind = "equal"
        else:
            kind = "differ, but libjpeg warns" if warns(path) else "differ"
        counts[kind] += 1
        told = "--all" in sys.argv or kind not in ("refused, and libjpeg too", "refused, libjpeg warns")
        if kind != "equal" and told:
            detail = ours if isinstance(ours, str) else "pixels"
            if kind.startswith("differ") and not isinstance(ours, str) and ours.shape == theirs.shape:
                wrong = np.argwhere((ours != theirs).any(axis=2))
                detail = f"{len(wrong)} pixels, first at row, column {wrong[0]}, {ours[tuple(wrong[0])]} not {theirs[tuple(wrong[0])]}"
            print(f"  {kind}: {os.path.basename(path)}: {detail} | {theirs if isinstance(theirs, str) else ''}")
    return counts


def photo(rng, width, height):
    """Something between a photograph and noise, so that all coefficients are used."""
    small = rng.integers(0, 256, (height // 8 + 2, width // 8 + 2, 3), np.uint8)
    smooth = np.asarray(Image.fromarray(small).resize((width, height), Image.BICUBIC)).astype(int)
    noise = rng.normal(0, rng.choice([0, 4, 30, 120]), smooth.shape)
    return Image.fromarray(np.clip(smooth + noise, 0, 255).astype(np.uint8))


def synthetic(rng, size, factors, one_scan, restart, wild):
    """A baseline file of random coefficients with any sampling factors, as no usual encoder writes them."""

    def segment(marker, body):
        return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + bytes(body)

    width, height = size
    count = len(factors)
    quant = rng.integers(1, 65536 if wild else 40, 64)
    out = b"\xff\xd8" + segment(0xDB, b"\x10" + b"".join(int(q).to_bytes(2, "big") for q in quant))
    out += segment(0xC1, [8, *height.to_bytes(2, "big"), *width.to_bytes(2, "big"), count,
                          *itertools.chain(*([i + 1, h << 4 | v, 0] for i, (h, v) in enumerate(factors)))])
    # Flat codes: every DC category has 4 bits (15 of 16), every AC symbol 8 bits (255 of 256).
    dc, ac = range(0, 15), [x for x in range(256) if x & 15 < 15 and (x & 15 or x in (0, 0xF0))]
    out += segment(0xC4, bytes([0, *([0] * 3), 15, *([0] * 12), *dc]))
    out += segment(0xC4, bytes([0x10, *([0] * 7), len(ac), *([0] * 8), *ac]))
    place = {symbol: code for code, symbol in enumerate(ac)}
    if restart:
        out += segment(0xDD, restart.to_bytes(2, "big"))
    h_max, v_max = max(h for h, _ in factors), max(v for _, v in factors)

    def coded(code, length, value):
        size = abs(value).bit_length()
        extra = value if value >= 0 else value + (1 << size) - 1
        return f"{code:0{length}b}" + (f"{extra:0{size}b}" if size else "")

    def block():
        top = 14 if wild and rng.random() < 0.3 else 9
        bits = coded(*(lambda v: (abs(v).bit_length(), 4, v))(int(rng.integers(-(1 << top) + 1, 1 << top) // 8)))
        k = 1
        for _ in range(int(rng.choice([0, 0, 1, 3, 10]))):
            run = int(rng.choice([0, 0, 1, 5, 7]))
            if rng.random() < 0.3:
                run = max(0, min(7, 63 - k))
            if k > 63 or k + run > 63:
                break
            value = int(rng.integers(1, 1 << int(rng.integers(1, top)))) * int(rng.choice([-1, 1]))
            bits += coded(place[run << 4 | abs(value).bit_length()], 8, value)
            k += run + 1
        return bits + (f"{place[0]:08b}" if k < 64 else "")

    def scan(parts):
        nonlocal out
        out += segment(0xDA, [len(parts), *itertools.chain(*([i + 1, 0] for i in parts)), 0, 63, 0])
        if len(parts) == 1:
            h, v = factors[parts[0]]
            across = -(-(-(-width * h // h_max)) // 8)
            units = across * -(-(-(-height * v // v_max)) // 8)
            per = 1
        else:
            units = -(-width // (8 * h_max)) * -(-height // (8 * v_max))
            per = sum(factors[i][0] * factors[i][1] for i in parts)
        step = restart or units
        for number, start in enumerate(range(0, units, step)):
            if number:
                out += bytes([0xFF, 0xD0 + (number - 1) % 8])
            bits = "".join(block() for _ in range(per * min(step, units - start)))
            bits += "1" * (-len(bits) % 8)
            out += int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\x00")

    if one_scan:
        scan(range(count))
    else:
        for part in rng.permutation(count):
            scan([int(part)])
    return out + b"\xff\xd9"


FACTORS = [
    [(1, 1)], [(2, 2)], [(1, 1)] * 3, [(2, 1), (1, 1), (1, 1)], [(2, 2), (1, 1), (1, 1)], [(1, 2), (1, 1), (1, 1)],
    [(4, 1), (1, 1), (1, 1)], [(4, 2), (1, 1), (1, 1)], [(1, 4), (1, 1), (1, 1)], [(2, 2), (2, 1), (1, 2)],
    [(2, 2), (1, 2), (1, 2)], [(2, 2), (2, 1), (2, 1)], [(3, 1), (1, 1), (1, 1)], [(1, 3), (1, 1), (1, 1)],
    [(1, 1), (2, 2), (2, 2)], [(4, 1), (2, 1), (1, 1)], [(1, 4), (1, 2), (1, 1)], [(2, 4), (1, 1), (1, 1)],
    [(1, 1)] * 4, [(2, 2), (1, 1), (1, 1), (2, 2)], [(2, 1), (1, 1), (1, 1), (2, 1)], [(2, 1), (2, 1), (2, 1)],
]


def generate(folder):
    """Writes the generated files and returns their names."""
    rng = np.random.default_rng(1)
    names = []

    def save(image, **options):
        name = os.path.join(folder, f"{len(names)}.jpg")
        image.save(name, "JPEG", **options)
        names.append(name)

    samplings = ["4:4:4", "4:2:2", "4:2:0"]
    for width, height in itertools.product(range(1, 65, 1), range(1, 65, 3)):
        image = photo(rng, width, height)
        sampling = samplings[len(names) % 3]
        progressive = len(names) % 5 < 2
        quality = int(rng.choice([1, 10, 50, 75, 90, 95, 100]))
        options = {"restart_marker_blocks": int(rng.integers(1, 9))} if len(names) % 4 == 0 else {}
        options |= {"optimize": bool(rng.integers(2))}
        save(image, quality=quality, subsampling=sampling, progressive=progressive, **options)
    for quality, sampling, progressive in itertools.product([1, 3, 30, 75, 92, 100], samplings, [False, True]):
        for mode in ["RGB", "L", "CMYK"]:
            image = photo(rng, int(rng.integers(65, 400)), int(rng.integers(65, 400))).convert(mode)
            save(image, quality=quality, subsampling=sampling, progressive=progressive)
            if mode == "RGB" and sampling == "4:4:4":
                save(image, quality=quality, progressive=progressive, keep_rgb=True)
    # Wild coefficients: a large quantisation table over data that was made with a small one.
    for quality in range(1, 101, 7):
        for sampling in ["4:4:4", "4:2:0"]:
            save(photo(rng, 120, 90), quality=quality, subsampling=sampling)
            with open(names[-1], "rb") as file:
                data = bytearray(file.read())
            at = data.find(b"\xff\xdb")
            while at >= 0:
                length = data[at + 2] << 8 | data[at + 3]
                data[at + 5 : at + 2 + length] = bytes(rng.integers(1, 256, length - 3, np.uint8))
                at = data.find(b"\xff\xdb", at + length)
            with open(names[-1], "wb") as file:
                file.write(data)
    for number in range(1500):
        size = (int(rng.integers(1, 70)), int(rng.integers(1, 70)))
        restart = int(rng.choice([0, 0, 1, 3, 8]))
        name = os.path.join(folder, f"{len(names)}.jpg")
        one_scan = number % 4 != 0
        with open(name, "wb") as file:
            file.write(synthetic(rng, size, FACTORS[number % len(FACTORS)], one_scan, restart, number % 3 == 0))
        names.append(name)
    return names


def main():
    program, *folders = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    bad = 0
    for folder in folders:
        paths = sorted(
            os.path.join(root, name) for root, _, files in os.walk(folder) for name in files
            if name.lower().endswith((".jpg", ".jpeg", ".png"))
        )
        counts = compare(program, paths)
        bad += counts["differ"]
        print(folder, {kind: count for kind, count in counts.items() if count})
    if "--only-folders" not in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            counts = compare(program, generate(folder))
            bad += counts["differ"] + counts["refused, libjpeg decodes"]
            print("generated", {kind: count for kind, count in counts.items() if count})
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
