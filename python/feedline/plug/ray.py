"""For Ray Train: each worker's own Loader."""

from __future__ import annotations

from typing import Any

import ray.train

from feedline import Loader


def loader(*arguments: Any, **options: Any) -> Loader:
    """`feedline.Loader` with the rank of the worker of Ray Train that calls it, and batches on the worker's device.

    `ray.train.torch.prepare_data_loader` isn't called: there is nothing left to deal out or to move.
    """
    context = ray.train.get_context()
    place: dict[str, Any] = {}
    if options.get("framework") == "torch":
        from ray.train.torch import get_device

        place["device"] = str(get_device())
    ranks = {"rank": context.get_world_rank(), "world_size": context.get_world_size()}
    return Loader(*arguments, **{**place, **options, **ranks})
