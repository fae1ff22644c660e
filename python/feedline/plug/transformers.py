"""For Hugging Face's `Trainer`: one that takes Loaders as its datasets."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import transformers

from feedline import Loader, Mapped
from feedline.plug._epochs import AnyLoader
from feedline.plug.accelerate import Prepared, gather_for_metrics


class LoaderMixin:
    """Lets a `Trainer` take `feedline.Loader` as `train_dataset`, `eval_dataset` and `test_dataset`; other datasets stay as
    they are.

    It goes ahead of the Trainer that it extends: `class MyTrainer(LoaderMixin, transformers.Trainer)`. There is no collator,
    nothing is dealt out anew among processes, and `resume_from_checkpoint` goes on with the batch that follows without reading
    those before it. Each process has made its own Loader, with its rank and the Trainer's batch size.
    """

    #: What the model is given, and what that is in a batch.
    columns: Mapping[str, str] = {"pixel_values": "image", "labels": "label"}

    args: Any
    accelerator: Any
    train_dataset: Any
    eval_dataset: Any

    def get_train_dataloader(self) -> Any:
        """The batches of the training epochs."""
        if not isinstance(self.train_dataset, (Loader, Mapped)):
            return super().get_train_dataloader()  # type: ignore[misc]
        return self._prepared(self.train_dataset, "train_batch_size")

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        """The batches of an evaluation, of `eval_dataset` or of the one by this name."""
        named = eval_dataset if eval_dataset is not None else self.eval_dataset
        loader = self.eval_dataset[named] if isinstance(named, str) else named
        if not isinstance(loader, (Loader, Mapped)):
            return super().get_eval_dataloader(eval_dataset)  # type: ignore[misc]
        return self._prepared(loader, "eval_batch_size")

    def get_test_dataloader(self, test_dataset: Any) -> Any:
        """The batches of a prediction."""
        if not isinstance(test_dataset, (Loader, Mapped)):
            return super().get_test_dataloader(test_dataset)  # type: ignore[misc]
        return self._prepared(test_dataset, "eval_batch_size")

    @property
    def gather_function(self) -> Callable[..., Any]:
        """How an evaluation gathers what the processes predicted: of Loaders in the order of the samples."""
        if type(self.accelerator.gradient_state.active_dataloader) is Prepared:
            return functools.partial(gather_for_metrics, self.accelerator)
        return self._gather

    @gather_function.setter
    def gather_function(self, function: Callable[..., Any]) -> None:
        self._gather = function

    def _prepared(self, loader: AnyLoader, name: str) -> Any:
        rows, wanted = loader.batch_size, getattr(self.args, name)
        if rows != wanted:
            raise ValueError(
                f"the Loader's batches have {rows} samples, but per_device_{name} makes {wanted}: give both the same"
            )
        return self.accelerator.prepare_data_loader(Prepared(self.accelerator, loader, self.columns))


class Trainer(LoaderMixin, transformers.Trainer):
    """Hugging Face's `Trainer`, which takes Loaders as its datasets."""
