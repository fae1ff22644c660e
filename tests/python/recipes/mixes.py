"""Samples that two images make: MixUp and CutMix as torchvision and timm have them."""

import torch



def mix_of(line):
    """How the plan lays a partner over a sample: the partner, what of the sample's own image remains, and the rectangle
    (left, top, right, bottom) of a cut; nothing where it does not."""
    plan = line["plan"]
    last = plan["passes"][-1]
    inputs = plan["inputs"][last["inputs"]["start"]:][:last["inputs"]["len"]]
    if not line["partners"] or len(inputs) < 2 and len(plan["images"]) == 1 and plan["images"][0]["index"] == line["index"]:
        return None
    partner = line["partners"][-1][0]
    above, window, size = inputs[-1], inputs[-1]["window"], last["size"]
    whole = (window["width"], window["height"]) == (size["width"], size["height"])
    if whole and above["weight"] < 1:
        return partner, 1 - above["weight"], None
    edges = (window["x"], window["y"], window["x"] + window["width"], window["y"] + window["height"])
    return partner, 1 - window["width"] * window["height"] / (size["width"] * size["height"]), edges


def mixed_batch(run, line, picture):
    """The sample and its partner, finished each, and laid together as torchvision does."""
    made, mix = picture(line["index"], line["ops"]), mix_of(line)
    if mix is None:
        return made
    _, share, edges = mix
    other = picture(*line["partners"][-1])
    if edges is None:
        return made * share + other * (1 - share)
    left, top, right, bottom = edges
    made[:, top:bottom, left:right] = other[:, top:bottom, left:right]
    return made


def mixed_labels(run, line, made):
    """The classes of the sample and of its partner, by what remains of each."""
    own = run.data.label(line["key"])
    mix, expected = mix_of(line), {own: 1.0}
    if mix:
        partner = run.data.label(run.keys[mix[0]])
        expected[own] = mix[1]
        expected[partner] = expected.get(partner, 0) + 1 - mix[1]
    got = {}
    for label, share in made.labels:
        got[label] = got.get(label, 0) + share
    wrong = [label for label in expected.keys() | got.keys() if abs(expected.get(label, 0) - got.get(label, 0)) > 1e-6]
    return f"labels {got} instead of {expected}" if wrong else ""


def described(share, edges, size):
    """A mix as features: `share` of the own image remains, but for a rectangle."""
    if edges is None and torch.tensor(1 - share, dtype=torch.float32) == 1:
        share, edges = 0, (0, 0, size, size)
    if edges is None:
        return {"mix": ["MixUp"], "MixUp: lambda": [float(share)]}
    names = ("left", "top", "right", "bottom")
    return {"mix": ["CutMix"], "CutMix: lambda": [float(share)]} | {
        f"CutMix: {name}": [float(edge)] for name, edge in zip(names, edges)}


def mixes_of_windows(draw, size):
    """Tests of the mix that each window draws: `draw()` is one of the reference's, a share and edges."""

    def more(run, tests):
        seen = {}
        for line in run.lines:
            mix = mix_of(line)
            seen[line["epoch"], mix and mix[1:]] = described(*mix[1:], size) if mix else {"mix": ["none"]}
        ours, theirs = list(seen.values()), []
        for _ in ours:
            share, edges = draw()
            empty = torch.tensor(1 - share, dtype=torch.float32) == 0
            theirs.append({"mix": ["none"]} if empty else described(share, edges, size))
        tests.compare(ours, theirs, prefix="windows, ")

    return more
