"""accelerate: prepared Loaders, alone and on several ranks."""

import json

import pytest
import runs
from conftest import trainer

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def accelerator():
    trainer("accelerate", "torchvision")
    from accelerate import Accelerator

    return Accelerator(cpu=True, gradient_accumulation_steps=4)


def test_epochs_are_the_loader_s_own(accelerator):
    from feedline.plug.accelerate import prepare

    loader = prepare(accelerator, runs.training())
    own = runs.training()
    assert len(loader) == 6 and len(loader.dataset) == 43
    assert [runs.indices(loader) for _ in range(3)] == [runs.indices(own) for _ in range(3)]
    loader.set_epoch(1)
    own.set_epoch(1)
    assert runs.indices(loader) == runs.indices(own)


def test_evaluation_is_torch_s_bit_for_bit(accelerator):
    from feedline.plug.accelerate import prepare

    loader = prepare(accelerator, runs.evaluation(), columns=("image", "label"))
    assert runs.same_bits(loader, runs.stock_evaluation())


def test_columns_have_the_names_that_are_asked_for(accelerator):
    from feedline.plug.accelerate import prepare

    loader = prepare(accelerator, runs.training(), columns={"pixel_values": "image", "labels": "label"})
    assert list(next(iter(loader))) == ["pixel_values", "labels"]
    with pytest.raises(ValueError, match="a batch has no 'target': columns may name 'image', 'label'"):
        next(iter(prepare(accelerator, runs.training(), columns=("image", "target"))))


def test_batches_that_are_tuples_are_named_in_their_order(accelerator):
    from feedline.plug.accelerate import prepare

    loader = prepare(accelerator, runs.evaluation(as_tuple=True), columns=("image", "label"))
    assert runs.same_bits(loader, runs.stock_evaluation())
    with pytest.raises(ValueError, match="a batch is a tuple of 2 arrays, and columns names 1: image"):
        next(iter(prepare(accelerator, runs.evaluation(as_tuple=True), columns=("image",))))


def test_metrics_leave_out_what_pads_the_last_batch(accelerator):
    from feedline.plug.accelerate import gather_for_metrics, prepare

    loader = prepare(accelerator, runs.evaluation(last_batch="pad"))
    seen = [gather_for_metrics(accelerator, batch["index"]) for batch in loader]
    assert [len(rows) for rows in seen] == [8, 8, 8, 8, 8, 3]


def test_prepare_changes_nothing_more(accelerator):
    from feedline.plug.accelerate import prepare

    loader = prepare(accelerator, runs.training())
    assert accelerator.prepare(loader) is loader
    assert accelerator.prepare_data_loader(loader) is loader


def test_gradients_are_synchronised_at_an_epoch_s_last_batch(accelerator):
    import torch

    from feedline.plug.accelerate import prepare

    model = accelerator.prepare(torch.nn.Linear(1, 1))
    synchronised, ends = [], []
    for _ in prepare(accelerator, runs.training()):
        with accelerator.accumulate(model):
            synchronised.append(accelerator.sync_gradients)
            ends.append(accelerator.gradient_state.end_of_dataloader)
    assert synchronised == [False, False, False, True, False, True]
    assert ends == [False] * 5 + [True]


def test_a_saved_state_of_every_step_goes_on_with_the_batch_that_follows(accelerator, tmp_path):
    from accelerate import Accelerator

    from feedline.plug.accelerate import prepare

    own = runs.training()
    first, second = runs.indices(own), runs.indices(own)
    loader = prepare(accelerator, runs.training())
    for steps, _ in enumerate(loader, 1):
        accelerator.save_state(str(tmp_path / str(steps)), safe_serialization=False)
    for steps in range(1, 7):
        other = Accelerator(cpu=True)
        resumed = prepare(other, runs.training())
        other.load_state(str(tmp_path / str(steps)))
        if steps < 6:
            assert runs.indices(resumed) == first[steps:]
        assert runs.indices(resumed) == second


def trained(folder, epochs, resumed_at=None):
    """The samples of each step of a loop as accelerate's complete_cv_example.py has it, which saves a state behind each step."""
    from accelerate import Accelerator

    from feedline.plug.accelerate import prepare

    accelerator = Accelerator(cpu=True)
    train = prepare(accelerator, runs.training())
    step, seen = resumed_at or 0, []
    first, skipped = divmod(step, len(train))
    if resumed_at is not None:
        accelerator.load_state(str(folder / str(step)))
    for epoch in range(first, epochs):
        is_resumed = resumed_at is not None and epoch == first
        for batch in accelerator.skip_first_batches(train, skipped) if is_resumed else train:
            seen.append(batch["index"].tolist())
            step += 1
            accelerator.save_state(str(folder / str(step)), safe_serialization=False)
    return seen


def test_a_loop_that_skips_batches_goes_on_in_the_epoch_of_the_saved_state(accelerator, tmp_path):
    whole = trained(tmp_path, 3)
    assert len(whole) == 3 * 6
    for step in range(1, 3 * 6):
        assert trained(tmp_path, 3, step) == whole[step:], step


def test_a_state_that_is_saved_after_skipping_goes_on_with_the_batch_that_follows(accelerator, tmp_path):
    whole = trained(tmp_path, 2)
    assert trained(tmp_path, 2, 8) == whole[8:]
    from accelerate import Accelerator

    from feedline.plug.accelerate import prepare

    for step in range(9, 12):
        other = Accelerator(cpu=True)
        resumed = prepare(other, runs.training())
        other.load_state(str(tmp_path / str(step)))
        assert runs.indices(resumed) == whole[step:], step


def test_skipping_batches_begins_with_the_one_that_follows(accelerator):
    from feedline.plug.accelerate import prepare

    own = runs.training()
    own.set_epoch(1)
    expected = runs.indices(own)
    for skipped in range(6):
        loader = prepare(accelerator, runs.training())
        loader.set_epoch(1)
        rest = accelerator.skip_first_batches(loader, skipped)
        assert runs.indices(rest) == expected[skipped:]


def test_a_loader_of_another_rank_is_refused(accelerator):
    from feedline.plug.accelerate import prepare

    with pytest.raises(
        ValueError, match="the Loader is rank 1 of 2, but this process is rank 0 of 1: make it with rank=0"
    ):
        prepare(accelerator, runs.training(rank=1, world_size=2))


def test_bad_samples_may_be_skipped_on_one_process(accelerator):
    from feedline.plug.accelerate import prepare

    assert len(runs.indices(prepare(accelerator, runs.training(bad_sample="skip")))) == 6


RANKS = """
import json
import runs
from accelerate import Accelerator
from accelerate.utils import gather_object
from feedline.plug.accelerate import gather_for_metrics, prepare

accelerator = Accelerator(cpu=True)
try:
    prepare(accelerator, runs.training(distributed="env", bad_sample="skip"))
except ValueError as error:
    assert 'make it with bad_sample="substitute"' in str(error), error
else:
    raise AssertionError("batches of different sizes are not refused")
train, test = prepare(accelerator, runs.training(batch_size=5, distributed="env"), runs.evaluation(batch_size=5, distributed="env"))
shown = [i for batch in train for i, status in zip(batch["index"].tolist(), batch["status"]) if status == "ok"]
ordered, stock = [], []
for batch in test:
    ordered += gather_for_metrics(accelerator, batch["index"]).tolist()
    stock += accelerator.gather_for_metrics(batch["index"]).tolist()
steps, shown = gather_object([len(train)]), gather_object(shown)
if accelerator.is_main_process:
    print(json.dumps([steps, shown, ordered, stock]))
accelerator.end_training()
"""


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_show_each_sample_once_and_metrics_are_in_the_order_of_the_samples(accelerator, tmp_path, ranks):
    printed = runs.run(RANKS, tmp_path, ranks=ranks, ACCELERATE_USE_CPU="true")
    steps, shown, ordered, stock = json.loads(printed.splitlines()[-1])
    assert len(steps) == ranks and len(set(steps)) == 1
    assert sorted(shown) == list(range(43))
    assert ordered == list(range(43))
    # accelerate's own keeps what fills the last step up where that is more than the last rank's.
    assert sorted(set(stock)) == list(range(43)) and len(stock) == {2: 43, 3: 45}[ranks]
