"""For TensorFlow: a Loader as a `tf.data.Dataset`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from feedline.plug._epochs import OF_OBJECTS, AnyLoader, as_numpy, named

#: Options by which batches differ in height and width.
_SIZES = ("rect", "multi_scale", "sizes", "pad_to_largest")
#: What a batch has of its objects, of which there are any number.
_OBJECTS = (*OF_OBJECTS, "points", "point_offsets", "polygon_offsets")


def dataset(loader: AnyLoader, columns: Sequence[str] = ("image", "label")) -> Any:
    """A `tf.data.Dataset` of tuples of what `columns` names, batches already; each iteration of it is the next epoch.

    TensorFlow copies each batch once. The first epoch begins here, because shapes are learnt from its first batch; batches
    may have fewer rows unless the Loader drops or pads the last one and skips no bad samples, and other heights and widths
    where it draws sizes or takes those of the images. `loader.state_dict()` is ahead of what a model has seen by what tf.data
    has fetched.
    """
    begun = iter(loader)
    first: list[Any] = [_arrays(next(begun), columns)]
    shapes = [_shape(name, array.shape, loader.options) for name, array in zip(columns, first[0])]
    signature = tuple(tf.TensorSpec(shape, array.dtype) for shape, array in zip(shapes, first[0]))

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


def _shape(name: str, first: tuple[int, ...], options: Mapping[str, Any]) -> tuple[int | None, ...]:
    """The shape of an array of all batches, with None for what differs, where `first` is that of the first batch's."""
    axes: list[int | None] = [*first[1:]]
    has_fewer = options.get("last_batch", "partial") == "partial" or options.get("bad_sample") == "skip"
    is_of_objects = name in _OBJECTS or name == "masks" and options.get("instance_masks") == "per-object"
    if len(axes) > 1 and any(map(options.get, _SIZES)):
        # Of pixels all but the channels; masks have none.
        channels = len(axes) - 1 if options.get("layout") == "nhwc" else 0
        axes = [length if len(axes) > 2 and axis == channels else None for axis, length in enumerate(axes)]
    return (None if has_fewer or is_of_objects else first[0], *axes)


def _arrays(batch: Any, columns: Sequence[str]) -> tuple[Any, ...]:
    return tuple(map(as_numpy, named(batch, columns).values()))
