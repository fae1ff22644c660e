"""How fast a loader and a training step are, alone and together, whosever they are."""

from __future__ import annotations

import copy
import json
import random
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from types import TracebackType
from typing import Any

from feedline import _feedline
from feedline._loader import Loader
from feedline._map import Mapped

_WARM_UP_STEPS = 3
# Steps that a device may be behind, as in a training that looks at its loss now and then.
_BEHIND = 2
# Seconds between looks at GPUs, whose driver averages over longer than this.
_LOOK_EVERY = 0.1
# In the place of a batch, which may be None.
_END = object()
_AGAIN = "give something that can be iterated again, such as a DataLoader"


def refuse_what_ends(loader: Any) -> None:
    """A loader is to be iterated several times."""
    if not hasattr(loader, "__iter__"):
        raise TypeError(f"loader is a {type(loader).__name__}, which cannot be iterated: give a DataLoader or the like")
    # Iterators with a length, or to be reset, begin anew: those of DALI are their own iterators.
    if isinstance(loader, Iterator) and not (hasattr(loader, "__len__") or hasattr(loader, "reset")):
        raise TypeError(f"loader is a {type(loader).__name__}, which goes through its batches once: {_AGAIN}")


@dataclass
class Alone:
    """A loader without a trainer."""

    per_s: float
    """Images a second: behind the first batches of epochs or, where those are too short for that, of whole epochs."""
    is_of_epochs: bool
    """Whether it is of whole epochs, starts included."""
    size: int
    batch: Any
    first_batch_s: float
    epoch_batches: int | None
    """None where no epoch ended, and the loader does not say."""


def loader_alone(loader: Any, seconds: float) -> Alone:
    starts: list[float] = []
    images = epoch = longest = 0  # behind first batches, and batches of this epoch and of the longest one that ended
    whole, whole_s = 0, 0.0  # images and seconds of epochs that ended
    with Epochs(loader) as epochs:
        entered = began = time.perf_counter()
        batch = epochs.start()
        if batch is _END:
            raise ValueError("the loader has no batch: give one whose data set is not empty")
        sizes, behind, of_epoch = Sizes(loader, batch), 0.0, 0
        size = sizes.of(batch)
        following: Any = batch
        while True:
            now = last = time.perf_counter()
            starts.append(now - began)
            epoch, of_epoch = 1, sizes.of(following)
            # Where epochs are short most of the time goes by while they start: so all of it has a bound, too.
            while behind < seconds and not (images and now - entered > 2 * seconds):
                following = epochs.next()
                now = time.perf_counter()
                if following is _END:
                    break
                behind, last = behind + now - last, now
                taken = sizes.of(following)
                images, epoch, of_epoch = images + taken, epoch + 1, of_epoch + taken
            if following is not _END:
                break
            longest, whole, whole_s = max(longest, epoch), whole + of_epoch, whole_s + now - began
            # Epochs of one batch have nothing behind it.
            if now - entered > seconds and not images or now - entered > 2 * seconds:
                break
            began = time.perf_counter()
            following = epochs.start()
            if following is _END:
                break  # it could be iterated once
    in_flight = _workers(loader) * (getattr(loader, "prefetch_factor", None) or 2)
    is_of_epochs = whole > 0 and (not images or longest <= in_flight)
    per_s = whole / max(whole_s, 1e-9) if is_of_epochs else images / max(behind, 1e-9)
    return Alone(per_s, is_of_epochs, size, batch, median(starts), length(loader) or longest or None)


@dataclass
class Step:
    """A training step on one batch."""

    seconds: float
    processor_s: float
    """Of all threads of this process, without what waiting for a GPU spins away."""


def step_alone(train_step: Callable[[Any], Any], batch: Any, seconds: float) -> Step:
    """The mean, since some trainers do more in every fourth step."""
    pace = _Pace()
    for _ in range(_WARM_UP_STEPS):
        train_step(_fresh(batch))
    pace.finish()
    steps, processor_s, began = 0, 0.0, time.perf_counter()
    while not steps or time.perf_counter() - began < seconds:
        before = time.process_time()
        train_step(_fresh(batch))
        processor_s += time.process_time() - before
        pace.follow()
        steps += 1
    pace.finish()
    return Step(max(time.perf_counter() - began, 1e-9) / steps, processor_s / steps)


@dataclass
class Together:
    """A loader and a training step."""

    per_s: float
    """Images a second, the starts of epochs included as they come."""
    gpus: list[dict[str, Any]]
    """How busy the machine's GPUs were meanwhile."""


def together(loader: Any, train_step: Callable[[Any], Any], seconds: float) -> Together:
    pace = _Pace()
    with Epochs(loader) as epochs, _Gpus(seconds) as gpus:
        batch = epochs.start()
        if batch is _END:
            raise ValueError(f"the loader has no batch the second time: {_AGAIN}")
        sizes, images = Sizes(loader, batch), 0
        train_step(batch)
        pace.finish()
        gpus.begin()
        began = time.perf_counter()
        while not images or time.perf_counter() - began < seconds:
            batch = epochs.next()
            if batch is _END:
                batch = epochs.start()
            if batch is _END:
                break
            # A trainer may take a batch apart.
            images += sizes.of(batch)
            train_step(batch)
            pace.follow()
        pace.finish()
        # Ending the workers is no part of it.
        per_s = images / max(time.perf_counter() - began, 1e-9)
        return Together(per_s, gpus.finish())


class Epochs:
    """The batches of a loader, one epoch after another; its workers end with it, also where something is raised."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._batches: Iterator[Any] = iter(())

    def __enter__(self) -> Epochs:
        return self

    def start(self) -> Any:
        """The first batch of the next epoch; `_END` where there is none."""
        self._end()
        self._batches = iter(self._loader)
        batch = next(self._batches, _END)
        if batch is _END and self._reset():
            batch = next(self._batches, _END)
        return batch

    def next(self) -> Any:
        """The next batch; `_END` at the epoch's end."""
        batch = next(self._batches, _END)
        if batch is _END:
            self._reset()
        return batch

    def _reset(self) -> bool:
        """At an epoch's end: what is its own iterator may have to be told that a new one begins."""
        if self._batches is not self._loader or not hasattr(self._loader, "reset"):
            return False
        self._loader.reset()
        return True

    def _end(self) -> None:
        shutdown = getattr(self._batches, "_shutdown_workers", None)
        if shutdown is not None and not getattr(self._batches, "_persistent_workers", False):
            shutdown()
        self._batches = iter(())

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()


class Sizes:
    """How many images batches of a loader have: the length of the part of a batch whose length is the loader's batch size, or else
    of what looks most like images."""

    def __init__(self, loader: Any, batch: Any) -> None:
        size = getattr(loader, "batch_size", None)
        if not isinstance(size, int):
            size = getattr(getattr(loader, "batch_sampler", None), "batch_size", None)
        self._most: int | None = size if isinstance(size, int) else None
        found = [(rank, place) for rank, place, length in _lengths(batch) if self._may_be(length)]
        exact = [(rank, place) for rank, place, length in _lengths(batch) if length == self._most]
        # The first of the best.
        best = min(exact or found, key=lambda each: each[0], default=None)
        self._place: tuple[Any, ...] | None = None if best is None else best[1]

    def of(self, batch: Any) -> int:
        part: Any = batch if self._place is not None else None
        try:
            for at in self._place or ():
                part = part[at]
        except (LookupError, TypeError):
            part = None  # a batch of another form
        shape = getattr(part, "shape", None)
        size = int(shape[0]) if shape else len(part) if isinstance(part, (list, tuple)) else 0
        return size or self._most or 1

    def _may_be(self, length: int) -> bool:
        return length > 0 and (self._most is None or length <= self._most)


def _lengths(batch: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[int, tuple[Any, ...], int]]:
    """The lengths in a batch, each with its place and how little it is like the number of images: arrays of batches of images first,
    then lists of images or of anything that is not a list, then other arrays."""
    shape = getattr(batch, "shape", None)
    if shape is not None:
        if len(shape):
            yield (0 if len(shape) >= 4 else 2), place, int(shape[0])
    elif isinstance(batch, Mapping):
        for key, value in batch.items():
            yield from _lengths(value, (*place, key))
    elif isinstance(batch, (list, tuple)):
        for at, value in enumerate(batch):
            yield from _lengths(value, (*place, at))
        holds_parts = any(isinstance(value, (list, tuple, Mapping)) or _dimensions(value) >= 4 for value in batch)
        yield (3 if holds_parts else 1), place, len(batch)


def _dimensions(value: Any) -> int:
    return len(getattr(value, "shape", None) or ())


def _fresh(batch: Any) -> Any:
    """The same arrays in other containers: a trainer may take a batch apart, and the next step is to find it whole."""
    if isinstance(batch, Mapping) or isinstance(batch, (list, tuple)) and type(batch) in (list, tuple):
        try:
            other = copy.copy(batch)
            if isinstance(other, list):
                other[:] = [_fresh(value) for value in other]
            elif isinstance(other, tuple):
                return tuple(_fresh(value) for value in other)
            else:
                other.update({key: _fresh(value) for key, value in other.items()})  # type: ignore[attr-defined]
        except (TypeError, AttributeError):
            return batch  # one that cannot be changed
        return other
    return batch


class _Gpus:
    """Looks at the machine's GPUs from a thread of its own, also in the middle of a long step. It holds the driver's locks for less
    than a millisecond each time; a worker that is forked meanwhile must not ask the driver the same."""

    def __init__(self, seconds: float) -> None:
        self._settles_s = _feedline.GpuMeter.settles_in(seconds)
        self._meter, self._stop = _feedline.GpuMeter(), threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> _Gpus:
        # The first look of a process finds the driver, which takes a while.
        if _feedline.GpuMeter().look():
            self._thread = threading.Thread(target=self._look, name="feedline gpus", daemon=True)
        return self

    def begin(self) -> None:
        if self._thread is not None:
            self._thread.start()

    def _look(self) -> None:
        wait_s = self._settles_s
        while not self._stop.wait(wait_s):
            self._meter.look()
            wait_s = _LOOK_EVERY

    def finish(self) -> list[dict[str, Any]]:
        """Each GPU with its mean use since it began."""
        self._end()
        if self._thread is not None:
            self._meter.look()  # the end of what took less time than there is between two looks
        gpus: list[dict[str, Any]] = json.loads(self._meter.mean())
        return gpus

    def _end(self) -> None:
        self._stop.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()


class _Pace:
    """Lets the device that a step runs on be a little behind, and no more: what it does counts, and loading goes on meanwhile.

    On CUDA; torch's other devices are waited for at each step, and steps of other libraries have to wait for theirs themselves.
    """

    def __init__(self) -> None:
        self._events: deque[Any] = deque()

    def follow(self) -> None:
        """After a step."""
        cuda = _device("cuda")
        if cuda is None:
            self.finish()
            return
        event = cuda.Event()
        event.record()
        self._events.append(event)
        if len(self._events) > _BEHIND:
            self._events.popleft().synchronize()

    def finish(self) -> None:
        """Waits for all steps."""
        self._events.clear()
        for name in ("cuda", "xpu", "mps"):
            device = _device(name)
            if device is not None:
                device.synchronize()


def _device(name: str) -> Any | None:
    """torch's module of a kind of device that is in use."""
    device = getattr(sys.modules.get("torch"), name, None)
    if device is None or not device.is_available() or not getattr(device, "is_initialized", lambda: True)():
        return None
    return device


@contextmanager
def as_before(loader: Any) -> Iterator[None]:
    """Puts back afterwards from which random numbers a training would go on, and where a Loader of feedline stands."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    restore: list[tuple[Callable[[Any], Any], Any]] = [(random.setstate, random.getstate())]
    if numpy is not None:
        restore.append((numpy.random.set_state, numpy.random.get_state()))
    if torch is not None:
        restore.append((torch.set_rng_state, torch.get_rng_state()))
        cuda = _device("cuda")
        if cuda is not None:
            restore.append((cuda.set_rng_state_all, cuda.get_rng_state_all()))
        owners = (loader, getattr(loader, "sampler", None))
        generators = [getattr(owner, "generator", None) for owner in owners]
        restore += [(each.set_state, each.get_state()) for each in generators if isinstance(each, torch.Generator)]
    own = own_loader(loader)
    if own is not None:
        restore.append((own.load_state_dict, own.state_dict()))
    try:
        yield
    finally:
        for put_back, state in restore:
            put_back(state)


def own_loader(loader: Any) -> Loader | Mapped | None:
    """A Loader of feedline, also one inside of what stands in a DataLoader's place."""
    own = loader if isinstance(loader, (Loader, Mapped)) else getattr(loader, "loader", None)
    return own if isinstance(own, (Loader, Mapped)) else None


def _workers(loader: Any) -> int:
    workers = getattr(loader, "num_workers", None)
    return workers if isinstance(workers, int) else 0


def length(of: Any) -> int | None:
    try:
        return len(of)
    except (TypeError, NotImplementedError):
        return None
