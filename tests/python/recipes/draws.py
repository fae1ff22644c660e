"""Whether what is drawn has the reference's distribution: two samples, or one and what is known of it."""

import zlib
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

# A test that holds passes but once in so many.
LEAST_P = 1e-4
# Values of so few kinds are counted, others are compared by their order.
FEW = 40
# Kinds that are rarer than this in both samples are counted as one.
RARE = 20
PAIRS = 60


@dataclass
class Tests:
    """The tests of one recipe: their number, and the least of their p with its name."""

    count: int = 0
    least: float = 1.0
    least_name: str = ""
    failures: list = field(default_factory=list)

    def add(self, name, p):
        """Adds one test."""
        self.count += 1
        if not p >= self.least:
            self.least, self.least_name = float(p), name
        if not p >= LEAST_P:
            self.failures.append(f"{name}: p = {p:.2g}")

    def compare(self, ours, theirs, prefix=""):
        """Two lists of samples, each {name: [values]}: every name is one test, and so is how often it occurs."""
        ours, theirs = pooled(ours), pooled(theirs)
        for name in sorted(ours.keys() | theirs.keys()):
            mine, other = ours.get(name, []), theirs.get(name, [])
            # Names that only rare chains have say nothing by themselves.
            if max(len(mine), len(other)) < 5 * RARE:
                continue
            self.add(f"{prefix}{name}", same(mine, other))

    def known(self, name, values, distribution):
        """Values, and the distribution function that they are to have."""
        self.add(name, stats.kstest(np.asarray(values, float), distribution).pvalue)

    def shares(self, name, values, expected):
        """How often each value occurs, beside {value: probability}."""
        counts = Counter(values)
        if set(counts) - set(expected):
            return self.add(name, 0.0)
        total = sum(counts.values())
        seen = [counts[value] for value in expected]
        self.add(name, stats.chisquare(seen, [total * share for share in expected.values()]).pvalue)

    def independent(self, name, one, other):
        """Two lists of numbers that are to have nothing to do with each other."""
        if len(set(one)) > 1 and len(set(other)) > 1:
            self.add(name, stats.spearmanr(one, other).pvalue)


def pooled(samples):
    """{name: all values} of many samples."""
    found = {}
    for sample in samples:
        for name, values in sample.items():
            found.setdefault(name, []).extend(values)
    return found


def same(mine, other):
    """The probability that two samples of one distribution differ by more."""
    if not mine or not other:
        return 0.0
    kinds = set(mine) | set(other)
    if all(isinstance(kind, float) for kind in kinds):
        kinds = {round(kind, 9) for kind in kinds}
        if len(kinds) > FEW:
            return stats.ks_2samp(mine, other, method="asymp").pvalue
        mine, other = ([round(value, 9) for value in values] for values in (mine, other))
    return same_counts(Counter(mine), Counter(other))


def same_counts(mine, other):
    """The same of what is counted."""
    table, rare = [], [0, 0]
    for kind in sorted(mine.keys() | other.keys(), key=str):
        counts = [mine[kind], other[kind]]
        if sum(counts) < 2 * RARE:
            rare = [rare[0] + counts[0], rare[1] + counts[1]]
        else:
            table.append(counts)
    if sum(rare):
        table.append(rare)
    if len(table) < 2:
        return 1.0 if not table or min(table[0]) > 0 else 0.0
    return stats.chi2_contingency(np.array(table).T, correction=False).pvalue


def seed_of(*words):
    """A seed for the reference's generators."""
    return zlib.crc32(" ".join(map(str, words)).encode())
