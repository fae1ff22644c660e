#!/usr/bin/env python3
"""A trainer that captures CUDA graphs while a loader works: neither may fail, and the batches must be those of the CPU device.

Each case is a process of its own, since a capture that fails may leave its process without a usable stream.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import kit

# Where the batch is while a graph is captured on a stream, in torch's default mode, which forbids other threads' calls too.
CASES = {
    "held": "the batch before it is held, the loader works on the next",
    "dropped": "the batch before it, used on the captured stream, is dropped meanwhile",
    "taken": "the next batch is asked for meanwhile, which is an error that has to leave both usable",
}
CAPTURES = 20
BATCH_SIZE = 64
MEANWHILE_S = 0.03


def main():
    """Writes graphs.json, or runs one case."""
    if sys.argv[1] in CASES:
        print(json.dumps(run(sys.argv[1])))
        return
    section = kit.Section("graphs", __doc__)
    if section.simulated:
        section.leave_out("captures", "they are torch's, which must not meet the simulated driver")
        return
    for case, what in CASES.items():
        command = [sys.executable, "-B", Path(__file__), case]
        status, output, errors = kit.run(command, min(section.left_s(), 60), kit.environment(None))
        found = json.loads(output.splitlines()[-1]) if status == 0 else {"ended": f"exit status {status}: {kit.tail(errors)}"}
        section.add("graphs", {"case": case, "what": what, **found})
    rows = section.result["graphs"]
    bad = [row["case"] for row in rows if row.get("ended") or row["failed_captures"] or row["different"] or row["loader"]
           or (row["case"] == "taken") != bool(row["refused"])]
    sys.exit(f"graphs and a loader disturb each other: {', '.join(bad)}" if bad else 0)


def run(case):
    """Captures one after the other, each behind a batch."""
    sys.path[:0] = [str(kit.SITE / "feedline")]
    import torch

    import feedline

    found = {"captures": 0, "failed_captures": 0, "refused": 0, "first_refusal": None, "first_failure": None, "loader": None,
             "values": 0, "different": 0}
    with tempfile.TemporaryDirectory() as links:
        data = kit.many(kit.main_dataset(), CAPTURES * BATCH_SIZE, Path(links))
        options = {"recipe": "imagenet-train", "batch_size": BATCH_SIZE, "shuffle": True, "drop_last": True,
                   "framework": "torch", "num_workers": 8, "flat": True}
        reference = [batch["image"] for batch in feedline.Loader(str(data), device="cpu", **options)]
        batches = iter(feedline.Loader(str(data), device="cuda:0", decoder="feedline", **options))
        stream, weights = torch.cuda.Stream(), torch.ones(1024, device="cuda")
        at = 0
        while at < len(reference):
            with torch.cuda.stream(stream):
                try:
                    held = [next(batches)["image"]]
                except Exception as error:
                    found["loader"] = f"{type(error).__name__}: {error}"[:500]
                    break
                copy = held[0].clone()
            refused = found["refused"]
            capture(case, found, (torch, stream, weights), batches, held)
            held.clear()
            stream.synchronize()
            found["values"] += copy.numel()
            found["different"] += int((copy.cpu() != reference[at]).sum())
            # A batch that was refused is gone.
            at += 1 + found["refused"] - refused
    return found


def capture(case, found, context, batches, held):
    """One capture, in which something is done."""
    torch, stream, weights = context
    graph = torch.cuda.CUDAGraph()
    found["captures"] += 1
    try:
        with torch.cuda.graph(graph, stream=stream):
            weights.mul_(1.0001)
            if case == "dropped":
                held.clear()
            if case == "taken":
                try:
                    held.append(next(batches)["image"])
                except Exception as error:
                    found["refused"] += 1
                    found["first_refusal"] = found["first_refusal"] or f"{type(error).__name__}: {error}"[:500]
            time.sleep(MEANWHILE_S)
            weights.add_(1)
        graph.replay()
    except Exception as error:
        found["failed_captures"] += 1
        found["first_failure"] = found["first_failure"] or f"{type(error).__name__}: {error}"[:500]


if __name__ == "__main__":
    main()
