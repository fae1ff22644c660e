"""Writes one set of twenty images in every format that feedline reads, each with that format's own writer.

    python tests/python/write_formats.py OUT

OUT is made. `OUT/folder` holds the images as files, a directory for each class; the others hold the same bytes in the
same order. `FEEDLINE_WRITTEN=OUT cargo test --test source -- --ignored other_writers` then compares what is read from
them with the folder.
"""

import csv
import io
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import datasets
import lmdb
import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import tensorflow as tf
import webdataset as wds
from PIL import Image

CLASSES = ["cat", "dog", "hot dog"]
ENDINGS = [("jpg", "JPEG"), ("png", "PNG"), ("webp", "WEBP")]


def images():
    """Class, name and bytes of twenty images, in the order of their paths."""
    random = np.random.default_rng(1)
    for number in range(20):
        ending, kind = ENDINGS[number % 3]
        side = 8 + 16 * number
        pixels = random.integers(0, 256, (side, side + 5, 3), np.uint8)
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, kind)
        yield number * 3 // 20, f"{number:02}.{ending}", file.getvalue()


def make(*parts):
    path = os.path.join(*parts)
    os.makedirs(path, exist_ok=True)
    return path


def write_folder(out, records):
    for label, name, data in records:
        with open(os.path.join(make(out, "folder", CLASSES[label]), name), "wb") as file:
            file.write(data)


def write_webdataset(out, records):
    pattern = os.path.join(make(out, "webdataset"), "train-%06d.tar")
    with wds.ShardWriter(pattern, maxcount=7, verbose=0) as writer:
        for label, name, data in records:
            stem, ending = name.split(".")
            writer.write({"__key__": f"{CLASSES[label]}/{stem}", ending: data, "cls": label, "json": {"n": name}})


def write_tensorflow(out, records):
    folder = make(out, "tensorflow")

    def feature(value):
        if isinstance(value, int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    for shard in range(2):
        path = os.path.join(folder, f"train-{shard:05}-of-00002")
        with tf.io.TFRecordWriter(path) as writer:
            for label, name, data in records[shard * 11 : shard * 11 + 11 if shard == 0 else None]:
                features = {
                    "image/encoded": feature(data),
                    "image/class/label": feature(label),
                    "image/class/text": feature(CLASSES[label].encode()),
                    "image/filename": feature(name.encode()),
                    "image/height": feature(7),
                    "image/colorspace": feature(b"RGB"),
                }
                writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())


def write_lmdb(out, records):
    for path, subdir in [(make(out, "lmdb"), True), (os.path.join(out, "images.lmdb"), False)]:
        with lmdb.open(path, map_size=1 << 28, subdir=subdir) as environment:
            with environment.begin(write=True) as transaction:
                for label, name, data in reversed(records):
                    transaction.put(f"{CLASSES[label]}/{name}".encode(), data)
                transaction.put(b"__len__", str(len(records)).encode())


def write_pyarrow(out, records):
    folder = make(out, "pyarrow")
    table = pa.table({
        "label": [CLASSES[label] for label, _, _ in records],
        "size": [len(data) for _, _, data in records],
        "image": pa.array([data for _, _, data in records], pa.binary()),
    })
    for rows, compression in enumerate(["snappy", "zstd", "gzip", "lz4", "none", "brotli"], 3):
        path = os.path.join(folder, f"{compression}.parquet")
        pq.write_table(table, path, compression=compression, row_group_size=rows, write_page_index=rows % 2 == 0)


def write_datasets(out, records):
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=CLASSES)})
    rows = {
        "image": [{"bytes": data, "path": name} for _, name, data in records],
        "label": [label for label, _, _ in records],
    }
    folder = make(out, "hub", "data")
    train = datasets.Dataset.from_dict(rows, features=features)
    for shard in range(2):
        part = train.shard(2, shard, contiguous=True)
        part.to_parquet(os.path.join(folder, f"train-{shard:05}-of-00002.parquet"))
    train.select(range(3)).to_parquet(os.path.join(folder, "test-00000-of-00001.parquet"))


def write_lists(out, records):
    folder = make(out, "lists")
    rows = [(f"{CLASSES[label]}/{name}", CLASSES[label]) for label, name, _ in records]
    for name, dialect in [("list.csv", "excel"), ("list.tsv", "excel-tab")]:
        with open(os.path.join(folder, name), "w", newline="") as file:
            csv.writer(file, dialect).writerows(rows)
    with open(os.path.join(folder, "list.jsonl"), "w") as file:
        file.writelines(json.dumps({"file_name": path, "label": label}) + "\n" for path, label in rows)
    pandas.DataFrame(rows, columns=["path", "label"]).to_csv(os.path.join(folder, "pandas.csv"))


def main():
    out = sys.argv[1]
    records = list(images())
    write = [write_folder, write_webdataset, write_tensorflow, write_lmdb, write_pyarrow, write_datasets, write_lists]
    for step in write:
        step(out, records)
    print(f"{len(records)} images in {len(write)} ways below {out}")


main()
