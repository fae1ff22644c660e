"""For Lightning: a `DataModule` of Loaders, each rank with its share, which goes on in the middle of an epoch."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from lightning.pytorch import LightningDataModule

from feedline import Loader, Mapped
from feedline.plug._epochs import AnyLoader, LazyBatches, OfLoader, as_torch, check_ranks, is_rank


class DataModule(LightningDataModule):
    """Loaders for the stages of a `Trainer`.

    A stage is a dict of the keywords of `feedline.Loader`, `data` among them, or a Loader. Of keywords each process makes its
    own Loader, with the rank and the number of ranks that the Trainer gives it, and torch's tensors; `device="cuda"` and
    `"auto"` mean the process's GPU. A Loader that was made before serves one process.
    """

    def __init__(
        self,
        train: Mapping[str, Any] | AnyLoader | None = None,
        val: Mapping[str, Any] | AnyLoader | None = None,
        test: Mapping[str, Any] | AnyLoader | None = None,
        predict: Mapping[str, Any] | AnyLoader | None = None,
    ) -> None:
        super().__init__()
        self._stages = {"train": train, "val": val, "test": test, "predict": predict}
        self._loaders: dict[str, AnyLoader] = {}
        for name, stage in self._stages.items():
            if stage is None:
                # As if it were not defined here: Lightning asks whether it is.
                hook = getattr(LightningDataModule, f"{name}_dataloader")
                setattr(self, f"{name}_dataloader", types.MethodType(hook, self))

    def train_dataloader(self) -> Any:
        """The batches of the training epochs."""
        return self._batches("train")

    def val_dataloader(self) -> Any:
        """The batches of a validation."""
        return self._batches("val")

    def test_dataloader(self) -> Any:
        """The batches of a test."""
        return self._batches("test")

    def predict_dataloader(self) -> Any:
        """The batches of a prediction."""
        return self._batches("predict")

    def _batches(self, name: str) -> Any:
        stage = self._stages[name]
        assert stage is not None
        trainer = self.trainer
        is_own = not isinstance(stage, (Loader, Mapped))
        made = self._loaders.get(name)
        if made is not None and is_own and trainer is not None and not is_rank(made, trainer.global_rank, trainer.world_size):
            made.close()  # of another Trainer
            made = None
        if made is None:
            made = self._loader(stage) if is_own else stage
        loader = self._loaders[name] = made
        if trainer is not None:
            check_ranks(loader, trainer.global_rank, trainer.world_size)
        return Batches(loader)

    def _loader(self, stage: Mapping[str, Any]) -> Loader:
        options = {"framework": "torch", **stage}
        trainer = self.trainer
        if trainer is not None:
            options.pop("distributed", None)  # what the Trainer knows goes for it
            options.update(rank=trainer.global_rank, world_size=trainer.world_size)
            root: torch.device = trainer.strategy.root_device
            if options.get("device") in ("cuda", "auto") and root.type == "cuda":
                options["device"] = f"{options['device']}:{root.index}"
        return Loader(**options)


class Batches(OfLoader):
    """A Loader as Lightning iterates it: an epoch begins with its first batch, not with an iterator that is only tried out.

    Arrays are torch's tensors, also of a Loader that was made without `framework`.
    Its state is the Loader's, of which Lightning writes it into checkpoints; `sampler` is there for `set_epoch`.
    """

    def __init__(self, loader: AnyLoader) -> None:
        self.loader = loader
        self.batch_size = loader.batch_size
        self.batch_sampler = None

    def __iter__(self) -> Iterator[Any]:
        return LazyBatches(lambda: map(as_torch, self.loader))

    @property
    def sampler(self) -> Batches:
        """Itself: the Loader orders its samples, and Lightning says which epoch it is."""
        return self
