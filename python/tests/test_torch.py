"""Batches as torch's tensors, alone and on two ranks."""

import gc
import subprocess
import sys

import pytest
from conftest import PHOTOS, ROOT

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
    batch = next(iter(make(yolo, batch_size=4, transforms=[feedline.Resize([64, 64])], framework="torch")))
    lists = {"key", "status", "im_file", "ori_shape", "resized_shape", "ratio_pad"}
    for name, value in batch.items():
        assert isinstance(value, list if name in lists else torch.Tensor), name
    loss_input = torch.cat((batch["batch_idx"].view(-1, 1), batch["cls"].view(-1, 1), batch["bboxes"]), 1)
    assert loss_input.shape == (5, 6) and loss_input.dtype == torch.float32


def test_states_are_saved_with_torch(torch, make, tmp_path):
    loader = make(shuffle=True)
    next(iter(loader))
    torch.save({"loader": loader.state_dict()}, tmp_path / "checkpoint.pt")
    other = make(shuffle=True)
    other.load_state_dict(torch.load(tmp_path / "checkpoint.pt", weights_only=True)["loader"])
    assert other.state_dict() == loader.state_dict()


def test_decoded_images_are_tensors_that_share_the_memory(torch):
    path = next(PHOTOS.glob("cat/*.jpg"))
    array = feedline.decode(path)
    tensor = feedline.decode(path, framework="torch")
    assert tensor.dtype == torch.uint8 and tensor.is_contiguous() and torch.equal(tensor, torch.from_numpy(array))
    room = torch.zeros(array.shape, dtype=torch.uint8)
    assert feedline.decode(path, out=room) is room and torch.equal(room, tensor)
    assert torch.equal(feedline.decode(torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8), out=room), tensor)
    region = (0, 0, 32, 48)
    stacked = feedline.decode_batch([path] * 3, region, stack=True, framework="torch")
    assert stacked.shape == (3, 32, 48, 3) and torch.equal(stacked[2], tensor[:32, :48])
    listed = feedline.decode_batch([path, b""], on_error="none", framework="torch")
    assert torch.equal(listed[0], tensor) and listed[1] is None
    with pytest.raises(ValueError, match="out is not of uint8"):
        feedline.decode(path, out=room.float())


class Crops:
    """A data set as users write it: one file at a time, or all files of a batch at once."""

    def __init__(self, paths, at_once):
        self.paths = paths
        if at_once:
            self.__getitems__ = self.load_all

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return feedline.decode(self.paths[index], (8, 8, 64, 96), framework="torch"), index

    def load_all(self, indices):
        images = feedline.decode_batch([self.paths[at] for at in indices], (8, 8, 64, 96), threads=2, framework="torch")
        return list(zip(images, indices))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_dataloader_s_workers_decode(torch, start, at_once):
    paths = sorted(PHOTOS.glob("*/*.jpg"))[:12]
    # Threads that have decoded ahead of a fork are not there behind it.
    whole = feedline.decode_batch(paths, threads=3)
    loader = torch.utils.data.DataLoader(
        Crops(paths, at_once), batch_size=4, num_workers=2, multiprocessing_context=start, timeout=120
    )
    seen = 0
    for images, indices in loader:
        assert images.shape == (4, 64, 96, 3) and images.dtype == torch.uint8
        for image, index in zip(images, indices.tolist()):
            assert torch.equal(image, torch.from_numpy(whole[index][8:72, 8:104]))
            seen += 1
    assert seen == 12


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


TOLD = {
    "storage": "reading is the limit",
    "decode": "decoding is the limit",
    "transforms": "work behind the decoder is the limit",
    "workers": "loading and training take turns",
    "start": "starting the workers anew for each epoch is the limit",
    "handover": "handing batches over between processes is the limit",
    "nothing": "you do not need a faster loader",
}


@pytest.mark.parametrize("slow", TOLD)
def test_the_doctor_says_why_a_dataloader_is_slow(torch, slow):
    pytest.importorskip("PIL")
    script = ROOT / "examples" / "python" / "slow_loader.py"
    command = [sys.executable, str(script), "--slow", slow, "--seconds", "8"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert TOLD[slow] in done.stdout.partition("feedline  ")[0], done.stdout
    assert ("feedline  would give" in done.stdout) == (slow != "nothing")
