"""A GPU's streams on which other packages take arrays."""

import sys
import types

from feedline import _words


def test_only_streams_that_are_never_destroyed_are_trusted_later(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert not _words.lasts(77, 0)
    made = lambda handle, number: types.SimpleNamespace(cuda_stream=handle, stream_id=number)  # noqa: E731
    current = {0: made(5, 3), 1: made(77, 3), 2: made(77, 77)}
    cuda = types.SimpleNamespace(is_initialized=lambda: True, current_stream=current.__getitem__)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda))
    assert _words.lasts(77, 1)
    assert not _words.lasts(77, 0)
    assert not _words.lasts(77, 2)
    cuda.is_initialized = lambda: False
    assert not _words.lasts(77, 1)
