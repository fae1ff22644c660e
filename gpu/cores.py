"""How many cores a measurement has."""

import os


class Cores:
    """Leaves this process and those that it starts so many cores for a while, as `taskset` would."""

    def __init__(self, count):
        self.count = count
        self.before = os.sched_getaffinity(0)

    def __enter__(self):
        self.set(sorted(self.before)[:self.count])

    def __exit__(self, *_):
        self.set(self.before)

    @staticmethod
    def set(cores):
        """Threads keep their own affinity, so each is told; one may end meanwhile."""
        for thread in os.listdir("/proc/self/task"):
            try:
                os.sched_setaffinity(int(thread), cores)
            except ProcessLookupError:
                pass


def counts(section, wanted):
    """The counts of cores that this machine has; all that it has, where that is less than the most."""
    available = len(os.sched_getaffinity(0))
    return section.sized(sorted({min(count, available) for count in wanted}, reverse=True), [1])
