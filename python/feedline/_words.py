"""Python's objects that a Loader takes: data, transforms, and other packages' arrays."""

from __future__ import annotations

import errno
import glob
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol, Union

from feedline import _feedline, _names, _records
from feedline._mixture import Mixture
from feedline.transforms import Transform

#: A class by its index or its name, several of them, a number for every class, a number in place of a class, or None.
Label = Union[int, float, str, Iterable[Union[int, float, str]], None]
#: Compressed bytes, or the path of a file.
Image = Union[bytes, str, "os.PathLike[str]"]
#: An image, (image, label), (key, image, label), or a dict with `image`, `label`, `key` and fields.
Record = Union[Image, tuple[Image, Label], tuple[str, Image, Label], Mapping[str, Any]]


#: How images end, in lower case.
_IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".ppm", ".pgm", ".pnm", ".fjc")


class Records(Protocol):
    """An object whose records the loader's threads ask for."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


#: A path, several data sets, records in memory, or an object that has a record for each index.
Data = Union[str, "os.PathLike[str]", Mixture, Iterable[Record], Records]
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
        return lambda tensor: arrays.asarray(tensor.numpy()) if tensor.dtype == "int64" else jax.from_dlpack(_ForJax(tensor))
    raise ValueError(f'framework is {framework!r}: use "torch", "numpy" or "jax", or leave it out for feedline.Tensor')


class _ForJax:
    """A tensor as JAX imports it, whose streams last."""

    def __init__(self, tensor: _feedline.Tensor) -> None:
        self._tensor = tensor
        self.__dlpack_device__ = tensor.__dlpack_device__

    def __dlpack__(self, **options: Any) -> Any:
        return self._tensor.__dlpack__(**options, _lasts=True)


def lasts(stream: int, ordinal: int) -> bool:
    """Whether a GPU's stream is never destroyed, as torch's are not. CuPy's, for example, go with the objects that stand for
    them, and arrays that were taken on them may live longer."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return False
    current = torch.cuda.current_stream(ordinal)
    # A stream of somebody else's that torch was given has its handle as torch's own number of it, too.
    return bool(current.cuda_stream == stream and current.stream_id != stream)


def data(data: Data, fields: Mapping[str, Any] | None) -> str | dict[str, Any]:
    """The path, or what records in memory or an object of Python's say."""
    if isinstance(data, (str, os.PathLike)):
        return _path(os.fspath(data))
    kind = type(data).__name__
    if kind in ("DataLoader", "Loader"):
        raise TypeError(f"data is a {kind}, which makes batches itself: give the path of what it loads")
    if kind == "DataFrame":
        raise TypeError('data is a DataFrame: give its records, list(zip(data["path"], data["label"]))')
    if any(each.__name__ == "IterableDataset" for each in type(data).__mro__):
        raise TypeError(f"data is of type {kind}, which has no length: give a path, or an object with __len__ and __getitem__")
    if isinstance(data, (bytes, bytearray, Mapping)):
        raise TypeError(f"data is of type {kind}: give a path, a Mixture, or a list of records")
    if not isinstance(data, (list, tuple)) and hasattr(data, "__len__") and hasattr(data, "__getitem__"):
        return _object(data, fields)
    if not isinstance(data, Iterable):
        raise TypeError(f"data is of type {kind}: give a path, a Mixture, a list of records, or an object with __len__ and __getitem__")
    return _records.in_memory(data, fields)


def _object(data: Any, fields: Mapping[str, Any] | None) -> dict[str, Any]:
    try:
        return _records.one_by_one(data, fields)
    except TypeError as error:
        if hasattr(data, "cast_column") and _records.DECODED in str(error):
            raise TypeError(f'{error}; data.cast_column("image", datasets.Image(decode=False)) has the bytes') from None
        root = getattr(data, "root", None)
        if not isinstance(root, (str, os.PathLike)):
            raise
        raise TypeError(f"{error}; or give the folder of this {type(data).__name__}, feedline.Loader({os.fspath(root)!r}, ...)") from None


def _path(path: str | bytes) -> str:
    path = path if isinstance(path, str) else os.fsdecode(path)
    if os.path.splitext(path)[1].lower() in _IMAGES and os.path.isfile(path):
        raise ValueError(f"{path} is one image: give the folder, or a list of images, [{path!r}]")
    if "://" in path or not any(sign in path for sign in "*?[") or os.path.exists(path):
        return path
    files = glob.glob(path, recursive=True)
    if not files:
        raise FileNotFoundError(errno.ENOENT, "No file matches this pattern; check it", path)
    if os.path.splitext(files[0])[1].lower() in _IMAGES:
        raise ValueError(
            f"{path} is a pattern of {len(files)} images, and patterns are for archives: give the folder, or the list "
            "sorted(glob.glob(pattern)), with classes as [(path, class), ...]"
        )
    return path


def view(view: Any) -> dict[str, Any]:
    if isinstance(view, Mapping):
        return {**view, "transforms": [transform(each) for each in view.get("transforms", ())]}
    if hasattr(view, "as_dict") and not isinstance(view, Transform):
        said: dict[str, Any] = view.as_dict()
        return said
    raise TypeError(f"{view!r} is no view: make one with feedline.View(size, transforms, count)")


def transforms(transforms: Any) -> list[dict[str, Any]]:
    """What is done to each sample: a list of transforms, or one of them."""
    if isinstance(transforms, (str, bytes)):
        raise TypeError(f"transforms is {transforms!r}: give a list of feedline's transforms; a recipe by its name is recipe=")
    if isinstance(transforms, Transform):
        # As the list would be: with the same random numbers.
        said = transforms.as_dict()
        held: list[dict[str, Any]] = said["transforms"] if said["op"] == "Compose" and "p" not in said else [said]
        return held
    others = getattr(transforms, "transforms", None)
    if isinstance(others, (list, tuple)):
        raise TypeError(f"transforms is a {type(transforms).__name__} of {len(others)} transforms: write {_names.translated(others)}")
    if not isinstance(transforms, Iterable) or isinstance(transforms, Mapping):
        what = repr(transforms) if isinstance(transforms, Mapping) else f"of type {type(transforms).__name__}"
        raise TypeError(f"transforms is {what}: give a list of feedline's transforms")
    return [transform(each) for each in transforms]


def transform(transform: Any) -> dict[str, Any]:
    if isinstance(transform, Transform):
        return transform.as_dict()
    if isinstance(transform, Mapping):
        return dict(transform)
    raise TypeError(f"{_names.shown(transform)} is no transform of feedline: {_names.advice(transform)}")
