"""The Python that the documents show does what they say: each block is run, on the bundled photographs."""

import json
import re
import shutil
from types import SimpleNamespace

import pytest
from conftest import PHOTOS, ROOT, write_tar

import feedline

BLOCKS = [
    pytest.param(code, id=f"{page}-{at}")
    for page in (
        "README.md",
        "docs/python.md",
        "docs/fields.md",
        "docs/mixtures.md",
        "docs/caches.md",
        "docs/recipes.md",
        "docs/do-you-need-this.md",
        "python/README.md",
    )
    for at, code in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL))
]


def test_there_are_blocks_to_run():
    assert len(BLOCKS) >= 6


@pytest.mark.parametrize("code", BLOCKS)
def test_a_block_runs(code, tmp_path, monkeypatch, request):
    for name in ("imagenet/train", "data/photos", "day", "night"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(PHOTOS, target_is_directory=True)
    members = {"1.jpg": next(PHOTOS.glob("cat/*.jpg")).read_bytes(), "1.txt": b"a cat", "1.json": b"{}", "1.score": b"1"}
    (tmp_path / "shards").mkdir()
    write_tar(tmp_path / "shards" / "a.tar", members)
    write_objects(tmp_path)
    (tmp_path / "data.yaml").write_text("path: own\ntrain: images\nnames: [automobile]\n")
    monkeypatch.chdir(tmp_path)
    photo, trained = next(PHOTOS.glob("cat/*.jpg")).read_bytes(), []
    names = {
        "train": lambda image, label: trained.append((len(image), len(label))),
        "train_step": trained.append,
        "paths": sorted(PHOTOS.glob("*/*.jpg")),
        "old_loader": feedline.Loader([photo] * 60, 1, transforms=[feedline.Resize([8, 8])]),
    }
    code = code.replace("range(90)", "range(2)")
    if re.search(r"^torch\.", code, re.MULTILINE):
        torch = request.getfixturevalue("torch")
        names["torch"], names["model"] = torch, torch.nn.Linear(1, 1)
        names["loader"] = feedline.Loader(PHOTOS, transforms=[feedline.Resize([8, 8])])
    elif not has_torch():
        code = code.replace('"torch"', '"numpy"')
    exec(compile(code, "the block", "exec"), names)
    assert trained or not re.search(r"\btrain(_step)?\(", code)


def test_a_rate_is_that_of_the_batches_that_were_taken():
    (code,) = (each.values[0] for each in BLOCKS if "def per_second" in each.values[0])
    names = {}
    exec(code.split("\none =")[0], names)
    names["time"] = SimpleNamespace(perf_counter=iter([10.0, 12.0]).__next__)
    assert names["per_second"](iter(range(3)), 50, lambda batch: None) == 1.5


def write_objects(folder):
    """The data sets of mixtures.md: COCO and YOLO, of one photograph each, with different names for a class."""
    for name in ("coco/images", "own/images", "own/labels"):
        (folder / name).mkdir(parents=True)
    for name in ("coco", "own"):
        shutil.copy(next(PHOTOS.glob("cat/*.jpg")), folder / name / "images" / "1.jpg")
    annotations = {
        "images": [{"id": 1, "file_name": "1.jpg"}],
        "categories": [{"id": 1, "name": "car"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [8, 8, 32, 32]}],
    }
    (folder / "coco" / "instances_train2017.json").write_text(json.dumps(annotations))
    (folder / "own" / "labels" / "1.txt").write_text("0 0.5 0.5 0.25 0.25\n")
    (folder / "own" / "data.yaml").write_text("train: images\nnames: [automobile]\n")


def has_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True
