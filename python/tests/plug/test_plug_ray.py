"""Ray Train: a worker's own Loader; examples/python/ray_train.py trains with it."""

import pytest
import runs
from conftest import PHOTOS, trainer

import feedline

pytestmark = pytest.mark.filterwarnings("default")


def test_a_worker_has_its_rank_s_share_on_its_device(monkeypatch):
    trainer("ray.train.torch")
    import ray.train.torch

    from feedline.plug.ray import loader

    class Context:
        def get_world_rank(self):
            return 1

        def get_world_size(self):
            return 2

    monkeypatch.setattr(ray.train, "get_context", Context)
    monkeypatch.setattr(ray.train.torch, "get_device", lambda: "cpu")
    transforms = [feedline.RandomResizedCrop(16)]
    made = loader(PHOTOS, 8, shuffle=True, transforms=transforms, framework="torch")
    assert runs.indices(made) == runs.indices(runs.training(rank=1, world_size=2))
    assert made.options["device"] == "cpu"
    assert "device" not in loader(PHOTOS, 8, transforms=transforms).options
