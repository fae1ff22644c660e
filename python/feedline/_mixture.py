"""Mixtures: several data sets that a Loader takes as one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

#: A path, or the options of one data set: `path`, and any of `name`, `weight`, `kind` and the others for data.
DataSet = Union[str, "os.PathLike[str]", Mapping[str, Any]]


class Mixture:
    """Several data sets, in place of a Loader's data.

    `sets` lists paths, or dicts with `path` and the options of that data set (`name`, `weight`, `kind`, `split`, `fields`,
    ...); or it has them by their names. A key in a batch is that of the sample after the name of its data set and a colon.
    `weights` are chances, one for each data set, which sum to 1: each position of an epoch draws its data set. An epoch then
    ends once one data set has been shown whole (`stopping_strategy="first_exhausted"`), once each has (`"all_exhausted"`), or
    after `epoch_samples`. Without weights the data sets are shuffled together, or with `mix="chain"` each within itself, one
    after the other. Classes go by their names: `classes` lists all in the order of their indices, `rename` has other names
    for some.
    """

    def __init__(
        self,
        sets: Sequence[DataSet] | Mapping[str, DataSet],
        weights: Sequence[float] | None = None,
        *,
        mix: Literal["concat", "chain", "weighted"] | None = None,
        stopping_strategy: Literal["first_exhausted", "all_exhausted"] | None = None,
        epoch_samples: int | None = None,
        classes: Sequence[str] | None = None,
        rename: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(sets, (str, bytes, os.PathLike)):
            raise TypeError(f"a mixture takes a list or a dict of data sets, and this is {sets!r}: put it into a list")
        named = list(sets.items()) if isinstance(sets, Mapping) else [(None, each) for each in sets]
        if weights is not None and len(weights) != len(named):
            raise ValueError(f"there are {len(weights)} weights for {len(named)} data sets: give one for each")
        chances = [None] * len(named) if weights is None else list(weights)
        self.sets = [_table(name, each, weight) for (name, each), weight in zip(named, chances)]
        self.options: dict[str, Any] = {
            "mix": mix,
            "stopping_strategy": stopping_strategy,
            "epoch_samples": epoch_samples,
            "classes": None if classes is None else list(classes),
            "rename": None if rename is None else dict(rename),
        }

    def as_dict(self) -> dict[str, Any]:
        """What a recipe holds under `[data]`."""
        return {"sets": self.sets, **{name: value for name, value in self.options.items() if value is not None}}

    def __repr__(self) -> str:
        said = "".join(f", {name}={value!r}" for name, value in self.options.items() if value is not None)
        return f"Mixture({self.sets!r}{said})"


def _table(name: str | None, each: DataSet, weight: float | None) -> dict[str, Any]:
    if isinstance(each, (str, os.PathLike)):
        table: dict[str, Any] = {"path": os.fspath(each)}
    elif isinstance(each, Mapping):
        table = dict(each)
    else:
        raise TypeError(f"a data set of a mixture is {type(each).__name__}: give a path, or a dict with `path` and its options")
    for key, value in (("name", name), ("weight", weight)):
        if value is not None and table.setdefault(key, value) != value:
            raise ValueError(f"a data set of the mixture says {key} = {table[key]!r}, and the mixture {value!r}: say it once")
    return table
