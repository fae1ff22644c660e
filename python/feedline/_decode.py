"""Decoding without a Loader: files in memory or at paths to arrays of RGB."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional, Protocol, Union

from feedline import _feedline

if TYPE_CHECKING:
    from typing_extensions import Buffer


class HasNumpy(Protocol):
    """What torch's tensors are here."""

    def numpy(self) -> Any: ...


#: A path, or the bytes of a file: whatever lends its memory to readers, such as bytes, memoryview, mmap and arrays of bytes.
File = Union[str, "os.PathLike[str]", "Buffer", HasNumpy]
#: Top, left, height, width, in pixels of the upright image at full scale.
Region = Sequence[int]
#: Whose arrays are returned.
ArrayFramework = Literal["numpy", "torch"]


def decode(
    data: File,
    region: Region | None = None,
    scale: float | None = None,
    *,
    min_size: int | Sequence[int] | None = None,
    exif: bool = True,
    damaged: Literal["refuse", "torchvision", "libjpeg"] | None = None,
    max_pixels: int | None = None,
    max_scans: int | None = None,
    out: Any = None,
    framework: ArrayFramework = "numpy",
) -> Any:
    """Decodes a JPEG, PNG, WebP, PNM or file of coefficients to an array (height, width, 3) of uint8 levels: red, green, blue.

    `data` is a path, or the bytes of a file in any object that lends its memory (bytes, memoryview, mmap, an array); they are
    not copied, and must not be written meanwhile. Other Python threads run while a file is read and decoded.

    region: (top, left, height, width) in pixels of the upright image at full scale; rows below it are not read, and what is
        beside it is not transformed. At a smaller scale its edges are rounded outwards.
    scale: 1, 1/2, 1/4 or 1/8, of JPEGs and files of coefficients only. Smaller is faster.
    min_size: (height, width), or a number for both: the smallest scale at which the region, or the image, still has as
        many rows and columns, without counting parts of pixels; the full one where there is none, and for PNG, WebP and PNM.
    exif: whether the image is turned as its EXIF orientation says.
    damaged: what becomes of a damaged JPEG, as in a Loader: "torchvision" (the default), "refuse" or "libjpeg".
    max_pixels, max_scans: the largest image, and the most scans of a progressive JPEG, that are decoded; as in a Loader.
    out: an array (height, width, 3) of uint8 to write to, which is returned: NumPy's, torch's on the CPU, or any whose
        memory may be written. Its rows may lie apart.
    framework: "numpy", or "torch" for a tensor that shares the memory of a new array.

    A file that cannot be decoded is a `feedline.DecodeError`, one that cannot be read an `OSError`.
    """
    convert = _converter(framework)
    wanted = (scale, min_size, exif, damaged, max_pixels, max_scans)
    array = _feedline.decode(data, region, wanted, out)
    return array if convert is None or out is not None else convert(array)


def decode_batch(
    files: Iterable[File],
    region: Region | Iterable[Region | None] | None = None,
    scale: float | None = None,
    *,
    min_size: int | Sequence[int] | None = None,
    exif: bool = True,
    damaged: Literal["refuse", "torchvision", "libjpeg"] | None = None,
    max_pixels: int | None = None,
    max_scans: int | None = None,
    threads: int | None = None,
    stack: bool = False,
    out: Any = None,
    on_error: Literal["raise", "none", "return"] = "raise",
    framework: ArrayFramework = "numpy",
) -> Any:
    """Decodes files on several threads, each as `decode` does, and returns their arrays as a list, in order.

    region: one for all files, or a list with one for each, in which None is the whole image.
    threads: how many decode; without it as many as this process has cores, but one in a process that `multiprocessing` has
        started, such as a DataLoader's worker. They are started for the call and end with it, so that forked processes
        can use it too.
    stack: returns one array (n, height, width, 3), for images of one size.
    out: such an array, to write to; it is returned.
    on_error: what becomes of files that cannot be read or decoded. "raise" ends the call with the exception of the first one,
        whose message and attributes `index` and `key` name it; "none" leaves None in its place, "return" the exception.
        Wrong arguments are raised in any case.

    Ctrl-C ends it within about a tenth of a second, or an image.
    """
    if isinstance(files, (str, bytes, bytearray, os.PathLike)):
        raise TypeError(f"files is of type {type(files).__name__}: give a list of files, or call decode for a single one")
    listed = list(files)
    convert = _converter(framework)
    wanted = (scale, min_size, exif, damaged, max_pixels, max_scans)
    how = (_threads(threads), on_error, stack)
    decoded = _feedline.decode_batch(listed, _regions(region, len(listed)), wanted, how, out)
    if convert is None or out is not None:
        return decoded
    if stack:
        return convert(decoded)
    return [each if each is None or isinstance(each, Exception) else convert(each) for each in decoded]


def _converter(framework: str) -> Callable[[Any], Any] | None:
    if framework == "numpy":
        return None
    if framework == "torch":
        from_numpy: Callable[[Any], Any] = importlib.import_module("torch").from_numpy
        return from_numpy
    raise ValueError(f'framework is {framework!r}: use "numpy" or "torch"; other libraries take NumPy\'s arrays')


def _regions(region: Any, count: int) -> list[Optional[Region]]:
    if region is None:
        return [None] * count
    listed = list(region)
    if len(listed) == 4 and all(hasattr(number, "__index__") and not hasattr(number, "__len__") for number in listed):
        return [listed] * count
    return listed


def _threads(threads: int | None) -> int | None:
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}: give at least 1, or leave it out for one for each core")
    if threads is None:
        # Not imported by a program that has no such processes.
        processes = sys.modules.get("multiprocessing.process")
        if processes is not None and processes.parent_process() is not None:
            return 1
    return threads
