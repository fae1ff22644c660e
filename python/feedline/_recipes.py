"""Which recipes there are, and which parameters they have."""

from __future__ import annotations

import json
import os
from typing import Any

from feedline import _feedline


def recipes() -> list[str]:
    """The names of the built-in recipes."""
    return _feedline.recipe_names()


def recipe_parameters(recipe: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The parameters of a recipe, which is named by name, path or text.

    Each is a dict with `name`, `type` (`integer`, `float`, `bool`, `word`, `text`, `integers` or `floats`), `default` and
    `about`, and `min`, `max` and `words` where there are any.
    """
    listed: list[dict[str, Any]] = json.loads(_feedline.recipe_parameters(os.fspath(recipe)))
    return listed
