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
from feedline._mixture import Mixture
from feedline._words import Data

# How much faster than the trainer a loader has to be for the trainer never to wait.
ENOUGH = 1.2
_WARM_UP_STEPS = 3
# A loader that gives less of what its samples' time allows loses it between its processes.
_HANDED_OVER = 0.6
# Where the start of an epoch takes a larger part of it, that is what is told.
_STARTING = 0.25
_AGAIN = "give something that can be iterated again, such as a DataLoader"
# The stages of a feedline Loader.
_STAGES = {"source": "reading", "plan": "planning", "decode": "decoding", "render": "rendering"}

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
    Loader `trainer` or one of its own stages, `source`, `plan`, `decode` or `render`."""
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

    `loader` is any iterable of batches, such as a torch DataLoader, which is iterated several times; `train_step(batch)` is one
    step of a training, which is called on one batch again and again: use a copy of the model if that matters. Of a DataLoader's
    data set some samples are made in this process, to see where their time goes. `data` and `recipe` (and options as a Loader
    takes them) are what feedline is measured on in its place; the folder of a torchvision data set is found by itself. `seconds`
    is about how long all of it takes. A trainer on a GPU is waited for by `torch.cuda.synchronize()`.
    """
    if not seconds >= 1:
        raise ValueError(f"seconds is {seconds}: measure for at least 1 second")
    if not hasattr(loader, "__iter__"):
        raise TypeError(f"loader is a {type(loader).__name__}, which cannot be iterated: give a DataLoader or the like")
    # Iterators with a length, or to be reset, begin anew: those of DALI are their own iterators.
    if isinstance(loader, Iterator) and not (hasattr(loader, "__len__") or hasattr(loader, "reset")):
        raise TypeError(f"loader is a {type(loader).__name__}, which goes through its batches once: {_AGAIN}")
    told = _told(data, recipe, options)
    before = _stats(loader)
    alone = _loader_alone(loader, 0.25 * seconds)
    step = None if train_step is None else _step_alone(train_step, alone.batch, 0.2 * seconds)
    trainer = None if step is None else alone.size / step.seconds
    together = alone.per_s if train_step is None else _together(loader, train_step, 0.25 * seconds)
    found = Diagnosis("loader", alone.per_s, trainer, together, alone.size, alone.first_batch_s, "")
    if before is not None:
        _judge_own(found, before, _stats(loader) or before)
        return found
    _judge(found, loader, alone, 0.2 * seconds)
    if found.verdict != "trainer":
        _compare(found, loader, told, 0.4 * seconds, step)
    return found


@dataclass
class _Told:
    """What feedline is measured on in a loader's place."""

    is_named: bool
    """Whether somebody said which data."""
    source: str | dict[str, Any] | None
    """The data as the native half takes them."""
    said: dict[str, Any]


def _told(data: Data | None, recipe: str | None, options: dict[str, Any]) -> _Told:
    """What was said of feedline; what is wrong with it is found here, ahead of measurements that take their time."""
    is_named, said = data is not None, dict(options)
    if recipe is not None or said.get("transforms") is None:
        said["recipe"] = "imagenet-train" if recipe is None else recipe
    if isinstance(data, Mixture):
        said, data = _options.with_mixture(said, data.as_dict()), None
    keywords = _options.read({"batch_size": 1, **said})
    source = None if data is None else _words.data(data, said.get("fields"))
    if is_named:
        # A loader finds what does not fit together. It needs no cache, which other processes would see.
        bare = {name: value for name, value in said.items() if not name.startswith("cache")}
        _feedline.Loader(source, _options.read({"batch_size": 1, **bare})).close()
    else:
        _feedline.check_options(keywords["options"])
        if keywords["recipe"] is not None:
            _options.parameters(keywords["recipe"])
    return _Told(is_named, source, said)


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
    rates: list[float] = []
    taken = 1
    started = began = last = time.perf_counter()
    # Where epochs are short most of the time goes by while they start, which `began` leaves out: so all of it has a bound, too.
    while last - began < seconds and not (rates and last - started > 2 * seconds):
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


@dataclass
class _Step:
    """A training step on one batch."""

    seconds: float
    processor_s: float
    """Of all threads of this process, without what waiting for a GPU spins away."""


def _step_alone(train_step: Callable[[Any], Any], batch: Any, seconds: float) -> _Step:
    for _ in range(_WARM_UP_STEPS):
        train_step(batch)
    _synchronize()
    took: list[float] = []
    processor_s, began = 0.0, time.perf_counter()
    while not took or time.perf_counter() - began < seconds:
        before, before_processor = time.perf_counter(), time.process_time()
        train_step(batch)
        processor_s += time.process_time() - before_processor
        _synchronize()
        took.append(time.perf_counter() - before)
    return _Step(max(median(took), 1e-9), processor_s / len(took))


def _together(loader: Any, train_step: Callable[[Any], Any], seconds: float) -> float:
    """Images a second, the starts of epochs included as they come."""
    images = 0
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
        if now - first > seconds and images:
            break
    _end(batches)
    if first is None:
        raise ValueError(f"the loader has no batch the second time: {_AGAIN}")
    return images / max(time.perf_counter() - first, 1e-9)


def _is_enough(found: Diagnosis) -> bool:
    """Whether the trainer has about what it takes."""
    return found.trainer_per_s is not None and found.together_per_s >= found.trainer_per_s / ENOUGH


def _in_words(verdict: str) -> str:
    return f"{_REASONS[verdict]}. To do: {_REMEDIES[verdict]}"


def _stats(loader: Any) -> dict[str, Any] | None:
    """The figures of a feedline Loader."""
    return loader.stats() if isinstance(loader, (Loader, Mapped)) else None


def _judge_own(found: Diagnosis, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Says what limits a feedline Loader by the time of its stages. Its figures are those of its whole life: what it did ahead of
    this, perhaps beside another trainer, is taken off."""
    if _is_enough(found):
        found.verdict, found.explanation = "trainer", _in_words("trainer")
        return
    spent = {stage: after[stage]["total_seconds"] - before[stage]["total_seconds"] for stage in _STAGES}
    found.verdict = max(spent, key=lambda stage: spent[stage])
    if found.verdict == after["limiting_stage"]:
        found.explanation = after["explanation"]
        return
    part = 100 * spent[found.verdict] / max(sum(spent.values()), 1e-9)
    found.explanation = f"the limit is {_STAGES[found.verdict]}: the workers spent {part:.0f} % of their time on it"


def _judge(found: Diagnosis, loader: Any, alone: _Alone, seconds: float) -> None:
    """Says what limits, and why."""
    trainer, workers = found.trainer_per_s, getattr(loader, "num_workers", None)
    starting = _starting(loader, alone)
    # What is told of a slow start is how to keep workers, where there are some.
    if _is_enough(found) and (starting < _STARTING or not workers):
        found.verdict = "trainer"
    else:
        found.sample = _sample(found, loader, seconds)
        found.verdict = _reason(found, workers, starting, alone)
    found.explanation = _in_words(found.verdict)
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


def _sample(found: Diagnosis, loader: Any, seconds: float) -> _sample_time.SampleTime | None:
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
    except Exception as error:  # Its samples may go by other keys, or it may have none that are made one by one.
        what = f"{type(dataset).__name__} made no sample in this process: {type(error).__name__}: {error}"
        found.notes.append(f"where the time of a sample goes is not known: {what}")
        return None
    finally:
        if torch is not None:
            torch.set_num_threads(threads)


def _compare(found: Diagnosis, loader: Any, told: _Told, seconds: float, step: _Step | None) -> None:
    """Measures feedline on the same data, where they are known."""
    where = None if told.is_named else _folder_of(loader)
    if where is None and not told.is_named:
        return
    size = told.said.get("batch_size") or found.batch_size
    keywords = _options.read({**told.said, "batch_size": size})
    source = told.source if where is None else where
    batches = size / found.batch_size
    step_s = None if step is None else batches * step.seconds
    processor_s = None if step is None else batches * step.processor_s
    try:
        found.feedline = json.loads(_feedline.doctor(source, keywords, max(seconds, 1.0), step_s, processor_s))
    except (ValueError, OSError, _feedline.SampleError, _feedline.UnavailableError) as error:
        if told.is_named:
            raise
        found.notes.append(f"feedline was not measured on {where}: {error}")


def _gain(found: dict[str, Any], now: float) -> str:
    rate = found["together"]["per_s"]
    times = rate / max(now, 1e-9)
    gives = f"would give {rate:.1f} images/s, {times:.1f} times as many; then {found['explanation']}"
    return gives if times >= 1.05 else f"would give no more: {rate:.1f} images/s; {found['explanation']}"


def _folder_of(loader: Any) -> str | None:
    """The folder of a torchvision data set of images that has its files listed, a DatasetFolder. Whatever else has a root may show
    something else than the images below it."""
    dataset: Any = getattr(loader, "dataset", None)
    if not hasattr(dataset, "samples") and not hasattr(dataset, "imgs"):
        return None
    # ImageNet's root has the folders of all splits.
    root = getattr(dataset, "split_folder", None) or getattr(dataset, "root", None)
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
    except (TypeError, NotImplementedError):
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
