"""Whether a loader is the limit of a training, why, and what feedline would give in its place."""

from __future__ import annotations

import copy
import json
import os
import pickle
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from feedline import _feedline, _measured, _options, _sample_time, _words
from feedline._map import Mapped
from feedline._mixture import Mixture
from feedline._words import Data

# A trainer that has so much of its pace hardly waits.
_ENOUGH = 0.9
# A GPU that is busy for more of the time than the first hardly waits; for less than the second, it is probably not the trainer's.
_BUSY, _UNUSED = 0.9, 0.1
# A loader that gives less of what its samples' time allows loses it between its processes.
_HANDED_OVER = 0.6
# Where the start of an epoch takes a larger part of it, that is what is told.
_STARTING = 0.25
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
    Loader `trainer` or one of its own stages, `source`, `plan`, `decode` or `render`, or `map` for functions of `Loader.map`."""
    loader_per_s: float
    """The loader alone, behind the first batches of epochs; of whole epochs where they have no more batches than workers make ahead."""
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
    recipe: str | None = None
    """The recipe that feedline was measured with where none was named; what the loader does may be more or less work."""
    notes: list[str] = field(default_factory=list)
    gpus: list[dict[str, Any]] = field(default_factory=list)
    """The GPUs of this machine, where NVIDIA's driver tells of them, while loader and trainer ran together: `index`, `name`,
    `utilization`, which is the part of the time in which a kernel ran, and `memory` with the bytes `used` and in `total`. None where
    the driver does not tell, as the utilization of a GPU that MIG divides."""

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
        lines += [_gpu_line(gpu) for gpu in self.gpus]
        lines.append(self.explanation)
        if self.feedline is not None:
            lines.append(f"feedline  {_gain(self.feedline, self.together_per_s, self.recipe)}")
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
    step of a training, which is called on one batch again and again. The model learns from that: give a step of a copy. Random
    generators of Python, NumPy and torch, the loader's own one, and the epoch of a feedline Loader are put back as they were. Of a
    DataLoader's data set some samples are made in this process, of a copy, to see where their time goes. `data` and `recipe` (and
    options as a Loader takes them) are what feedline is measured on in its place; the folder of a torchvision data set is found by
    itself. `seconds` is about how long all of it takes. Work on CUDA is waited for as in a training, two steps behind; a step on
    another library's devices has to wait for them itself.
    """
    if not seconds >= 1:
        raise ValueError(f"seconds is {seconds}: measure for at least 1 second")
    _measured.refuse_what_ends(loader)
    told = _told(data, recipe, options)
    with _measured.as_before(loader):
        before = _figures(loader)
        alone = _measured.loader_alone(loader, 0.2 * seconds)
        step = None if train_step is None else _measured.step_alone(train_step, alone.batch, 0.15 * seconds)
        trainer = None if step is None else alone.size / step.seconds
        found = Diagnosis("loader", alone.per_s, trainer, alone.per_s, alone.size, alone.first_batch_s, "")
        if train_step is not None:
            both = _measured.together(loader, train_step, 0.2 * seconds)
            found.together_per_s, found.gpus = both.per_s, both.gpus
        if before is not None:
            _judge_own(found, before, _figures(loader) or before)
        else:
            _judge(found, loader, alone, 0.15 * seconds)
            if found.verdict != "trainer":
                _compare(found, loader, told, 0.3 * seconds, step)
    _look_at_gpus(found)
    return found


@dataclass
class _Told:
    """What feedline is measured on in a loader's place."""

    is_named: bool
    """Whether somebody said which data."""
    source: str | dict[str, Any] | None
    """The data as the native half takes them."""
    said: dict[str, Any]
    recipe: str | None
    """The recipe that is taken since none was named."""


def _told(data: Data | None, recipe: str | None, options: dict[str, Any]) -> _Told:
    """What was said of feedline; what is wrong with it is found here, ahead of measurements that take their time."""
    is_named, said = data is not None, dict(options)
    assumed = "imagenet-train" if recipe is None and said.get("transforms") is None else None
    if recipe is not None or assumed is not None:
        said["recipe"] = assumed if recipe is None else recipe
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
    return _Told(is_named, source, said, assumed)


def _is_enough(found: Diagnosis) -> bool:
    """Whether the trainer has about what it takes."""
    return found.trainer_per_s is not None and found.together_per_s >= _ENOUGH * found.trainer_per_s


def _look_at_gpus(found: Diagnosis) -> None:
    """Notes why GPUs are idle although loading is not the limit, unless one does not report its use: it may be the trainer's."""
    told = [gpu["utilization"] for gpu in found.gpus]
    if found.verdict != "trainer" or found.trainer_per_s is None or not told or None in told:
        return
    busiest, steps = max(told), min(1.0, found.together_per_s / found.trainer_per_s)
    if _UNUSED <= busiest < _BUSY * steps:
        found.notes.append(
            f"no GPU was busy for more than {100 * busiest:.0f} % of the time, though the trainer hardly waited for data: the rest is "
            "lost in the training step, to Python, small kernels or synchronisation"
        )


def _gpu_line(gpu: dict[str, Any]) -> str:
    busy, memory = gpu["utilization"], gpu["memory"]
    silent = "does not tell how busy it is (one that is divided by MIG does not)"
    does = silent if busy is None else f"was busy for {100 * busy:.0f} % of the time"
    taken = "" if memory is None else f"; {memory['used'] >> 20} of {memory['total'] >> 20} MiB taken"
    return f"gpu {gpu['index']}     {gpu['name']} {does}{taken}"


def _in_words(verdict: str) -> str:
    return f"{_REASONS[verdict]}. To do: {_REMEDIES[verdict]}"


def _figures(loader: Any) -> dict[str, Any] | None:
    """Of a feedline Loader, also of one inside a stand-in for a DataLoader: how many seconds a thread has spent in each stage on
    average, and what the Loader itself says limits it. None for other loaders."""
    own = _measured.own_loader(loader)
    if own is None:
        return None
    stats = own.stats()
    seconds = {stage: stats[stage]["total_seconds"] / max(stats["workers"], 1) for stage in _STAGES}
    if isinstance(own, Mapped):
        seconds["map"] = own._thread_seconds()
    return {"seconds": seconds, "limiting_stage": stats["limiting_stage"], "explanation": stats["explanation"]}


def _judge_own(found: Diagnosis, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Says what limits a feedline Loader by the time of its stages. Its figures are those of its whole life: what it did ahead of
    this, perhaps beside another trainer, is taken off."""
    if _is_enough(found):
        found.verdict, found.explanation = "trainer", _in_words("trainer")
        return
    spent = {stage: seconds - before["seconds"][stage] for stage, seconds in after["seconds"].items()}
    found.verdict = max(spent, key=lambda stage: spent[stage])
    if found.verdict == "map":
        found.explanation = "the limit is the function of Loader.map. To do: give it more threads (map(..., workers=)), or do less in it"
        return
    spent.pop("map", None)
    if found.verdict == after["limiting_stage"]:
        found.explanation = after["explanation"]
        return
    part = 100 * spent[found.verdict] / max(sum(spent.values()), 1e-9)
    found.explanation = f"the limit is {_STAGES[found.verdict]}: the workers spent {part:.0f} % of their time on it"


def _judge(found: Diagnosis, loader: Any, alone: _measured.Alone, seconds: float) -> None:
    """Says what limits, and why."""
    trainer, workers = found.trainer_per_s, getattr(loader, "num_workers", None)
    # A slow start is looked into also where the trainer hardly waits behind it.
    if _is_enough(found) and _starting(found, loader, alone) < _STARTING:
        found.verdict = "trainer"
    else:
        found.sample = _sample(found, loader, seconds)
        is_starting = _starting(found, loader, alone) >= _STARTING
        is_enough = _is_enough(found) and not is_starting
        found.verdict = "trainer" if is_enough else "start" if is_starting else _reason(found, workers, alone)
    found.explanation = _in_words(found.verdict)
    if trainer is not None and found.verdict != "trainer":
        waits = 100 * max(0.0, 1 - found.together_per_s / trainer)
        found.explanation = f"the trainer waits for {waits:.0f} % of its time; {found.explanation}"


def _reason(found: Diagnosis, workers: int | None, alone: _measured.Alone) -> str:
    each, trainer, cores = found.sample, found.trainer_per_s, _cores()
    by_one = found.loader_per_s if each is None else 1 / max(each.seconds, 1e-9)
    if workers == 0 and trainer is not None and by_one * cores >= _ENOUGH * trainer:
        return "workers"
    if each is None:
        return "loader"
    # Waits overlap in as many samples as there are workers; work does in as many as there are cores.
    side_by_side = max(workers or 0, 1)
    busy = each.decoding + each.working
    possible = min(side_by_side / max(each.seconds, 1e-9), min(side_by_side, cores) / max(busy, 1e-9))
    if workers and found.loader_per_s < _HANDED_OVER * possible and _hand_over_s(alone) > 0.3 * each.seconds:
        return "handover"
    parts = {"storage": each.waiting, "decode": each.decoding, "transforms": each.working}
    return max(parts, key=lambda part: parts[part])


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _starting(found: Diagnosis, loader: Any, alone: _measured.Alone) -> float:
    """The part of an epoch, the trainer's steps included, that workers take to start, beyond making the first batch. Of epochs whose
    length is not known, and where no workers start, 0."""
    workers, batches, each = getattr(loader, "num_workers", None), alone.epoch_batches, found.sample
    if not workers or batches is None or getattr(loader, "persistent_workers", False):
        return 0.0
    batch_s = alone.size / max(alone.per_s, 1e-9)
    # How long one worker makes a batch: as many batches are made side by side as there are workers.
    making = 0.0 if alone.is_of_epochs and each is not None else batch_s * workers
    if each is not None:
        crowded = max(1.0, min(workers, batches) / _cores())
        making = max(making, alone.size * max(each.seconds, (each.decoding + each.working) * crowded))
    start = max(0.0, alone.first_batch_s - making)
    step_s = 0.0 if found.trainer_per_s is None else alone.size / found.trainer_per_s
    if alone.is_of_epochs:
        return start / max(batches * batch_s, start + batches * step_s)
    return start / (start + batches * max(batch_s, step_s))


def _hand_over_s(alone: _measured.Alone) -> float:
    """Seconds for an image to go from process to process: torch's tensors are copied into shared memory, and what else there is
    put into bytes and taken out of them."""
    began = time.perf_counter()
    try:
        pickle.loads(pickle.dumps(_without_tensors(alone.batch)))
    except Exception:  # What cannot be handed over so goes another way.
        return 0.0
    return (time.perf_counter() - began) / alone.size


def _without_tensors(batch: Any) -> Any:
    """The batch with numbers in the place of its tensors, of which copies are made."""
    if isinstance(batch, Mapping):
        return {key: _without_tensors(value) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [_without_tensors(value) for value in batch]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(batch, torch.Tensor):
        batch.clone()
        return 0
    return batch


def _sample(found: Diagnosis, loader: Any, seconds: float) -> _sample_time.SampleTime | None:
    """Makes samples of the loader's data set in this process, as its workers do: with one thread each."""
    dataset: Any = _copied(getattr(loader, "dataset", None))
    length = _measured.length(dataset)
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


def _copied(dataset: Any) -> Any:
    """A data set that may open what it reads from, of which the loader's own one then knows nothing: workers could not be given an
    open file. Data sets inside of it are copied as well; images and lists are shared."""
    try:
        other = copy.copy(dataset)
        for name, inner in list(getattr(other, "__dict__", {}).items()) if other is not dataset else ():
            if name == "dataset":
                setattr(other, name, _copied(inner))
            elif name == "datasets" and isinstance(inner, (list, tuple)):
                setattr(other, name, type(inner)(_copied(each) for each in inner))
        return other
    except Exception:  # One that does not like to be copied.
        return dataset


def _compare(found: Diagnosis, loader: Any, told: _Told, seconds: float, step: _measured.Step | None) -> None:
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
        found.recipe = told.recipe
    except (ValueError, OSError, _feedline.SampleError, _feedline.UnavailableError) as error:
        if told.is_named:
            raise
        found.notes.append(f"feedline was not measured on {where}: {error}")


def _gain(found: dict[str, Any], now: float, assumed: str | None) -> str:
    rate = found["together"]["per_s"]
    times = rate / max(now, 1e-9)
    if assumed is not None:
        with_it = f"with the recipe {assumed}, since none was named (recipe=)"
        return f"would give {rate:.1f} images/s {with_it}; then {found['explanation']}"
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
