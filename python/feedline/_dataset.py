"""What training loops ask of a DataLoader besides batches: its data set and its sampler."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from feedline._loader import Loader


_REMEDY = "samples are made by the Loader's threads, in batches: use `for batch in loader`"


class Dataset:
    """The data set of a Loader: how many samples it has, and their classes. It hands out no samples."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __len__(self) -> int:
        """Samples of the data set."""
        return self._loader.samples

    @property
    def classes(self) -> list[str]:
        """The names of the classes; empty where the data have none."""
        return self._loader.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The index of each class by its name."""
        return {name: index for index, name in enumerate(self.classes)}

    @property
    def targets(self) -> list[int]:
        """The class of each sample; -1 where it has none, or several."""
        return self._loader._native().targets()

    def __getitem__(self, index: int) -> NoReturn:
        raise TypeError(_REMEDY)

    def __iter__(self) -> NoReturn:
        raise TypeError(_REMEDY)

    def __repr__(self) -> str:
        return f"<feedline.Dataset: {self._loader._said_of_data()}>"


class Sampler:
    """The order of a Loader's samples, as a distributed sampler is asked for it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __len__(self) -> int:
        """Rows of an epoch on this rank."""
        return self._loader._native().rows()

    def set_epoch(self, epoch: int) -> None:
        """As that of the Loader."""
        self._loader.set_epoch(epoch)

    @property
    def epoch(self) -> int:
        """As that of the Loader."""
        return self._loader.epoch

    def __repr__(self) -> str:
        options = self._loader.options
        rank, ranks = options.get("rank", 0), options.get("world_size", 1)
        return f"<feedline.Sampler: {len(self)} rows of an epoch, rank {rank} of {ranks}>"
