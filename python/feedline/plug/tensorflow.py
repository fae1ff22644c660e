"""For TensorFlow: a Loader as a `tf.data.Dataset`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from feedline.plug._epochs import AnyLoader, as_numpy, named


def dataset(loader: AnyLoader, columns: Sequence[str] = ("image", "label")) -> Any:
    """A `tf.data.Dataset` of tuples of what `columns` names, batches already; each iteration of it is the next epoch.

    TensorFlow copies each batch once. The first epoch begins here, because shapes are learnt from its first batch; batches
    may have fewer rows unless the Loader drops or pads the last one. `loader.state_dict()` is ahead of what a model has seen
    by what tf.data has fetched.
    """
    begun = iter(loader)
    first: list[Any] = [_arrays(next(begun), columns)]
    rows = None if loader.options.get("last_batch", "partial") == "partial" else len(first[0][0])
    signature = tuple(tf.TensorSpec((rows, *array.shape[1:]), array.dtype) for array in first[0])

    def epoch() -> Iterator[Any]:
        if first:
            yield first.pop()
            rest = begun
        else:
            rest = iter(loader)
        for batch in rest:
            yield _arrays(batch, columns)

    counted = tf.data.Dataset.from_generator(epoch, output_signature=signature)
    if len(begun) != len(loader):  # a state was loaded, of which the first epoch is the rest
        return counted
    return counted.apply(tf.data.experimental.assert_cardinality(len(loader)))


def _arrays(batch: Any, columns: Sequence[str]) -> tuple[Any, ...]:
    return tuple(map(as_numpy, named(batch, columns).values()))
