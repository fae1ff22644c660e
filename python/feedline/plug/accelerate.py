"""For accelerate: Loaders that an `Accelerator` knows of, with batches as they are: neither dealt out anew nor cut again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.data_loader import DataLoaderShard
from accelerate.utils import recursively_apply, send_to_device

from feedline.plug._epochs import AnyLoader, BatchesByStep, Columns, as_torch, check_ranks, check_rows, named


def prepare(accelerator: Accelerator, *loaders: AnyLoader, columns: Columns = None) -> Any:
    """The Loaders as `accelerator.prepare` returns DataLoaders: one, or a tuple of several.

    Each process has made its own Loader, with its rank. Tensors go to the accelerator's device, where they are not there yet.
    `columns` names what to hand out of a batch, without it all. `accelerator.save_state` and `load_state` keep where a Loader
    stands: its next `for` goes on with the batch that follows.
    """
    prepared = tuple(accelerator.prepare_data_loader(Prepared(accelerator, loader, columns)) for loader in loaders)
    accelerator.register_for_checkpointing(*(each.dataset for each in prepared))
    return prepared[0] if len(prepared) == 1 else prepared


def gather_for_metrics(accelerator: Accelerator, data: Any) -> Any:
    """`accelerator.gather_for_metrics` of tensors, in the order of the samples and without the rows that fill a batch up.

    A tensor has a row for each row of the batch. Of other loaders than prepared ones it is the accelerator's own.
    """
    loader = accelerator.gradient_state.active_dataloader
    if type(loader) is not Prepared or accelerator.num_processes == 1:
        return accelerator.gather_for_metrics(data)
    gathered = accelerator.gather(data)
    return recursively_apply(loader.in_order, gathered) if loader.is_interleaved else gathered


class Prepared(DataLoaderShard):
    """A Loader as accelerate has DataLoaders: one of torch's, the items of which are whole batches by their index."""

    def __init__(self, accelerator: Accelerator, loader: AnyLoader, columns: Columns) -> None:
        check_ranks(loader, accelerator.process_index, accelerator.num_processes)
        check_rows(loader, accelerator.num_processes)
        self.loader = loader
        batches = BatchesByStep(loader, lambda batch: as_torch(named(batch, columns)))
        super().__init__(
            batches,
            device=accelerator.device if accelerator.device_placement else None,
            batch_sampler=Steps(batches),
            collate_fn=_only,
            iteration=loader.epoch,
            _non_blocking=accelerator.non_blocking,
        )
        self._convert = batches.convert
        state = loader.state_dict()
        self._ranks: int = state["world_size"]
        #: Whether rank r has every sample whose position is r modulo the number of ranks: not where samples are mixed.
        self.is_interleaved: bool = state["block"] == 1
        step = state["batch_size"] * self._ranks
        last_batch = loader.options.get("last_batch", "partial")
        #: Samples of all ranks in the last step, where it has fewer than the others; else 0.
        self.last_rows: int = 0 if last_batch == "drop" else state["samples"] % step
        filling = -self.last_rows % (step if last_batch == "pad" else self._ranks)
        # accelerate's own `gather_for_metrics` cuts off the last rows of the last rank; all are kept where others fill up, too.
        self._is_cut: bool = self._ranks == 1 or (self.is_interleaved and filling <= 1)
        self._is_accelerate_prepared = True

    def __iter__(self) -> Iterator[Any]:
        batches = self.loader.__iter__()
        self.dataset.leave()
        remaining = len(batches)
        self.begin()
        self.remainder = self.last_rows if self._is_cut else -1
        try:
            for batch in batches:
                remaining -= 1
                self.end_of_dataloader = remaining == 0
                if self.end_of_dataloader:
                    self.dataset.end()
                batch = self._convert(batch)
                if self.device is not None:
                    batch = send_to_device(batch, self.device, non_blocking=self._non_blocking)
                yield batch
        finally:
            self.end()

    @property
    def iteration(self) -> int:
        """The epoch that runs or is next, as accelerate asks for it; a state that was loaded says it, too."""
        return self.loader.epoch

    @iteration.setter
    def iteration(self, epoch: int) -> None:
        if epoch != self.loader.epoch:
            self.loader.set_epoch(epoch)

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch the next `for` runs; a state that was loaded of this epoch stays."""
        self.loader.set_epoch(epoch)
        self.dataset.set_epoch(epoch)

    def in_order(self, gathered: torch.Tensor) -> torch.Tensor:
        """Rows of all ranks, one rank after the other, in the order of the samples; what fills the last step up is left out."""
        rows = gathered.unflatten(0, (self._ranks, -1)).transpose(0, 1).flatten(0, 1)
        return rows[: self.last_rows] if self.end_of_dataloader and self.last_rows else rows


class Steps:
    """A batch sampler, as far as accelerate asks for one: its batches are the indices of batches."""

    def __init__(self, batches: BatchesByStep) -> None:
        self._batches = batches
        self.batch_size = batches.loader.batch_size
        self.drop_last = False

    def __len__(self) -> int:
        return len(self._batches.loader)

    def __iter__(self) -> Iterator[list[int]]:
        for step in range(len(self)):
            yield [step]
        self._batches.end()

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch the next batch is of."""
        self._batches.set_epoch(epoch)


def _only(batches: list[Any]) -> Any:
    (batch,) = batches
    return batch
