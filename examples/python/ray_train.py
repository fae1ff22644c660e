"""Trains on two workers of Ray Train, and goes on from a checkpoint after one of them was lost.

    pip install torch "ray[train]" && python examples/python/ray_train.py

Each worker has a loader of its own, which `feedline.plug.ray` makes: the ranks share the files by arithmetic, and pixels
never leave the process that trains. A checkpoint holds the loader's state beside the model's, so a run that Ray starts
again goes on where it was.
"""

import pathlib
import tempfile

import ray
import torch
import torch.distributed as dist
from ray.train import Checkpoint, FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, get_device, prepare_model
from torch import nn

import feedline.plug.ray

PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "data" / "photos"
WORKERS = 2


def network(loader):
    """Not within `train`: there Ray's pickle would take `classes`, beside `torch`, for the module torch.classes."""
    convolutions = [nn.Conv2d(3, 32, 5, stride=4), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU()]
    return nn.Sequential(*convolutions, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, len(loader.classes)))


def train(config):
    """What each worker does."""
    torch.manual_seed(0)
    context = ray.train.get_context()
    loader = feedline.plug.ray.loader(
        config["data"],
        config["batch_size"],
        shuffle=True,
        transforms=[feedline.RandomResizedCrop(64, scale=(0.5, 1.0)), feedline.RandomHorizontalFlip()],
        normalize="imagenet",
        decoder="feedline",  # the same pixels on a GPU and on the CPU
        framework="torch",
    )
    model = prepare_model(network(loader))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses, checkpoint = [], ray.train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as folder:
            saved = torch.load(pathlib.Path(folder) / "state.pt", weights_only=True, map_location=get_device())
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["loader"])
        losses = saved["losses"]

    while loader.epoch < config["epochs"]:
        epoch, steps, seen, summed = loader.epoch, 0, [], 0.0
        for batch in loader:
            if not checkpoint and epoch == config["lost_in"] and steps == 1:
                raise RuntimeError("as if this machine were lost")
            label = batch["label"].to(get_device())
            each = nn.functional.cross_entropy(model(batch["image"]), label, reduction="none")
            optimizer.zero_grad()
            each.mean().backward()
            optimizer.step()
            counts = torch.tensor([status != "padded" for status in batch["status"]])
            summed += each.detach().cpu()[counts].sum().item()
            seen += batch["index"][counts].tolist()
            steps += 1

        ranks = [None] * context.get_world_size()
        dist.all_gather_object(ranks, (steps, seen, summed))
        assert len({steps for steps, _, _ in ranks}) == 1, "the ranks did not make the same number of steps"
        assert sorted(sum((seen for _, seen, _ in ranks), [])) == list(range(loader.samples)), "not each sample once"
        losses.append(sum(summed for _, _, summed in ranks) / loader.samples)
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "losses": losses}
        with tempfile.TemporaryDirectory() as folder:
            # The same on all ranks, so one writes for all.
            if context.get_world_rank() == 0:
                torch.save(state | {"loader": loader.state_dict()}, pathlib.Path(folder) / "state.pt")
                metrics = {"losses": losses, "steps": steps, "resumed": checkpoint is not None}
                ray.train.report(metrics, checkpoint=Checkpoint.from_directory(folder))
            else:
                ray.train.report({})
    loader.close()


def main():
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    with tempfile.TemporaryDirectory() as storage:
        result = TorchTrainer(
            train,
            train_loop_config={"data": str(PHOTOS), "batch_size": 8, "epochs": 6, "lost_in": 2},
            scaling_config=ScalingConfig(num_workers=WORKERS, use_gpu=torch.cuda.is_available()),
            run_config=RunConfig(storage_path=storage, failure_config=FailureConfig(max_failures=1)),
        ).fit()
    ray.shutdown()
    losses, steps = result.metrics["losses"], result.metrics["steps"]
    for epoch, loss in enumerate(losses):
        print(f"epoch {epoch}: loss {loss:.3f}")
    assert result.metrics["resumed"] and len(losses) == 6, result.metrics
    print(f"{WORKERS} workers made {steps} steps an epoch each, and showed each sample once; one was lost and replaced")
    if losses[-1] >= losses[0]:
        raise SystemExit("the loss did not fall")


if __name__ == "__main__":
    main()
