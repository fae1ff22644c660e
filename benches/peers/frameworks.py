#!/usr/bin/env python3
"""Trains the same small model in each trainer with its own loader and with feedline, in turns, and shows images per second.

    .venv-peers/bin/python benches/peers/frameworks.py --data data/photos

The work is RandomResizedCrop at 224 pixels, flip and normalisation, in batches of 64. The model pools its images and has one
layer, so that the loader is what limits. Trainers of torch have torch's DataLoader with PIL and torchvision, as their own
examples do, Keras has tf.data, and JAX torch's DataLoader. Every run is a process of its own: stock, feedline, stock, ...
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import common
import run
from end_to_end_training import repeated

SIZE = 224
CLASSES = 12
WARM_UP_STEPS = 3
STOCK, FEEDLINE = "its own", "feedline"


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a folder of JPEG files for each class")
    parser.add_argument("--trainers", default=",".join(TRAINERS), help="comma-separated")
    parser.add_argument(
        "--images", type=int, default=1280, help="images to measure in a run; files are repeated as needed"
    )
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--timeout-s", type=float, default=600)
    parser.add_argument("--loader", choices=[STOCK, FEEDLINE], help="train in this process, in the first of --trainers")
    return parser.parse_args()


class Clock:
    """Counts images and seconds from the end of the warm-up on, and ends the process when there are enough."""

    def __init__(self, args):
        self.wanted = args.images
        self.steps = 0

    def step(self, images):
        """Says that a step with so many images has ended."""
        self.steps += 1
        if self.steps == WARM_UP_STEPS:
            self.images, self.cpu, self.began = 0, common.cpu_seconds(), time.perf_counter()
        elif self.steps > WARM_UP_STEPS:
            self.images += images
            if self.images >= self.wanted:
                self.end()

    def end(self):
        """Prints the figures; what a trainer would still do is of no interest."""
        seconds, cpu = time.perf_counter() - self.began, common.cpu_seconds() - self.cpu
        print(
            json.dumps({"images_per_s": self.images / seconds, "cpu_s_per_1000": 1000 * cpu / self.images}), flush=True
        )
        os._exit(0)


def image_folder(folder):
    """torchvision's ImageFolder with the transforms of its reference script."""
    from torchvision import transforms
    from torchvision.datasets import ImageFolder

    chain = [transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip(), transforms.ToTensor()]
    return ImageFolder(
        folder, transforms.Compose([*chain, transforms.Normalize(common.IMAGENET_MEAN, common.IMAGENET_STD)])
    )


def data_loader(folder, args, make=None, **options):
    """torch's DataLoader of it, or another class with its arguments."""
    from torch.utils.data import DataLoader

    make = make or DataLoader
    return make(
        image_folder(folder), args.batch_size, shuffle=True, num_workers=args.workers, drop_last=True, **options
    )


def options(folder, args):
    """What feedline's Loader is told."""
    import feedline

    return {
        "data": folder,
        "batch_size": args.batch_size,
        "shuffle": True,
        "num_workers": args.workers,
        "drop_last": True,
        "transforms": [feedline.RandomResizedCrop(SIZE), feedline.RandomHorizontalFlip()],
        "normalize": "imagenet",
    }


def loader(folder, args, **more):
    """feedline's Loader."""
    import feedline

    return feedline.Loader(**options(folder, args), **more)


def torch_model():
    """The model for torch: images of any size in, scores of the classes out."""
    import torch

    return torch.nn.Sequential(torch.nn.AvgPool2d(32), torch.nn.Flatten(), torch.nn.Linear(3 * 7 * 7, CLASSES))


def lightning(folder, args, clock):
    """Lightning's Trainer, with a DataModule of feedline's."""
    import torch
    from lightning import pytorch

    class Model(pytorch.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = torch_model()

        def training_step(self, batch, at):
            image, label = (batch["image"], batch["label"]) if isinstance(batch, dict) else batch
            return torch.nn.functional.cross_entropy(self.model(image), label)

        def on_train_batch_end(self, outputs, batch, at):
            clock.step(args.batch_size)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    trainer = pytorch.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    if args.loader == STOCK:
        trainer.fit(Model(), data_loader(folder, args))
    else:
        from feedline.plug.lightning import DataModule

        trainer.fit(Model(), datamodule=DataModule(options(folder, args)))


def transformers(folder, args, clock):
    """Hugging Face's Trainer, on a dataset of dicts or on a Loader."""
    import tempfile

    import torch
    import transformers

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = torch_model()

        def forward(self, pixel_values, labels):
            logits = self.model(pixel_values)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    class Ended(transformers.TrainerCallback):
        def on_step_end(self, *arguments, **keywords):
            clock.step(args.batch_size)

    class Dicts(torch.utils.data.Dataset):
        def __init__(self):
            self.samples = image_folder(folder)

        def __len__(self):
            return len(self.samples)

        def __getitem__(self, index):
            image, label = self.samples[index]
            return {"pixel_values": image, "labels": label}

    arguments = transformers.TrainingArguments(
        tempfile.mkdtemp(),
        per_device_train_batch_size=args.batch_size,
        dataloader_num_workers=args.workers,
        dataloader_drop_last=True,
        use_cpu=True,
        report_to=[],
        disable_tqdm=True,
        save_strategy="no",
        logging_strategy="no",
    )
    if args.loader == STOCK:
        trainer, samples = transformers.Trainer, Dicts()
    else:
        from feedline.plug.transformers import Trainer as trainer

        samples = loader(folder, args, framework="torch")
    trainer(model=Model(), args=arguments, train_dataset=samples, callbacks=[Ended()]).train()


def accelerate(folder, args, clock):
    """A loop with an Accelerator."""
    import torch
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model = torch_model()
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 0.01))
    if args.loader == STOCK:
        batches = accelerator.prepare(data_loader(folder, args))
    else:
        from feedline.plug.accelerate import prepare

        batches = prepare(accelerator, loader(folder, args, framework="torch"), columns=("image", "label"))
    for batch in batches:
        image, label = batch.values() if isinstance(batch, dict) else batch
        accelerator.backward(torch.nn.functional.cross_entropy(model(image), label))
        optimizer.step()
        optimizer.zero_grad()
        clock.step(args.batch_size)


def torchdata(folder, args, clock):
    """A loop over torchdata's StatefulDataLoader, or over a node of its."""
    import torch

    model = torch_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    if args.loader == STOCK:
        from torchdata.stateful_dataloader import StatefulDataLoader

        batches = data_loader(folder, args, StatefulDataLoader)
    else:
        from feedline.plug.torchdata import LoaderNode
        from torchdata.nodes import Loader

        batches = Loader(LoaderNode(loader(folder, args, framework="torch")))
    for batch in batches:
        image, label = (batch["image"], batch["label"]) if isinstance(batch, dict) else batch
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(image), label).backward()
        optimizer.step()
        clock.step(args.batch_size)


def keras(folder, args, clock):
    """Keras on TensorFlow, with tf.data or with a PyDataset."""
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import keras

    class Ended(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            clock.step(args.batch_size)

    layers = [keras.layers.Input((SIZE, SIZE, 3)), keras.layers.AveragePooling2D(32), keras.layers.Flatten()]
    model = keras.Sequential([*layers, keras.layers.Dense(CLASSES)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    if args.loader == STOCK:
        batches = tf_batches(folder, args)
    else:
        from feedline.plug.keras import Batches

        batches = Batches(loader(folder, args, layout="nhwc"))
    model.fit(batches, verbose=0, callbacks=[Ended()])


def tf_batches(folder, args):
    """The same work in tf.data: only the crop is decoded."""
    import tensorflow as tf

    files = sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() in common.SUFFIXES)
    classes = sorted({path.parent.name for path in files})
    labels = [classes.index(path.parent.name) for path in files]
    whole = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])

    def sample(path, label):
        content = tf.io.read_file(path)
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.io.extract_jpeg_shape(content), whole, area_range=common.SCALE, aspect_ratio_range=common.RATIO
        )
        window = tf.stack([begin[0], begin[1], size[0], size[1]])
        image = tf.image.resize(tf.io.decode_and_crop_jpeg(content, window, channels=3), [SIZE, SIZE])
        image = tf.image.random_flip_left_right(image)
        return (image / 255.0 - common.IMAGENET_MEAN) / common.IMAGENET_STD, label

    samples = tf.data.Dataset.from_tensor_slices(([str(path) for path in files], labels)).shuffle(len(files))
    batches = samples.map(sample, num_parallel_calls=args.workers).batch(args.batch_size, drop_remainder=True)
    return batches.prefetch(tf.data.AUTOTUNE)


def jax(folder, args, clock):
    """A loop on two devices of JAX, each with half of a batch."""
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
    import jax
    import numpy
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    sharding = NamedSharding(Mesh(numpy.array(jax.devices()), ("data",)), PartitionSpec("data"))

    def loss(weights, image, label):
        pooled = image.reshape(len(image), 3, 7, 32, 7, 32).mean((3, 5)).reshape(len(image), -1)
        chosen = jax.nn.one_hot(label, CLASSES)
        return -(chosen * jax.nn.log_softmax(pooled @ weights)).sum(1).mean()

    step = jax.jit(lambda weights, image, label: weights - 0.01 * jax.grad(loss)(weights, image, label))
    weights = jax.numpy.zeros((3 * 7 * 7, CLASSES))
    if args.loader == STOCK:
        pairs = (
            [jax.make_array_from_process_local_data(sharding, tensor.numpy()) for tensor in batch]
            for batch in data_loader(folder, args)
        )
    else:
        from feedline.plug.jax import GlobalBatches

        pairs = (batch.values() for batch in GlobalBatches(loader(folder, args), sharding))
    for image, label in pairs:
        weights = step(weights, image, label).block_until_ready()
        clock.step(args.batch_size)


TRAINERS = {
    "lightning": lightning,
    "transformers": transformers,
    "accelerate": accelerate,
    "torchdata": torchdata,
    "keras": keras,
    "jax": jax,
}


def train(args):
    """One run: prints its figures as JSON."""
    name = args.trainers.split(",")[0]
    TRAINERS[name](args.data, args, Clock(args))
    raise SystemExit(f"{name} ended before it had seen {args.images} images")


def figures(args, folder, trainer, name):
    """The figures of one run in a process of its own, or {"error": cause}."""
    command = [sys.executable, __file__, "--trainers", trainer, "--loader", name, "--data", str(folder)]
    command += ["--images", str(args.images), "--batch-size", str(args.batch_size), "--workers", str(args.workers)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"no result within {args.timeout_s:g} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return {"error": f"exit status {done.returncode}: {run.last_line(done.stderr or done.stdout)}"}
    return json.loads(lines[-1])


def main():
    """Measures in turns and prints a table of medians."""
    args = arguments()
    if args.loader:
        train(args)
    # An epoch is longer than what is measured, so that nobody profits from a queue that is only emptied.
    with repeated(args.data, args.images + (WARM_UP_STEPS + common.TAIL_BATCHES) * args.batch_size) as folder:
        if not measured(args, folder):
            raise SystemExit("a run failed: its cause stands above")


def measured(args, folder):
    """Prints the table; whether all runs succeeded."""
    succeeded = True
    print("| trainer | loader | images/s | CPU-s per 1000 |\n|---|---|---|---|")
    for trainer in args.trainers.split(","):
        rounds = []
        for number in range(args.rounds):
            rounds.append({name: figures(args, folder, trainer, name) for name in (STOCK, FEEDLINE)})
            for name, result in rounds[-1].items():
                print(
                    f"round {number + 1}/{args.rounds}  {trainer:13} {name:9} {run.brief(result)}",
                    file=sys.stderr,
                    flush=True,
                )
        for name in (STOCK, FEEDLINE):
            rates, cpu = run.good(rounds, name, "images_per_s"), run.good(rounds, name, "cpu_s_per_1000")
            succeeded = succeeded and len(rates) == len(rounds)
            line = f"{run.spread(rates, 0)} | {run.spread(cpu, 2)}" if rates else "failed | "
            print(f"| {trainer} | {name} | {line} |", flush=True)
    return succeeded


if __name__ == "__main__":
    main()
