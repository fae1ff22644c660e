"""Other libraries read what `feedline pack` wrote: webdataset the tar shards, TensorFlow the TFRecord files.

    python tests/python/read_packed.py FEEDLINE [FOLDER]

FEEDLINE is the built command, FOLDER a data set of class directories. Every record must come once, with the bytes of its
file, its class and its key.
"""

import glob
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
import webdataset


def files_of(folder):
    """Bytes, class and name of the class of each image, by its path in the folder."""
    classes = sorted(path.name for path in folder.iterdir() if path.is_dir())
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), number, name)
        for number, name in enumerate(classes)
        for path in sorted((folder / name).rglob("*"))
        if path.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp")
    }


def of_tar(shards):
    """What webdataset reads, undecoded apart from json."""
    dataset = webdataset.WebDataset(shards, shardshuffle=False).decode(webdataset.handle_extension(".json", read_json))
    for sample in dataset:
        image = next(sample[ending] for ending in ("jpg", "png", "webp") if ending in sample)
        about = sample["json"]
        yield about["key"], (image, int(sample["cls"]), about["class"])


def read_json(data):
    """JSON, whatever webdataset's own decoder would make of it."""
    import json
    return json.loads(data)


def of_tfrecord(shards):
    """What TensorFlow reads."""
    text = tf.io.FixedLenFeature([], tf.string)
    features = {
        "image/encoded": text, "image/filename": text, "image/format": text, "image/class/text": text,
        "image/class/label": tf.io.FixedLenFeature([], tf.int64),
    }
    for record in tf.data.TFRecordDataset(shards):
        found = tf.io.parse_single_example(record, features)
        image, key, name = (found[f"image/{what}"].numpy() for what in ("encoded", "filename", "class/text"))
        assert found["image/format"].numpy() in (b"jpeg", b"png", b"webp")
        yield key.decode(), (image, int(found["image/class/label"]), name.decode())


def main():
    """Packs in both formats and compares."""
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "data/photos")
    want = files_of(folder)
    assert want, f"no image in {folder}"
    for form, read in (("tar", of_tar), ("tfrecord", of_tfrecord)):
        with tempfile.TemporaryDirectory() as out:
            pack = [program, "pack", "--data", folder, "--out", out, "--format", form, "--shard-records", "17"]
            subprocess.run(pack, check=True, stdout=subprocess.DEVNULL)
            shards = sorted(glob.glob(f"{out}/*.{form}"))
            got = list(read(shards))
            assert len(got) == len(want), f"{form}: {len(got)} records of {len(want)}"
            for key, record in got:
                assert record == want[key], f"{form}: {key} is not what was packed"
            print(f"{form}: {len(got)} records in {len(shards)} shards, all equal")


if __name__ == "__main__":
    main()
