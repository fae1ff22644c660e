#!/usr/bin/env python3
"""Draws a flame graph of what `perf script -F comm,ip,sym` prints: as wide as the share of samples, callers below.

    perf record --call-graph dwarf -F 999 PROGRAM
    perf script --no-inline -F comm,ip,sym | benches/flame.py ROOT TITLE >OUT.svg

Only stacks with a function whose name contains ROOT are drawn, from there on.
"""

import html
import re
import sys

WIDTH, ROW, TEXT = 1200, 17, 6.6
SMALLEST = 0.004  # of the whole: narrower ones are left out


def stacks(lines, root):
    """The functions of each sample, callers first, from `root` on."""
    stack = []
    for line in [*lines, ""]:
        words = line.split(maxsplit=1)
        if line[:1].isspace() and len(words) == 2:
            stack.append(words[1].strip())
        elif not line.strip():
            names = stack[::-1]
            first = next((at for at, name in enumerate(names) if root in name), None)
            if first is not None:
                yield [short(name) for name in names[first:]]
            stack = []


def short(name):
    """Without crates, generic arguments and hashes."""
    name = re.sub(r"::h[0-9a-f]{16}$", "", name)
    while (inner := re.sub(r"<[^<>]*>", "", name)) != name:
        name = inner
    return "::".join([part for part in name.split("::") if part][-2:])


def tree(samples):
    root = {"count": 0, "below": {}}
    for stack in samples:
        at = root
        at["count"] += 1
        for name in stack:
            at = at["below"].setdefault(name, {"count": 0, "below": {}})
            at["count"] += 1
    return root


def depth(node, total):
    shown = [below for below in node["below"].values() if below["count"] >= SMALLEST * total]
    return 1 + max((depth(below, total) for below in shown), default=0)


def boxes(node, left, level, total):
    """Left edge, level, width and text of each box, as shares of the whole."""
    for name, below in sorted(node["below"].items()):
        share = below["count"] / total
        if share >= SMALLEST:
            yield left, level, share, name
            yield from boxes(below, left, level + 1, total)
        left += share


def main():
    _, wanted, title = sys.argv
    root = tree(stacks(sys.stdin, wanted))
    total = root["count"]
    if total == 0:
        sys.exit(f"no sample has a function with `{wanted}` in its name")
    height = (depth(root, total) + 1) * ROW
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">')
    print(f'<rect width="{WIDTH}" height="{height}" fill="white"/>')
    print(f'<text x="4" y="12" font-size="12">{html.escape(title)} ({total} samples)</text>')
    for left, level, share, name in boxes(root, 0.0, 0, total):
        x, width, y = left * WIDTH, share * WIDTH, height - (level + 1) * ROW
        colour = f"hsl({20 + hash_of(name) % 35},80%,{62 + hash_of(name) % 14}%)"
        print(f'<g><title>{html.escape(name)}: {share:.1%}</title>'
              f'<rect x="{x:.1f}" y="{y}" width="{max(width - 0.5, 0.3):.1f}" height="{ROW - 1}" fill="{colour}"/>')
        letters = int(width / TEXT)
        if letters >= 4:
            print(f'<text x="{x + 2:.1f}" y="{y + 12}">{html.escape(name[:letters])}</text>')
        print("</g>")
    print("</svg>")


def hash_of(name):
    """The same in every run."""
    return sum(ord(letter) * (31 + at) for at, letter in enumerate(name))


if __name__ == "__main__":
    main()
