"""Batches: what one holds, and those of an epoch."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from feedline import _feedline


class Batch(TypedDict, total=False):
    """A batch of n samples. Arrays are `feedline.Tensor`, or what `framework` names.

    With objects, of which there are m: `cls` to `polygon_offsets`. With `fields`, each of them by its name: lists of str,
    of bytes or of what JSON says, (n,) int64 or (n,) float64; lists of numbers of one `length` are (n, length), others all
    numbers, of which row i has NAME_offsets[i]:NAME_offsets[i + 1], (n + 1,) int64; second images are as `image`, depth maps
    (n, height, width) float32. A type checker wants `cast(dict, batch)` for them.
    """

    image: Any
    """(n, 3, height, width), or (n, height, width, 3)."""
    views: list[Any]
    """One array for each view, where there are several; `image`, `masks` and what follows are those of the first."""
    view_labels: list[Batch]
    """Of each view: its `target`, `masks`, second images and depth maps, and `cls` to `polygon_offsets`, where there are any."""
    label: Any
    """(n,) int64: the class of each sample's own image; -1 where it has none, or several."""
    index: Any
    """(n,) int64: which samples of the data set they are."""
    key: list[str]
    """Their names: paths, or keys in shards."""
    status: list[str]
    """`ok`, `padded` (repeats a sample to fill a batch up: leave it out of metrics) or `substituted`."""
    target: Any
    """(n, num_classes) float32 with `num_classes`: dense labels, with the shares of mixes; multi-hot where images have
    several classes."""
    masks: Any
    """(n, height, width) uint8, with `masks`; with `instance_masks` those of the objects: (m, height, width) uint8, or (n, height,
    width) int32."""
    mask: Any
    """(n, height, width) bool, with `pad_to_largest`: True where a pixel is padding."""
    size: Any
    """(n, 2) int64, with `pad_to_largest`: height and width of each sample without its padding."""
    semantic_masks: Any
    """(n, height, width) uint8, where `masks` are those of objects."""
    cls: Any
    """(m, 1) int64."""
    bboxes: Any
    """(m, 4) float32, in `box_format` and `box_unit`; (m, 5) for `xywhr`, (m, 8) for `xyxyxyxy`."""
    batch_idx: Any
    """(m,) int64: the row that each object is in."""
    keypoints: Any
    """(m, k, 3) float32: x, y, visibility; where the data have keypoints."""
    share: Any
    """(m,) float32: what each object counts for where images were mixed, else 1."""
    crowd: Any
    """(m,) bool."""
    points: Any
    """(p, 2) float32: the corners of all outlines."""
    point_offsets: Any
    """Polygon i has the points point_offsets[i]:point_offsets[i + 1]."""
    polygon_offsets: Any
    """(m + 1,): object i has the polygons polygon_offsets[i]:polygon_offsets[i + 1]."""
    im_file: list[str]
    """With objects: the path of each sample's image, or its key where it is no file of its own."""
    ori_shape: list[tuple[int, int]]
    """With objects: height and width of each sample's image as a viewer shows it."""
    resized_shape: list[tuple[int, int]]
    """With objects: height and width of each sample, without the padding of `pad_to_largest`."""
    ratio_pad: list[tuple[tuple[float, float], tuple[float, float]] | None]
    """With objects: where each sample shows its image, ((ratio of heights, ratio of widths), (pixels at the left, pixels at the
    top)): the x of the image is (x - left) / ratio of widths. None where it shows several images, or mirrored or turned ones."""


class Form:
    """What becomes of a batch's arrays before it is handed out: whose they are, which of them, and in which form."""

    def __init__(
        self,
        convert: Callable[[_feedline.Tensor], Any] | None,
        columns: Sequence[str] | None,
        as_tuple: bool,
        collate: Mapping[str, Callable[[list[Any]], Any]],
    ) -> None:
        self._convert = convert
        self._columns = columns
        self._as_tuple = as_tuple
        self._collate = collate
        self.timer = _feedline.Timer()

    def __call__(self, batch: dict[str, Any]) -> Any:
        if self._collate:
            began = time.perf_counter()
            for name, function in self._collate.items():
                if name not in batch:
                    raise ValueError(f"collate names {name}, and the batch has {', '.join(batch)}")
                batch[name] = function(rows_of(batch, name))
                batch.pop(f"{name}_offsets", None)
            self.timer.record(time.perf_counter() - began)
        names = batch if self._columns is None else self._columns
        absent = [name for name in names if name not in batch]
        if absent:
            raise ValueError(f"columns names {absent[0]}, and the batch has {', '.join(batch)}")
        convert = self._convert
        formed = {name: batch[name] if convert is None else converted(batch[name], convert) for name in names}
        return tuple(formed.values()) if self._as_tuple else formed


def converted(value: Any, convert: Callable[[_feedline.Tensor], Any]) -> Any:
    """A tensor, or those in tuples and in the lists and dicts that views have, as another library's; the rest as it is."""
    if isinstance(value, _feedline.Tensor):
        return convert(value)
    if isinstance(value, dict):
        return {name: converted(each, convert) for name, each in value.items()}
    if isinstance(value, tuple):
        return tuple(converted(each, convert) for each in value)
    if isinstance(value, list) and value and isinstance(value[0], (_feedline.Tensor, dict)):
        return [converted(each, convert) for each in value]
    return value


def rows_of(batch: Mapping[str, Any], name: str) -> list[Any]:
    """The values of a batch's rows: text, bytes and JSON as they are, numbers and lists of numbers as NumPy's."""
    values, offsets = batch[name], batch.get(f"{name}_offsets")
    if not isinstance(values, _feedline.Tensor):
        return list(values)
    array = values.numpy()
    if offsets is None:
        return list(array)
    ends = offsets.numpy()
    return [array[start:end] for start, end in zip(ends[:-1], ends[1:])]


class Batches(Iterator[Batch]):
    """The batches of one epoch."""

    def __init__(self, epoch: _feedline.Epoch, number: int, form: Form) -> None:
        self._native = epoch
        self._form = form
        self._length = epoch.left()
        self._process = os.getpid()
        self._failed = False
        self.epoch = number
        self.finished = False

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> Batch:
        check_process(self._process)
        if self.finished or self._failed:
            raise StopIteration
        try:
            batch = self._native.next()
        except Exception:
            self._failed = True
            raise
        if batch is None:
            self.finished = True
            raise StopIteration
        formed: Batch = self._form(batch)
        return formed

    def __len__(self) -> int:
        """Batches of the epoch; of one that a state was loaded of, those that were left."""
        return self._length

    def __repr__(self) -> str:
        if os.getpid() != self._process:
            return f"<feedline.Batches of epoch {self.epoch}, in another process>"
        return f"<feedline.Batches of epoch {self.epoch}: {self._length - self._native.left()} of {self._length} handed out>"

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self._native.state())
        return state

    def _close(self) -> None:
        self._native.close()


def check_process(process: int) -> None:
    if os.getpid() != process:
        raise RuntimeError(
            f"this Loader was made in process {process}, and its threads did not come along when that process forked: "
            "make it in the process that uses it, or start processes by spawn"
        )
