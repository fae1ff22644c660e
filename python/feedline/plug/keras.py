"""For Keras 3, with any of its backends: a Loader as a `PyDataset`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import keras

from feedline.plug._epochs import AnyLoader, as_numpy, named


class Batches(keras.utils.PyDataset):
    """The batches of a Loader for `fit`, `evaluate` and `predict`: tuples of what `columns` names, images and labels.

    They come in the Loader's order, whatever Keras asks for: `shuffle` is the Loader's option, and `fit`'s has no effect.
    Arrays are NumPy's, which share the batch's memory, or those of the Loader's `framework`. `layout="nhwc"` is what Keras's
    layers take by default.
    """

    def __init__(self, loader: AnyLoader, columns: Sequence[str] = ("image", "label")) -> None:
        super().__init__(workers=0, use_multiprocessing=False)
        self.loader = loader
        self.columns = tuple(columns)
        self._epoch = loader.epoch
        self._batches: Iterator[Any] | None = None
        self._handed_out = 0
        self._runs = False
        self._has_run = False

    def __len__(self) -> int:
        return len(self.loader)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        if self._batches is None:
            self.loader.set_epoch(self._epoch)
            self._batches = iter(self.loader)
        try:
            batch = next(self._batches)
        except StopIteration:
            self._epoch, self._batches = self._epoch + 1, None
            return self[index]
        self._handed_out += 1
        return tuple(map(as_numpy, named(batch, self.columns).values()))

    def on_epoch_begin(self) -> None:
        """Begins the epoch with its first batch: Keras may have looked at some to learn their shapes."""
        self._batches, self._handed_out, self._runs = None, 0, True

    def on_epoch_end(self) -> None:
        """Lets the next epoch follow, even if this one was left early."""
        # Keras says so as well after it has built a model with a first batch, and more than once.
        was_look = not self._has_run and self._handed_out == 1
        if self._runs:
            self._epoch += 0 if was_look else 1
            self._has_run = True
        self._batches, self._handed_out, self._runs = None, 0, False

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch is next; `fit(initial_epoch=epoch)` goes on with it."""
        self._epoch, self._batches = epoch, None
