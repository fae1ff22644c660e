"""Trains torchvision's ResNet-18 from random weights, fed by torch's DataLoader or by feedline, and prints what it learned.

    python examples/python/proof/train_classifier.py --data out/proof/classes --loader torchvision --seed 0
    python examples/python/proof/train_classifier.py --data out/proof/classes --loader feedline --seed 0

Augmentations, model, first weights, optimiser and validation are the same. The last line is JSON: accuracy and loss on
the validation set after each epoch, the loss of each training step, and for each epoch the seconds of training, the CPU
seconds of all processes and the seconds in which the loop waited for its loader. On a GPU: --device cuda --feedline-device
cuda:0.
"""

import argparse
import json
import pathlib

import feedline
import torch
from measure import Epochs, Waited, machine
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.models import resnet18
from torchvision.transforms import v2

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SCALE = (0.5, 1.0)
FLIP = 0.5
JITTER = (0.2, 0.2, 0.2)
TO_TENSOR = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]


def main():
    args = arguments()
    torch.manual_seed(args.seed)
    model = resnet18(num_classes=len(ImageFolder(args.data / "train").classes)).to(args.device)
    loader = Waited({"torchvision": torchvision_loader, "feedline": feedline_loader}[args.loader](args))
    images, labels = (tensor.to(args.device) for tensor in validation_set(args))
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, total_steps=args.epochs * len(loader))

    epochs = Epochs()
    learned = {"accuracy": [], "validation_loss": [], "loss": []}
    for epoch in range(args.epochs):
        epochs.begin(loader)
        model.train()
        losses = []
        for image, label in loader:
            image, label = image.to(args.device, non_blocking=True), label.to(args.device, non_blocking=True)
            loss = nn.functional.cross_entropy(model(image), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.detach())
        learned["loss"] += [round(each, 4) for each in torch.stack(losses).tolist()]  # waits for a GPU
        epochs.end(loader)
        accuracy, loss = validate(model, images, labels)
        learned["accuracy"].append(accuracy)
        learned["validation_loss"].append(loss)
        trained = sum(learned["loss"][-len(loader) :]) / len(loader)
        took = epochs.figures["seconds"][-1]
        print(f"epoch {epoch}: loss {trained:.3f}, accuracy {accuracy:.3f}, {took:.1f} s", flush=True)

    settings = {name: str(value) for name, value in vars(args).items() if name not in ("data", "loader", "seed")}
    result = {
        "task": "classifier",
        "loader": args.loader,
        "seed": args.seed,
        "settings": settings,
        **learned,
        **epochs.figures,
    }
    result |= {"images": len(loader) * args.batch_size, "validation_images": len(labels)}
    result |= {"others_share": epochs.others_share()}
    print(json.dumps({**result, "machine": machine(["torch", "torchvision", "pillow", "feedline"], args.device)}))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="a folder with train/ and val/")
    parser.add_argument("--loader", choices=["torchvision", "feedline"], required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--size", type=int, default=64, help="edge of the crops in pixels")
    parser.add_argument("--lr", type=float, default=0.01, help="the greatest learning rate, after a third of the steps")
    parser.add_argument("--workers", type=int, default=2, help="processes of the DataLoader, threads of feedline")
    parser.add_argument("--device", default="cpu", help="where the model learns: cpu or cuda")
    parser.add_argument("--feedline-device", default="cpu", help="where feedline makes its batches: cpu or cuda:0")
    return parser.parse_args()


def torchvision_loader(args):
    """As training scripts make it: Pillow's decoder, torchvision's augmentations, worker processes."""
    chain = [
        v2.RandomResizedCrop(args.size, scale=SCALE),
        v2.RandomHorizontalFlip(FLIP),
        v2.ColorJitter(*JITTER),
        *TO_TENSOR,
    ]
    return DataLoader(
        ImageFolder(args.data / "train", v2.Compose(chain)),
        args.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=args.workers,
        persistent_workers=args.workers > 0,
        pin_memory=args.device != "cpu",
    )


def feedline_loader(args):
    """The same, fed by feedline."""
    return feedline.Loader(
        args.data / "train",
        args.batch_size,
        shuffle=True,
        drop_last=True,
        seed=args.seed,
        num_workers=args.workers,
        transforms=[
            feedline.RandomResizedCrop(args.size, scale=SCALE),
            feedline.RandomHorizontalFlip(FLIP),
            feedline.ColorJitter(*JITTER),
        ],
        normalize=(MEAN, STD),
        device=args.feedline_device,
        framework="torch",
        as_tuple=True,
    )


def validation_set(args):
    """All validation images at the size of the crops, and their labels: torchvision's for both loaders, without chance."""
    images = ImageFolder(args.data / "val", v2.Compose([v2.Resize((args.size, args.size)), *TO_TENSOR]))
    pairs = [images[at] for at in range(len(images))]
    return torch.stack([image for image, _ in pairs]), torch.tensor([label for _, label in pairs])


@torch.no_grad()
def validate(model, images, labels):
    """The share of images whose class is right, and the mean loss."""
    model.eval()
    scores = torch.cat([model(part) for part in images.split(250)])
    return (scores.argmax(1) == labels).float().mean().item(), nn.functional.cross_entropy(scores, labels).item()


if __name__ == "__main__":
    main()
