"""Warnings of code that runs, but probably not as intended."""

from __future__ import annotations

import sys
import warnings


class FeedlineWarning(UserWarning):
    """Code that runs, but probably not as intended; the message says what to write instead."""


def warn(message: str) -> None:
    """Warns at the line outside of this package that is to blame."""
    depth = 1
    while sys._getframe(depth).f_globals.get("__name__", "").split(".")[0] == "feedline":
        depth += 1
    warnings.warn(message, FeedlineWarning, stacklevel=depth + 1)
