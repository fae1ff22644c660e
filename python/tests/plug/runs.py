"""What the tests of plugs share: Loaders of small images, the batches that torch's DataLoader makes, and runs in processes."""

import os
import subprocess
import sys

from conftest import PHOTOS

import feedline


def training(**options):
    """A Loader of training batches: 6 an epoch, the last one of 3."""
    options = {"batch_size": 8, "shuffle": True, "framework": "torch", **options}
    return feedline.Loader(PHOTOS, transforms=[feedline.RandomResizedCrop(16)], **options)


def evaluation(**options):
    """A Loader of evaluation batches, which `stock_evaluation` makes as well."""
    options = {"batch_size": 8, "framework": "torch", **options}
    transforms = [feedline.Resize(40), feedline.CenterCrop(32)]
    return feedline.Loader(PHOTOS, transforms=transforms, **options)


def stock_evaluation():
    """A DataLoader of the same batches, with torchvision's decoder and transforms."""
    import torch
    from torch.utils.data import DataLoader
    from torchvision.datasets import ImageFolder
    from torchvision.io import ImageReadMode, decode_image
    from torchvision.transforms import v2

    transform = v2.Compose([v2.Resize(40), v2.CenterCrop(32), v2.ToDtype(torch.float32, scale=True)])
    dataset = ImageFolder(
        PHOTOS, transform, loader=lambda path: decode_image(path, ImageReadMode.RGB, apply_exif_orientation=True)
    )
    return DataLoader(dataset, batch_size=8)


def same_bits(batches, pairs):
    """Whether batches, as dicts with `image` and `label`, and pairs of them hold the same bits."""
    import torch

    batches, pairs = list(batches), list(pairs)
    return len(batches) == len(pairs) and all(
        torch.equal(batch["image"], image) and torch.equal(batch["label"], label)
        for batch, (image, label) in zip(batches, pairs)
    )


def indices(batches):
    """Which samples the batches hold."""
    return [batch["index"].tolist() for batch in batches]


def run(code, folder, *arguments, ranks=None, **environment):
    """Runs Python in a process of its own, or in `ranks` of them under torchrun, and returns what it prints."""
    script = folder / "script.py"
    script.write_text(code)
    command = [sys.executable, script, *map(str, arguments)]
    if ranks:
        command[1:1] = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    here = os.path.dirname(__file__)
    paths = os.pathsep.join([here, os.path.dirname(here), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout
