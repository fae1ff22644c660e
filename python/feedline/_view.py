"""Views: several outputs of each sample, with sizes and transforms of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from feedline import _feedline
from feedline._words import transform
from feedline.transforms import Transform, _objects, _plain  # type: ignore[attr-defined]


class View:
    """An output of each sample, or `count` of them, which differ in their dice.

    `size` is [height, width] in pixels, or one number for a square: what the transforms end at. They follow the
    `transforms` of the Loader, which run in all views with the same dice. Each image is decoded once for all its views.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        transforms: Sequence[Transform | Mapping[str, Any]] = (),
        count: int = 1,
    ) -> None:
        given = {"size": _plain(size), "count": count, "transforms": [transform(each) for each in transforms]}
        checked = json.loads(_feedline.check_view(json.dumps(given, allow_nan=False)))
        self.size: int | list[int] = checked["size"]
        self.count: int = checked.get("count", 1)
        self.transforms: tuple[Transform, ...] = _objects(checked.get("transforms", []))

    def as_dict(self) -> dict[str, Any]:
        """The view as a recipe holds it under `[[views]]`."""
        transforms = [each.as_dict() for each in self.transforms]
        return {"size": self.size, "count": self.count, "transforms": transforms}

    def __repr__(self) -> str:
        return f"View(size={self.size!r}, transforms={list(self.transforms)!r}, count={self.count})"

    def __eq__(self, other: object) -> bool:
        return self.as_dict() == other.as_dict() if isinstance(other, View) else NotImplemented

    def __hash__(self) -> int:
        return hash(json.dumps(self.as_dict(), sort_keys=True))
