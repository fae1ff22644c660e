"""The Loader: options by name, batches of epochs, and where a run stands."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from feedline import _checks, _feedline, _options, _words
from feedline._batches import Batches, Form, check_process
from feedline._dataset import Dataset, Sampler
from feedline._map import Mapped
from feedline._mixture import Mixture
from feedline._stats import Stats
from feedline._warn import warn
from feedline._words import Data

if TYPE_CHECKING:
    from feedline._keywords import Keywords
    from typing_extensions import Unpack

STATE_TYPE = "feedline.Loader"


class Loader:
    """Batches of augmented images, epoch by epoch: `for batch in loader` is one epoch, and the next one the next.

    What a sample becomes depends on the seed, the epoch and the sample alone: not on num_workers, prefetch_factor or
    the number of ranks. `data` is a path or a URL, a `feedline.Mixture` of several, records in memory, or an object with
    `__len__` and `__getitem__`; without it the recipe says which. Keywords that are left out, or None, are the recipe's or
    have the defaults below. A keyword that is no option is a parameter of the recipe:
    `Loader(path, recipe="yolo-train", imgsz=320, mosaic=0.5)`.
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
        self._data = data
        if isinstance(data, Mixture):
            said, data = _options.with_mixture(said, data.as_dict()), None
        told = _options.read(said)
        _checks.ahead(said)
        self._process = os.getpid()
        source = None if data is None else _words.data(data, said.get("fields"))
        self._loader = _feedline.Loader(source, told)
        for note in self._loader.notes:
            warn(note)
        facts: dict[str, Any] = json.loads(self._loader.facts())
        _checks.opened(self._loader, facts, said, source)
        self._form = Form(_words.converter(said.get("framework")), *_checks.columns(facts, said), said.get("collate") or {})
        self._facts = facts
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
        self._running = Batches(epoch, self._next, self._form)
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

    @property
    def dataset(self) -> Any:
        """The object that was given as data, where it has a length and samples by index; else what is known of the data set."""
        is_object = hasattr(self._data, "__getitem__") and hasattr(self._data, "__len__")
        return self._data if is_object and not isinstance(self._data, (str, list, tuple)) else Dataset(self)

    @property
    def sampler(self) -> Sampler:
        """The order of the samples, with `set_epoch` and a length."""
        return Sampler(self)

    @property
    def batch_size(self) -> int:
        """Rows of a batch."""
        size: int = self.options.get("batch_size", 1)
        return size

    @property
    def drop_last(self) -> bool:
        """Whether a last batch that is not full is left out."""
        return bool(self.options["last_batch"] == "drop")

    @property
    def num_workers(self) -> int:
        """Worker threads as they were asked for; 0 where their number is automatic."""
        workers: int = self.options.get("workers", 0)
        return workers

    def map(self, function: Callable[[Any], Any], workers: int = 0) -> Mapped:
        """The same batches, each as `function` returns it, in their order.

        With `workers` the function runs in so many threads ahead of the loop, else in the thread that takes the batch.
        `state_dict()`, `set_epoch()` and all else are the Loader's.
        """
        return Mapped(self, function, workers)

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

    def stats(self) -> Stats:
        """The figures since the loader was made; `stats().prometheus()` is text that Prometheus reads.

        Stages `source`, `plan`, `decode`, `render`, and `wait` and `trainer`: count, total, mean, p50 and p99 in seconds; where
        they run, also `python_source` (calls of `__getitem__`), `collate` and `map`.
        Occupancy: `ready_batches`, `slots`, `workers`. Bytes read, images, samples, failures, and the use of caches,
        decode indexes and stores. `limiting_stage` and `explanation`: as `explain()`.
        """
        stats: dict[str, Any] = json.loads(self._native().stats())
        collate = json.loads(self._form.timer.timing())
        return Stats({**stats, "collate": collate} if collate["count"] else stats)

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

    def __getitem__(self, index: Any) -> NoReturn:
        raise TypeError("a Loader hands out batches in their order: use `for batch in loader`, or `next(iter(loader))` for one")

    def __repr__(self) -> str:
        if os.getpid() != self._process:
            return "<feedline.Loader of another process>"
        try:
            return f"<feedline.Loader: {self._said()}>"
        except RuntimeError:
            return "<feedline.Loader, closed>"

    def _said(self) -> str:
        """What it loads, and what a batch of it is."""
        options = self.options
        order = "in the order of the data"
        if any(options.get(name) for name in ("shuffle", "shuffle_window", "shuffle_shards", "weights")):
            order = "drawn by weights" if options.get("weights") else "shuffled"
        batches, place = f"{_count(len(self), 'batch')} of {self.batch_size}", options.get("device", "cpu")
        return f"{self._said_of_data()}, {order}; {batches}: {_images(self._facts)}, on {place}"

    def _said_of_data(self) -> str:
        options = self.options
        sets = f"{len(options['sets'])} data sets" if options.get("sets") else f"a {type(self._data).__name__}"
        classes = f" of {_count(len(self.classes), 'class')}" if self.classes else ""
        return f"{_count(self.samples, 'sample')}{classes} from {options.get('data') or sets}"

    def _native(self) -> _feedline.Loader:
        check_process(self._process)
        return self._loader

    def _unfinished(self) -> Batches | None:
        running = self._running
        return None if running is None or running.finished else running


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}{'es' if what.endswith(('s', 'ch')) else 's'}"


def _images(facts: Mapping[str, Any]) -> str:
    """Shape, number format and range of the images."""
    if not facts["outputs"]:
        return "no pixels"
    sizes = {tuple(output["size"]): output for output in facts["outputs"]}
    shapes = [str((3, *size) if output["layout"] == "nchw" else (*size, 3)) for size, output in sizes.items()]
    first = facts["outputs"][0]
    span = "normalised" if first["normalized"] else "from 0 to 255" if first["dtype"] == "u8" else "from 0 to 1"
    views = f"{len(facts['outputs'])} views, " if len(facts["outputs"]) > 1 else ""
    return f"{views}{' and '.join(shapes)} {_DTYPES[first['dtype']]} {span}"


_DTYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "u8": "uint8"}


if not TYPE_CHECKING:  # A type checker knows the keywords by itself.
    _options.describe(Loader)
