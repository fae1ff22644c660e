"""Batches that a function of Python's changes, in the loop's thread or in threads ahead of it."""

from __future__ import annotations

import atexit
import json
import operator
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from feedline import _feedline
from feedline._batches import check_process
from feedline._stats import Stats

if TYPE_CHECKING:
    from feedline._batches import Batches
    from feedline._loader import Loader

#: Most threads of one function.
MAX_WORKERS = 64

#: What has threads that may still run.
_running: weakref.WeakSet[_Ahead] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    for ahead in list(_running):
        ahead.end()


class Mapped:
    """The batches of a Loader, each as a function returns it. All else is the Loader's."""

    def __init__(self, loader: Loader | Mapped, function: Callable[[Any], Any], workers: int = 0) -> None:
        if not callable(function):
            raise TypeError(f"map takes a function of a batch, and this is {function!r}")
        if isinstance(workers, bool) or not 0 <= operator.index(workers) <= MAX_WORKERS:
            raise ValueError(f"workers is {workers!r}: give a number of threads from 0 to {MAX_WORKERS}")
        self._loader = loader
        self._function = function
        self._workers = operator.index(workers)
        self._timer = _feedline.Timer()
        self._running: MappedBatches | None = None

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> MappedBatches:
        if self._running is not None:
            self._running.close()
        batches: Batches | MappedBatches = self._loader.__iter__()
        self._running = MappedBatches(_Ahead(batches, self._loader.state_dict, self._function, self._workers, self._timer))
        return self._running

    @property
    def epoch(self) -> int:
        """As that of the Loader; of the batches that are handed out here, whatever threads have taken ahead."""
        running = self._running
        return self._loader.epoch if running is None or running.finished else running.epoch

    def map(self, function: Callable[[Any], Any], workers: int = 0) -> Mapped:
        """The same batches after one more function."""
        return Mapped(self, function, workers)

    def set_epoch(self, epoch: int) -> None:
        """As that of the Loader."""
        self._end()
        self._loader.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the run stands behind the last batch that was handed out here, whatever threads have taken ahead."""
        state = None if self._running is None else self._running.state
        return self._loader.state_dict() if state is None else state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """As that of the Loader."""
        self._end()
        self._loader.load_state_dict(state_dict)

    def stats(self) -> Stats:
        """Those of the Loader, with the stage `map`: the runs of the function. That of a second one is `map_2`."""
        stats = self._loader.stats()
        number = 1 + sum(name.startswith("map") for name in stats)
        return Stats({**stats, "map" if number == 1 else f"map_{number}": json.loads(self._timer.timing())})

    def _thread_seconds(self) -> float:
        """How long one of the function's threads was at work on it; of several functions the longest."""
        seconds: float = json.loads(self._timer.timing())["total_seconds"] / max(self._workers, 1)
        return max(seconds, self._loader._thread_seconds()) if isinstance(self._loader, Mapped) else seconds

    def close(self) -> None:
        """Stops the threads of the function and of the Loader."""
        self._end()
        self._loader.close()

    def __enter__(self) -> Mapped:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    def __repr__(self) -> str:
        name = getattr(self._function, "__qualname__", None) or type(self._function).__name__
        threads = f", {self._workers} threads" if self._workers else ""
        return f"<feedline.Mapped by {name}{threads}: {self._loader!r}>"

    def _end(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None


class MappedBatches(Iterator[Any]):
    """The batches of one epoch, as a function returns them."""

    def __init__(self, ahead: _Ahead) -> None:
        self._ahead = ahead
        self._length = len(ahead.batches)
        self.epoch: int = ahead.batches.epoch
        self.finished = False
        #: Behind the last batch that was handed out; None where it is the loader's own.
        self.state: dict[str, Any] | None = ahead.states() if ahead.workers else None
        # Threads keep what they share and not this, so that they end when it is gone.
        self._finalizer = weakref.finalize(self, ahead.stop)
        ahead.start()

    def __iter__(self) -> MappedBatches:
        return self

    def __next__(self) -> Any:
        try:
            if not self._ahead.workers:
                return self._ahead.timed(next(self._ahead.batches))
            result, self.state = self._ahead.take()
        except StopIteration:
            self.finished = True
            if not self._ahead.stopped:
                self.state = None
            raise
        return result

    def __len__(self) -> int:
        return self._length

    def close(self) -> None:
        """Ends it, and its threads."""
        self._finalizer()

    def _close(self) -> None:
        self._finalizer()
        self._ahead.batches._close()


class _Ahead:
    """What the threads of a function share: the batches that they take in turn, and their results in order."""

    def __init__(
        self,
        batches: Batches | MappedBatches,
        states: Callable[[], dict[str, Any]],
        function: Callable[[Any], Any],
        workers: int,
        timer: _feedline.Timer,
    ) -> None:
        self.batches, self.states, self.workers = batches, states, workers
        self._function, self._timer = function, timer
        self._taking = threading.Lock()
        self._changed = threading.Condition()
        self._results: dict[int, tuple[bool, Any, Any]] = {}
        self._taken = self._handed = 0
        self._ended = self.stopped = False
        self._threads: list[threading.Thread] = []
        self._process = os.getpid()

    def start(self) -> None:
        for number in range(self.workers):
            thread = threading.Thread(target=self._run, name=f"feedline-map-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()
        if self._threads:
            _running.add(self)

    def end(self) -> None:
        """Ends the threads ahead of the interpreter, which they would otherwise meet half gone."""
        if os.getpid() != self._process:
            return
        self.stop()
        self.batches._close()
        for thread in self._threads:
            thread.join(5)

    def stop(self) -> None:
        # A forked child has no threads, and may have their lock as one of them held it.
        if os.getpid() != self._process:
            return
        with self._changed:
            self.stopped = True
            self._results.clear()
            self._changed.notify_all()

    def timed(self, batch: Any) -> Any:
        began = time.perf_counter()
        try:
            return self._function(batch)
        finally:
            self._timer.record(time.perf_counter() - began)

    def take(self) -> tuple[Any, Any]:
        """The next result, and the state behind it. After an error or the last one there is none."""
        check_process(self._process)
        with self._changed:
            while self._handed not in self._results:
                if self.stopped or (self._ended and self._handed == self._taken):
                    raise StopIteration
                self._changed.wait()
            succeeded, result, behind = self._results.pop(self._handed)
            self._handed += 1
            if not succeeded:
                self.stopped = True
            self._changed.notify_all()
        if not succeeded:
            raise result
        return result, behind

    def _run(self) -> None:
        while True:
            with self._changed:
                # One result for each thread waits, and one is in the making.
                while not self.stopped and not self._ended and self._taken - self._handed >= 2 * self.workers:
                    self._changed.wait()
                if self.stopped or self._ended:
                    return
            with self._taking:
                number, batch, behind = self._next()
            if number is None:
                return
            try:
                result = (True, self.timed(batch), behind)
            except BaseException as error:  # Raised where the batch is asked for.
                result = (False, error, behind)
            del batch
            self._put(number, result)

    def _next(self) -> tuple[int | None, Any, Any]:
        """The next batch with its number, and the state behind it; no number where there is none."""
        if self.stopped or self._ended:
            return None, None, None
        try:
            batch = next(self.batches)
            behind = self.states()
        except StopIteration:
            with self._changed:
                self._ended = True
                self._changed.notify_all()
            return None, None, None
        except BaseException as error:
            with self._changed:
                self._ended = True
                number = self._taken
                self._taken += 1
            self._put(number, (False, error, None))
            return None, None, None
        with self._changed:
            number = self._taken
            self._taken += 1
        return number, batch, behind

    def _put(self, number: int, result: tuple[bool, Any, Any]) -> None:
        with self._changed:
            if not self.stopped:
                self._results[number] = result
            self._changed.notify_all()
