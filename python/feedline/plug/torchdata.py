"""For torchdata: a Loader as a node of `torchdata.nodes`.

Where a script has a `StatefulDataLoader`, a Loader itself takes its place: it has `state_dict` and `load_state_dict`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchdata.nodes import BaseNode

from feedline.plug._epochs import AnyLoader, LazyBatches


class LoaderNode(BaseNode[Any]):
    """Hands out the batches of a Loader; after each reset the next epoch's, and after a reset to a state what follows it."""

    def __init__(self, loader: AnyLoader) -> None:
        super().__init__()
        self.loader = loader
        self._batches: Iterator[Any] = iter(())

    def reset(self, initial_state: dict[str, Any] | None = None) -> None:
        """Goes to the next epoch, or to where `initial_state` was taken."""
        super().reset(initial_state)
        if initial_state is not None:
            self.loader.load_state_dict(initial_state)
        self._batches = LazyBatches(lambda: iter(self.loader))

    def next(self) -> Any:
        """The next batch."""
        return next(self._batches)

    def get_state(self) -> dict[str, Any]:
        """Where the epoch stands after the last batch that was handed out."""
        return self.loader.state_dict()
