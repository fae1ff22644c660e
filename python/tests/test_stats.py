"""What a loader measures, and what it says of it."""

import json

import pytest

STAGES = ("source", "plan", "decode", "render")


def test_the_figures_are_those_of_the_batches_so_far(make):
    loader = make(num_workers=2, prefetch_factor=2)
    before = loader.stats()
    assert before["samples"] == 0 and before["limiting_stage"] is None
    assert "take some batches first" in loader.explain()
    batches = sum(1 for _ in loader)
    stats = loader.stats()
    assert stats["samples"] == stats["images"] == loader.samples == 43
    assert {stats[stage]["count"] for stage in STAGES} == {43}
    assert all(0 < stats[stage]["p50_seconds"] <= stats[stage]["p99_seconds"] for stage in STAGES)
    assert stats["wait"]["count"] == batches - 1 and stats["workers"] == 2
    assert stats["bytes_read"] > 43_000 and stats["failures"] == 0 and stats["decoded_by"] is None
    assert {"hits", "bytes", "budget"} <= stats["index"].keys() and "disk_hits" in stats["io"]


def test_the_explanation_names_the_limiting_stage(make):
    loader = make(num_workers=2)
    list(loader)
    stats = loader.stats()
    assert stats["limiting_stage"] in {*STAGES, "trainer"}
    words = {"source": "reading", "plan": "planning", "decode": "decoding", "render": "rendering", "trainer": "trainer"}
    assert words[stats["limiting_stage"]] in loader.explain() == stats["explanation"]
    assert json.loads(json.dumps(stats)) == stats


def test_a_closed_loader_has_no_figures(make):
    loader = make()
    loader.close()
    with pytest.raises(RuntimeError, match="closed"):
        loader.stats()
    with pytest.raises(RuntimeError, match="closed"):
        loader.explain()
