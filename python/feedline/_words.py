"""Python's objects that a Loader takes: data, transforms, and other packages' arrays."""

from __future__ import annotations

import importlib
import operator
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Union

from feedline import _feedline
from feedline._mixture import Mixture
from feedline.transforms import Transform

#: A class, several of them, or none that is known.
Label = Union[int, Iterable[int], None]
#: What is in memory: compressed bytes, (bytes, class) or (key, bytes, class); several classes are a list of them.
Record = Union[bytes, tuple[bytes, Label], tuple[str, bytes, Label]]
#: A path, several data sets, or records in memory.
Data = Union[str, "os.PathLike[str]", Mixture, Iterable[Record]]
Framework = Literal["torch", "numpy", "jax"]


def converter(framework: str | None) -> Callable[[_feedline.Tensor], Any] | None:
    if framework is None:
        return None
    if framework == "torch":
        from_dlpack: Callable[[Any], Any] = importlib.import_module("torch").from_dlpack
        return from_dlpack
    if framework == "numpy":
        as_array: Callable[[Any], Any] = importlib.import_module("numpy").asarray
        return as_array
    if framework == "jax":
        jax, arrays = importlib.import_module("jax.dlpack"), importlib.import_module("jax.numpy")
        # Without its x64 mode JAX has no int64: it makes a copy of its own kind.
        return lambda tensor: arrays.asarray(tensor.numpy()) if tensor.dtype == "int64" else jax.from_dlpack(tensor)
    raise ValueError(f'framework is {framework!r}: use "torch", "numpy" or "jax", or leave it out for feedline.Tensor')


def data(data: Data) -> str | list[tuple[str, bytes, int | list[int] | None]]:
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    if isinstance(data, (bytes, bytearray)) or not isinstance(data, Iterable):
        raise TypeError(f"data is of type {type(data).__name__}: give a path, a Mixture, or a list of records")
    return [named_record(at, record) for at, record in enumerate(data)]


def named_record(at: int, record: Any) -> tuple[str, bytes, int | list[int] | None]:
    if isinstance(record, (bytes, bytearray, memoryview)):
        return (f"record {at}", bytes(record), None)
    if isinstance(record, (tuple, list)) and len(record) == 2:
        return (f"record {at}", bytes(record[0]), classes(at, record[1]))
    if isinstance(record, (tuple, list)) and len(record) == 3:
        return (str(record[0]), bytes(record[1]), classes(at, record[2]))
    raise TypeError(
        f"record {at} of the data is {type(record).__name__}: give bytes, (bytes, class) or (key, bytes, class)"
    )


def classes(at: int, label: Any) -> int | list[int] | None:
    if label is None:
        return None
    said = as_python(label)
    try:
        if isinstance(said, Iterable) and not isinstance(said, (str, bytes, bytearray, Mapping)):
            return [one_of_several(each) for each in said]
        return one_class(said)
    except (TypeError, OverflowError):
        raise TypeError(
            f"the label of record {at} of the data is {reprlib.repr(label)}: give the class as a whole number from 0, a list of "
            "the classes that the image has and not a number for every class, or None"
        ) from None


def one_of_several(label: Any) -> int:
    said = as_python(label)
    if isinstance(said, bool):
        raise TypeError
    return one_class(said)


def one_class(label: Any) -> int:
    said = operator.index(label)
    if abs(said) >= 1 << 63:
        raise OverflowError
    return said


def as_python(value: Any) -> Any:
    """What arrays and their numbers are in Python's own types."""
    return value.tolist() if hasattr(value, "tolist") else value


def view(view: Any) -> dict[str, Any]:
    if isinstance(view, Mapping):
        return {**view, "transforms": [transform(each) for each in view.get("transforms", ())]}
    if hasattr(view, "as_dict") and not isinstance(view, Transform):
        said: dict[str, Any] = view.as_dict()
        return said
    raise TypeError(f"{view!r} is no view: make one with feedline.View(size, transforms, count)")


def transform(transform: Any) -> dict[str, Any]:
    if isinstance(transform, Transform):
        return transform.as_dict()
    if isinstance(transform, Mapping):
        return dict(transform)
    raise TypeError(
        f"{transform!r} is no transform of feedline: it would have to be run in Python on pixels; feedline.transforms "
        "has torchvision's under the same names"
    )
