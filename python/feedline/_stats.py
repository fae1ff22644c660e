"""A loader's figures."""

from __future__ import annotations

import json
from typing import Any

from feedline import _feedline


class Stats(dict[str, Any]):
    """The figures of a loader by name, as they were when it was asked."""

    def prometheus(self, **labels: object) -> str:
        """The figures as text that Prometheus reads, each with these labels: `loader.stats().prometheus(rank=0)`."""
        return _feedline.prometheus(json.dumps(self), [(name, str(value)) for name, value in labels.items()])
