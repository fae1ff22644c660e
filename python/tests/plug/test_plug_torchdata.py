"""torchdata: a Loader as a node, and in a StatefulDataLoader's place."""

import json

import pytest
import runs
from conftest import trainer

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(params=["alone", "behind a Prefetcher", "behind a Mapper and a Prefetcher"])
def make(request):
    """Makes a `torchdata.nodes.Loader` of a Loader's node, with what stands between them."""
    trainer("torchdata")
    from torchdata import nodes

    from feedline.plug.torchdata import LoaderNode

    def make():
        node = LoaderNode(runs.training())
        if "Mapper" in request.param:
            node = nodes.Mapper(node, lambda batch: batch)
        if "Prefetcher" in request.param:
            node = nodes.Prefetcher(node, 2)
        return nodes.Loader(node)

    return make


def test_epochs_are_the_loader_s_own(make):
    loader, own = make(), runs.training()
    assert [runs.indices(loader) for _ in range(3)] == [runs.indices(own) for _ in range(3)]


def test_a_node_that_is_reset_again_has_begun_no_epoch():
    trainer("torchdata")
    from feedline.plug.torchdata import LoaderNode

    node, own = LoaderNode(runs.training()), runs.training()
    for _ in range(2):
        node.reset()
        node.reset()
        assert runs.indices(node) == runs.indices(own)


def test_a_state_of_every_step_goes_on_with_the_batch_that_follows(make):
    own = runs.training()
    first, second = runs.indices(own), runs.indices(own)
    for steps in range(7):
        loader = make()
        batches = iter(loader)
        assert runs.indices(next(batches) for _ in range(steps)) == first[:steps]
        resumed = make()
        resumed.load_state_dict(json.loads(json.dumps(loader.state_dict())))
        if steps < 6:
            assert runs.indices(resumed) == first[steps:]
        assert runs.indices(resumed) == second


def test_a_loader_does_what_scripts_ask_a_stateful_data_loader_for():
    trainer("torchdata")
    from torchdata.stateful_dataloader import StatefulDataLoader

    def stop_and_go_on(make, keys):
        loader = make()
        whole = [keys(batch) for batch in loader]
        loader = make()
        seen = []
        for steps, batch in enumerate(loader, 1):
            seen.append(keys(batch))
            if steps == 2:
                state = loader.state_dict()
                break
        resumed = make()
        resumed.load_state_dict(state)
        return len(loader), whole, seen + [keys(batch) for batch in resumed]

    stock = stop_and_go_on(lambda: StatefulDataLoader(range(43), batch_size=8), lambda batch: batch.tolist())
    own = stop_and_go_on(lambda: runs.training(shuffle=False), lambda batch: batch["index"].tolist())
    assert own == stock and own[1] == own[2]
