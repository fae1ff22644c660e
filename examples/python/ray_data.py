"""Feeds Ray, in its two ways: a loader in each worker of Ray Train, and feedline as a step of Ray Data.

    pip install "ray[data]" && python examples/python/ray_data.py

For training the first way is the better one: the ranks share the files by arithmetic, and pixels never leave the process
that trains. The second serves pipelines that are Ray Data's anyway, whose rows hold compressed bytes.
"""

import pathlib
import zlib

import numpy as np
import ray

import feedline

PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "data" / "photos"
RANKS = 2


@ray.remote(num_cpus=1)
def train(rank):
    """What a worker does; in Ray Train the two numbers come from ray.train.get_context()."""
    loader = feedline.Loader(
        PHOTOS, 8, shuffle=True, rank=rank, world_size=RANKS, num_workers=1, transforms=[feedline.RandomResizedCrop(32)]
    )
    steps, seen = 0, []
    for batch in loader:
        steps += 1
        rows = zip(batch["index"].numpy(), batch["status"])
        seen += [int(index) for index, status in rows if status == "ok"]
    return steps, seen


class Augment:
    """A step of map_batches: compressed bytes in, pixels out. Each block has dice of its own, made of its names."""

    def __call__(self, rows):
        seed = zlib.crc32("".join(rows["key"]).encode())
        records = list(zip(rows["key"], rows["bytes"], map(int, rows["label"])))
        with feedline.Loader(
            records,
            len(records),
            seed=seed,
            num_workers=1,
            transforms=[feedline.RandomResizedCrop(32), feedline.RandomHorizontalFlip()],
            dtype="uint8",
            framework="numpy",
        ) as loader:
            (batch,) = loader
        return {"image": batch["image"], "label": batch["label"], "key": np.array(batch["key"])}


def main():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    steps, shown = zip(*ray.get([train.remote(rank) for rank in range(RANKS)]))
    seen, files = sorted(sum(shown, [])), sorted(PHOTOS.glob("*/*.jpg"))
    assert seen == list(range(len(files))), seen
    assert len(set(steps)) == 1, steps
    print(f"{RANKS} ranks made {steps[0]} steps each, and showed each of {len(seen)} samples once")

    rows = [{"key": str(file), "bytes": file.read_bytes(), "label": len(file.parent.name)} for file in files]
    batches = ray.data.from_items(rows).map_batches(Augment, batch_size=16, concurrency=1)
    samples = batches.take_all()
    assert sorted(sample["key"] for sample in samples) == sorted(map(str, files))
    assert all(sample["image"].shape == (3, 32, 32) for sample in samples)
    print(f"Ray Data made {len(samples)} samples of shape {samples[0]['image'].shape}")
    ray.shutdown()


if __name__ == "__main__":
    main()
