"""For JAX: batches as global arrays, spread over the devices of all processes.

On one device `feedline.Loader(..., framework="jax")` is all that is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax

from feedline.plug._epochs import AnyLoader, Columns, OfLoader, as_numpy, check_ranks, check_rows, named


class GlobalBatches(OfLoader):
    """The batches of a Loader as dicts of global arrays with a sharding: each process gives the rows of its own Loader.

    `sharding` splits the first axis over devices: `NamedSharding(mesh, PartitionSpec("data"))`. Each process has made its
    Loader with `rank=jax.process_index()` and `world_size=jax.process_count()`. `columns` names the arrays. Each `for` is the
    next epoch, as of the Loader, and states are the Loader's.
    """

    def __init__(
        self, loader: AnyLoader, sharding: jax.sharding.Sharding, columns: Columns = ("image", "label")
    ) -> None:
        check_ranks(loader, jax.process_index(), jax.process_count())
        check_rows(loader, jax.process_count())
        self.loader = loader
        self.sharding = sharding
        self.columns = columns

    def __iter__(self) -> Iterator[dict[str, jax.Array]]:
        for batch in self.loader:
            yield {name: self._array(name, as_numpy(own)) for name, own in named(batch, self.columns).items()}

    def _array(self, name: str, rows: Any) -> jax.Array:
        devices = len(self.sharding.addressable_devices)
        whole = (len(rows) * jax.process_count(), *rows.shape[1:])
        try:
            self.sharding.shard_shape(whole)
        except ValueError as error:
            raise ValueError(
                f"{len(rows)} rows of {name!r} cannot be spread over the {devices} devices of this process: give a batch_size "
                f'that they divide, and last_batch="drop" or "pad"'
            ) from error
        return jax.make_array_from_process_local_data(self.sharding, rows, whole)
