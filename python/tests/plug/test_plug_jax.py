"""JAX: global arrays on several devices of a process, and of two processes."""

import importlib.util
import socket

import pytest
import runs
from conftest import trainer

GLOBAL = """
import json, sys
import jax, numpy
rank, ranks, address = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if ranks > 1:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(address, ranks, rank)
import runs
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from feedline.plug.jax import GlobalBatches

def training(rank, **options):
    return runs.training(framework=None, last_batch="drop", rank=rank, world_size=ranks, **options)

mesh = Mesh(numpy.array(jax.devices()), ("data",))
sharding = NamedSharding(mesh, PartitionSpec("data"))
batches = GlobalBatches(training(jax.process_index()), sharding)
assert len(batches) == len(training(rank))

@jax.jit
def summed(image):
    return image.astype(float).sum()

for epoch in range(2):
    batches.set_epoch(epoch)
    whole = [training(each) for each in range(ranks)]
    for loader in whole:
        loader.set_epoch(epoch)
    for batch, *expected in zip(batches, *whole):
        image, label = batch["image"], batch["label"]
        assert image.shape == (8 * ranks, 3, 16, 16) and image.sharding.is_equivalent_to(sharding, 4)
        assert len(image.addressable_shards) == 4 and image.addressable_shards[0].data.shape == (8 // 4, 3, 16, 16)
        # This process's devices hold its own Loader's rows; all together hold every rank's.
        rows = sorted(image.addressable_shards, key=lambda shard: shard.index[0].start)
        own = expected[jax.process_index()]["image"].numpy()
        assert numpy.array_equal(numpy.concatenate([numpy.asarray(shard.data) for shard in rows]), own)
        total = sum(float(each["image"].numpy().astype(float).sum()) for each in expected)
        assert abs(float(summed(image)) - total) < 1e-3 * total

# A state goes on with the batch that follows.
batches.set_epoch(0)
running = iter(batches)
next(running)
state = json.loads(json.dumps(batches.state_dict()))
left = [numpy.asarray(batch["label"].addressable_data(0)).tolist() for batch in running]
resumed = GlobalBatches(training(jax.process_index()), sharding)
resumed.load_state_dict(state)
assert [numpy.asarray(batch["label"].addressable_data(0)).tolist() for batch in resumed] == left and left
for bad_sample in ("skip", "substitute"):
    try:
        GlobalBatches(training(jax.process_index(), bad_sample=bad_sample), sharding)
    except ValueError as error:
        assert ranks > 1 and bad_sample == "skip" and 'make it with bad_sample="substitute"' in str(error), error
    else:
        assert ranks == 1 or bad_sample == "substitute"
if ranks == 1:
    for made, words in [
        (lambda: list(GlobalBatches(runs.training(framework=None), sharding)), "3 rows of 'image' cannot be spread over the 4 devices"),
        (lambda: GlobalBatches(runs.training(rank=1, world_size=2), sharding), "the Loader is rank 1 of 2, but this process is rank 0 of 1"),
    ]:
        try:
            made()
        except ValueError as error:
            assert words in str(error), error
        else:
            raise AssertionError(words)
print("as the Loader")
"""

DEVICES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "0"}


@pytest.fixture
def jax():
    if importlib.util.find_spec("jax") is None:
        trainer("jax")


def test_batches_lie_on_all_devices_of_a_process(jax, tmp_path):
    assert runs.run(GLOBAL, tmp_path, 0, 1, "", **DEVICES).endswith("as the Loader\n")


BOTH = """
import subprocess, sys
address = sys.argv[2]
processes = [subprocess.Popen([sys.executable, sys.argv[1], str(rank), "2", address]) for rank in range(2)]
sys.exit(any([process.wait() for process in processes]))
"""


def test_two_processes_hold_a_batch_together(jax, tmp_path):
    script = tmp_path / "global.py"
    script.write_text(GLOBAL)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    printed = runs.run(BOTH, tmp_path, script, address, **DEVICES)
    assert printed.count("as the Loader\n") == 2
