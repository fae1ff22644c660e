"""Trains on several nodes with torch's DistributedDataParallel, and goes on from a checkpoint.

    torchrun --nnodes 2 --node-rank 0 --nproc-per-node 2 --master-addr 10.0.0.1 --master-port 29500 \\
        examples/python/train_nodes.py --checkpoint run.pt

and the same on the other node with `--node-rank 1`. The checkpoint is rank 0's alone: it is written and read there, and what
it says goes to all ranks over the network. Each node reads images of its own; that all of them have the same ones is checked
before the first step.
"""

import argparse
import os
import pathlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import feedline

PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "data" / "photos"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=PHOTOS, help="a folder with a folder for each class, the same on each node")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=4, help="of each rank")
    parser.add_argument("--checkpoint", type=pathlib.Path, help="gone on from if it is there on rank 0, and written there")
    parser.add_argument("--save-every", type=int, default=100, help="batches from one checkpoint to the next")
    args = parser.parse_args()
    on_gpu = torch.cuda.is_available()
    device = f"cuda:{os.environ['LOCAL_RANK']}" if on_gpu else "cpu"
    if on_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if on_gpu else "gloo")
    torch.manual_seed(0)

    loader = feedline.Loader(
        args.data,
        args.batch_size,
        shuffle=True,
        seed=0,  # the same on all ranks, as every option but `device`
        distributed="env",  # RANK and WORLD_SIZE, as torchrun sets them on each node
        transforms=[feedline.RandomResizedCrop(64, scale=(0.5, 1.0)), feedline.RandomHorizontalFlip()],
        normalize="imagenet",
        device=device,
        decoder="feedline",  # the same pixels on a GPU and on the CPU
        framework="torch",
    )
    convolutions = [nn.Conv2d(3, 32, 5, stride=4), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU()]
    model = nn.Sequential(*convolutions, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, len(loader.classes))).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

    # Rank 0 says where the run stands; each loader refuses that if its files, their order, its transforms or its seed are
    # other ones, so that nodes with different data end here and not in a model.
    begin = [None]
    if dist.get_rank() == 0:
        begin = [{"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}]
        if args.checkpoint and args.checkpoint.exists():
            begin = [torch.load(args.checkpoint, map_location=device, weights_only=True)]
    dist.broadcast_object_list(begin, src=0)
    model.load_state_dict(begin[0]["model"])
    optimizer.load_state_dict(begin[0]["optimizer"])
    loader.load_state_dict(begin[0]["loader"])
    parallel = DistributedDataParallel(model)

    steps = 0
    while loader.epoch < args.epochs:
        epoch, summed = loader.epoch, torch.zeros(2, device=device)  # loss and samples
        for batch in loader:
            label = batch["label"].to(device)
            each = nn.functional.cross_entropy(parallel(batch["image"]), label, reduction="none")
            optimizer.zero_grad()
            each.mean().backward()
            optimizer.step()
            counts = torch.tensor([status != "padded" for status in batch["status"]], device=device)
            summed += torch.stack([each.detach()[counts].sum(), counts.sum()])
            steps += 1
            if args.checkpoint and dist.get_rank() == 0 and steps % args.save_every == 0:
                save(args.checkpoint, model, optimizer, loader)
        dist.all_reduce(summed)
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: loss {summed[0] / summed[1]:.3f} over {int(summed[1])} samples", flush=True)
    if args.checkpoint and dist.get_rank() == 0:
        save(args.checkpoint, model, optimizer, loader)
    loader.close()
    dist.destroy_process_group()


def save(path, model, optimizer, loader):
    """Writes where the run stands, whole or not at all."""
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}
    torch.save(state, path.with_suffix(".tmp"))
    os.replace(path.with_suffix(".tmp"), path)


if __name__ == "__main__":
    main()
