"""Two nodes of two ranks train under torchrun; one node is killed, and the run goes on.

    python tests/python/torchrun_nodes.py [FOLDER]

A node is a network namespace of its own, with a copy of the images: all that it has of the other one is a wire (veth). Both run
examples/python/train_nodes.py as docs/trainers.md shows it, with feedline and torch in the Python that runs this. A run must show
each sample once an epoch, in the same steps on all ranks. Then all processes of one node are killed in the second epoch, which ends
those of the other, and both nodes are started anew: each rank must go on with the batch behind the checkpoint, and end with the
weights of the run that was not stopped. At last a file is called otherwise on one node, which must end the run with the reason.

Where the machine permits no namespaces, it says so and passes.
"""

import collections
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EPOCHS, RANKS, BATCH = 3, 4, 3
ADDRESSES = ("10.77.0.1", "10.77.0.2")
PORT = "29500"
#: Seconds that a run of both nodes may take.
TIMEOUT = 240
#: Batches from one checkpoint to the next, and the batch that the killed node does not finish.
SAVE_EVERY, KILLED_AT = 2, 7
#: Batches before the checkpoint that is gone on from.
SAVED = (KILLED_AT - 1) // SAVE_EVERY * SAVE_EVERY


def worker(folder, arguments):
    """One rank: the example, with what each batch showed written down; on the node that is to be killed, its end."""
    sys.path.insert(0, str(ROOT / "examples/python"))
    import feedline
    import train_nodes

    rank, killed, written = os.environ["RANK"], "KILLED" in os.environ, 0

    class Noted(feedline.Loader):
        def __iter__(self):
            nonlocal written
            epoch, batches = self.epoch, super().__iter__()
            with open(f"{folder}/shown.{rank}", "a") as out:
                for batch in batches:
                    shown = [key for key, status in zip(batch["key"], batch["status"]) if status != "padded"]
                    out.write(json.dumps([epoch, shown]) + "\n")
                    out.flush()
                    written += 1
                    if killed and written == KILLED_AT:
                        end_all_on(1)
                        os.kill(os.getpid(), signal.SIGKILL)
                    yield batch

    feedline.Loader = Noted
    sys.argv = ["train_nodes.py", *arguments]
    train_nodes.main()


def end_all_on(node):
    """Kills all processes of a node but this one."""
    listed = subprocess.run(["ip", "netns", "pids", f"node{node}"], capture_output=True, text=True, check=True).stdout
    for process in map(int, listed.split()):
        if process != os.getpid():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


class Nodes:
    """Two network namespaces and the wire between them."""

    def __init__(self, images, scratch):
        self.images, self.scratch = images, scratch
        for commands in (
            ["netns add node0", "netns add node1", "link add wire0 type veth peer name wire1"],
            *([f"link set wire{node} netns node{node} name eth0", f"-n node{node} addr add {address}/24 dev eth0",
               f"-n node{node} link set eth0 up", f"-n node{node} link set lo up"] for node, address in enumerate(ADDRESSES)),
        ):
            for command in commands:
                subprocess.run(["ip", *command.split()], check=True)

    def start(self, node, name, **environment):
        """Starts torchrun on a node."""
        out = self.scratch / name
        out.mkdir(exist_ok=True)
        command = ["ip", "netns", "exec", f"node{node}", sys.executable, "-m", "torch.distributed.run"]
        command += ["--nnodes", "2", "--node-rank", str(node), "--nproc-per-node", str(RANKS // 2)]
        command += ["--master-addr", ADDRESSES[0], "--master-port", PORT]
        command += [__file__, "--worker", str(out), "--data", str(self.images[node]), "--epochs", str(EPOCHS)]
        command += ["--batch-size", str(BATCH), "--save-every", str(SAVE_EVERY), "--checkpoint", str(out / "run.pt")]
        told = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "eth0", **environment}
        with open(out / f"log.{node}", "a") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **told})

    def end(self, processes, name):
        """Waits for both nodes; returns how they ended."""
        try:
            deadline = time.monotonic() + TIMEOUT
            return [process.wait(max(1, deadline - time.monotonic())) for process in processes]
        except subprocess.TimeoutExpired:
            sys.exit(f"{name}: a node did not end within {TIMEOUT} s:\n{self.logs(name)}")
        finally:
            for node, process in enumerate(processes):
                end_all_on(node)
                process.wait()

    def run(self, name, sound=True, **environment):
        """Starts both nodes; the environment is that of the second."""
        processes = [self.start(node, name, **(environment if node else {})) for node in (0, 1)]
        ended = self.end(processes, name)
        if sound and any(ended):
            sys.exit(f"{name}: the nodes ended with {ended}:\n{self.logs(name)}")
        if not sound and not all(ended):
            sys.exit(f"{name}: a node was to fail, and they ended with {ended}:\n{self.logs(name)}")

    def shown(self, name):
        """What each rank was shown since this was asked last: epoch and keys, batch by batch."""
        files = [self.scratch / name / f"shown.{rank}" for rank in range(RANKS)]
        said = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
        for file in files:
            file.unlink()
        return said

    def logs(self, name):
        return "\n".join(f"node {node}: {(self.scratch / name / f'log.{node}').read_text()}" for node in (0, 1))


def each_once(shown, images, epochs):
    """All ranks made the same steps, and together showed each sample once in each of the epochs."""
    assert len({len(rank) for rank in shown}) == 1, f"steps of the ranks: {[len(rank) for rank in shown]}"
    counts = collections.defaultdict(collections.Counter)
    for rank in shown:
        for epoch, keys in rank:
            counts[epoch].update(keys)
    assert sorted(counts) == list(epochs), sorted(counts)
    for epoch, keys in counts.items():
        assert len(keys) == images and set(keys.values()) == {1}, f"epoch {epoch} does not show each sample once"


def same_weights(scratch, names):
    import torch

    one, other = (torch.load(scratch / name / "run.pt", weights_only=True) for name in names)
    assert one["loader"] == other["loader"], names
    for name, weights in one["model"].items():
        assert torch.allclose(weights, other["model"][name], rtol=1e-4, atol=1e-5), f"{names}: other weights in {name}"


def main():
    """Runs whole, in two parts, and with other images on one node."""
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "data/photos")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        images = [scratch / f"images{node}" for node in (0, 1)]
        for place in images:
            shutil.copytree(folder, place)
        count = sum(1 for path in images[0].glob("*/*") if path.suffix == ".jpg")
        assert count % RANKS, f"{count} images divide evenly: name another folder"
        nodes = Nodes(images, scratch)

        nodes.run("whole")
        whole = nodes.shown("whole")
        each_once(whole, count, range(EPOCHS))

        nodes.run("killed", sound=False, KILLED="yes")
        before = nodes.shown("killed")
        for rank, all_at_once in zip(before, whole):
            assert rank == all_at_once[: len(rank)] and len(rank) >= KILLED_AT - 1, "a run shows other rows than the first"
        nodes.run("killed")
        resumed(nodes.shown("killed"), whole)
        same_weights(scratch, ("whole", "killed"))

        image = next(images[1].glob("*/*.jpg"))
        image.rename(image.with_name("other.jpg"))
        nodes.run("other", sound=False)
        assert "the state cannot be resumed: its source is" in nodes.logs("other"), nodes.logs("other")
    print(f"two nodes of {RANKS // 2} ranks, {EPOCHS} epochs of {count} images, {len(whole[0])} steps each: equal steps, each "
          f"sample once, and after a node was killed the batches and weights of a run that was not stopped")


def resumed(shown, whole):
    """Each rank went on with the batch behind the last checkpoint before the kill."""
    for rank, all_at_once in zip(shown, whole):
        assert rank == all_at_once[SAVED:], f"{len(rank)} batches, and {len(all_at_once)} less {SAVED} were to come"


#: What a namespace must permit.
PROBE = "mount -t tmpfs tmpfs /run && ip netns add probe && ip link add wire type veth peer name end && ip link set wire netns probe"
#: How a kernel says that it does not: forbidden, no user namespaces, no veth.
REFUSALS = ("not permitted", "denied", "No space left", "not supported", "Unknown device type")


def inside():
    """Runs this in a user's own namespaces, in which it may make more of them, and which vanish with it."""
    for how in (["--net", "--mount"], ["--user", "--map-root-user", "--net", "--mount"]):
        unshare = ["unshare", *how, "sh", "-c"]
        try:
            tried = subprocess.run([*unshare, PROBE], capture_output=True, text=True)
        except FileNotFoundError as error:
            sys.exit(f"missing: {error.filename}, of util-linux")
        if tried.returncode == 0:
            again = ["mount -t tmpfs tmpfs /run && exec \"$@\"", "sh", sys.executable, __file__, "--inside", *sys.argv[1:]]
            sys.exit(subprocess.run([*unshare, *again]).returncode)
    if shutil.which("ip") is None:
        sys.exit("missing: ip, of iproute2")
    if not any(refusal in tried.stderr for refusal in REFUSALS):
        sys.exit(f"a network namespace cannot be made: {tried.stderr}")
    print(f"NOTE: several nodes NOT tested: this machine permits no namespaces ({tried.stderr.strip()})")


if __name__ == "__main__":
    match sys.argv[1:2]:
        case ["--worker"]:
            worker(sys.argv[2], sys.argv[3:])
        case ["--inside"]:
            del sys.argv[1]
            main()
        case _:
            inside()
