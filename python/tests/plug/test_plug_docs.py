"""The loops that docs/trainers.md shows do what they say: each is run, in a process of its own, on the bundled photographs."""

import importlib.util
import re

import pytest
import runs
from conftest import PHOTOS, ROOT, trainer

#: Headings, and what their loops import.
SECTIONS = {
    "Lightning": "lightning",
    "Hugging Face Trainer": "transformers",
    "accelerate": "accelerate",
    "Keras": "keras",
    "TensorFlow": "tensorflow",
    "JAX": "jax",
    "torchdata": "torchdata",
}
PARTS = dict(part.split("\n", 1) for part in (ROOT / "docs" / "trainers.md").read_text().split("\n## ")[1:])


@pytest.mark.parametrize("name", SECTIONS)
def test_a_loop_runs(name, tmp_path, monkeypatch):
    if importlib.util.find_spec(SECTIONS[name]) is None:
        trainer(SECTIONS[name])
    (code,) = re.findall(r"```python\n(.*?)```", PARTS[name], re.DOTALL)
    (tmp_path / "imagenet").mkdir()
    for part in ("train", "val"):
        (tmp_path / "imagenet" / part).symlink_to(PHOTOS, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    more = {"JAX": {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}}
    runs.run(code, tmp_path, ACCELERATE_USE_CPU="true", CUDA_VISIBLE_DEVICES="", **more.get(name, {}))
