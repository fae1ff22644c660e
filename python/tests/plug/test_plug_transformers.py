"""Hugging Face's Trainer: epochs, checkpoints and predictions of Loaders as its datasets."""

import json

import pytest
import runs
from conftest import trainer

pytestmark = pytest.mark.filterwarnings("default")


def make_trainer(folder, train=None, evaluation=None, **options):
    """A Trainer of a model of one layer, which notes what its training steps were given."""
    import torch
    import transformers

    from feedline.plug.transformers import Trainer

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.LazyLinear(12)
            self.seen = []

        def forward(self, pixel_values, labels):
            if self.training:
                self.seen.append((pixel_values.clone(), labels.tolist()))
            logits = self.layer(pixel_values.flatten(1))
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    torch.manual_seed(0)
    options = {"per_device_train_batch_size": 8, "per_device_eval_batch_size": 8, "save_strategy": "no", **options}
    arguments = transformers.TrainingArguments(
        str(folder), num_train_epochs=2, use_cpu=True, report_to=[], disable_tqdm=True, logging_strategy="no", **options
    )
    metrics = lambda predicted: {"labels": predicted.label_ids.tolist()}  # noqa: E731
    model = Model()
    model(torch.zeros(1, 3, 16, 16), torch.zeros(1, dtype=torch.int64))
    model.seen.clear()
    return Trainer(model=model, args=arguments, train_dataset=train, eval_dataset=evaluation, compute_metrics=metrics)


@pytest.fixture
def make(tmp_path):
    trainer("transformers", "accelerate", "torchvision")

    def make(*arguments, **options):
        return make_trainer(tmp_path, *arguments, **options)

    return make


def equal(seen, batches):
    import torch

    return len(seen) == len(batches) and all(
        torch.equal(image, batch["image"]) and labels == batch["label"].tolist()
        for (image, labels), batch in zip(seen, batches)
    )


@pytest.mark.parametrize("accumulated", [1, 4])
def test_every_checkpoint_goes_on_with_the_batch_that_follows(make, tmp_path, accumulated):
    own = runs.training()
    batches = [batch for _ in range(2) for batch in own]
    options = {"save_strategy": "steps", "save_steps": 1, "gradient_accumulation_steps": accumulated}
    whole = make(runs.training(), **options)
    whole.train()
    assert equal(whole.model.seen, batches)
    steps = whole.state.global_step
    assert steps == {1: 12, 4: 4}[accumulated]
    for step in range(1, steps):
        resumed = make(runs.training(), gradient_accumulation_steps=accumulated)
        resumed.train(resume_from_checkpoint=str(tmp_path / f"checkpoint-{step}"))
        done = step // (steps // 2) * 6 + step % (steps // 2) * accumulated
        assert equal(resumed.model.seen, batches[done:]), step


def test_an_evaluation_is_torch_s_bit_for_bit(make):
    made = make(evaluation=runs.evaluation())
    assert runs.same_bits(
        ({"image": batch["pixel_values"], "label": batch["labels"]} for batch in made.get_eval_dataloader()),
        runs.stock_evaluation(),
    )


def test_evaluations_and_predictions_have_each_sample_once(make):
    small = lambda: runs.training(shuffle=False)  # noqa: E731
    made = make(runs.training(), {"one": small(), "other": small()})
    labels = [label for batch in small() for label in batch["label"].tolist()]
    metrics = made.evaluate()
    assert metrics["eval_one_labels"] == metrics["eval_other_labels"] == labels
    assert made.predict(small()).label_ids.tolist() == labels


def test_other_datasets_stay_as_they_are(make):
    import torch

    samples = [{"pixel_values": torch.rand(3, 16, 16), "labels": at % 12} for at in range(10)]
    made = make(samples, samples)
    made.train()
    assert len(made.model.seen) == 4
    assert made.evaluate()["eval_labels"] == [at % 12 for at in range(10)]


def test_another_batch_size_is_refused(make):
    with pytest.raises(
        ValueError, match="batches have 4 samples, but per_device_train_batch_size makes 8: give both the same"
    ):
        make(runs.training(batch_size=4)).get_train_dataloader()


RANKS = """
import json, sys
import runs, test_plug_transformers
made = test_plug_transformers.make_trainer(
    sys.argv[1], runs.training(batch_size=5, distributed="env"), runs.training(batch_size=5, shuffle=False, distributed="env"),
    per_device_train_batch_size=5, per_device_eval_batch_size=5)
made.train()
steps = made.state.global_step
labels = made.evaluate()["eval_labels"]
if made.args.process_index == 0:
    print(json.dumps([steps, labels]))
"""


def test_ranks_predict_in_the_order_of_the_samples(make, tmp_path):
    printed = runs.run(RANKS, tmp_path, tmp_path, ranks=3, ACCELERATE_USE_CPU="true")
    steps, labels = json.loads(printed.splitlines()[-1])
    assert steps == 2 * 3
    assert labels == [label for batch in runs.training(shuffle=False) for label in batch["label"].tolist()]
