"""Keras and TensorFlow: epochs, evaluations and predictions of Loaders, on each of Keras's backends."""

import importlib.util

import pytest
import runs
from conftest import trainer

FIT = """
import sys
import keras, numpy
import runs
from feedline.plug.keras import Batches

class Noted(Batches):
    seen = []

    def __getitem__(self, index):
        image, label = super().__getitem__(index)
        self.seen.append((self.loader.epoch, numpy.asarray(image).tobytes(), numpy.asarray(label).tolist()))
        return image, label

def training(**options):
    return runs.training(layout="nhwc", framework=None, **options)

layers = [keras.layers.Flatten(), keras.layers.Dense(12)]
if sys.argv[1] == "with a shape":
    layers.insert(0, keras.layers.Input((16, 16, 3)))
model = keras.Sequential(layers)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("sgd", loss, metrics=["accuracy"])
evaluation = training(shuffle=False)
history = model.fit(Noted(training()), epochs=2, validation_data=Batches(evaluation), verbose=0).history
assert len(history["loss"]) == len(history["val_loss"]) == 2

own = training()
expected = [(epoch, b["image"].numpy().tobytes(), b["label"].numpy().tolist()) for epoch in range(2) for b in own]
assert Noted.seen[-12:] == expected, [(epoch, labels) for epoch, _, labels in Noted.seen]

# Another run goes on with the epoch that it is told.
Noted.seen.clear()
later = Noted(training())
later.set_epoch(2)
model.fit(later, epochs=3, initial_epoch=2, verbose=0)
assert Noted.seen[-6:] == [(2, b["image"].numpy().tobytes(), b["label"].numpy().tolist()) for b in own]

# In the order of the samples, and each once.
images = numpy.concatenate([b["image"].numpy() for b in training(shuffle=False)])
labels = numpy.concatenate([b["label"].numpy() for b in training(shuffle=False)])
predicted = model.predict(Batches(training(shuffle=False)), verbose=0)
numpy.testing.assert_allclose(predicted, model.predict(images, batch_size=8, verbose=0), rtol=1e-5, atol=1e-5)
result = model.evaluate(Batches(training(shuffle=False)), verbose=0, return_dict=True)
assert abs(result["accuracy"] - (predicted.argmax(1) == labels).mean()) < 1e-6
print("as the Loader")
"""


@pytest.mark.parametrize("shape", ["with a shape", "without a shape"])
@pytest.mark.parametrize("backend", ["tensorflow", "torch", "jax"])
def test_epochs_are_the_loader_s_own(tmp_path, backend, shape):
    installed("keras", backend)
    printed = runs.run(FIT, tmp_path, shape, KERAS_BACKEND=backend)
    assert printed.endswith("as the Loader\n")


TENSORFLOW = """
import pathlib, sys
import data_sets, feedline, numpy, tensorflow
import runs
from feedline.plug.tensorflow import dataset

def training(**options):
    return runs.training(**{"layout": "nhwc", "framework": None, **options})

def listed(batches):
    return [(numpy.asarray(image).tobytes(), numpy.asarray(label).tolist()) for image, label in batches]

def own(loader):
    return [(batch["image"].numpy().tobytes(), batch["label"].numpy().tolist()) for batch in loader]

made, loader = dataset(training()), training()
assert len(made) == 6
assert made.element_spec[0] == tensorflow.TensorSpec((None, 16, 16, 3), tensorflow.float32), made.element_spec
for epoch in range(3):
    assert listed(made) == own(loader), epoch
assert dataset(training(last_batch="drop"), ("image",)).element_spec[0].shape == (8, 16, 16, 3)

# Sizes that differ from batch to batch, and rows that a bad sample takes away.
for options, size in (
    ({"sizes": [16, 24, 32]}, None),
    ({"multi_scale": 0.5, "stride": 8}, None),
    ({"last_batch": "drop"}, 16),
    ({"last_batch": "drop", "bad_sample": "skip"}, 16),
):
    for layout, shape in (("nhwc", (size, size, 3)), ("nchw", (3, size, size))):
        made, loader = dataset(training(**{**options, "layout": layout})), training(**{**options, "layout": layout})
        rows = 8 if options == {"last_batch": "drop"} else None
        assert made.element_spec[0].shape.as_list() == [rows, *shape], (options, made.element_spec)
        assert listed(made) == own(loader) and listed(made) == own(loader), options
files = sorted(str(file) for file in runs.PHOTOS.glob("*/*.jpg"))[:16]
skipping = feedline.Loader(["none.jpg", *files], 8, transforms=[feedline.Resize([16, 16])], last_batch="drop", bad_sample="skip")
assert [len(image) for image, in dataset(skipping, ("image",))] == [7, 8]
padded = feedline.Loader(files, 1, transforms=[feedline.ResizeLongest(32)], size=32, pad_to_largest=True, last_batch="drop")
shapes = {tuple(image.shape[2:]) for image, mask, size in dataset(padded, ("image", "mask", "size"))}
assert len(shapes) > 1, shapes
data_sets.yolo(pathlib.Path(sys.argv[1], "objects"), "detect", [pathlib.Path(file) for file in files])
objects = feedline.Loader(f"{sys.argv[1]}/objects/data.yaml", 2, transforms=[feedline.Resize([16, 16])], split="train", last_batch="drop")
counts = {(len(image), len(boxes)) for image, boxes in dataset(objects, ("image", "bboxes"))}
assert len(counts) > 1 and {rows for rows, _ in counts} == {2}, counts
targets = dataset(training(num_classes=12), ("image", "target"))
assert [target.shape[1] for _, target in targets] == [12] * 6
print("as the Loader")
"""


def test_a_dataset_of_tensorflow_has_the_loader_s_epochs(tmp_path):
    installed("tensorflow")
    assert runs.run(TENSORFLOW, tmp_path, tmp_path).endswith("as the Loader\n")


def installed(*names):
    # Imported in processes of their own: a backend is chosen once.
    for name in names:
        if importlib.util.find_spec(name) is None:
            trainer(name)
