#!/usr/bin/env python3
"""One plug on a GPU: what its framework is given there, against the same batches of the CPU device.

Prints one JSON object. `plugs.py` starts it once for each plug, since some frameworks take most of a GPU's memory for themselves.
"""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import kit

PHOTOS = kit.DATA / kit.PHOTOS
BATCH_SIZE = 8
EPOCHS = 2
CLASSES = 12
# Where the batches under test are made: in a dry run torch must not meet the simulated driver.
ON = sys.argv[2] if __name__ == "__main__" else "cuda:0"


def options(device, **more):
    """A Loader's options: on the GPU by feedline's decoder."""
    own = {} if device == "cpu" else {"decoder": "feedline"}
    import feedline

    transforms = [feedline.RandomResizedCrop(64), feedline.ColorJitter(0.4, 0.4, 0.4, 0.1), feedline.RandomHorizontalFlip()]
    return {"data": str(PHOTOS), "batch_size": BATCH_SIZE, "shuffle": True, "drop_last": True, "transforms": transforms,
            "num_workers": 2, "device": device, **own, **more}


def loader(device, **more):
    """A Loader of them."""
    import feedline

    return feedline.Loader(**options(device, **more))


def of_both(make):
    """What `make` gives for each device: the batches of two epochs, each as (image, label)."""
    return [[pair for _ in range(EPOCHS) for pair in made] for made in map(make, (ON, "cpu"))]


def torch_tensors():
    """Loader(framework="torch")."""
    def make(device):
        made = loader(device, framework="torch")
        return Epochs(lambda: ((batch["image"], batch["label"]) for batch in made))

    return of_both(make)


def cupy():
    """DLPack into CuPy, on a stream of its own."""
    import cupy
    import torch

    def make(device):
        made = loader(device)

        def pairs():
            for batch in made:
                image = batch["image"]
                if device != "cpu":
                    with cupy.cuda.Stream(non_blocking=True):
                        image = cupy.from_dlpack(image).copy()
                    cupy.cuda.get_current_stream().synchronize()
                    cupy.cuda.Device().synchronize()
                yield torch.from_dlpack(image), batch["label"].torch()
        return Epochs(pairs)

    return of_both(make)


def pinned():
    """Batches of the CPU device in page-locked memory, uploaded without waiting."""
    import torch

    if ON != "cpu":
        torch.zeros(1, device=ON)  # else torch says of no memory that it is page-locked

    def make(device):
        made = loader("cpu", framework="torch", pin_memory=True)

        def pairs():
            for batch in made:
                image = batch["image"]
                assert ON == "cpu" or image.is_pinned(), "the batch is not page-locked"
                yield (image.to(device, non_blocking=True) if device != "cpu" else image), batch["label"]
        return Epochs(pairs)

    return of_both(make)


class Epochs:
    """Iterates anew what a function gives."""

    def __init__(self, function):
        self.function = function

    def __iter__(self):
        return iter(self.function())


def timm():
    """timm's `create_loader`, in training and in evaluation."""
    import torch
    from timm.data import FastCollateMixup, create_dataset
    from feedline.plug.timm import create_loader

    def make(device):
        data = create_dataset("", root=str(PHOTOS), split="train", search_split=False)
        mixup = FastCollateMixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=CLASSES)
        parts = [
            create_loader(data, (3, 64, 64), BATCH_SIZE, is_training=True, auto_augment="rand-m9-mstd0.5-inc1", re_prob=0.25,
                          collate_fn=mixup, device=torch.device(device)),
            create_loader(data, (3, 64, 64), BATCH_SIZE, crop_pct=0.9, interpolation="bicubic", device=torch.device(device)),
        ]
        return Epochs(lambda: (pair for part in parts for pair in part))

    return of_both(make)


def torchvision():
    """The references' classification script."""
    from torchvision.datasets import ImageFolder
    from feedline.plug.torchvision import classification

    def make(device):
        args = SimpleNamespace(weights=None, test_only=False, mixup_alpha=0.2, cutmix_alpha=1.0, batch_size=BATCH_SIZE, workers=2,
                               device=device, distributed=False, train_crop_size=64, val_resize_size=72, val_crop_size=64,
                               interpolation="bilinear", auto_augment="ta_wide", random_erase=0.1, start_epoch=0)
        parts = classification(args, ImageFolder(PHOTOS), ImageFolder(PHOTOS))
        return Epochs(lambda: (pair for part in parts for pair in part))

    return of_both(make)


def lightning():
    """A Trainer on the GPU, which notes what its steps are given."""
    import torch
    from lightning.pytorch import LightningModule, Trainer
    from feedline.plug.lightning import DataModule

    class Model(LightningModule):
        """One layer."""

        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3 * 64 * 64, CLASSES)
            self.seen = []

        def training_step(self, batch, _):
            """Keeps the batch."""
            self.seen.append((batch["image"].clone(), batch["label"]))
            return torch.nn.functional.cross_entropy(self.layer(batch["image"].flatten(1)), batch["label"].to(self.device))

        def configure_optimizers(self):
            """Any."""
            return torch.optim.SGD(self.parameters(), 0.01)

    def seen(device):
        model = Model()
        trainer = Trainer(max_epochs=EPOCHS, accelerator="gpu" if device != "cpu" else "cpu", devices=1, logger=False,
                          enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False)
        wanted = "cuda" if device != "cpu" else "cpu"
        trainer.fit(model, DataModule(train={**options(device), "device": wanted}))
        return model.seen

    return [seen(device) for device in (ON, "cpu")]


def accelerate():
    """`prepare` of an Accelerator of the GPU."""
    from accelerate import Accelerator
    from feedline.plug.accelerate import prepare

    accelerator = Accelerator()
    assert accelerator.device.type == ON.partition(":")[0], f"accelerate has {accelerator.device}"
    made = prepare(accelerator, loader(ON), columns=("image", "label"))
    ours = [(batch["image"], batch["label"]) for _ in range(EPOCHS) for batch in made]
    plain = loader("cpu", framework="torch")
    return ours, [(batch["image"], batch["label"]) for _ in range(EPOCHS) for batch in plain]


def transformers():
    """Hugging Face's Trainer on the GPU."""
    import torch
    import transformers
    from feedline.plug.transformers import Trainer

    seen = []

    class Model(torch.nn.Module):
        """One layer."""

        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3 * 64 * 64, CLASSES)

        def forward(self, pixel_values, labels):
            """Keeps the batch."""
            seen.append((pixel_values.clone(), labels.clone()))
            logits = self.layer(pixel_values.flatten(1))
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    arguments = transformers.TrainingArguments(os.environ["PLUG_OUT"], num_train_epochs=EPOCHS, report_to=[], disable_tqdm=True,
                                               per_device_train_batch_size=BATCH_SIZE, logging_strategy="no",
                                               save_strategy="no")
    Trainer(model=Model(), args=arguments, train_dataset=loader(ON, framework="torch")).train()
    plain = loader("cpu", framework="torch")
    return seen, [(batch["image"], batch["label"]) for _ in range(EPOCHS) for batch in plain]


def jax():
    """Loader(framework="jax"), and global arrays of `feedline.plug.jax` on one device."""
    import jax
    import numpy
    import torch
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    from feedline.plug.jax import GlobalBatches

    mesh = Mesh(numpy.array(jax.devices()[:1]), ("data",))
    assert ON == "cpu" or jax.devices()[0].platform == "gpu", f"JAX has {jax.devices()}"
    as_torch = lambda array: torch.from_numpy(numpy.asarray(array).copy())  # noqa: E731
    made = loader(ON, framework="jax")
    ours = []
    for _ in range(EPOCHS):
        for batch in made:
            image = batch["image"]
            assert image.devices() == {jax.devices()[0]}, f"the image is on {image.devices()}"
            # A kernel of JAX's own reads it, and the batch is dropped while that runs.
            doubled = jax.jit(lambda value: value * 1)(image)
            del batch, image
            ours.append((as_torch(doubled), torch.zeros(1)))
    plain = loader("cpu", framework="torch")
    theirs = [(batch["image"], torch.zeros(1)) for _ in range(EPOCHS) for batch in plain]
    shared = GlobalBatches(loader("cpu"), NamedSharding(mesh, PartitionSpec("data")))
    ours += [(as_torch(batch["image"]), as_torch(batch["label"]).long()) for batch in shared]
    again = loader("cpu", framework="torch")
    return ours, theirs + [(batch["image"], batch["label"]) for batch in again], str(jax.devices()[0])


CHECKS = {check.__name__: check for check in
          (torch_tensors, pinned, cupy, timm, torchvision, lightning, accelerate, transformers, jax)}


def compared(name, ours, theirs, place=None):
    """How many values differ, and on which device they came, where that is not what torch says of them."""
    if len(ours) != len(theirs):
        raise RuntimeError(f"{len(ours)} batches, and {len(theirs)} on the CPU")
    values = different = 0
    for one, other in zip(ours, theirs):
        for mine, reference in zip(one, other):
            if tuple(mine.shape) != tuple(reference.shape) or mine.dtype != reference.dtype:
                raise RuntimeError(f"{tuple(mine.shape)} of {mine.dtype}, and {tuple(reference.shape)} of {reference.dtype}")
            values += reference.numel()
            different += int((mine.cpu() != reference).sum())
    return {"plug": name, "batches": len(ours), "values": values, "different": different, "images_on": place or str(ours[0][0].device)}


def main():
    """Prints what was found."""
    name = sys.argv[1]
    sys.path[:0] = [str(kit.SITE / "feedline")]
    print(json.dumps(compared(name, *CHECKS[name]())))


if __name__ == "__main__":
    main()
