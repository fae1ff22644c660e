"""Lightning: epochs, ranks and checkpoints of a DataModule."""

import json

import pytest
import runs
from conftest import PHOTOS, trainer

import feedline

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def lightning():
    trainer("lightning", "torchvision")
    import lightning.pytorch

    return lightning.pytorch


OPTIONS = {"data": PHOTOS, "batch_size": 8, "shuffle": True, "transforms": [feedline.RandomResizedCrop(16)]}


@pytest.fixture
def fit(lightning, tmp_path):
    """Trains a model of one layer on a DataModule, and returns what its steps were given."""
    import torch

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3 * 16 * 16, 12)
            self.seen, self.validated = [], []

        def training_step(self, batch, at):
            self.seen.append((self.current_epoch, at, batch["index"].tolist()))
            return torch.nn.functional.cross_entropy(self.layer(batch["image"].flatten(1)), batch["label"])

        def validation_step(self, batch, at):
            self.validated.append(batch)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    def fit(module, checkpoint=None, callbacks=None, **options):
        model = Model()
        trainer = lightning.Trainer(
            max_epochs=2,
            accelerator="cpu",
            callbacks=callbacks,
            enable_checkpointing=callbacks is not None,
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
            default_root_dir=tmp_path,
            **options,
        )
        trainer.fit(model, datamodule=module, ckpt_path=checkpoint, weights_only=False)
        return model

    return fit


def epochs(count):
    loader = runs.training()
    return [(epoch, at, seen) for epoch in range(count) for at, seen in enumerate(runs.indices(loader))]


def test_epochs_are_the_loader_s_own(fit):
    from feedline.plug.lightning import DataModule

    assert fit(DataModule(train=OPTIONS, val={**OPTIONS, "shuffle": False})).seen == epochs(2)


def test_two_loaders_make_a_module_and_validation_is_torch_s_bit_for_bit(fit):
    from feedline.plug.lightning import DataModule

    model = fit(DataModule(runs.training(), runs.evaluation()))
    assert model.seen == epochs(2)
    stock = list(runs.stock_evaluation())
    assert runs.same_bits(model.validated, stock + stock)


def test_a_loader_that_was_made_for_no_framework_has_torch_s_tensors(fit):
    from feedline.plug.lightning import DataModule

    model = fit(DataModule(runs.training(framework=None), runs.evaluation(framework=None)))
    assert model.seen == epochs(2)
    assert runs.same_bits(model.validated, list(runs.stock_evaluation()) * 2)


def test_a_checkpoint_of_every_step_goes_on_with_the_batch_that_follows(fit, lightning, tmp_path):
    from feedline.plug.lightning import DataModule

    every = lightning.callbacks.ModelCheckpoint(tmp_path, "{step}", every_n_train_steps=1, save_top_k=-1)
    whole = fit(DataModule(OPTIONS), callbacks=[every]).seen
    assert whole == epochs(2)
    for steps in range(1, len(whole) + 1):
        assert fit(DataModule(OPTIONS), tmp_path / f"step={steps}.ckpt").seen == whole[steps:], steps


def test_a_state_of_other_data_is_refused(fit, lightning, tmp_path):
    from feedline.plug.lightning import DataModule

    every = lightning.callbacks.ModelCheckpoint(tmp_path, "{step}", every_n_train_steps=4, save_top_k=-1)
    fit(DataModule(OPTIONS), callbacks=[every])
    with pytest.raises(ValueError, match="its seed is"):
        fit(DataModule({**OPTIONS, "seed": 1}), tmp_path / "step=4.ckpt")


def test_a_loader_of_another_rank_is_refused(fit):
    from feedline.plug.lightning import DataModule

    with pytest.raises(
        ValueError, match="the Loader is rank 1 of 2, but this process is rank 0 of 1: make it with rank=0"
    ):
        fit(DataModule(runs.training(rank=1, world_size=2)))


RANKS = """
import json, sys
import lightning.pytorch as lightning, torch
from test_plug_lightning import OPTIONS
from feedline.plug.lightning import DataModule

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3 * 16 * 16, 12)
        self.seen = []

    def training_step(self, batch, at):
        self.seen.append([i for i, status in zip(batch["index"].tolist(), batch["status"]) if status == "ok"])
        return self.layer(batch["image"].flatten(1)).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)

    def on_train_end(self):
        seen = [None, None]
        torch.distributed.all_gather_object(seen, self.seen)
        if self.global_rank == 0:
            print(json.dumps(seen))

trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", devices=2, strategy="ddp", logger=False, enable_progress_bar=False,
                            enable_model_summary=False, enable_checkpointing=False, default_root_dir=sys.argv[1])
trainer.fit(Model(), datamodule=DataModule(OPTIONS))
"""


def test_two_ranks_make_equal_steps_and_show_each_sample_once(lightning, tmp_path):
    ranks = json.loads(runs.run(RANKS, tmp_path, tmp_path).splitlines()[-1])
    assert [len(seen) for seen in ranks] == [3, 3]
    assert sorted(sum(ranks[0] + ranks[1], [])) == list(range(43))
