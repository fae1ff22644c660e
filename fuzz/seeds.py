#!/usr/bin/env python3
"""Writes what the targets `image`, `lmdb`, `rasters`, `tar`, `tfrecord` and, with the program, `coefficients` and `expand` start from. Needs
Pillow and lmdb.

    python fuzz/seeds.py fuzz/seeds [target/release/feedline]
"""

import gzip
import io
import subprocess
import sys
import tarfile
import tempfile
import zlib
from pathlib import Path

import lmdb
from PIL import Image

# Two bytes choose the region that the target `image` compares.
REGION = b"\x11\x02"
# A second part, and the region that the target `expand` decodes.
PARTS = b"\x04\x03\x05\xff\x40"
TINY_PNG_SIDE = 5


def picture(mode, width=13, height=11):
    """A small image that is neither flat nor noise."""
    image = Image.new("RGBA", (width, height))
    image.putdata([(x * 19 % 256, y * 23 % 256, (x * y) % 256, 255 - 9 * x) for y in range(height) for x in range(width)])
    return image if mode == "RGBA" else image.convert("RGB").convert(mode)


def encoded(image, **options):
    """The bytes of an image file."""
    file = io.BytesIO()
    image.save(file, **options)
    return file.getvalue()


def images():
    """PNG, WebP and PNM files of every kind that Pillow writes, and PNM of other levels."""
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        image = picture("L").convert("I").convert("I;16") if mode == "I;16" else picture("RGB").convert(mode)
        yield f"png_{mode.replace(';', '_')}", encoded(image, format="PNG")
    yield "png_palette_of_4", encoded(picture("RGB").quantize(4), format="PNG")
    yield "png_interlaced", interlaced()
    turned = Image.Exif()
    turned[0x0112] = 6
    yield "png_turned", encoded(picture("RGB"), format="PNG", exif=turned)
    yield "webp_turned", encoded(picture("RGB"), format="WEBP", exif=turned)
    yield "png_animated", encoded(picture("RGB"), format="PNG", save_all=True, append_images=[picture("RGB").rotate(180)])
    yield "webp_lossless", encoded(picture("RGB"), format="WEBP", lossless=True)
    yield "webp_lossy", encoded(picture("RGB"), format="WEBP")
    yield "webp_alpha", encoded(picture("RGBA"), format="WEBP")
    yield "webp_animated", encoded(picture("RGB"), format="WEBP", save_all=True,
                                   append_images=[picture("RGB").rotate(180)])
    for mode in ("L", "RGB", "I;16"):
        image = picture("L").convert("I").convert("I;16") if mode == "I;16" else picture("RGB").convert(mode)
        yield f"pnm_{mode.replace(';', '_')}", encoded(image, format="PPM")
    yield "pnm_of_100", b"P5 # a comment\n13 11\n100\n" + picture("L").tobytes()
    yield "pnm_of_1000", b"P6\n13 11\n1000\n" + bytes(2 * at % 256 for at in range(13 * 11 * 6))


def interlaced():
    """A grey PNG in the seven passes of Adam7, which Pillow reads and does not write."""
    width, height = 13, 11
    pixels, lines = picture("L", width, height).load(), b""
    for x, y, across, down in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
        lines += b"".join(b"\0" + bytes(pixels[column, row] for column in range(x, width, across))
                          for row in range(y, height, down))

    def chunk(name, body):
        return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 0, 0, 0, 1])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def coefficients(program):
    """Files of coefficients: of every number of components, of one group and of many, with values of every width."""
    kinds = {"grey": ("L", {}), "full": ("RGB", {"subsampling": 0}), "wide": ("RGB", {"subsampling": 1}),
             "quarter": ("RGB", {"subsampling": 2}), "inks": ("CMYK", {})}
    for name, (mode, options) in kinds.items():
        for size, quality in (((13, 11), 90), ((290, 20), 25), ((40, 130), 100)):
            for profile in ("small", "fast"):
                with tempfile.TemporaryDirectory() as folder:
                    jpeg, out = Path(folder, "a.jpg"), Path(folder, "a.fjc")
                    picture("RGB", *size).convert(mode).save(jpeg, quality=quality, **options)
                    subprocess.run([program, "convert", "--profile", profile, jpeg, out], check=True, stdout=subprocess.DEVNULL)
                    yield f"{name}_{size[0]}_{profile}", out.read_bytes()


def environments():
    """LMDB environments: one page of keys, a tree of two levels, named databases, a value in pages of its own."""
    png = encoded(picture("L", TINY_PNG_SIDE, TINY_PNG_SIDE), format="PNG")
    contents = {
        "flat": [(b"cat/1.png", png), (b"dog/2.png", png), (b"__len__", b"2")],
        "deep": [(b"cat/%03d/%s" % (number, b"x" * 400), png) for number in range(12)],
        "big": [(b"cat/1.png", png + bytes(5000))],
    }
    for name, entries in contents.items():
        yield name, environment(None, entries)
    yield "named", environment(b"images", contents["flat"])


def environment(database, entries):
    """The file of an environment with these entries."""
    with tempfile.TemporaryDirectory() as folder:
        with lmdb.open(folder, max_dbs=2) as env:
            opened = env.open_db(database) if database else None
            with env.begin(write=True, db=opened) as transaction:
                for key, value in entries:
                    transaction.put(key, value)
        return Path(folder, "data.mdb").read_bytes()


def rasters():
    """idx files of images, packed and not, and an image of CIFAR-10 and of CIFAR-100."""
    levels = picture("L", 4, 3).tobytes() * 3
    images = b"\0\0\x08\x03" + b"".join(edge.to_bytes(4, "big") for edge in (3, 3, 4)) + levels
    yield "idx", images
    yield "idx_packed", gzip.compress(images, mtime=0)
    yield "idx_of_16_bits", b"\0\0\x0b" + images[3:] + levels
    yield "cifar_10", b"\x03" + bytes(at * 7 % 251 for at in range(3072))
    yield "cifar_100", b"\x03\x2a" + bytes(3072)


def archives():
    """Tar files of each of the three formats, with names that need the longer headers, and a table."""
    for name, kind in (("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT)):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w", format=kind) as archive:
            long = "n" * 110 if kind != tarfile.USTAR_FORMAT else "n" * 60
            for path, content in (("a/1.jpg", b"\xff\xd8 a jpeg"), ("a/1.cls", b"3"), (f"{long}/2.PNG", b"a png"),
                                  (f"{long}/2.json", b"{}"), ("./3.webp", b"")):
                member = tarfile.TarInfo(path)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
            length = file.tell()
        # Two blocks of zeros end an archive; what follows them fills up a tape's record.
        yield name, b"\0" + file.getvalue()[:length + 1024]
    yield "table", b"\x012\n0\t512\t3\tn01/a.jpg\n1024\t1000\t-1\ttwo\\nlines.png\n"


def field(number, content):
    """A field of a protocol buffer that has a length."""
    length, head = len(content), bytearray([number << 3 | 2])
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    return bytes(head) + bytes([length]) + content


def example(**features):
    """A tf.train.Example: bytes, or a list of numbers below 128."""
    def feature(value):
        return field(1, field(1, value)) if isinstance(value, bytes) else field(3, field(1, bytes(value)))
    entries = [field(1, name.replace("__", "/").encode()) + field(2, feature(value)) for name, value in features.items()]
    return field(1, b"".join(field(1, entry) for entry in entries))


def records():
    """Records, which the target frames, and a whole file."""
    png = encoded(picture("L", TINY_PNG_SIDE, TINY_PNG_SIDE), format="PNG")
    data = [
        example(image__encoded=png, image__class__label=[3], image__class__text=b"cat", image__filename=b"1.png"),
        example(image__format=b"png", image__class__text=b"dog", image__encoded=png),
        example(image__encoded=png, image__class__label=[4]),
    ]
    yield "framed_by_the_target", b"\x01" + b"".join(len(one).to_bytes(2, "little") + one for one in data)
    yield "whole", b"\0" + frame(data[2])


def checksum(content):
    """CRC-32C, as TFRecord files store it."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF).to_bytes(4, "little")


def frame(content):
    """A record of a TFRecord file."""
    length = len(content).to_bytes(8, "little")
    return length + checksum(length) + content + checksum(content)


def main():
    """Writes all of them."""
    seeds = {
        "image": ((name, REGION + file) for name, file in images()),
        "lmdb": environments(),
        "rasters": rasters(),
        "tar": archives(),
        "tfrecord": records(),
    }
    if len(sys.argv) > 2:
        files = list(coefficients(sys.argv[2]))
        seeds["coefficients"] = ((name, REGION + file) for name, file in files)
        # A device does not take four components.
        seeds["expand"] = ((name, PARTS + file) for name, file in files if not name.startswith("inks"))
    for target, files in seeds.items():
        folder = Path(sys.argv[1], target)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files:
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
