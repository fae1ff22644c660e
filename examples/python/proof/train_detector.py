"""Trains a YOLO of Ultralytics from random weights, fed by its own loader or by feedline, and prints what it learned.

    python examples/python/proof/train_detector.py --data out/proof/objects/data.yaml --loader ultralytics --seed 0
    python examples/python/proof/train_detector.py --data out/proof/objects/data.yaml --loader feedline --seed 0

Everything but the loader of the training batches is Ultralytics' own, validation included. The last line is JSON: mean
average precisions on the validation set and mean losses of training after each epoch, and for each epoch the seconds of
training, the CPU seconds of all processes and the seconds in which the loop waited for its loader.
"""

import argparse
import json
import os
import pathlib
import tempfile

os.environ.setdefault("YOLO_OFFLINE", "1")  # nothing is fetched, and nothing is reported

import cv2  # noqa: E402
from feedline.plug import ultralytics as plug  # noqa: E402
from measure import Epochs, Waited, machine  # noqa: E402
from ultralytics import YOLO  # noqa: E402
from ultralytics.models.yolo.detect import DetectionTrainer  # noqa: E402
from ultralytics.utils import LOGGER  # noqa: E402


class Stock(DetectionTrainer):
    """Ultralytics' trainer, whose waits for training batches are noted."""

    def get_dataloader(self, dataset_path, batch_size=16, rank=0, mode="train"):
        loader = super().get_dataloader(dataset_path, batch_size, rank, mode)
        return Waited(loader) if mode == "train" else loader


class Feedline(plug.DetectionTrainer):
    """The same with feedline's training batches. The validation batches are Ultralytics' own, so that both are judged alike."""

    def get_dataloader(self, dataset_path, batch_size=16, rank=0, mode="train"):
        if mode != "train":
            return DetectionTrainer.get_dataloader(self, dataset_path, batch_size, rank, mode)
        return Waited(super().get_dataloader(dataset_path, batch_size, rank, mode))


TRAINERS = {"ultralytics": Stock, "feedline": Feedline}
FIGURES = {"map50": "metrics/mAP50(B)", "map50_95": "metrics/mAP50-95(B)"}


def main():
    args = arguments()
    LOGGER.setLevel("WARNING")
    # First: what is missing ends it before it has learned anything.
    found = {**machine(["ultralytics", "torch", "feedline"], args.device), "opencv": cv2.__version__}
    epochs, learned = Epochs(), {"map50": [], "map50_95": [], "loss": []}

    def ended(trainer):
        epochs.end(trainer.train_loader)
        losses = trainer.label_loss_items(trainer.tloss, prefix="train")
        learned["loss"].append({name.removeprefix("train/"): round(float(loss), 4) for name, loss in losses.items()})

    def validated(trainer):
        if len(learned["map50"]) == len(learned["loss"]):
            return  # the best weights are validated once more at the end
        for name, figure in FIGURES.items():
            learned[name].append(float(trainer.metrics[figure]))
        print(
            f"epoch {trainer.epoch}: mAP50 {learned['map50'][-1]:.3f}, {epochs.figures['seconds'][-1]:.1f} s",
            flush=True,
        )

    model = YOLO(args.model)
    model.add_callback("on_train_epoch_start", lambda trainer: epochs.begin(trainer.train_loader))
    model.add_callback("on_train_epoch_end", ended)
    model.add_callback("on_fit_epoch_end", validated)
    common = {"data": str(args.data), "imgsz": args.size, "device": args.device, "plots": False, "verbose": False}
    with tempfile.TemporaryDirectory() as folder:
        model.train(
            trainer=TRAINERS[args.loader], seed=args.seed, epochs=args.epochs, batch=args.batch_size, workers=args.workers,
            nbs=args.batch_size, optimizer="AdamW", lr0=args.lr, warmup_epochs=1, close_mosaic=args.close_mosaic, amp=False,
            project=folder, **common,
        )  # fmt: skip
        others_share, trainer = epochs.others_share(), model.trainer

    settings = {name: str(value) for name, value in vars(args).items() if name not in ("data", "loader", "seed")}
    result = {
        "task": "detector",
        "loader": args.loader,
        "seed": args.seed,
        "settings": settings,
        **learned,
        **epochs.figures,
    }
    counts = [len(loader.dataset) for loader in (trainer.train_loader, trainer.test_loader)]
    result |= {"images": counts[0], "validation_images": counts[1], "others_share": others_share}
    print(json.dumps({**result, "machine": found}))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the data.yaml")
    parser.add_argument("--loader", choices=TRAINERS, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="yolo11n.yaml")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--close-mosaic", type=int, default=3, help="so many last epochs have no mosaics")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--size", type=int, default=160, help="edge of the samples in pixels, a multiple of 32")
    parser.add_argument("--lr", type=float, default=0.002, help="the learning rate after the first epoch, of AdamW")
    parser.add_argument(
        "--workers", type=int, default=2, help="processes of Ultralytics' own loader; on a CPU Ultralytics has none"
    )
    parser.add_argument(
        "--device", default="cpu", help="where the model learns; on a GPU feedline makes its batches there, too"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
