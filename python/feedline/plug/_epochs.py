"""What the plugs share: epochs that begin when their first batch is wanted, at any step, and batches by a trainer's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

from feedline import Loader, Mapped, Tensor
from feedline._batches import converted

#: What the plugs take: a Loader, or one with a function of Python's.
AnyLoader = Union[Loader, Mapped]
#: Names of a batch to hand out: as they are, or a trainer's names with feedline's.
Columns = Union[Sequence[str], Mapping[str, str], None]


class LazyBatches(Iterator[Any]):
    """One epoch, which begins with its first batch: trainers ask for iterators that they never use."""

    def __init__(self, begin: Callable[[], Iterator[Any]]) -> None:
        self._begin = begin
        self._batches: Iterator[Any] | None = None

    def __next__(self) -> Any:
        if self._batches is None:
            self._batches = self._begin()
        return next(self._batches)


class OfLoader:
    """What stands for a Loader: its length, and where its run stands."""

    loader: AnyLoader

    def __len__(self) -> int:
        return len(self.loader)

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch the next batch is of; a state that was loaded of this epoch stays."""
        self.loader.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the run stands after the last batch that was handed out; the same on all ranks."""
        return self.loader.state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Lets the next epoch go on where the state was taken."""
        self.loader.load_state_dict(state_dict)


#: What a batch has one of for each object.
OF_OBJECTS = ("cls", "bboxes", "batch_idx", "keypoints", "share", "crowd")


class BatchesByStep:
    """Batches by their index in the epoch, as a map-style dataset has items.

    One after the other they cost nothing; another index begins the epoch anew at that step, without what comes before it.
    Who takes them takes one ahead of the training loop, up to the last one; states are behind the batch that the loop has.
    """

    def __init__(self, loader: AnyLoader, convert: Callable[[Any], Any]) -> None:
        self.loader = loader
        self.epoch = loader.epoch
        self.convert = convert
        self._facts = loader.state_dict()
        self._step = 0
        self._is_ahead = self._is_at_end = False
        self._batches: Iterator[Any] | None = None

    def __len__(self) -> int:
        """Samples of an epoch, of all ranks: what trainers ask a dataset for."""
        samples: int = self._facts["samples"]
        return samples

    def __getitem__(self, step: int) -> Any:
        if self._batches is None or step != self._step:
            self._batches = self._begin(step)
        batch = next(self._batches)
        self._step, self._is_ahead, self._is_at_end = step + 1, True, False
        return self.convert(batch)

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch the next batch is of."""
        if epoch != self.epoch:
            self._batches = None
        self.epoch, self._is_ahead, self._is_at_end = epoch, False, False

    def leave(self) -> None:
        """Says that the epoch that runs is taken from the Loader itself."""
        self.set_epoch(self.loader.epoch)
        self._batches = None

    def end(self) -> None:
        """Says that the training loop has the epoch's last batch."""
        self._is_ahead, self._is_at_end = False, True

    def state_dict(self) -> dict[str, Any]:
        """Where the run stands behind the batch that the training loop has, behind the last one at the start of the next epoch."""
        state = self.loader.state_dict()
        if state["epoch"] != self.epoch:
            return state
        if self._is_at_end:
            return {**state, "epoch": self.epoch + 1, "steps": 0, "before": None}
        return {**state, "steps": state["steps"] - self._is_ahead}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Lets the next epoch go on where the state was taken."""
        self.loader.load_state_dict(state_dict)
        self.leave()

    def _begin(self, step: int) -> Iterator[Any]:
        # By way of another epoch, which drops a state that was loaded: this one's would stay.
        self.loader.set_epoch(self.epoch + 1)
        self.loader.set_epoch(self.epoch)
        if step:
            self.loader.load_state_dict({**self.loader.state_dict(), "steps": step})
        return iter(self.loader)


def named(batch: Any, columns: Columns) -> Any:
    """What `columns` names of a batch, as a dict; all of it without them. A tuple has its arrays in their order."""
    if columns is None:
        return batch
    names = columns if isinstance(columns, Mapping) else {name: name for name in columns}
    if isinstance(batch, tuple):
        if len(batch) != len(names):
            raise ValueError(
                f"a batch is a tuple of {len(batch)} arrays, and columns names {len(names)}: {', '.join(names)}"
            )
        return dict(zip(names, batch))
    missing = [name for name in names.values() if name not in batch]
    if missing:
        raise ValueError(f"a batch has no {missing[0]!r}: columns may name {', '.join(map(repr, batch))}")
    return {name: batch[own] for name, own in names.items()}


def as_torch(value: Any) -> Any:
    """Arrays of a batch as torch's tensors, without a copy; what is none is left as it is."""
    return converted(value, Tensor.torch)


def as_numpy(value: Any) -> Any:
    """An array as NumPy's, without a copy, where no framework was asked for."""
    return value.numpy() if isinstance(value, Tensor) else value


def _rank(loader: AnyLoader) -> tuple[int, int]:
    options = loader.options
    return options.get("rank") or 0, options.get("world_size") or 1


def is_rank(loader: AnyLoader, rank: int, world_size: int) -> bool:
    """Whether the Loader shows the samples of this rank."""
    return _rank(loader) == (rank, world_size)


def check_rows(loader: AnyLoader, processes: int) -> None:
    """Refuses a Loader whose batches may have fewer rows than those of other processes, which wait for each other's."""
    if processes > 1 and loader.options.get("bad_sample") == "skip":
        raise ValueError(
            f'the Loader has bad_sample="skip", by which the batches of one of {processes} processes may have fewer rows than the '
            'others\': make it with bad_sample="substitute"'
        )


def check_ranks(loader: AnyLoader, rank: int, world_size: int) -> None:
    """Refuses a Loader that shows another rank's samples than the trainer's process is to see."""
    if not is_rank(loader, rank, world_size):
        own, ranks = _rank(loader)
        raise ValueError(
            f"the Loader is rank {own} of {ranks}, but this process is rank {rank} of {world_size}: "
            f'make it with rank={rank}, world_size={world_size}, or with distributed="env" where RANK and WORLD_SIZE are set'
        )
