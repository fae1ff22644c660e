"""Feeds JAX: batches become arrays of jax.numpy, and a linear classifier learns from them.

pip install jax && python examples/python/jax_example.py
"""

import pathlib

import jax
import jax.numpy as jnp

import feedline

PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "data" / "photos"


def main():
    loader = feedline.Loader(
        PHOTOS,
        16,
        shuffle=True,
        drop_last=True,  # one shape, so that the step is compiled once
        transforms=[feedline.RandomResizedCrop(32, scale=(0.5, 1.0)), feedline.RandomHorizontalFlip()],
        layout="NHWC",
        num_classes=12,
        framework="jax",
    )
    weights = jnp.zeros((32 * 32 * 3, 12))
    losses = []
    for _ in range(15):
        total = 0.0
        for batch in loader:
            weights, value = step(weights, batch["image"], batch["target"])
            total += float(value)
        losses.append(total / len(loader))
    print(f"the loss went from {losses[0]:.3f} to {losses[-1]:.3f}")
    if losses[-1] >= losses[0]:
        raise SystemExit("the loss did not fall")


def loss(weights, image, target):
    scores = (image.reshape(len(image), -1) - 0.5) @ weights
    return -jnp.mean(jnp.sum(target * jax.nn.log_softmax(scores), axis=1))


@jax.jit
def step(weights, image, target):
    value, gradient = jax.value_and_grad(loss)(weights, image, target)
    return weights - 0.01 * gradient, value


if __name__ == "__main__":
    main()
