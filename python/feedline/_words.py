"""What users say, as the library's words: data, transforms, dtypes, and what torch's DataLoader has besides."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, SupportsIndex, Union

from feedline import _feedline
from feedline.transforms import Transform

#: What is in memory: compressed bytes, (bytes, class) or (key, bytes, class).
Record = Union[bytes, tuple[bytes, Union[int, None]], tuple[str, bytes, Union[int, None]]]
#: A path, or records in memory.
Data = Union[str, "os.PathLike[str]", Iterable[Record]]
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


def data(data: Data) -> str | list[tuple[str, bytes, int | None]]:
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    if isinstance(data, (bytes, bytearray)) or not isinstance(data, Iterable):
        raise TypeError(f"data is of type {type(data).__name__}: give a path, or a list of records")
    return [named_record(at, record) for at, record in enumerate(data)]


def named_record(at: int, record: Any) -> tuple[str, bytes, int | None]:
    if isinstance(record, (bytes, bytearray, memoryview)):
        return (f"record {at}", bytes(record), None)
    if isinstance(record, (tuple, list)) and len(record) == 2:
        return (f"record {at}", bytes(record[0]), record[1])
    if isinstance(record, (tuple, list)) and len(record) == 3:
        return (str(record[0]), bytes(record[1]), record[2])
    raise TypeError(
        f"record {at} of the data is {type(record).__name__}: give bytes, (bytes, class) or (key, bytes, class)"
    )


def transform(transform: Any) -> dict[str, Any]:
    if isinstance(transform, Transform):
        return transform.as_dict()
    if isinstance(transform, Mapping):
        return dict(transform)
    raise TypeError(
        f"{transform!r} is no transform of feedline: it would have to be run in Python on pixels; feedline.transforms "
        "has torchvision's under the same names"
    )


def last_batch(drop_last: bool | None, last_batch: str | None) -> str | None:
    if drop_last is None:
        return last_batch
    if last_batch is not None:
        raise ValueError("drop_last and last_batch both say what becomes of the last batch: give one of them")
    return "drop" if drop_last else "partial"


def device(device: str | None, distributed: str | None) -> str | None:
    """A rank of several on one machine has its own GPU, if nobody named one."""
    local = os.environ.get("LOCAL_RANK")
    device = None if device is None else str(device)
    return f"{device}:{local}" if device in ("cuda", "auto") and distributed and local else device


def size(size: Any) -> Any:
    """One number is the edge of a square."""
    return [int(size), int(size)] if isinstance(size, SupportsIndex) else size


def dtype(dtype: Any) -> str | None:
    """torch's, NumPy's and JAX's dtypes by their names."""
    if dtype is None:
        return None
    name = (
        dtype
        if isinstance(dtype, str)
        else getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    )
    short = {"float32": "f32", "float": "f32", "float16": "f16", "half": "f16", "bfloat16": "bf16", "uint8": "u8"}
    word = name.split(".")[-1].lower()
    return short.get(word, word)


def given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(
        f"an option of the Loader is {value!r}, of type {type(value).__name__}: give plain numbers or words"
    )


#: Options of torch's DataLoader that have no meaning here, and what to do instead.
_REMEDIES = {
    "dataset": "give the data first: a path, or records in memory",
    "sampler": "use subset=, weights= or shuffle=",
    "batch_sampler": "use batch_size=, subset= or weights=",
    "collate_fn": "batches are made in place: change the dict in the loop",
    "worker_init_fn": "workers are threads that run no Python: leave it out",
    "multiprocessing_context": "workers are threads: leave it out",
    "generator": "use seed=",
    "timeout": "leave it out: waiting can be interrupted at any time",
    "in_order": "leave it out: batches always come in order",
    "pin_memory_device": "use device=",
    "transform": "use transforms=[...]",
}


def explains_options(init: Callable[..., None]) -> Callable[..., None]:
    """Adds to `init` what to do about an option that it has not."""
    known = [name for name in inspect.signature(init).parameters if name != "self"]

    @functools.wraps(init)
    def explained(*args: Any, **options: Any) -> None:
        name = next((name for name in options if name not in known), None)
        if name is not None:
            near = difflib.get_close_matches(name, known, 1)
            guess = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}"
            raise TypeError(f"Loader has no option `{name}`: {_REMEDIES.get(name, guess)}")
        init(*args, **options)

    return explained
