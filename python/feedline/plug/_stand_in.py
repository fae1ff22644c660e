"""What stands in a DataLoader's place: a Loader whose batches are of a trainer's own form."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from feedline import Loader


class StandIn:
    """Iterates what `convert` makes of the batches of a Loader; has what trainers ask of a DataLoader besides.

    `first_epoch` is asked at the first `for` which epoch it is, unless the sampler was told.
    """

    def __init__(
        self,
        loader: Loader,
        convert: Callable[[Any], Any],
        dataset: Any,
        batch_size: int,
        first_epoch: Callable[[], int] | None = None,
    ) -> None:
        self.loader = loader
        self.dataset = dataset
        self.batch_size = batch_size
        self.sampler = EpochSampler(self)
        self.first_epoch = first_epoch
        self._convert = convert

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        if self.first_epoch is not None:
            self.loader.set_epoch(self.first_epoch())
            self.first_epoch = None
        return map(self._convert, self.loader)

    @property
    def drop_last(self) -> bool:
        """Whether a last batch that is not full is left out."""
        return self.loader.drop_last

    def close(self) -> None:
        """Stops the threads; batches that were handed out stay valid."""
        self.loader.close()


class EpochSampler:
    """A sampler, as far as a training loop asks for one: the Loader orders its samples itself."""

    def __init__(self, stand_in: StandIn) -> None:
        self._stand_in = stand_in

    def __len__(self) -> int:
        """Rows of an epoch on this rank."""
        return len(self._stand_in.loader.sampler)

    def __iter__(self) -> Iterator[int]:
        """The samples of this rank in the order of the dataset, which is that of the batches where nothing is shuffled."""
        options = self._stand_in.loader.options
        return iter(range(options.get("rank") or 0, len(self._stand_in.dataset), options.get("world_size") or 1))

    def set_epoch(self, epoch: int) -> None:
        self._stand_in.first_epoch = None
        self._stand_in.loader.set_epoch(epoch)


def listed(samples: Iterable[tuple[str, int | None]], **options: Any) -> Loader:
    """A Loader of files in the order of a dataset, with its classes by their indices; below `root`, where there is one."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "samples.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            for name, label in samples:
                # Without a root, paths would be taken as relative to the folder of the list.
                row: dict[str, Any] = {"path": os.fspath(name) if "root" in options else os.path.abspath(name)}
                if label is not None:
                    row["label"] = int(label)
                file.write(json.dumps(row) + "\n")
        return Loader(path, kind="list", framework="torch", **options)


def place(device: Any) -> dict[str, Any]:
    """The options for batches on one of torch's devices: a GPU if feedline can use it, else the CPU."""
    device = torch.device(device)
    if device.type != "cuda":
        return {"device": "cpu"}
    at = torch.cuda.current_device() if device.index is None else device.index
    return {"device": f"auto:{at}", "decoder": "feedline"}


def ranks(is_distributed: bool) -> dict[str, int]:
    """Which of several processes this is, as torch.distributed has it."""
    if not is_distributed:
        return {}
    return {"rank": torch.distributed.get_rank(), "world_size": torch.distributed.get_world_size()}
