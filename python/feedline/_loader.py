"""The Loader: options by name, batches as dicts, and where a run stands."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

from feedline import _feedline, _options, _words
from feedline._mixture import Mixture
from feedline._words import Data

if TYPE_CHECKING:
    from feedline._keywords import Keywords
    from typing_extensions import Unpack

STATE_TYPE = "feedline.Loader"


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


class Loader:
    """Batches of augmented images, epoch by epoch: `for batch in loader` is one epoch, and the next one the next.

    What a sample becomes depends on the seed, the epoch and the sample alone: not on num_workers, prefetch_factor or
    the number of ranks. `data` is a path or a URL, a `feedline.Mixture` of several, or records in memory; without it the
    recipe says which. Keywords that are left out, or None, are the recipe's or have the defaults below. A keyword that is no
    option is a parameter of the recipe: `Loader(path, recipe="yolo-train", imgsz=320, mosaic=0.5)`.
    """

    def __init__(
        self,
        data: Data | None = None,
        batch_size: int | None = None,
        shuffle: bool | int | None = None,
        **keywords: Unpack[Keywords],
    ) -> None:
        said: dict[str, Any] = {"batch_size": batch_size, "shuffle": shuffle, **keywords}
        if data is not None and said.get("sets") is not None:
            raise ValueError("data and sets both say which data there are: give one of them")
        if isinstance(data, Mixture):
            said, data = _options.with_mixture(said, data.as_dict()), None
        told = _options.read(said)
        self._convert = _words.converter(keywords.get("framework"))
        self._process = os.getpid()
        self._loader = _feedline.Loader(None if data is None else _words.data(data), told)
        for note in self._loader.notes:
            warnings.warn(note, stacklevel=2)
        self._next = 0
        self._running: Batches | None = None
        self._loaded: dict[str, Any] | None = None

    def __len__(self) -> int:
        """Batches of an epoch, exactly; every rank has as many."""
        return self._native().batches()

    def __iter__(self) -> Batches:
        """Starts the next epoch, or goes on with the one that a state was loaded of. An epoch that runs is ended."""
        native = self._native()
        if self._loaded is not None:
            epoch = native.resume(json.dumps(self._loaded))
            self._next, self._loaded = self._loaded["epoch"], None
        else:
            epoch = native.epoch(self._next)
        self._running = Batches(epoch, self._next, self._convert)
        self._next += 1
        return self._running

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch the next `for` runs; without it epochs follow each other.

        A state that was loaded of this very epoch stays loaded: the epoch goes on where it was.
        """
        if epoch < 0:
            raise ValueError(f"epoch is {epoch}: epochs count from 0")
        self._running = None
        if self._loaded is not None and self._loaded["epoch"] != epoch:
            self._loaded = None
        self._next = epoch

    @property
    def epoch(self) -> int:
        """The epoch that runs or, where none does, that the next `for` runs."""
        running = self._unfinished()
        return self._next if running is None else running.epoch

    @property
    def options(self) -> dict[str, Any]:
        """What it was told, by keyword, with what the recipe says; plain data, for a log or for another Loader."""
        options: dict[str, Any] = json.loads(self._native().options())
        return options

    @property
    def samples(self) -> int:
        """Samples of the data set."""
        return self._native().samples()

    @property
    def classes(self) -> list[str]:
        """The names of the classes; empty where the data have none."""
        return self._native().classes()

    def state_dict(self) -> dict[str, Any]:
        """Where the run stands behind the last batch that was handed out: plain data, the same on all ranks.

        It can be asked for at any time; behind an epoch's end it is the start of the next.
        """
        native = self._native()
        running = self._unfinished()
        if self._loaded is not None:
            state = self._loaded
        elif running is not None:
            state = running._state()
        else:
            state = json.loads(native.state_ahead_of(self._next))
        return {"type": STATE_TYPE, **state}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Lets the next `for` go on where the state was taken; an epoch that runs is ended then.

        A state of other data, another recipe or another seed is refused, with what differs.
        """
        state = dict(state_dict)
        kind = state.pop("type", None)
        if kind != STATE_TYPE:
            raise ValueError(
                f"the state is of type {kind!r}, and a Loader takes {STATE_TYPE!r}: give what its state_dict() returned"
            )
        self._native().check_state(json.dumps(state))
        self._loaded, self._running, self._next = state, None, state["epoch"]

    def report(self) -> dict[str, Any]:
        """What was wrong with the files so far.

        `failures`: how often a bad sample was met; `files`: the different ones with stage, key, index and cause.
        `damaged`: how often a damaged file was decoded, as the option of that name allows; `damaged_files`: the different
        ones with key, index, damage (libjpeg's warning) and times.
        """
        failures, files, damaged, damaged_files = self._native().report()
        bad, decoded = ("stage", "key", "index", "cause"), ("key", "index", "damage", "times")
        return {
            "failures": failures,
            "files": [dict(zip(bad, file)) for file in files],
            "damaged": damaged,
            "damaged_files": [dict(zip(decoded, file)) for file in damaged_files],
        }

    def stats(self) -> dict[str, Any]:
        """The figures since the loader was made.

        Stages `source`, `plan`, `decode`, `render`, and `wait` and `trainer`: count, total, mean, p50 and p99 in seconds.
        Occupancy: `ready_batches`, `slots`, `workers`. Bytes read, images, samples, failures, and the use of caches,
        decode indexes and stores. `limiting_stage` and `explanation`: as `explain()`.
        """
        stats: dict[str, Any] = json.loads(self._native().stats())
        return stats

    def explain(self) -> str:
        """What limits the speed so far, why, and what to do about it, in one sentence."""
        return self._native().explain()

    def close(self) -> None:
        """Stops the threads. Batches that were handed out stay valid. Closing twice is no error."""
        if os.getpid() == self._process:
            if self._running is not None:
                self._running._close()
            self._loader.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Loader has threads, which cannot be pickled: make it in the process that uses it")

    def _native(self) -> _feedline.Loader:
        _check_process(self._process)
        return self._loader

    def _unfinished(self) -> Batches | None:
        running = self._running
        return None if running is None or running.finished else running


if not TYPE_CHECKING:  # A type checker knows the keywords by itself.
    _options.describe(Loader)


class Batches(Iterator[Batch]):
    """The batches of one epoch."""

    def __init__(self, epoch: _feedline.Epoch, number: int, convert: Callable[[_feedline.Tensor], Any] | None) -> None:
        self._native = epoch
        self._convert = convert
        self._process = os.getpid()
        self._failed = False
        self.epoch = number
        self.finished = False

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> Batch:
        _check_process(self._process)
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
        convert = self._convert
        if convert is not None:
            for name, value in batch.items():
                if isinstance(value, _feedline.Tensor) or name in ("views", "view_labels"):
                    batch[name] = _converted(value, convert)
        return batch  # type: ignore[return-value]

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self._native.state())
        return state

    def _close(self) -> None:
        self._native.close()


def _converted(value: Any, convert: Callable[[_feedline.Tensor], Any]) -> Any:
    """A tensor, or those in the lists and dicts that views have, as another library's."""
    if isinstance(value, _feedline.Tensor):
        return convert(value)
    if isinstance(value, dict):
        return {name: _converted(each, convert) for name, each in value.items()}
    return [_converted(each, convert) for each in value]


def _check_process(process: int) -> None:
    if os.getpid() != process:
        raise RuntimeError(
            f"this Loader was made in process {process}, and its threads did not come along when that process forked: "
            "make it in the process that uses it, or start processes by spawn"
        )
