#!/usr/bin/env python3
"""Makes what the examples of Lightning, transformers and accelerate ask for, without a network.

    python python/tests/plug/script_inputs.py FOLDER

FOLDER/classes has train/ and val/ with a folder for each class, FOLDER/pets the same photographs as `class_N.jpg`, FOLDER/model
a small untrained ResNet with its image processor, and FOLDER/accuracy a metric for `evaluate.load("accuracy")`. Needs
transformers and torch.
"""

import pathlib
import shutil
import sys

import transformers

PHOTOS = pathlib.Path(__file__).resolve().parents[3] / "data" / "photos"

METRIC = """
import datasets
import evaluate


class Accuracy(evaluate.Metric):
    def _info(self):
        features = {name: datasets.Value("int32") for name in ("predictions", "references")}
        return evaluate.MetricInfo(description="", citation="", features=datasets.Features(features))

    def _compute(self, predictions, references):
        return {"accuracy": sum(map(int.__eq__, predictions, references)) / len(references)}
"""


def make(folder):
    for part in ("train", "val"):
        shutil.copytree(PHOTOS, folder / "classes" / part)
    (folder / "pets").mkdir()
    for number, photo in enumerate(sorted(PHOTOS.glob("*/*.jpg"))):
        shutil.copy(photo, folder / "pets" / f"{photo.parent.name}_{number}.jpg")
    (folder / "accuracy").mkdir()
    (folder / "accuracy" / "accuracy.py").write_text(METRIC)
    sizes = {"embedding_size": 16, "hidden_sizes": [16, 32], "depths": [1, 1], "layer_type": "basic"}
    classes = len(list(PHOTOS.iterdir()))
    model = transformers.ResNetForImageClassification(transformers.ResNetConfig(num_labels=classes, **sizes))
    model.save_pretrained(folder / "model")
    colours = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
    transformers.ConvNextImageProcessor(size={"shortest_edge": 64}, **colours).save_pretrained(folder / "model")


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
