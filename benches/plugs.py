#!/usr/bin/env python3
"""Images per second of a trainer's own training loader and of feedline's in its place, by turns on the same machine.

    .ci/full "plug tests" "plug torchvision"      # makes target/ci/plugs and fetches the scripts
    target/ci/plugs/bin/python benches/plugs.py classification --photos imagenet --upstream target/ci/upstream

What is measured: classification, detection and segmentation of torchvision's references, timm, and of Ultralytics detect
and classify. `--photos` is a folder of JPEGs, of which data sets are made as the plugs' tests make them; `--copies` makes
epochs longer. Prints one line of a table: medians of the rounds, least and greatest, and the CPU seconds of all processes
together for 1000 images.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time
import warnings

import psutil

ROOT = pathlib.Path(__file__).resolve().parents[1]
SETS = {"classification": "classes", "timm": "classes", "classify": "classes", "detection": "coco", "segmentation": "voc"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["classification", "detection", "segmentation", "timm", "detect", "classify"])
    parser.add_argument("--photos", required=True)
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--upstream", type=pathlib.Path, help="the folder with torchvision's repository, vision")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--size", type=int, default=224, help="of a sample, where the script has no size of its own")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ |= {"YOLO_OFFLINE": "1", "YOLO_VERBOSE": "False"}
    sys.path.insert(0, str(ROOT / "python" / "tests" / "plug"))
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("YOLO_CONFIG_DIR", folder)
        sets = pathlib.Path(folder)
        write_set(sets, args)
        stock, ours = LOADERS[args.what](sets, args)
        rounds = [[epoch(loader) for loader in (stock, ours)] for _ in range(args.rounds)]
        shown = []
        for rates in zip(*rounds):
            speeds, costs = zip(*rates)
            shown.append(f"{statistics.median(speeds):.0f} [{min(speeds):.0f}..{max(speeds):.0f}]")
            shown.append(f"{statistics.median(costs):.1f}")
        print(f"| {args.what} | {' | '.join(shown)} |")


def write_set(sets, args):
    import data_sets

    source = pathlib.Path(args.photos)
    photos = sorted(path for path in source.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    name = SETS.get(args.what, args.what)
    if name == "classes":
        for copy in range(args.copies):
            data_sets.classes(sets / name, photos, source, f"{copy}-")
    elif name == "detect":
        data_sets.yolo(sets / name, name, photos * args.copies)
    else:
        getattr(data_sets, name)(sets / name, photos * args.copies)


def epoch(loader):
    """Of one epoch, from its start to its last batch: images per second, and CPU seconds for 1000 images."""
    began, cpu, images = time.perf_counter(), cpu_seconds(), 0
    for batch in loader:
        pixels = batch["img"] if isinstance(batch, dict) else batch[0]
        images += len(pixels)
    return images / (time.perf_counter() - began), (cpu_seconds() - cpu) / images * 1000


def cpu_seconds():
    """Of this process and of its workers, those included that have ended."""
    own = psutil.Process()
    ended = own.cpu_times()
    processes = [own, *own.children(recursive=True)]
    used = sum(times.user + times.system for times in (each.cpu_times() for each in processes))
    return used + ended.children_user + ended.children_system


def reference(part, sets, args):
    """A script of torchvision's references: its own loader as the script makes it, and the plug's."""
    import torch
    from feedline.plug import torchvision as plug

    sys.path.insert(0, str(args.upstream / "vision" / "references" / part))
    import train

    flags = train.get_args_parser().parse_args([])
    flags.device, flags.batch_size, flags.workers, flags.distributed = "cpu", args.batch_size, args.workers, False
    if part == "classification":
        flags.train_crop_size = args.size
        data = sets / "classes"
        dataset, dataset_test, sampler, _ = train.load_data(str(data / "train"), str(data / "val"), flags)
        options = {"pin_memory": False}
    else:
        flags.data_path = str(sets / ("coco" if part == "detection" else "voc"))
        flags.dataset = {"detection": "coco", "segmentation": "voc"}[part]
        get = train.get_dataset
        made = [get(is_train=is_train, args=flags)[0] for is_train in (True, False)]
        (dataset, dataset_test), sampler = made, torch.utils.data.RandomSampler(made[0])
        options = {"collate_fn": train.utils.collate_fn, "drop_last": True}
    stock = torch.utils.data.DataLoader(
        dataset, batch_size=args.batch_size, sampler=sampler, num_workers=args.workers, **options
    )
    return stock, getattr(plug, part)(flags, dataset, dataset_test)[0]


def timm(sets, args):
    import torch
    from feedline.plug import timm as plug
    from timm.data import create_dataset, create_loader

    options = {
        "input_size": (3, args.size, args.size), "batch_size": args.batch_size, "is_training": True,
        "interpolation": "random", "num_workers": args.workers, "device": torch.device("cpu"),
    }  # fmt: skip
    return [
        make(create_dataset("", root=str(sets / "classes"), split="train"), **options)
        for make in (create_loader, plug.create_loader)
    ]


def ultralytics(task, sets, args):
    import torch
    from feedline.plug import ultralytics as plug
    from ultralytics.models import yolo

    name = {"detect": "DetectionTrainer", "classify": "ClassificationTrainer"}[task]
    data = sets / "classes" if task == "classify" else sets / task / "data.yaml"
    overrides = {
        "model": "yolo11n.yaml", "data": str(data), "imgsz": args.size, "batch": args.batch_size, "workers": args.workers,
        "device": "cpu", "project": str(sets / "runs"), "plots": False, "epochs": 100,
    }  # fmt: skip
    loaders = []
    for maker in (getattr(getattr(yolo, task), name), getattr(plug, name)):
        trainer = maker(overrides=overrides)
        trainer.epoch, trainer.model = 0, torch.nn.Identity()
        trainer.model.stride, trainer.model.names = torch.tensor([32.0]), trainer.data["names"]
        loaders.append(trainer.get_dataloader(str(trainer.data["train"]), args.batch_size, -1, "train"))
    return loaders


LOADERS = {
    "classification": lambda sets, args: reference("classification", sets, args),
    "detection": lambda sets, args: reference("detection", sets, args),
    "segmentation": lambda sets, args: reference("segmentation", sets, args),
    "timm": timm,
    "detect": lambda sets, args: ultralytics("detect", sets, args),
    "classify": lambda sets, args: ultralytics("classify", sets, args),
}


if __name__ == "__main__":
    main()
