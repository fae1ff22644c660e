"""The Python that the documents show does what they say: each block is run, on the bundled photographs."""

import re

import pytest
from conftest import PHOTOS, ROOT, write_tar

import feedline

BLOCKS = [
    pytest.param(code, id=f"{page}-{at}")
    for page in ("README.md", "docs/python.md", "docs/fields.md", "docs/do-you-need-this.md", "python/README.md")
    for at, code in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL))
]


def test_there_are_blocks_to_run():
    assert len(BLOCKS) >= 5


@pytest.mark.parametrize("code", BLOCKS)
def test_a_block_runs(code, tmp_path, monkeypatch, request):
    for name in ("imagenet/train", "data/photos", "day", "night"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(PHOTOS, target_is_directory=True)
    members = {"1.jpg": next(PHOTOS.glob("cat/*.jpg")).read_bytes(), "1.txt": b"a cat", "1.json": b"{}", "1.score": b"1"}
    (tmp_path / "shards").mkdir()
    write_tar(tmp_path / "shards" / "a.tar", members)
    monkeypatch.chdir(tmp_path)
    photo, trained = next(PHOTOS.glob("cat/*.jpg")).read_bytes(), []
    names = {
        "train": lambda image, label: trained.append((len(image), len(label))),
        "train_step": trained.append,
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
    assert trained or "train" not in code


def has_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True
