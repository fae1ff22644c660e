"""Trains a model with Ultralytics' own trainer, fed by feedline, and has Ultralytics validate it with its own batches.

    python examples/python/plug_ultralytics.py --data data.yaml --model yolo11n.yaml --epochs 100

The last line has what both validations measure of the same weights: the one after training, on feedline's batches, and one on
Ultralytics'. The script fails if mean average precisions or accuracies are further apart than --apart.
"""

import argparse

from ultralytics import YOLO

from feedline.plug import ultralytics as plug

TRAINERS = {
    "detect": plug.DetectionTrainer,
    "segment": plug.SegmentationTrainer,
    "pose": plug.PoseTrainer,
    "obb": plug.OBBTrainer,
    "classify": plug.ClassificationTrainer,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="a data.yaml, or a folder of classes")
    parser.add_argument("--model", default="yolo11n.yaml", help="which says the task, too")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--imgsz", type=int, default=640)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--device", default=None)
    parser.add_argument("--project", default=None, help="where Ultralytics writes to")
    parser.add_argument("--apart", type=float, default=0.1)
    args = parser.parse_args()

    model = YOLO(args.model)
    common = {"data": args.data, "imgsz": args.imgsz, "device": args.device, "project": args.project, "plots": False}
    # trainer= is all that feedline needs.
    ours = model.train(trainer=TRAINERS[model.task], epochs=args.epochs, batch=args.batch, **common).results_dict
    stock = YOLO(model.trainer.best).val(batch=2 * args.batch, **common).results_dict  # as a trainer validates

    measured = [name for name in stock if name.startswith(("metrics/mAP", "metrics/accuracy"))]
    apart = {name: abs(ours[name] - stock[name]) for name in measured}
    print(", ".join(f"{name} {ours[name]:.4f} and {stock[name]:.4f}" for name in apart))
    if max(apart.values()) > args.apart:
        raise SystemExit(f"the validations are further apart than {args.apart}: {apart}")


if __name__ == "__main__":
    main()
