"""Trains a small network on photographs with torch, as torchvision's reference script does, but fed by feedline.

    python examples/python/train_torchvision.py --data data/photos

What a script with a DataLoader would hold instead stands in comments. The loss falls: the last line says from where to
where, and the script fails if it does not.
"""

import argparse
import pathlib

import torch
from torch import nn

import feedline

PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "data" / "photos"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=PHOTOS, help="a folder with a folder for each class")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument(
        "--checkpoint", type=pathlib.Path, help="written after each epoch, and gone on from if it is there"
    )
    args = parser.parse_args()
    torch.manual_seed(0)

    # dataset = torchvision.datasets.ImageFolder(args.data, v2.Compose([v2.RandomResizedCrop(64), ...]))
    # loader = DataLoader(dataset, args.batch_size, shuffle=True, num_workers=8, pin_memory=True)
    loader = feedline.Loader(
        args.data,
        args.batch_size,
        shuffle=True,
        transforms=[
            feedline.RandomResizedCrop(64, scale=(0.5, 1.0)),
            feedline.RandomHorizontalFlip(),
            feedline.ColorJitter(0.2, 0.2, 0.2),
        ],
        normalize="imagenet",
        device=args.device,
        decoder="feedline",  # the same pixels on a GPU and on the CPU
        framework="torch",
    )
    model = network(len(loader.classes)).to(args.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    losses = []
    if args.checkpoint and args.checkpoint.exists():
        saved = torch.load(args.checkpoint, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["loader"])

    while loader.epoch < args.epochs:
        epoch, total = loader.epoch, 0.0
        for batch in loader:
            # image, label = image.to(device, non_blocking=True), label.to(device): pixels are there already.
            label = batch["label"].to(args.device)
            loss = nn.functional.cross_entropy(model(batch["image"]), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(label)
        losses.append(total / loader.samples)
        print(f"epoch {epoch}: loss {losses[-1]:.3f}", flush=True)
        if args.checkpoint:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}
            torch.save(state, args.checkpoint)
    loader.close()
    if len(losses) > 1:
        print(f"the loss went from {losses[0]:.3f} to {losses[-1]:.3f}")
        if losses[-1] >= losses[0]:
            raise SystemExit("the loss did not fall")


def network(classes):
    def stage(channels_in, channels_out):
        convolution = nn.Conv2d(channels_in, channels_out, 3, stride=2, padding=1, bias=False)
        return nn.Sequential(convolution, nn.BatchNorm2d(channels_out), nn.ReLU())

    body = [stage(3, 16), stage(16, 32), stage(32, 64), stage(64, 64)]
    return nn.Sequential(*body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, classes))


if __name__ == "__main__":
    main()
