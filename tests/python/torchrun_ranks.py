"""Real processes under torchrun iterate an uneven data set, are killed in the middle, and go on.

    python tests/python/torchrun_ranks.py RANKS [FOLDER]

RANKS is the built example `ranks`, FOLDER a data set whose length no number of ranks divides. Two ranks run three epochs in
lock step over gloo; they are killed within the second epoch and started again from their state, and the last epoch is
finished by three ranks. All must make the same steps, no collective may time out, and every sample must come once an
epoch, padding apart. The rows must be those of a run that was not stopped.
"""

import collections
import contextlib
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

EPOCHS = 3
TIMEOUT = datetime.timedelta(seconds=60)


def worker(program, folder, state, stop_after, log):
    """One rank: takes a step only together with the others, and writes what it was shown."""
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo", timeout=TIMEOUT)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    command = [program, folder, str(EPOCHS)] + ([state] if state != "-" else [])
    loader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    steps = 0
    with open(f"{log}.{rank}", "w") as out:
        while stop_after == 0 or steps < stop_after:
            with contextlib.suppress(BrokenPipeError):  # behind the last epoch nobody reads any more
                os.write(loader.stdin.fileno(), b"\n")
            line = loader.stdout.readline()
            said = json.loads(line) if line else {"epoch": -1, "step": -1}
            own = torch.tensor([said["epoch"], said["step"]])
            every = [torch.zeros_like(own) for _ in range(ranks)]
            dist.all_gather(every, own)
            assert all(torch.equal(other, own) for other in every), f"ranks are at different steps: {every}"
            if not line:
                break
            out.write(line)
            out.flush()
            steps += 1
    if stop_after:
        loader.send_signal(signal.SIGKILL)
    loader.stdin.close()
    status = loader.wait()
    assert stop_after or status == 0, f"the loader of rank {rank} ended with {status}"
    dist.barrier()
    dist.destroy_process_group()


def run(ranks, program, folder, state, stop_after, log):
    """Starts the ranks with torchrun; returns what each was shown."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    command += [__file__, "--worker", program, folder, state, str(stop_after), log]
    environment = dict(os.environ, OMP_NUM_THREADS="1", TORCHELASTIC_ERROR_FILE=f"{log}.error")
    subprocess.run(command, check=True, timeout=300, env=environment)
    said = [pathlib.Path(f"{log}.{rank}").read_text().splitlines() for rank in range(ranks)]
    return [[json.loads(line) for line in lines] for lines in said]


def shown(runs):
    """How often each key came in each epoch, padding apart."""
    counts = collections.defaultdict(collections.Counter)
    for rank in runs:
        for step in rank:
            keys = zip(step["keys"], step["padded"])
            counts[step["epoch"]].update(key for key, padded in keys if not padded)
    return counts


def main():
    """Runs whole, in two parts, and in three parts on another number of ranks; compares."""
    program, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "data/photos"
    images = sum(1 for path in pathlib.Path(folder).rglob("*") if path.suffix in (".jpg", ".png", ".webp"))
    assert images % 2 and images % 3, f"{images} images divide evenly: name another folder"
    with tempfile.TemporaryDirectory() as scratch:
        log = os.path.join(scratch, "log")
        state = os.path.join(scratch, "state.json")
        whole = run(2, program, folder, "-", 0, log)
        steps = len(whole[0]) // EPOCHS
        first = run(2, program, folder, "-", steps + 2, log)
        with open(state, "w") as out:
            json.dump(first[0][-1]["state"], out)
        second = run(2, program, folder, state, 0, log)
        rows = lambda rank: [(step["epoch"], step["keys"], step["padded"]) for step in rank]
        for before, behind, all_at_once in zip(first, second, whole):
            assert rows(before) + rows(behind) == rows(all_at_once), "a resumed run shows other rows"
        for counts in (shown(whole), shown(first + second)):
            assert sorted(counts) == list(range(EPOCHS))
            for epoch, keys in counts.items():
                assert len(keys) == images and set(keys.values()) == {1}, f"epoch {epoch} is not each sample once"
        # Elastic: what is left of the second epoch, and the third, on three ranks.
        elastic = run(3, program, folder, state, 0, log)
        assert len({len(rank) for rank in elastic}) == 1, "ranks made different numbers of steps"
        together = shown(first + elastic)
        for epoch in range(EPOCHS):
            keys = together[epoch]
            assert len(keys) == images and set(keys.values()) == {1}, f"elastic: epoch {epoch} is not each sample once"
    print(f"torchrun: 2 and 3 ranks, {EPOCHS} epochs of {images} images, {steps} steps each: equal steps, each sample once")


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        worker(*sys.argv[2:5], int(sys.argv[5]), sys.argv[6])
    else:
        main()
