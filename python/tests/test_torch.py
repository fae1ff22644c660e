"""Batches as torch's tensors, alone and on two ranks."""

import gc
import subprocess
import sys

import pytest
from conftest import PHOTOS

import feedline


def test_tensors_are_the_batch_s_own_memory(torch, make):
    batch = next(iter(make()))
    image = torch.from_dlpack(batch["image"])
    assert image.data_ptr() == batch["image"].__array_interface__["data"][0] == batch["image"].torch().data_ptr()
    assert image.shape == (8, 3, 32, 32) and image.dtype == torch.float32 and image.is_contiguous()
    label = torch.from_dlpack(batch["label"])
    assert label.dtype == torch.int64 and label.tolist() == batch["label"].numpy().tolist()
    image.fill_(3)
    assert (batch["image"].numpy() == 3).all()


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "uint8"])
def test_every_number_format_arrives(torch, make, name):
    dtype = getattr(torch, name)
    loader = make(dtype=dtype, framework="torch")
    batch = next(iter(loader))
    assert batch["image"].dtype == dtype
    exact = next(iter(make(dtype="u8", framework="torch")))["image"].float() / (1 if name == "uint8" else 255)
    assert torch.allclose(batch["image"].float(), exact, atol=1 / 128)


def test_tensors_outlive_the_loader(torch, make):
    kept = [batch["image"] for batch in make(framework="torch")]
    copies = [image.clone() for image in kept]
    gc.collect()
    list(make(framework="torch", seed=9))
    assert all(torch.equal(image, copy) for image, copy in zip(kept, copies))


def test_all_arrays_of_a_detection_batch_arrive(torch, make, yolo):
    batch = next(
        iter(make(yolo, batch_size=4, transforms=[feedline.Resize([64, 64])], framework="torch", num_classes=2))
    )
    for name, value in batch.items():
        assert isinstance(value, list if name in ("key", "status") else torch.Tensor), name
    loss_input = torch.cat((batch["batch_idx"].view(-1, 1), batch["cls"].view(-1, 1), batch["bboxes"]), 1)
    assert loss_input.shape == (5, 6) and loss_input.dtype == torch.float32


def test_states_are_saved_with_torch(torch, make, tmp_path):
    loader = make(shuffle=True)
    next(iter(loader))
    torch.save({"loader": loader.state_dict()}, tmp_path / "checkpoint.pt")
    other = make(shuffle=True)
    other.load_state_dict(torch.load(tmp_path / "checkpoint.pt", weights_only=True)["loader"])
    assert other.state_dict() == loader.state_dict()


RANK = f"""
import torch.distributed as dist
import torch, feedline
dist.init_process_group("gloo")
loader = feedline.Loader({str(PHOTOS)!r}, 4, True, distributed="env", transforms=[feedline.RandomResizedCrop(16)],
                         framework="torch")
steps, seen = 0, torch.zeros(43, dtype=torch.int64)
for epoch in range(2):
    for batch in loader:
        ok = torch.tensor([status == "ok" for status in batch["status"]])
        seen += torch.bincount(batch["index"][ok], minlength=43)
        dist.all_reduce(torch.ones(1))  # hangs or fails where ranks differ in their steps
        steps += 1
counts = [torch.zeros(1, dtype=torch.int64) for _ in range(2)]
dist.all_gather(counts, torch.tensor([steps]))
dist.all_reduce(seen)
assert counts[0] == counts[1] == 2 * len(loader), counts
assert (seen == 2).all(), seen
dist.destroy_process_group()
if dist.is_torchelastic_launched() and int(__import__("os").environ["RANK"]) == 0:
    print("each sample once an epoch,", steps, "steps")
"""


def test_two_ranks_under_torchrun_make_equal_steps_and_show_each_sample_once(torch, tmp_path):
    (tmp_path / "rank.py").write_text(RANK)
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", tmp_path / "rank.py"]
    out = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout
    assert out == "each sample once an epoch, 12 steps\n"
