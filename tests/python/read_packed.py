"""Other libraries read what `feedline pack` wrote: webdataset the tar shards, TensorFlow the TFRecord files.

    python tests/python/read_packed.py FEEDLINE [FOLDER]

FEEDLINE is the built command, FOLDER a data set of class directories. Every record must come once, with the bytes of its
file, its class and its key; and of a YOLO data set and a list with masks made of its files, with the objects, masks and captions
that were written into them. A library that is not installed is named, and its part is not checked.
"""

import glob
import importlib.util
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def files_of(folder):
    """Bytes, class and name of the class of each image, by its path in the folder."""
    classes = sorted(path.name for path in folder.iterdir() if path.is_dir())
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), number, name)
        for number, name in enumerate(classes)
        for path in sorted((folder / name).rglob("*"))
        if path.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp")
    }


def tar_samples(shards):
    """What webdataset reads; text, numbers and json are decoded by itself."""
    import webdataset

    return webdataset.WebDataset(shards, shardshuffle=False).decode()


def tfrecord_samples(shards):
    """What TensorFlow reads: the first value of each feature, by its name."""
    import tensorflow as tf

    for record in tf.data.TFRecordDataset(shards):
        features = tf.train.Example.FromString(record.numpy()).features.feature
        yield {name: getattr(feature, feature.WhichOneof("kind")).value[0] for name, feature in features.items()}


def of_tar(shards):
    """Key, image, class and its name."""
    for sample in tar_samples(shards):
        image = next(sample[ending] for ending in ("jpg", "png", "webp") if ending in sample)
        about = sample["json"]
        yield about["key"], (image, int(sample["cls"]), about["class"])


def of_tfrecord(shards):
    """The same."""
    for found in tfrecord_samples(shards):
        assert found["image/format"] in (b"jpeg", b"png", b"webp")
        image, key, name = (found[f"image/{what}"] for what in ("encoded", "filename", "class/text"))
        yield key.decode(), (image, found["image/class/label"], name.decode())


def objects_of_tar(shards):
    """Key, JSON, mask and caption."""
    for sample in tar_samples(shards):
        yield sample["json"], sample.get("seg.png"), sample.get("caption.txt"), sample.get("score.json")


def objects_of_tfrecord(shards):
    """The same."""
    for found in tfrecord_samples(shards):
        about = json.loads(found["image/objects"]) if "image/objects" in found else {"key": found["image/filename"].decode()}
        caption, score = found.get("caption"), found.get("score")
        mask = found.get("image/segmentation/class/encoded")
        yield about, mask, caption and caption.decode(), score and float(score)


def pack(program, form, data, *options):
    """The shards of a data set."""
    out = tempfile.mkdtemp()
    run = [program, "pack", "--data", str(data), "--out", out, "--format", form, "--shard-records", "17", *options]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    return sorted(glob.glob(f"{out}/*.{form}"))


def check_images(program, form, read, folder, want):
    """Classes and bytes."""
    shards = pack(program, form, folder)
    got = list(read(shards))
    assert len(got) == len(want), f"{form}: {len(got)} records of {len(want)}"
    for key, record in got:
        assert record == want[key], f"{form}: {key} is not what was packed"
    print(f"{form}: {len(got)} records in {len(shards)} shards, all equal")


def numbers(count, seed):
    """Fractions that 32-bit floats have exactly."""
    for step in range(count):
        seed = (seed * 1103515245 + 12345) % 2**31
        yield (1 + (seed >> 8) % 1000) / 2048 + step / 65536


def yolo(folder, want):
    """A YOLO data set of boxes and polygons; the objects of each image."""
    said = {}
    for number, (image, _, _) in enumerate(want.values()):
        name = f"{number:03}"
        for path in ("images", "labels"):
            (folder / path).mkdir(exist_ok=True)
        (folder / "images" / f"{name}.jpg").write_bytes(image)
        lines, objects = [], []
        for part in range(number % 3):
            if part == 0:
                x, y, w, h = 0.5, 0.5, *numbers(2, number)
                lines.append(f"1 {x} {y} {w} {h}")
                objects.append((1, [x - w / 2, y - h / 2, x + w / 2, y + h / 2], None))
            else:
                points = list(numbers(6, number + 7))
                points[5] = points[1] + 0.25
                lines.append("0 " + " ".join(map(str, points)))
                pairs = [points[0:2], points[2:4], points[4:6]]
                xs, ys = points[0::2], points[1::2]
                objects.append((0, [min(xs), min(ys), max(xs), max(ys)], [pairs]))
        (folder / "labels" / f"{name}.txt").write_text("\n".join(lines))
        said[f"images/{name}.jpg"] = objects
    (folder / "data.yaml").write_text("path: .\ntrain: images\nnames: [cup, cat]\n")
    return said


def as_float(value):
    """All numbers in it as the 32-bit floats that they stand for."""
    if isinstance(value, list):
        return [as_float(part) for part in value]
    return value and struct.unpack("f", struct.pack("f", value))[0]


def check_objects(program, form, read, want):
    """Objects of YOLO labels, as they were written."""
    with tempfile.TemporaryDirectory() as data:
        said = yolo(pathlib.Path(data), want)
        count = 0
        for about, _, _, _ in read(pack(program, form, pathlib.Path(data) / "data.yaml")):
            objects = next(said[key] for key in said if about["key"].endswith(key))
            assert about["unit"] == "normalized"
            got = [(o["label"], as_float(o["box"]), as_float(o.get("polygons"))) for o in about["objects"]]
            assert got == objects, f"{form}: {about['key']}: {got} is not {objects}"
            assert all(o["class"] == ["cup", "cat"][o["label"]] for o in about["objects"])
            count += len(objects)
        print(f"{form}: {count} objects of {len(said)} YOLO labels, all equal")


def mask_png(width, height, level):
    """A grey PNG of one level."""
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress((b"\0" + bytes([level]) * width) * height)),
        (b"IEND", b""),
    ]
    parts = [struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def check_fields(program, form, read, folder, want):
    """Captions and scores of a list, and masks."""
    with tempfile.TemporaryDirectory() as data:
        data = pathlib.Path(data)
        shutil.copytree(folder, data / "images")
        rows, masks = {}, {}
        for number, key in enumerate(want):
            rows[f"images/{key}"] = (f'the "{number}th" caption, \u00e4', number / 3)
            mask = (data / "masks" / key).with_suffix(".png")
            mask.parent.mkdir(parents=True, exist_ok=True)
            masks[f"images/{key}"] = mask_png(5, 4, number)
            mask.write_bytes(masks[f"images/{key}"])
        quoted = ((key, caption.replace('"', '""'), score) for key, (caption, score) in rows.items())
        text = "".join(f'{key},"{caption}",{score!r}\n' for key, caption, score in quoted)
        (data / "list.csv").write_text("path,caption,score\n" + text, encoding="utf-8")
        fields = 'caption = "text", score = "float"'
        shards = pack(program, form, data / "list.csv", "--fields", fields, "--mask-dir", str(data / "masks"))
        got = {about["key"]: (mask, caption, score) for about, mask, caption, score in read(shards)}
        for key, (caption, score) in rows.items():
            mask, *values = next(got[name] for name in got if name.endswith(key))
            assert mask == masks[key], f"{form}: the mask of {key} is not what was packed"
            assert values == [caption, score], f"{form}: {key}: {values} is not {[caption, score]}"
        print(f"{form}: {len(got)} masks, captions and scores, all equal")


def main():
    """Packs in both formats and compares."""
    program = str(pathlib.Path(sys.argv[1]).resolve())
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "data/photos")
    want = files_of(folder)
    assert want, f"no image in {folder}"
    readers = [("tar", "webdataset", of_tar, objects_of_tar), ("tfrecord", "tensorflow", of_tfrecord, objects_of_tfrecord)]
    for form, library, images, objects in readers:
        if importlib.util.find_spec(library) is None:
            print(f"NOT CHECKED: {library} is not installed, so nothing was read from {form} shards", file=sys.stderr)
            continue
        check_images(program, form, images, folder, want)
        check_objects(program, form, objects, want)
        check_fields(program, form, objects, folder, want)


if __name__ == "__main__":
    main()
