"""Whether a loader is the limit of a training, why, and what feedline would give in its place."""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from feedline import _feedline, _options, _sample_time, _words
from feedline._loader import Loader
from feedline._map import Mapped
from feedline._words import Data

# How much faster than the trainer a loader has to be for the trainer never to wait.
ENOUGH = 1.2
_WARM_UP_STEPS = 3
# A loader that gives less of what its samples' time allows loses it between its processes.
_HANDED_OVER = 0.6
# Where the start of an epoch takes a larger part of it, that is what is told.
_STARTING = 0.25

_REASONS = {
    "trainer": "the training step is the limit: you do not need a faster loader",
    "storage": "reading is the limit: samples wait for files more than they are worked on",
    "decode": "decoding is the limit",
    "transforms": "work behind the decoder is the limit: transforms, and Python",
    "workers": "loading and training take turns: the loader has no workers",
    "start": "starting the workers anew for each epoch is the limit",
    "handover": "handing batches over between processes is the limit",
    "loader": "the loader is the limit; what it does inside cannot be seen from here",
}
_REMEDIES = {
    "trainer": "leave it as it is",
    "storage": "use faster storage, larger files (shards), a cache in memory, or more workers, which wait side by side",
    "decode": "use a faster decoder, smaller files, or more cores",
    "transforms": "do less per sample in Python: fused or compiled transforms, smaller images first, or more cores",
    "workers": "set num_workers, so that batches are made while the trainer is at work",
    "start": "set persistent_workers=True, or make epochs longer",
    "handover": "return tensors of the size that the model takes, not lists or whole images; collate in the worker",
    "loader": "profile it, or give its data set and recipe so that feedline can be measured on them",
}


@dataclass
class Diagnosis:
    """What `feedline.doctor` found; `print(diagnosis)` says it in words. Rates are in images a second."""

    verdict: str
    """What limits: `trainer`, `storage`, `decode`, `transforms`, `workers`, `start`, `handover` or `loader`; of a feedline
    Loader its own stages, `source`, `plan`, `decode` or `render`."""
    loader_per_s: float
    """The loader alone, behind its first batch."""
    trainer_per_s: float | None
    """The training step alone, on one batch; None where no step was given."""
    together_per_s: float
    """Both; the loader's where no step was given."""
    batch_size: int
    first_batch_s: float
    """From the start of an epoch to its first batch."""
    explanation: str
    """Why, and what to do, in words."""
    sample: _sample_time.SampleTime | None = None
    """Where the time of one sample goes, where it can be seen."""
    feedline: dict[str, Any] | None = None
    """What `feedline doctor` measured on the same data, where they are known."""
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"loader    {self.loader_per_s:.1f} images/s alone; {self.first_batch_s:.2f} s to the first batch of an epoch"
        ]
        if self.trainer_per_s is not None:
            lines.append(f"trainer   {self.trainer_per_s:.1f} images/s if it never waits")
            lines.append(f"together  {self.together_per_s:.1f} images/s")
        if self.sample is not None:
            each = self.sample
            lines.append(
                f"a sample  {1000 * each.seconds:.2f} ms: waiting {1000 * each.waiting:.2f}, "
                f"decoding {1000 * each.decoding:.2f}, the rest {1000 * each.working:.2f}"
            )
        lines.append(self.explanation)
        if self.feedline is not None:
            lines.append(f"feedline  {_gain(self.feedline, self.together_per_s)}")
        return "\n".join(lines + [f"note: {note}" for note in self.notes])


def doctor(
    loader: Any,
    train_step: Callable[[Any], Any] | None = None,
    *,
    data: Data | None = None,
    recipe: str | None = None,
    seconds: float = 30.0,
    **options: Any,
) -> Diagnosis:
    """Measures a loader and a training step, alone and together, and says which limits and why.

    `loader` is any iterable of batches, such as a torch DataLoader; `train_step(batch)` is one step of a training, which is
    called on one batch again and again: use a copy of the model if that matters. Of a DataLoader's data set some samples are
    made in this process, to see where their time goes. `data` and `recipe` (and options as a Loader takes them) are what
    feedline is measured on in its place; the folder of a torchvision data set is found by itself. `seconds` is about how
    long all of it takes. A trainer on a GPU is waited for by `torch.cuda.synchronize()`.
    """
    if seconds < 1:
        raise ValueError(f"seconds is {seconds}: measure for at least 1 second")
    if not hasattr(loader, "__iter__"):
        raise TypeError(f"loader is a {type(loader).__name__}, which cannot be iterated: give a DataLoader or the like")
    alone = _loader_alone(loader, 0.25 * seconds)
    step = None if train_step is None else _step_alone(train_step, alone.batch, 0.2 * seconds) / alone.size
    trainer = None if step is None else 1 / step
    together = alone.per_s if train_step is None else _together(loader, train_step, 0.25 * seconds)
    found = Diagnosis("loader", alone.per_s, trainer, together, alone.size, alone.first_batch_s, "")
    if isinstance(loader, (Loader, Mapped)):
        stats = loader.stats()
        found.verdict = stats["limiting_stage"] or "loader"
        found.explanation = stats["explanation"]
        return found
    _judge(found, loader, alone, 0.2 * seconds)
    where = data if data is not None else _folder_of(loader)
    if where is not None and found.verdict != "trainer":
        said = {"batch_size": alone.size, **options, **({} if recipe is None else {"recipe": recipe})}
        try:
            found.feedline = _measured(where, said, 0.4 * seconds, step)
        except (ValueError, OSError, _feedline.UnavailableError) as error:
            if data is not None:
                raise
            found.notes.append(f"feedline was not measured on {where}: {error}")
    return found


@dataclass
class _Alone:
    per_s: float
    size: int
    batch: Any
    first_batch_s: float
    epoch_batches: int


def _loader_alone(loader: Any, seconds: float) -> _Alone:
    began = time.perf_counter()
    batches = iter(loader)
    try:
        batch = next(batches)
    except StopIteration:
        raise ValueError("the loader has no batch: give one whose data set is not empty") from None
    first_batch_s, size = time.perf_counter() - began, _size(loader, batch)
    rates, taken = [], 1
    began = last = time.perf_counter()
    while last - began < seconds:
        if next(batches, None) is None:
            if taken < 2:
                break
            # What starting costs is told apart.
            batches, taken = iter(loader), 1
            next(batches, None)
            began, last = began + time.perf_counter() - last, time.perf_counter()
            continue
        taken += 1
        now = time.perf_counter()
        rates.append(size / max(now - last, 1e-9))
        last = now
    _end(batches)
    # Batches come in bursts where several workers make them, so it is the mean that counts.
    per_s = size / first_batch_s if not rates else len(rates) / sum(1 / rate for rate in rates)
    return _Alone(per_s, size, batch, first_batch_s, _length(loader) or taken)


def _step_alone(train_step: Callable[[Any], Any], batch: Any, seconds: float) -> float:
    """Seconds of a step."""
    for _ in range(_WARM_UP_STEPS):
        train_step(batch)
    _synchronize()
    took: list[float] = []
    began = time.perf_counter()
    while not took or time.perf_counter() - began < seconds:
        before = time.perf_counter()
        train_step(batch)
        _synchronize()
        took.append(time.perf_counter() - before)
    return max(median(took), 1e-9)


def _together(loader: Any, train_step: Callable[[Any], Any], seconds: float) -> float:
    """Images a second, the starts of epochs included as they come."""
    images, began = 0, time.perf_counter()
    batches: Iterator[Any] = iter(loader)
    first = None
    while True:
        batch = next(batches, None)
        if batch is None:
            batches = iter(loader)
            batch = next(batches, None)
            if batch is None:
                break
        train_step(batch)
        _synchronize()
        now = time.perf_counter()
        if first is None:
            first = now
        else:
            images += _size(loader, batch)
        if now - began > seconds and images:
            break
    _end(batches)
    return images / max(time.perf_counter() - (first or began), 1e-9)


def _judge(found: Diagnosis, loader: Any, alone: _Alone, seconds: float) -> None:
    """Says what limits, and why."""
    trainer, workers = found.trainer_per_s, getattr(loader, "num_workers", None)
    enough = trainer is not None and found.together_per_s >= trainer / ENOUGH
    starting = _starting(loader, alone)
    if enough and starting < _STARTING:
        found.verdict = "trainer"
    else:
        found.sample = _sample(loader, seconds)
        found.verdict = _reason(found, workers, starting, alone)
    found.explanation = f"{_REASONS[found.verdict]}. To do: {_REMEDIES[found.verdict]}"
    if trainer is not None and found.verdict != "trainer":
        waits = 100 * max(0.0, 1 - found.together_per_s / trainer)
        found.explanation = f"the trainer waits for {waits:.0f} % of its time; {found.explanation}"


def _reason(found: Diagnosis, workers: int | None, starting: float, alone: _Alone) -> str:
    each, trainer = found.sample, found.trainer_per_s
    if starting >= _STARTING and workers:
        return "start"
    if each is None:
        return "loader"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if workers == 0 and trainer is not None and 1 / each.seconds * cores >= trainer / ENOUGH:
        return "workers"
    # Waits overlap in as many samples as there are workers; work does in as many as there are cores.
    side_by_side = max(workers or 0, 1)
    busy = each.decoding + each.working
    possible = min(side_by_side / max(each.seconds, 1e-9), min(side_by_side, cores) / max(busy, 1e-9))
    if workers and found.loader_per_s < _HANDED_OVER * possible and _hand_over_s(alone) > 0.3 * each.seconds:
        return "handover"
    parts = {"storage": each.waiting, "decode": each.decoding, "transforms": each.working}
    return max(parts, key=lambda part: parts[part])


def _starting(loader: Any, alone: _Alone) -> float:
    """The part of an epoch that passes until its first batch, beyond the time of a batch."""
    batch_s = alone.size / alone.per_s
    start = max(0.0, alone.first_batch_s - batch_s * max(1, getattr(loader, "num_workers", 1) or 1))
    if getattr(loader, "persistent_workers", False):
        return 0.0
    return start / (start + batch_s * alone.epoch_batches)


def _hand_over_s(alone: _Alone) -> float:
    """Seconds for an image to be put into bytes and taken out of them, as it is between processes."""
    from multiprocessing.reduction import ForkingPickler

    began = time.perf_counter()
    try:
        packed = bytes(ForkingPickler.dumps(alone.batch))
        pickle.loads(packed)
    except Exception:  # What cannot be handed over so goes another way.
        return 0.0
    return (time.perf_counter() - began) / alone.size


def _sample(loader: Any, seconds: float) -> _sample_time.SampleTime | None:
    """Makes samples of the loader's data set in this process, as its workers do: with one thread each."""
    dataset: Any = getattr(loader, "dataset", None)
    length = _length(dataset)
    if not length or not hasattr(dataset, "__getitem__"):
        return None
    count = min(length, 256)
    indices = [(at * 7919) % count * length // count for at in range(count)]
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch is not None else 0
    try:
        if torch is not None:
            torch.set_num_threads(1)
        return _sample_time.measure(dataset.__getitem__, indices, seconds)
    finally:
        if torch is not None:
            torch.set_num_threads(threads)


def _measured(data: Data, said: dict[str, Any], seconds: float, step: float | None) -> dict[str, Any]:
    said = {"recipe": "imagenet-train", **said}
    told = _options.read(said)
    source = _words.data(data, said.get("fields"))
    step_s = None if step is None else step * said["batch_size"]
    found: dict[str, Any] = json.loads(_feedline.doctor(source, told, max(seconds, 1.0), step_s))
    return found


def _gain(found: dict[str, Any], now: float) -> str:
    rate = found["together"]["per_s"]
    times = rate / max(now, 1e-9)
    gives = f"would give {rate:.1f} images/s, {times:.1f} times as many; then {found['explanation']}"
    return gives if times >= 1.05 else f"would give no more: {rate:.1f} images/s; {found['explanation']}"


def _folder_of(loader: Any) -> str | None:
    """The folder of a torchvision data set of images."""
    root = getattr(getattr(loader, "dataset", None), "root", None)
    return str(root) if isinstance(root, (str, os.PathLike)) and os.path.isdir(root) else None


def _size(loader: Any, batch: Any) -> int:
    """Images of a batch: of its first value that has a length, unless that is more than the loader makes."""
    most = getattr(loader, "batch_size", None)
    values = list(batch.values()) if isinstance(batch, dict) else batch
    first = values[0] if isinstance(values, (list, tuple)) and values else values
    shape = getattr(first, "shape", None)
    lengths = [int(shape[0])] if shape else []
    if isinstance(first, (list, tuple)):
        lengths.append(len(first))
    if isinstance(values, (list, tuple)):
        # A list of images that were not stacked.
        lengths.append(len(values))
    fitting = [length for length in lengths if length and (not isinstance(most, int) or length <= most)]
    return fitting[0] if fitting else most if isinstance(most, int) else 1


def _length(of: Any) -> int | None:
    try:
        return len(of)
    except TypeError:
        return None


def _synchronize() -> None:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _end(batches: Any) -> None:
    """Ends the workers of an epoch that is left early, where its iterator knows how."""
    shutdown = getattr(batches, "_shutdown_workers", None)
    if shutdown is not None and not getattr(batches, "_persistent_workers", False):
        shutdown()
