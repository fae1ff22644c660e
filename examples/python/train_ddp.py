"""Trains on several processes with torch's DistributedDataParallel.

    torchrun --standalone --nproc-per-node 2 examples/python/train_ddp.py

There is no DistributedSampler: `distributed="env"` reads RANK and WORLD_SIZE, and LOCAL_RANK for the GPU. The ranks
make the same number of steps, and together show each sample once an epoch; what is repeated for that is marked.
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
    parser.add_argument("--data", default=PHOTOS, help="a folder with a folder for each class")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=8, help="of each rank")
    args = parser.parse_args()
    on_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if on_gpu else "gloo")
    device = f"cuda:{os.environ['LOCAL_RANK']}" if on_gpu else "cpu"
    torch.manual_seed(0)

    loader = feedline.Loader(
        args.data,
        args.batch_size,
        shuffle=True,
        distributed="env",
        transforms=[feedline.RandomResizedCrop(64, scale=(0.5, 1.0)), feedline.RandomHorizontalFlip()],
        normalize="imagenet",
        device=device,
        decoder="feedline",  # the same pixels on a GPU and on the CPU
        framework="torch",
    )
    convolutions = [nn.Conv2d(3, 32, 5, stride=4), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU()]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, len(loader.classes))]
    model = DistributedDataParallel(nn.Sequential(*convolutions, *head).to(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

    losses = []
    for epoch in range(args.epochs):
        loader.set_epoch(epoch)
        summed = torch.zeros(2, device=device)  # loss and samples
        for batch in loader:
            label = batch["label"].to(device)
            each = nn.functional.cross_entropy(model(batch["image"]), label, reduction="none")
            optimizer.zero_grad()
            each.mean().backward()
            optimizer.step()
            counts = torch.tensor([status != "padded" for status in batch["status"]], device=device)
            summed += torch.stack([each.detach()[counts].sum(), counts.sum()])
        dist.all_reduce(summed)
        losses.append((summed[0] / summed[1]).item())
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: loss {losses[-1]:.3f} over {int(summed[1])} samples", flush=True)
    loader.close()
    dist.destroy_process_group()
    if losses[-1] >= losses[0]:
        raise SystemExit("the loss did not fall")


if __name__ == "__main__":
    main()
